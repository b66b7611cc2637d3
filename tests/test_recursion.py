"""Recursion beyond the corpus: every mode over every mode, depth, what is written, and what is refused."""

from __future__ import annotations

import copy
import linecache
import sys
from typing import Any

import numpy as np
import pytest
from corpus import recursion, recursion_on_parts
from corpus.recursion import power
from corpus.recursion_on_parts import halved_sum, memoized, sorted_between
from differences import flat, random_tangents
from evaluate import evaluate_call, read_call
from test_corpus import first_draw

from transformer import check_grads, config, grad, jacfwd, jacrev, jvp, tree, vjp, vmap
from transformer.api import pushforward
from transformer.core.check import check
from transformer.core.errors import NotSupported
from transformer.core.text import parse, text
from transformer.core.walk import called_in, reachable
from transformer.ops.regions import Slot
from transformer.ops.saved import Layout
from transformer.ops.table import ops

PROGRAMS = [*recursion.PROGRAMS, *recursion_on_parts.PROGRAMS]
UNROLLED = {"tree_sum"}
SMOOTH = [p for p in PROGRAMS if p.name not in UNROLLED and "f32" not in p.tags]


def dotted(left: Any, right: Any) -> Any:
    pairs = zip(tree.leaves(left), tree.leaves(right), strict=True)
    return sum(np.sum(a * b) for a, b in pairs if a is not None and b is not None)


@pytest.mark.parametrize("program", SMOOTH, ids=lambda program: program.name)
def test_reverse_over_reverse_is_forward_over_reverse(program: Any) -> None:
    arguments = first_draw(program)
    tangents = random_tangents(np.random.default_rng(7), arguments, program.wrt)
    gradient = grad(program.function, argnums=program.wrt)
    chosen = tuple(tangents[k] for k in program.wrt)
    if any(isinstance(item, (dict, tuple)) for item in chosen):
        return                                          # `dotted` takes numbers and arrays

    def along(*args: Any) -> Any:
        found = gradient(*args)
        total = 0.0
        for k in range(len(chosen)):
            total = total + np.sum(found[k] * chosen[k])
        return total

    _, forward = jvp(gradient, copy.deepcopy(arguments), tangents)
    reverse = grad(along, argnums=program.wrt)(*copy.deepcopy(arguments))
    np.testing.assert_allclose(flat(reverse), flat(forward), rtol=1e-9, atol=1e-9)


THIRD = {
    "power": (1.3, 5),
    "fibonacci_of_floats": (0.5, 0.7, 5),
    "even": (0.4, 4),
    "through_table": (0.5, 3),
    "memoized": (0.5, 5),
    "branching": (0.4, 3),
    "moments": (0.4, 3),
}


@pytest.mark.parametrize("name", THIRD)
def test_third_order(name: str) -> None:
    function, (x, *rest) = next(p.function for p in PROGRAMS if p.function.__name__ == name), THIRD[name]

    def pushed(f: Any) -> Any:
        return lambda x: jvp(f, (x,), (1.0,))[1]

    reverse = grad(grad(grad(function)))(x, *rest)
    forward = pushed(pushed(pushed(lambda x: function(x, *rest))))(x)
    np.testing.assert_allclose(reverse, forward, rtol=1e-9)


@pytest.mark.parametrize("name", ["closure_over_values", "halved_sum"])
def test_third_order_of_arrays(name: str) -> None:
    """A size is known by any array of that size: the argument that told it may not be needed any more."""
    program = next(p for p in PROGRAMS if p.name == name)
    x, *rest = first_draw(program)
    along = np.cos(np.arange(len(x)))

    def once(*args: Any) -> Any:
        return np.sum(np.sin(grad(program.function)(*args)))

    def twice(*args: Any) -> Any:
        return np.sum(np.sin(grad(once)(*args)))

    _, forward = jvp(twice, (x, *rest), (along, *(None for _ in rest)))
    np.testing.assert_allclose(grad(twice)(x, *rest) @ along, forward, rtol=1e-9)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.name != "deep_sum"], ids=lambda program: program.name)
def test_core_computes_what_python_computes(program: Any) -> None:
    arguments = first_draw(program)
    reading = read_call(program.function, *copy.deepcopy(arguments))
    check(reading.function)
    outcome = evaluate_call(reading, program.function, *arguments)
    expected = program.function(*copy.deepcopy(arguments))
    np.testing.assert_allclose(flat(outcome.result), flat(expected), rtol=1e-6)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.name not in UNROLLED], ids=lambda program: program.name)
def test_a_call_stays_a_call(program: Any) -> None:
    function = read_call(program.function, *first_draw(program)).function
    assert any(each in called_in(each) for each in reachable(function))


@pytest.mark.parametrize("name", ["power", "memoized", "minor_determinant", "even_and_odd"])
def test_stages_are_read_back_as_they_are_written(name: str) -> None:
    program = next(p for p in PROGRAMS if p.name == name)
    stages = grad(program.function).stages(*first_draw(program))
    for stage, written in stages.items():
        if stage not in ("source", "grad, simplified"):     # in the last one, types may mention what is gone
            assert text(parse(written, ops(), {"Slot": Slot, "Layout": Layout})) == written


def test_deeper_than_any_unrolling() -> None:
    def descending(x, n):
        return 0.0 if n == 0 else x / n + descending(x * 0.999, n - 1)

    expected = sum(0.999**k / (500 - k) for k in range(500))
    np.testing.assert_allclose(grad(descending)(1.0, 500), expected)


def test_one_frame_for_each_level() -> None:
    """What Python refuses, so do derivatives; and what it allows, they allow, but for the frames around."""
    def descending(x, n):
        return x if n == 0 else descending(np.sin(x), n - 1)

    gradient = grad(descending)
    gradient(1.0, 3)
    used = 0
    frame = sys._getframe()
    while frame is not None:
        frame, used = frame.f_back, used + 1          # type: ignore[assignment]
    limit = sys.getrecursionlimit()
    gradient(1.0, limit - used - 30)
    with pytest.raises(RecursionError):
        gradient(1.0, limit)


def test_source_is_the_same_each_time() -> None:
    for function, arguments in ((power, (1.3, 5)), (halved_sum, (np.ones(5),)), (memoized, (0.5, 5))):
        assert grad(function).source_for(*arguments) == grad(function).source_for(*arguments)


def test_a_sum_by_halves_saves_nothing() -> None:
    def total(x):
        return x[0] if len(x) == 1 else total(x[: len(x) // 2]) + total(x[len(x) // 2 :])

    source = grad(total).source_for(np.ones(5))
    assert "saved" not in source and "total_forward" not in source


def test_what_an_array_of_places_picks_is_saved_and_not_picked_again() -> None:
    def picked(x, places, n):
        if n == 0:
            return np.sum(x)
        y = x[places]
        return np.sum(np.sin(y) * y) + picked(x, places, n - 1)

    args = np.ones(5), np.array([0, 3, 3]), 3
    assert grad(picked).source_for(*args).count("x[places]") == 1
    check_grads(picked, args, order=2)


def test_one_function_serves_all_depths_and_sizes() -> None:
    gradient = grad(halved_sum)
    for size in (2, 3, 8, 17):
        gradient(np.ones(size))
    assert len({id(entry) for entry in gradient._dispatcher.exact.values()}) == 1


def test_forward_mode_is_the_function_itself() -> None:
    push = pushforward(power, (0,))
    np.testing.assert_allclose(push(1.3, 4, 1.0), (1.3**4, 4 * 1.3**3))
    assert push.source.count("def ") == 1


def test_a_file_of_its_own(tmp_path: Any) -> None:
    gradient = grad(halved_sum)
    x = np.arange(1.0, 6.0)
    expected = gradient(x)
    path = tmp_path / "halved.py"
    gradient.save(path, x)
    module: dict[str, Any] = {}
    exec(path.read_text(), module)
    np.testing.assert_allclose(module["halved_sum_grad"](x), expected)


def test_nans_are_found_inside_of_calls() -> None:
    def roots(x, n):
        return x if n == 0 else roots(np.sqrt(x) - 1.0, n - 1)

    gradient = grad(roots)
    config.debug_nans = True
    try:
        gradient(9.0, 1)
        with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="roots"):
            gradient(9.0, 5)
    finally:
        config.debug_nans = False
        linecache.checkcache()


def test_results_are_memory_of_their_own() -> None:
    def same(x, n):
        return x if n == 0 else same(x, n - 1)

    x = np.ones(3)
    result, tangent = jvp(lambda x: same(x, 2), (x,), (np.ones(3),))
    assert not np.shares_memory(result, x)
    np.testing.assert_array_equal(tangent, np.ones(3))


def test_the_array_returned_is_the_argument() -> None:
    def doubled(x, n):
        if n == 0:
            return x
        x[0] = x[0] * 2.0
        return doubled(x, n - 1)

    def written_after(x):
        y = x.copy()
        z = doubled(y, 3)
        z[1] = 5.0
        return np.sum(y * y)

    np.testing.assert_allclose(grad(written_after)(np.array([1.0, 2.0, 3.0])), [128.0, 0.0, 6.0])


def shares_an_argument(x):
    y = x.copy()
    scaled_by(y, y, 1)
    return np.sum(y)


def scaled_by(a, b, k):
    if k < len(a):
        a[k] = a[k - 1] * b[k]
        scaled_by(a, b, k + 1)


def shares_a_captured_array(x):
    y = x.copy()

    def fill(z, k):
        if k < 3:
            z[k] = y[k - 1] * 2.0
            fill(z, k + 1)

    fill(y, 1)
    return np.sum(y * y)


def appends(x):
    found = []

    def collect(y):
        if y > 0.1:
            found.append(y)
            collect(y / 2)

    collect(x[0])
    return sum(found)


def changes_a_name(x):
    count = 0.0

    def go(k):
        nonlocal count
        count = count + x[0]
        return x[0] if k == 0 else go(k - 1)

    return go(3) + count


def differentiates_itself(x):
    def go(y):
        return y if y > 3.0 else grad(go)(y * 2.0) * y

    return go(x[0])


def halved(x: Any, n: Any) -> Any:
    if n == 0:
        y = np.sin(x)
        return y, y
    return halved(0.5 * x, n - 1)


def writes_to_one_of_two(x: Any) -> Any:
    a, b = halved(x, 3)
    a[0] = 5.0
    return np.sum(a * b)


def reads_both(x: Any) -> Any:
    a, b = halved(x, 3)
    return np.sum(a * b)


def listed(x: Any, n: Any) -> Any:
    if n == 0:
        items = [np.sin(x)]
        return items, items
    return listed(0.5 * x, n - 1)


def list_in_two_places(x: Any) -> Any:
    a, b = listed(x, 3)
    a[0] = 2.0 * a[0]
    return np.sum(b[0])


REFUSED = [
    (shares_an_argument, "may share memory with", "scaled_by(y, y, 1)", "x.copy()"),
    (shares_a_captured_array, "may share memory with", "fill(y, 1)", "x.copy()"),
    (appends, "outside it", "collect(x[0])", "return"),
    (changes_a_name, "changes 'count' outside it", "go(3)", "return"),
    (writes_to_one_of_two, "may be shared with 'b'", "a[0] = 5.0", "x.copy()"),
    (list_in_two_places, "one container in two places", "listed(x, 3)", "Return it once"),
    (differentiates_itself, "differentiates itself, which is not supported", "grad(go)", "separate function"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[0].__name__)
def test_refusals_say_what_and_where(case: Any) -> None:
    function, what, where, instead = case
    with pytest.raises(NotSupported) as caught:
        grad(function)(np.array([0.9, 1.1, 0.4]))
    shown = str(caught.value)
    assert what in shown and instead in shown
    assert where in (caught.value.origin.text if caught.value.origin else "")


def test_an_array_returned_twice_is_read() -> None:
    x = np.array([0.9, 1.1, 0.4])
    np.testing.assert_allclose(grad(reads_both)(x), np.sin(x / 8) * np.cos(x / 8) / 4)


def test_quicksort_moves_its_cotangents() -> None:
    def sorted_dot(x, w):
        y = x.copy()
        sorted_between(y, 0, len(y) - 1)
        return y @ w

    rng = np.random.default_rng(3)
    for size in (2, 9, 40):
        x, w = rng.permutation(size) * 1.0, rng.normal(size=size)
        np.testing.assert_allclose(grad(sorted_dot)(x, w), w[np.argsort(np.argsort(x))])


# -- many at once -------------------------------------------------------------------------------


def grown(a: Any, t: Any) -> Any:
    if np.sum(a) > 3:
        return a * 2
    return grown(a * 1.5 + t[0] * np.ones_like(a), t) + np.zeros(len(t))[-1]


def grown_from(x: Any, t: Any) -> Any:
    return grown(np.abs(x), t) * x


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
@pytest.mark.parametrize("n", [3, 1])
def test_lanes_of_several_arguments_together(jacobian: Any, n: int) -> None:
    """There are as many directions as both arguments have numbers: a size that no parameter of the recursion has."""
    rng = np.random.default_rng(0)
    x, t = rng.uniform(0.1, 2, (4, n)), rng.uniform(0.5, 1, (4, 2))
    each = jacobian(grown_from, argnums=(0, 1))
    expected = [np.stack(lanes) for lanes in zip(*(each(a, b) for a, b in zip(x, t)))]
    for found, right in zip(vmap(each)(x, t), expected, strict=True):
        np.testing.assert_allclose(found, right)


def grown_rows(x: Any) -> Any:
    return vmap(lambda row: grown(np.abs(row), x[0]))(x[x[:, 0] > 0])


def test_lanes_that_a_mask_selects() -> None:
    x = np.random.default_rng(0).uniform(0.1, 2, (4, 3))
    x[1] *= -1
    expected = np.stack([grown(row, x[0]) for row in x[[0, 2, 3]]])
    value, pullback = vjp(grown_rows, x)
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(pullback(np.ones((3, 3)))[0], np.sum(jacfwd(grown_rows)(x), axis=(0, 1)))
