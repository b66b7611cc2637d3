"""`fallback=True`: what cannot be compiled runs as Python, what is around it is compiled, and nothing else is told."""

from __future__ import annotations

import contextlib
import copy
import io
import types
from collections.abc import Iterator
from typing import Any

import gast
import numpy as np
import pytest
from bounds import Raised, outcome
from corpus import ALL
from thinned import some

from transformer import NotSupported, grad, jit, tree
from transformer.core.errors import Origin
from transformer.read.sources.source import find_source
from transformer.run.dividing import Divided, Part, divided

pytestmark = pytest.mark.usefixtures("own_cache")


def opaque(x):
    """Nothing that is read."""
    return np.sort_complex(np.ravel(x)[:3]).real


LOG: list[str] = []
WEIGHTS = [1.0, 2.0]


def in_the_middle(x):
    y = np.exp(-x) + np.sin(x)
    y = y * 2
    w = np.sort_complex(y).real
    total = 0.0
    for k in range(len(w)):
        total += np.sort(w)[k] * k
    return total + x[0]


def in_a_loop(x, n):
    seen = []
    for k in range(n):
        v = x.copy()
        for i in range(1, len(x) - 1):
            v[i] = x[i] + 0.1 * (x[i + 1] - 2 * x[i] + x[i - 1])
        x = v
        seen.append(str(np.round(np.max(x), 3)).upper())
        if len(seen) > 2:
            break
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 2
    return total, seen


def in_a_branch(x, flag):
    y = x * 2 + 1
    if flag:
        y = y + np.cumsum(y)
        z = opaque(y)
        y = y[:3] * z + np.exp(z)
    else:
        y = np.sqrt(y * y + 1)
    return np.sum(y * y) + 1


def in_a_helper(x):
    y = np.tanh(x) * x + 1
    z = opaque(y) + 1
    return np.sum(z) + np.prod(np.cos(y) * y)


def returned_early(x):
    y = np.exp(x) + x
    if y[0] > 100:
        return y * 2 + 1
    z = opaque(y)
    while z[0] > 1:
        if z[0] > 50:
            return z * 2 - 1
        z = z / 2 + z * 0.1
    return z


def written(x):
    y = x[1:]
    x[0] = x[1] * 2 + 1
    np.random.default_rng(0).shuffle(x)
    y[0] = np.sum(x * x) + 1
    y += np.cumsum(y) * 2
    return x, y


def a_view_in_a_part(x):
    a = x * 2 + 1
    y = a[1:]
    b = x[::2]
    np.random.default_rng(0).shuffle(a)
    y[0] = 5.0 + np.sum(a * a)
    b[0] = -1.0 + np.prod(y)
    return a, y, b, x


def lists_under_two_names(x):
    rows = [x * 2, x + 1]
    again = rows
    LOG.append("x")
    again.append(opaque(x))
    return len(rows), np.sum(rows[-1]) + np.sum(rows[0] * x)


def lists_from_outside(x, given):
    mine, other = WEIGHTS, given
    s = mine[0] * np.sum(x) + other[0]
    LOG.append("y")
    mine.append(3.0)
    other.append(4.0)
    return s + len(WEIGHTS) + len(given)


def bound_on_a_path(x, flag):
    if flag:
        late = x * 2 + 1
    z = opaque(x)
    if flag:
        z = z + np.sum(late * late)
    return z


def captured_later(x):
    scale = 2.0
    y = x * scale + np.exp(x)
    f = lambda v: np.sum(v) * scale + np.sort_complex(v).real.sum()  # noqa: E731
    scale = np.sum(y) * 0.5 + 1
    return f(y)


def with_try(x):
    y = np.exp(x) + 1
    try:
        z = float("none") + y
    except ValueError as error:
        z = y * 2 + len(str(error))
    return np.sum(z * z) + 1


def other_default(x, scale=3.0, *, shift=1.0):
    y = x * scale + shift
    return np.sum(opaque(y)) + np.sum(y * y)


X = np.array([0.5, -1.0, 2.0, 0.25])
CASES: list[Any] = [
    (in_the_middle, (X,)), (in_a_loop, (X, 2)), (in_a_loop, (X, 5)), (in_a_loop, (X, 0)), (in_a_branch, (X, True)),
    (in_a_branch, (X, False)), (in_a_helper, (X,)), (returned_early, (X,)), (returned_early, (X * 9,)),
    (returned_early, (X * 3,)), (written, (X,)), (a_view_in_a_part, (X,)), (lists_under_two_names, (X,)),
    (lists_from_outside, (X, [1.0])), (bound_on_a_path, (X, True)), (bound_on_a_path, (X, False)),
    (captured_later, (X,)), (with_try, (X,)), (other_default, (X,)), (other_default, (X, 2.0)),
]


def state(function: Any, args: Any) -> Any:
    """What a call gives, what it makes of its arguments and of the lists outside."""
    LOG.clear()
    WEIGHTS[:] = [1.0, 2.0]
    given = copy.deepcopy(args)
    result = function(*given)
    return result, given, list(LOG), list(WEIGHTS), [
        np.shares_memory(one, other) for one in tree.leaves((result, given)) for other in tree.leaves((result, given))
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray)]


def same(got: Any, want: Any) -> None:
    found, structure = tree.flatten(got)
    wanted, expected = tree.flatten(want)
    assert structure == expected
    for one, other in zip(found, wanted, strict=True):
        if isinstance(other, str):
            assert one == other
        else:
            assert np.asarray(one).dtype == np.asarray(other).dtype
            np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["f64", "f32"])
def test_the_same_as_the_function(case: Any, dtype: Any) -> None:
    function, args = case
    args = tree.map(lambda leaf: leaf.astype(dtype) if isinstance(leaf, np.ndarray) else leaf, args)
    compiled = jit(function, fallback=True)
    with np.errstate(all="ignore"):
        want = state(function, args)
        for _ in range(2):
            if dtype == np.float64:
                same(state(compiled, args), want)
            else:
                for one, other in zip(tree.leaves(state(compiled, args)), tree.leaves(want), strict=True):
                    assert one == other if isinstance(other, str) else np.allclose(one, other, rtol=1e-5)


def parts_of(compiled: Any, *args: Any) -> dict[str, str]:
    """The lines of a function, counted from its first one, with what has become of them."""
    compiled(*copy.deepcopy(args))
    first = compiled.function.__code__.co_firstlineno
    return {f"{a - first}-{b - first}": text for (a, b), text in compiled.report(*args).parts}


def test_what_is_compiled() -> None:
    parts = parts_of(jit(in_the_middle, fallback=True), X)
    assert parts["1-2"] == "compiled" and parts["4-7"] == "compiled"
    assert parts["3-3"] == "as Python: no rule for numpy.sort_complex"
    parts = parts_of(jit(in_a_loop, fallback=True), X, 2)
    assert parts["3-6"] == "compiled" and parts["10-13"] == "compiled" and "upper" in parts["7-7"]
    parts = parts_of(jit(in_a_helper, fallback=True), X)
    assert parts["1-1"] == "compiled" and parts["3-3"] == "compiled" and "sort_complex" in parts["2-2"]
    parts = parts_of(jit(in_a_branch, fallback=True), X, True)
    assert parts["1-1"] == "compiled" and parts["8-8"] == "compiled" and "sort_complex" in parts["4-4"]
    parts = parts_of(jit(returned_early, fallback=True), X)
    assert "to be compiled when it is reached" in parts.values()
    assert "share memory" in str(parts_of(jit(a_view_in_a_part, fallback=True), X))


def test_the_report_tells_the_parts() -> None:
    compiled = jit(in_the_middle, fallback=True)
    compiled(X)
    text = str(compiled.report(X))
    assert text.startswith("in_the_middle runs in parts: no rule for numpy.sort_complex\n") and "compiled" in text


def test_other_sizes_and_types() -> None:
    compiled = jit(in_the_middle, fallback=True)
    for n in (3, 8, 5):
        for dtype in (np.float64, np.float32):
            x = np.linspace(-1, 1, n).astype(dtype)
            np.testing.assert_allclose(compiled(x), in_the_middle(x), rtol=1e-5 if dtype == np.float32 else 1e-12)


def test_exceptions_have_the_lines_of_the_function() -> None:
    def beyond(x, k):
        z = opaque(x)
        total = np.sum(z) * 0
        for i in range(len(x)):
            total += x[i + k] * z[0]
        return total

    compiled = jit(beyond, fallback=True)
    assert compiled(X, 0) == pytest.approx(beyond(X, 0))
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4") as error:
        compiled(X, 1)
    line = beyond.__code__.co_firstlineno + 4
    assert f'File "{__file__}", line {line}, in beyond' in "".join(error.value.__notes__)


def test_exceptions_go_through_in_order() -> None:
    def handled(x):
        y = np.exp(x) + 1
        try:
            opaque(y)
            total = 0.0
            for i in range(len(y) + 1):
                total += y[i]
        except IndexError:
            total = -1.0 + np.sum(y)
        return total * 2 + 1

    assert jit(handled, fallback=True)(X) == pytest.approx(handled(X))


def test_changes_outside_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = jit(scaled_outside, fallback=True)
    assert compiled(X) == pytest.approx(scaled_outside(X))
    monkeypatch.setitem(globals(), "FACTOR", 7.0)
    assert compiled(X) == pytest.approx(scaled_outside(X))


FACTOR = 2.0


def scaled_outside(x):
    y = np.exp(x) * FACTOR
    w = opaque(y) * FACTOR
    return np.sum(w * w) * FACTOR + 1


def test_captured_names_are_seen() -> None:
    factor = 2.0

    def inner(x):
        y = np.exp(x) * factor + 1
        return np.sum(opaque(y)) + np.sum(y * factor)

    compiled = jit(inner, fallback=True)
    assert compiled(X) == pytest.approx(inner(X))
    factor = 5.0
    assert compiled(X) == pytest.approx(inner(X))


def test_functions_that_stay_whole() -> None:
    def looking(x):
        y = np.exp(x) * 2
        return len(locals()) + np.sum(y) + np.sum(opaque(y))

    def generating(x):
        y = np.exp(x) * 2
        yield np.sum(opaque(y))

    for function in (looking,):
        compiled = jit(function, fallback=True)
        assert compiled(X) == function(X) and compiled._entry((X,), {}).generated is None
    assert list(jit(generating, fallback=True)(X)) == list(generating(X))
    derivative = jit(grad(lambda x: np.sum(np.exp(x))), fallback=True)
    np.testing.assert_allclose(derivative(X), np.exp(X))


def test_arguments_that_differ_in_every_call_are_not_compiled_for() -> None:
    compiled = jit(in_a_loop, fallback=True)
    for n in range(30):
        x = np.linspace(0, 1, 5 + n)
        assert compiled(x, 2)[0] == pytest.approx(in_a_loop(x, 2)[0])
    divided = compiled._entry((X, 2), {}).generated
    assert isinstance(divided, Divided) and all(len(part.calls.entries()) <= 8 for part in divided.parts)


def leaving(x, limit):
    total, last = 0.0, 1.0
    for k in range(len(x)):
        last = x[k] * 2 + np.sin(x[k]) * 3 + np.cos(x[k]) * total
        if opaque(x)[0] + last > limit:
            break
        total = total + last * 2 - np.exp(-last) * 3 + last
    else:
        last = -last * 2 + 1
    return total + last


@pytest.mark.parametrize("limit", [-100.0, 3.0, 100.0])
def test_what_a_break_needs(limit: float) -> None:
    assert jit(leaving, fallback=True)(X, limit) == pytest.approx(leaving(X, limit))


def test_integers_of_any_size() -> None:
    def enlarged(x, n):
        m = n * 2 + n * 3 + 1
        return np.sum(opaque(x)) + m % 7

    compiled = jit(enlarged, fallback=True)
    for n in (3, 2**70, -2**80):
        assert compiled(X, n) == pytest.approx(enlarged(X, n))


# -- names ------------------------------------------------------------------------------------------


def divisions() -> Iterator[tuple[Any, int]]:
    """Every other program of the corpus, with lines at which it might be refused; 0 for another function's."""
    for program in some(ALL, 4):
        function = program.function
        if isinstance(function, types.FunctionType) and "expected" not in program.tags:
            body = find_source(function).tree
            lines = sorted({node.lineno for node in gast.walk(body) if isinstance(node, gast.stmt)} - {body.lineno})
            yield from ((program, line) for line in [0, *lines[::6]])


def test_names_go_in_and_out_of_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that are divided anywhere, with parts that run as Python, are what they were."""
    monkeypatch.setattr(Part, "__call__", lambda self, *args: self.function(*args))
    monkeypatch.setattr("transformer.run.dividing.LEAST", 0)
    monkeypatch.setattr("transformer.run.dividing.LEAST_IN_LOOPS", 0)
    count = 0
    for program, line in divisions():
        function = program.function
        place = Origin(find_source(function).file, line, 0) if line else None
        made = divided(function, NotSupported("this line", place))
        if made is None:
            continue
        count += 1
        arguments = program.example(np.random.default_rng(0))
        outcomes = []
        for each in (function, made.function):
            given = copy.deepcopy(arguments)
            with np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()) as printed:
                outcomes.append((outcome(lambda each=each, given=given: each(*given)), given, printed.getvalue()))
        same_outcomes(*outcomes, f"{program.name}, line {line}")
    assert count > 250


def same_outcomes(one: Any, other: Any, told: str) -> None:
    assert one[2] == other[2], told
    if isinstance(one[0], Raised):
        assert one[0].is_like(other[0]), told
        return
    for a, b in zip(tree.leaves(one[:2]), tree.leaves(other[:2]), strict=True):
        if isinstance(a, (np.ndarray, np.generic, float, int)):
            np.testing.assert_array_equal(a, b, err_msg=told)


def trained(x, steps):
    w, history = np.zeros(x.shape[1]), {}
    for step in range(steps):
        g = 2 * x.T @ (x @ w - 1) / len(x)
        w -= 0.1 * g
        if step % 2 == 0:
            history[step] = f"{np.sum((x @ w - 1) ** 2):.3f}"
    best = min(history.values())
    return w, history, best


def test_what_is_no_argument_of_an_op_is_python_as_well() -> None:
    compiled, x = jit(trained, fallback=True), np.random.default_rng(0).normal(size=(20, 3))
    same(compiled(x, 4), trained(x, 4))
    parts = parts_of(compiled, x, 4)
    assert parts["3-4"] == "compiled" and "is not an array or a number" in parts["7-7"]


class Model:
    def __init__(self) -> None:
        self.w, self.log = np.ones(3), list[float]()

    def plain(self, x):
        y = np.exp(x) * self.w + 1
        self.log.append(float(y[0]))
        z = opaque(y)
        self.w = self.w + z * 2 - np.sum(z) * 0.5
        return np.sum(self.w * self.w) + 1

    compiled = jit(plain, fallback=True)


def test_methods_change_their_object() -> None:
    one, other = Model(), Model()
    for _ in range(3):
        got, want = one.compiled(X[:3]), other.plain(X[:3])
        assert got == pytest.approx(want) and one.log == pytest.approx(other.log)
        np.testing.assert_allclose(one.w, other.w)
