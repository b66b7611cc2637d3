"""Functions that are called so often that they stay functions: what they give is what they give line by line."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from transformer import (
    axis_index,
    checkpoint,
    config,
    grad,
    hessian,
    hvp,
    jacrev,
    jit,
    jvp,
    pmean,
    value_and_grad,
    vmap,
)
from transformer.read.calls import keeping, repeated


@pytest.fixture(autouse=True)
def small_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of a few variables stay functions as soon as they are called twice."""
    monkeypatch.setattr(keeping, "LARGE", 3)
    monkeypatch.setattr(keeping, "BUDGET", 0)
    monkeypatch.setattr(keeping, "FEWEST", 3)
    monkeypatch.setattr(repeated, "SPARED", -(10**9))
    monkeypatch.setattr(config, "check", True)


def damped(t, k):
    """Two branches, one of which may raise."""
    if t < -50.0:
        raise ValueError("too cold")
    e = np.exp(-k * t)
    if e > 0.5:
        return e * np.sin(t)
    return e + t * t * 0.1


def straight(x, y):
    return damped(x, 0.3) + 2.0 * damped(x * y, 0.3) - damped(y, 0.7) * damped(x - y, 0.3)


def twice(x, k):
    return damped(x, k) * damped(0.5 * x, k) + x


def nested(x, y):
    return twice(x, 0.4) + twice(y, 0.4) * twice(x + y, 0.5)


def in_branches(x, y):
    s = damped(x, 0.2)
    if s > y:
        s = s * damped(y, 0.2)
    else:
        s = s - damped(x * y, 0.2)
    return s


def in_loop(x, y):
    s = x
    for k in range(5):
        s = 0.5 * s + damped(s * y, 0.2) - damped(s + k, 0.1)
    return s


def until(x, y):
    for _ in range(20):
        step = damped(x, 0.5) - y * damped(x + 1.0, 0.5)
        x = x - 0.3 * step
        if abs(step) < 1e-3:
            return x
    return x


def polar(x, y):
    r = math.sqrt(x * x + y * y)
    return r, x / r


def of_pairs(x, y):
    r, c = polar(x, y)
    q, d = polar(r, x)
    return r * d + q * c


PROGRAMS = [straight, nested, in_branches, in_loop, until, of_pairs]


def source_of(function: Callable[..., Any], *args: Any) -> str:
    function(*args)
    return str(function.source)         # type: ignore[attr-defined]


def inlined(make: Callable[[], Any], *args: Any) -> Any:
    """What is given by the same program with all calls read in place."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keeping, "BUDGET", 10**9)
        patch.setattr(repeated, "SPARED", 10**9)
        return make()(*args)


PYTHONS, NUMPYS, MIXED = (0.7, 0.4), (np.float64(3.1), np.float64(-1.2)), (1, 2.0)


@pytest.mark.parametrize(("program", "given"), [*((program, PYTHONS) for program in PROGRAMS), (in_branches, NUMPYS),
                                                (in_branches, MIXED), (until, NUMPYS)])
def test_derivatives_are_those_of_the_lines(program: Any, given: Any) -> None:
    wrt = 1 if isinstance(given[0], int) else 0
    for make in (lambda: value_and_grad(program, wrt), lambda: grad(grad(program, wrt), wrt),
                 lambda: lambda x, y: jvp(program, (x, y), (None, 1.0))):
        found, expected = make()(*given), inlined(make, *given)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
        assert [type(each) for each in np.atleast_1d(found)] == [type(each) for each in np.atleast_1d(expected)]


@pytest.mark.parametrize("program", [nested, in_loop, of_pairs])
def test_compiled(program: Any) -> None:
    x, y = 0.9, 0.6
    assert jit(program)(x, y) == pytest.approx(program(x, y), rel=1e-13)
    compiled = jit(value_and_grad(program, (0, 1)))(x, y)
    np.testing.assert_allclose(np.hstack(compiled), np.hstack(inlined(lambda: value_and_grad(program, (0, 1)), x, y)),
                               rtol=1e-12)


def test_compiled_orders() -> None:
    third = jit(grad(grad(grad(nested))))
    assert third(0.9, 0.6) == pytest.approx(inlined(lambda: grad(grad(grad(nested))), 0.9, 0.6), rel=1e-10)
    along = hvp(nested, 0)
    assert jit(along)(0.9, 0.6, 1.0) == pytest.approx(grad(grad(nested))(0.9, 0.6), rel=1e-10)


def test_source_has_the_function_once() -> None:
    source = source_of(grad(in_branches), 0.7, 0.4)
    assert source.count("np.exp") == 2 and source.count("damped_reverse(") == 3


def test_raises_as_the_function() -> None:
    for function in (grad(straight), jit(straight), jit(grad(straight))):
        with pytest.raises(ValueError, match="too cold"):
            function(-60.0, 0.1)


def test_numbers_of_other_types_are_another_function() -> None:
    def program(x, y):
        return damped(x, 0.5) * damped(y, 0.5) + damped(np.float32(2.0) * x, 0.5) * damped(y * y, 0.5)

    x, y = np.float32(0.7), 0.3
    for make in (lambda: program, lambda: jit(program), lambda: grad(program), lambda: jit(grad(program))):
        found, expected = make()(x, y), inlined(make, x, y)
        assert found == pytest.approx(expected, rel=1e-5) and found.dtype == expected.dtype


def test_what_is_known_of_an_argument_stays_known() -> None:
    def powers(x, n, kind=None):
        scale = 2.0 if kind is None else float(kind)
        return scale * x**n + np.sin(x) * n

    def program(x):
        return powers(x, 2) + powers(x + 1.0, 2) * powers(x, 0) - powers(x, 3, "4") * powers(2.0 * x, 3, "4")

    assert grad(program)(0.0) == inlined(lambda: grad(program), 0.0)


def test_not_where_exceptions_are_caught() -> None:
    def program(x):
        try:
            s = damped(x, 0.3) + damped(2.0 * x, 0.3)
        except ValueError:
            s = 0.1 * x
        return s

    for x in (0.4, -30.0, -60.0):
        expected = pytest.approx(inlined(lambda: grad(program), x))
        assert grad(program)(x) == expected and jit(grad(program))(x) == expected


def bumped(a, x):
    a[0] += x
    b = a[0] * x
    return b + np.sin(b)


def test_not_what_writes_or_makes_arrays() -> None:
    def program(a, x):
        s = bumped(a, x) + bumped(a, 2.0 * x)
        return s + a[0]

    a = np.array([1.0, 2.0])
    assert "def bumped" not in source_of(grad(program, 1), a.copy(), 0.5)
    assert grad(program, 1)(a.copy(), 0.5) == pytest.approx(inlined(lambda: grad(program, 1), a.copy(), 0.5))


def closing(c):
    def inner(x):
        return np.exp(c * x) + x * c
    return inner


SCALE = np.array([0.5, 2.0])


def scaled(x):
    return np.sin(x) * SCALE[0] + x * x * SCALE[1]


def test_closures_and_arrays_from_outside() -> None:
    one, two = closing(0.3), closing(0.7)

    def program(x):
        return one(x) + two(x) * one(x * x) * two(x + 1.0) + scaled(x) * scaled(2.0 * x)

    expected = inlined(lambda: grad(program), 0.4)
    assert grad(program)(0.4) == pytest.approx(expected) == jit(grad(program))(0.4)


def test_inside_of_other_transformations() -> None:
    def slopes(x, y):
        return grad(straight)(x, y) * straight(y, x) + checkpoint(nested)(x, y) + nested(y, x)

    assert grad(slopes)(0.7, 0.4) == pytest.approx(inlined(lambda: grad(slopes), 0.7, 0.4), rel=1e-12)
    x = np.linspace(-1.0, 2.0, 5)
    for make in (lambda: vmap(grad(in_branches), (0, None)), lambda: jit(vmap(straight, (0, None))),
                 lambda: grad(lambda x, y: np.sum(vmap(in_branches, (0, None))(x, y)))):
        np.testing.assert_allclose(make()(x, 0.4), inlined(make, x, 0.4), rtol=1e-12)


def test_the_same_call_is_made_once() -> None:
    def program(x, y):
        return damped(x, 0.3) * y + damped(x, 0.3) + damped(y, 0.3) * damped(x, 0.3)

    source = source_of(grad(program), 0.7, 0.4)
    assert source.count("damped_forward(") == 2 and source.count("damped_reverse(") == 2
    assert grad(program)(0.7, 0.4) == pytest.approx(inlined(lambda: grad(program), 0.7, 0.4))


def test_loops_over_many() -> None:
    def program(x):
        total = 0.0
        for k in range(x.shape[0]):
            total += damped(x[k], 0.3) * damped(x[k] + 1.0, 0.3)
        return total

    x = np.linspace(-1.0, 2.0, 400)
    expected = inlined(lambda: grad(program), x)
    np.testing.assert_allclose(grad(program)(x), expected, rtol=1e-12)
    np.testing.assert_allclose(jit(grad(program))(x), expected, rtol=1e-12)


def test_a_function_that_calls_itself_is_no_such_function() -> None:
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    def program(x, n):
        return power(x, n) + damped(x, 0.3) * power(x, n + 1) + damped(2.0 * x, 0.3)

    assert grad(program)(0.9, 3) == pytest.approx(inlined(lambda: grad(program), 0.9, 3))


# -- functions of arrays, in source ------------------------------------------------------------------


def bent(x, k):
    y = np.sin(x) * k
    return y * np.exp(-x * x) + y


def bent_in_loop(x):
    for _ in range(3):
        x = x + 0.1 * bent(x, 0.5) - 0.2 * bent(x * x, 1.5)
    return np.sum(x)


def bent_outside(x):
    return np.sum(bent(x, 0.5) * bent(x * x, 1.5))


def bent_twice_alike(x):
    first, second = bent(x, 0.5), bent(x, 0.5)
    first[0] = 1.0
    return np.sum(first * second) + np.sum(bent(second, 0.5))


@pytest.mark.parametrize("program", [bent_in_loop, bent_outside, bent_twice_alike])
@pytest.mark.parametrize("size", [3, 1, 0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays(program: Any, size: int, dtype: Any) -> None:
    x = np.linspace(0.4, 1.2, size).astype(dtype)
    if program is bent_twice_alike and not size:
        return
    for make in (lambda: value_and_grad(program), lambda: grad(lambda z: np.sum(grad(program)(z) ** 2)),
                 lambda: lambda z: jvp(program, (z,), (z,))):
        for found, expected in zip(leaves(make()(x)), leaves(inlined(make, x)), strict=True):
            assert found.dtype == expected.dtype and found.shape == expected.shape
            np.testing.assert_allclose(found, expected, rtol=1e-12 if dtype == np.float64 else 1e-5, atol=1e-6)


def leaves(tree: Any) -> list[Any]:
    return [leaf for each in tree for leaf in leaves(each)] if isinstance(tree, tuple) else [np.asarray(tree)]


def test_calls_in_loops_are_made_again_and_others_saved() -> None:
    x = np.array([0.4, 1.2])
    assert "def bent(x, k)" in source_of(grad(bent_in_loop), x) and "saved" not in source_of(grad(bent_in_loop), x)
    source = source_of(grad(bent_outside), x)
    assert "def bent_forward(x, k)" in source and source.count("np.exp") == 1


def test_equal_calls_are_one() -> None:
    assert source_of(grad(bent_twice_alike), np.array([0.4, 1.2])).count(" = bent_forward(") == 2


def test_compiled_code_has_the_lines() -> None:
    """There is more to fuse then."""
    compiled = jit(grad(bent_outside))
    compiled(np.array([0.4, 1.2]))
    assert "bent_forward" not in str(compiled.source)


def warned(x, k):
    if np.sum(x) < -50.0:
        raise ValueError("too cold")
    y = np.sin(x) * k
    return y * np.exp(-x) + y


def test_raises_where_nothing_needs_what_is_given() -> None:
    def program(x):
        warned(x, 1.0)
        return np.sum(x * x) + np.sum(warned(x + 100.0, 2.0)) + np.sum(warned(x + 90.0, 2.0))

    with pytest.raises(ValueError, match="too cold"):
        grad(program)(np.array([-60.0, 1.0]))


def halves(x):
    y = x[:2] * np.sin(x[1:])
    y[0] += x[0]
    return y, x[1:] * y


def shared_memory(x):
    y = np.sin(x) * x
    return x[1:] if len(y) > 100 else y[1:] * x[1:]


def test_sizes_and_memory() -> None:
    def program(x):
        (a, b), (c, d) = halves(x), halves(2.0 * x)
        s = shared_memory(x) + shared_memory(x * x) * shared_memory(3.0 * x)
        return np.sum(a * d) + np.sum(b * c) + np.sum(s)

    x = np.array([0.4, 1.2, -0.3])
    np.testing.assert_allclose(grad(program)(x), inlined(lambda: grad(program), x), rtol=1e-12)
    with pytest.raises(ValueError, match="shape"):
        grad(program)(np.ones(4))


def rooted(x):
    r = np.sqrt(x)
    return r * np.sin(r) + r


def smooth(x):
    return x * np.sin(x) + np.cos(x)


ZERO = np.array([0.0, 1.0, 4.0])


@pytest.mark.parametrize("program", [
    lambda x, y: np.sum(np.where(x > 0, rooted(x), 0.0)) + np.sum(rooted(y) * rooted(2 * y)),
    lambda x, y: np.sum(np.where(x > 0, smooth(np.sqrt(x)), 0.0)) + np.sum(smooth(y) * smooth(2 * y)),
    lambda x, y: np.sum(rooted(x)[x > 0]) + np.sum(rooted(y) * rooted(2 * y)),
    lambda x, y: (rooted(x[0]) if y[0] > 5 else 0.0) + np.sum(rooted(y[0]) * rooted(2 * y[0])),
])
def test_what_is_not_chosen_has_no_part(program: Any) -> None:
    y = np.array([0.5, 1.5, 0.7])
    with np.errstate(invalid="ignore", divide="ignore"):
        found = grad(program, (0, 1))(ZERO, y)
        expected = inlined(lambda: grad(program, (0, 1)), ZERO, y)
    assert np.all(np.isfinite(found))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("program", [bent_in_loop, bent_outside, bent_twice_alike])
def test_lanes_and_jacobians(program: Any) -> None:
    x = np.array([[0.4, 1.2], [0.3, -0.5], [0.9, 0.1]])
    for make, given in ((lambda: vmap(program), x), (lambda: vmap(value_and_grad(program)), x),
                        (lambda: hessian(program), x[0]), (lambda: jacrev(grad(program)), x[0])):
        for found, expected in zip(leaves(make()(given)), leaves(inlined(make, given)), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    assert "def bent_vmap" in source_of(vmap(bent_in_loop), x)


def test_what_is_the_same_in_all_lanes_is_computed_once() -> None:
    source = source_of(hessian(bent_in_loop), np.array([0.4, 1.2]))
    assert "def bent_jvp_vmap" in source and "x_k = np.empty((3, n))" in source


def test_what_calls_saved_is_of_all_lanes() -> None:
    def program(x, w):
        return np.sum(bent(x, w) * bent(x * w, w)) + np.sum(bent(x + w, w))

    x, w = np.array([[0.4, 1.2], [0.3, 0.5], [0.9, 0.1]]), np.array([0.3, 0.6])
    for make in (lambda: vmap(grad(program), (0, None)), lambda: vmap(grad(program, 1), (0, None)),
                 lambda: vmap(hessian(program), (0, None)),
                 lambda: hessian(lambda x, w: np.sum(vmap(program, (0, None))(x, w)), 1)):
        np.testing.assert_allclose(make()(x, w), inlined(make, x, w), rtol=1e-11, atol=1e-12)
    source = source_of(vmap(grad(program), (0, None)), x, w)
    assert "bent_forward_vmap" in source and "for lane" not in source


def test_collectives_are_where_the_lanes_are() -> None:
    def centred(x):
        a = np.sin(x) * 2.0
        m = pmean(a, "i") + axis_index("i")
        return (a - m) * np.cos(x) + m * m

    def program(x, y):
        return centred(x) * centred(2.0 * x) + centred(y) + centred(3.0)

    x = np.array([0.4, 1.2, 0.7])
    for make in (lambda: vmap(program, (0, None), axis_name="i"),
                 lambda: vmap(grad(program), (0, None), axis_name="i")):
        np.testing.assert_allclose(make()(x, 0.3), inlined(make, x, 0.3), rtol=1e-12)


def test_comments_stay_with_the_lines_that_they_are_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "BUDGET", 10**9)

    def program(x, y):
        def inner(a, b):
            # inside
            c = np.sin(a) * b
            return c * c + np.exp(-c) * a
        # outside
        return np.sum(inner(x, y)) + np.sum(inner(y, x) * inner(x + 1.0, y))

    given = np.array([0.4, 1.2]), np.array([0.3, 0.6])
    source = source_of(grad(program), *given)
    assert "def inner_reverse" in source and "# outside" in source and "# inside" not in source
    assert "# inside" in inlined(lambda: lambda *args: source_of(grad(program), *args), *given)


def through_another(x):
    k = 0.5

    def inner(y):
        a = np.sin(y) * k
        return a * np.cos(a) * x

    def outer(y):
        b = inner(y) * 0.5
        return b * inner(b) + np.sin(b)
    s = np.sum(outer(x) * outer(2.0 * x))
    k = 2.0
    s = s + np.sum(outer(x))
    x = 3.0 * x
    return s + np.sum(outer(x))


def through_a_factory(x):
    k = 0.5

    def scaled(c):
        return lambda y: np.sin(y) * c * k + np.cos(y)
    table = {"one": scaled(1.0)}

    def outer(y):
        b = table["one"](y) * 0.5
        return b * table["one"](b) + np.sin(b)
    s = np.sum(outer(x) * outer(2.0 * x))
    k = 2.0
    return s + np.sum(outer(x))


class Scaled:
    def __init__(self, k):
        self.k = k

    def of(self, y):
        a = np.sin(y) * self.k
        return a * np.cos(a)


def through_a_method(x):
    scaled = Scaled(0.5)
    method = scaled.of

    def outer(y):
        b = method(y) * 0.5
        return b * method(b) + np.sin(b)
    s = np.sum(outer(x) * outer(2.0 * x))
    scaled.k = 2.0
    return s + np.sum(outer(x))


@pytest.mark.parametrize("program", [through_another, through_a_factory, through_a_method])
def test_what_is_called_finds_other_values(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "BUDGET", 10**9)
    x = np.array([0.4, -0.7])
    value, slope = value_and_grad(program)(x)
    assert value == pytest.approx(program(x), rel=1e-13)
    np.testing.assert_allclose(slope, inlined(lambda: grad(program), x), rtol=1e-11)


# -- one array or list in two places of what is returned -----------------------------------------------


def given_twice(x):
    e = np.sin(x) * x
    for _ in range(3):
        e = e * np.cos(e) + x
    return e, e


def list_given_twice(x):
    e = np.sin(x) * x
    for _ in range(3):
        e = e * np.cos(e) + x
    items = [e, e * 2.0]
    return items, items


def with_a_view(x):
    e = np.sin(x) * x
    for _ in range(3):
        e = e * np.cos(e) + x
    return e, e[:1]


def writes_to_one(x):
    a, b = given_twice(x)
    c, d = given_twice(2.0 * x)
    a[0] = 0.0
    d[1] = 3.0 * x[0]
    return np.sum(b * b) + np.sum(c * a)


def appends_to_one(x):
    a, b = list_given_twice(x)
    c, d = list_given_twice(2.0 * x)
    a.append(3.0 * x)
    d[1] = x
    return np.sum(b[-1]) * np.sum(b[0]) + np.sum(c[1] * x)


def writes_to_a_view(x):
    a, b = with_a_view(x)
    c, d = with_a_view(2.0 * x)
    b[0] = 0.0
    c[0] = 3.0 * x[1]
    return np.sum(a * a) + np.sum(d * a) + np.sum(c)


@pytest.mark.parametrize("program", [writes_to_one, appends_to_one, writes_to_a_view])
def test_what_is_returned_twice_stays_one(program: Any) -> None:
    for n, dtype, near in ((3, np.float64, 1e-12), (2, np.float32, 1e-4)):
        x = np.linspace(0.3, 1.1, n).astype(dtype)
        value, slope = value_and_grad(program)(x)
        np.testing.assert_allclose(value, program(x), rtol=near)
        np.testing.assert_allclose(slope, inlined(lambda: grad(program), x), rtol=near)
        np.testing.assert_allclose(vmap(program)(np.stack([x, 2 * x])), [program(x), program(2 * x)], rtol=near)
