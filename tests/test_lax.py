"""`lax`: control flow as functions, and strict arithmetic; plain, differentiated, batched and compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lane_loops import check_vmap

from transformer import TransformError, check_grads, grad, jit, lax, vmap

RNG = np.random.default_rng(0)
X = RNG.normal(size=5)
ROWS = RNG.normal(size=(3, 5))


# -- control flow -------------------------------------------------------------------------------


def decayed(x: Any) -> Any:
    return lax.scan(lambda total, v: (total * 0.5 + v, total * v), 1.0, x)


def by_tree(x: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        return {"a": carry["a"] + row["p"], "b": carry["b"] * row["q"]}, {"s": carry["a"] * row["q"]}
    return lax.scan(step, {"a": 0.5, "b": 1.0}, {"p": x, "q": x * 2})


PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {          # with lax, and without
    "cond": (lambda x: lax.cond(x[0] > 0, lambda v: v * 2, lambda v: -v, x), lambda x: x * 2 if x[0] > 0 else -x),
    "switch": (lambda x: lax.switch(np.sum(x > 0), [np.sin, np.cos, lambda v: v * v], x),
               lambda x: [np.sin, np.cos, np.square][min(np.sum(x > 0), 2)](x)),
    "while_loop": (lambda x: lax.while_loop(lambda v: np.sum(v * v) < 50, lambda v: v * 1.5 + 0.1, x),
                   lambda x: _doubled(x)),
    "fori_loop": (lambda x: lax.fori_loop(1, 4, lambda i, v: np.sin(v) + x[i], x), lambda x: _stepped(x)),
    "scan": (decayed, lambda x: _decayed(x)),
    "scan, reversed": (lambda x: lax.scan(lambda c, v: (c * 0.5 + v, c), 0.0, x, reverse=True, unroll=2),
                       lambda x: _reversed(x)),
    "scan, with a length": (lambda x: lax.scan(lambda c, _: (np.sin(c), c), x, None, length=3),
                            lambda x: (np.sin(np.sin(np.sin(x))), np.stack([x, np.sin(x), np.sin(np.sin(x))]))),
    "scan, of trees": (lambda x: by_tree(x)[1]["s"] + by_tree(x)[0]["b"],
                       lambda x: (0.5 + np.cumsum(x) - x) * 2 * x + np.prod(2 * x)),
    "map": (lambda x: lax.map(lambda v: np.sin(v) * v, x), lambda x: np.sin(x) * x),
    "associative_scan": (lambda x: lax.associative_scan(lambda a, b: a * b, x), np.cumprod),
    "associative_scan, reversed": (lambda x: lax.associative_scan(np.add, x, reverse=True),
                                   lambda x: np.cumsum(x[::-1])[::-1]),
    "dynamic_slice": (lambda x: lax.dynamic_slice(x, (np.argmax(x),), (3,)), lambda x: _part(x, np.argmax(x))),
    "dynamic_update_slice": (lambda x: lax.dynamic_update_slice(x, x[:2] * 2, (np.argmax(x),)),
                             lambda x: _updated(x, min(np.argmax(x), 3))),
    "select": (lambda x: lax.select(x > 0, x * 2, -x), lambda x: np.where(x > 0, x * 2, -x)),
    "stop_gradient": (lambda x: x * np.sin(x), lambda x: x * np.sin(x)),
    "strict": (lambda x: lax.add(lax.mul(x, x), lax.exp(lax.neg(x))), lambda x: x * x + np.exp(-x)),
}
CASES = pytest.mark.parametrize("name", PROGRAMS)


def _doubled(x: Any) -> Any:
    while np.sum(x * x) < 50:
        x = x * 1.5 + 0.1
    return x


def _stepped(x: Any) -> Any:
    v = x
    for i in (1, 2, 3):
        v = np.sin(v) + x[i]
    return v


def _decayed(x: Any) -> Any:
    total, rows = 1.0, []
    for v in x:
        total, row = total * 0.5 + v, total * v
        rows.append(row)
    return total, np.array(rows)


def _reversed(x: Any) -> Any:
    total, rows = 0.0, []
    for v in x[::-1]:
        rows.append(total)
        total = total * 0.5 + v
    return total, np.array(rows[::-1])


def _part(x: Any, start: int) -> Any:
    start = min(start, len(x) - 3)
    return x[start : start + 3]


def _updated(x: Any, start: int) -> Any:
    result = x.copy()
    result[start : start + 2] = x[:2] * 2
    return result


def total(program: Callable[..., Any]) -> Callable[..., Any]:
    """A number that all results of a program have a part in."""

    def number(x: Any) -> Any:
        found = program(x)
        if isinstance(found, tuple):
            return np.sum(np.sin(found[0])) + np.sum(np.cos(found[1]))
        return np.sum(np.sin(found))
    return number


def assert_close(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@CASES
def test_value(name: str) -> None:
    program, plain = PROGRAMS[name]
    assert_close(program(X), plain(X))


@CASES
def test_derivative(name: str) -> None:
    check_grads(total(PROGRAMS[name][0]), (X,), order=2)


@CASES
def test_batched(name: str) -> None:
    program, plain = PROGRAMS[name]
    check_vmap(program, ROWS)
    check_vmap(grad(total(program)), ROWS)
    found = vmap(program)(ROWS)
    for k, row in enumerate(ROWS):
        assert_close(tuple(part[k] for part in found) if isinstance(found, tuple) else found[k], plain(row))


@pytest.mark.parametrize("name", ["while_loop", "scan", "dynamic_update_slice"])
def test_compiled(name: str) -> None:
    program, plain = PROGRAMS[name]
    assert_close(jit(program)(X), plain(X))
    slope = grad(total(program))
    np.testing.assert_allclose(jit(vmap(slope))(ROWS), [slope(row) for row in ROWS], rtol=1e-10)


def test_only_one_side_is_computed() -> None:
    def root(x: Any) -> Any:
        return lax.cond(x > 0, np.log, lambda v: v, x)
    np.testing.assert_array_equal(vmap(grad(root))(np.array([-1.0, 0.0, 2.0])), [1.0, 1.0, 0.5])


def test_nothing_happens_without_trips() -> None:
    assert lax.fori_loop(3, 0, lambda i, x: x + 1, 7) == 7
    assert grad(lambda x: lax.while_loop(lambda v: v < 0, np.sin, x))(2.0) == 1.0


def test_index_of_switch_is_clipped() -> None:
    branches = [np.sin, np.cos]
    indices = np.array([-3, 0, 1, 9])
    found = vmap(lambda k: lax.switch(k, branches, 0.5))(indices)
    np.testing.assert_allclose(found, [np.sin(0.5), np.sin(0.5), np.cos(0.5), np.cos(0.5)])


@pytest.mark.parametrize("start, first", [(-9, 0), (-1, 4), (-2, 4), (-5, 1), (0, 0), (4, 4), (5, 4), (99, 4)])
def test_starts_are_moved_so_that_they_fit(start: int, first: int) -> None:
    x = np.arange(6.0)
    np.testing.assert_array_equal(lax.dynamic_slice(x, (start,), (2,)), x[first : first + 2])
    expected = x.copy()
    expected[first : first + 2] = -1
    np.testing.assert_array_equal(lax.dynamic_update_slice(x, -np.ones(2), (start,)), expected)
    assert grad(lambda x: lax.dynamic_slice(x, (start,), (2,))[0])(x).argmax() == first


def test_slices_differ_from_lane_to_lane() -> None:
    starts = np.array([-7, -1, 0, 2, 9])
    A = RNG.normal(size=(5, 4, 3))
    check_vmap(lambda a, i: lax.dynamic_slice(a, (i, 1), (2, 2)), A, starts)
    check_vmap(lambda a, i: lax.dynamic_slice(a, (0, i), (4, 1)), A[0], starts, in_axes=(None, 0))
    check_vmap(lambda a, b, i: lax.dynamic_update_slice(a, b, (i, i)), A, A[:, :2, :2], starts)
    check_vmap(grad(lambda a, i: np.sum(lax.dynamic_slice(a, (i, 1), (2, 2)) ** 2)), A, starts)


# -- strict arithmetic --------------------------------------------------------------------------

MIXED = {
    "dtypes": (lambda x: lax.add(x, x.astype(np.float32)), "lax.add requires arguments of equal dtype"),
    "an integer": (lambda x: lax.mul(x, 1), "got float64 and int (np.multiply converts them)"),
    "shapes": (lambda x: lax.sub(x, x[:2]), "lax.sub requires arguments of equal shape"),
    "an axis of length 1": (lambda x: lax.sub(x, x[:1]), "lax.sub requires arguments of equal shape"),
    "exp of an integer": (lambda x: lax.exp(3) * x, "exp expects floating point numbers, got int"),
    "floor of an integer": (lambda x: lax.floor(3) * x, "floor expects real floating point numbers, got int"),
    "bits of a float": (lambda x: lax.bitwise_and(x, x), "bitwise_and expects integers and booleans, got float64"),
    "cases": (lambda x: lax.select(x > 0, x, x[:2]), "lax.select requires arguments of equal shape"),
    "dtypes of cases": (lambda x: lax.select(x > 0, x, x.astype(np.float32)), "requires arguments of equal dtype"),
    "the number of starts": (lambda x: lax.dynamic_slice(x, (0, 0), (1,)), "a start and a size for each axis"),
    "the rank of an update": (lambda x: lax.dynamic_update_slice(x, x[None], (0,)), "a start and a size for each axis"),
}


@pytest.mark.parametrize("name", MIXED)
def test_what_does_not_go_together(name: str) -> None:
    """It is a TypeError, plain and where it is read, with its place."""
    program, text = MIXED[name]
    with pytest.raises(TypeError) as plain:
        program(X)
    assert text in str(plain.value)
    with pytest.raises(TypeError) as caught:
        grad(lambda x: np.sum(program(x)))(X)
    assert isinstance(caught.value, TransformError) and "File " in str(caught.value)
    assert text.split(",")[0] in str(caught.value)


LENGTHS = {
    "scan": lambda x: lax.scan(lambda c, v: (c, v[0]), 0.0, (x, x[:2]))[1],
    "scan with a length": lambda x: lax.scan(lambda c, v: (c, v), 0.0, x, length=2)[1],
    "map": lambda x: lax.map(lambda v: v[0], (x, x[:2])),
    "of no rows": lambda x: lax.map(lambda v: v, np.zeros(0)) * x,
    "a part that is too long": lambda x: lax.dynamic_slice(x, (0,), (9,)),
    "an update that is too long": lambda x: lax.dynamic_update_slice(x, np.zeros(9), (0,)),
    "a predicate": lambda x: lax.select(x[:2] > 0, x, x),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_that_do_not_fit(name: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        LENGTHS[name](X)
    with pytest.raises((ValueError, TypeError)):
        grad(lambda x: np.sum(LENGTHS[name](x)))(X)


def test_what_goes_together() -> None:
    x = X.astype(np.float32)
    assert lax.add(x, 1.0).dtype == np.float32
    assert lax.add(np.float32(1), 1.0).dtype == np.float32
    assert lax.add(42, 42) == 84 and isinstance(lax.add(42, 42), int)
    assert lax.eq(np.arange(3), 1).tolist() == [False, True, False]
    np.testing.assert_array_equal(lax.max(X, 0.0), np.maximum(X, 0))
    assert grad(lambda x: np.sum(lax.add(x, 1.0)))(x).dtype == np.float32


def test_halves_are_rounded_away_from_zero() -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, -2.5, 0.49999999999999994, 0.3, -0.7])
    expected = [1, 2, 3, -1, -3, 0, 0, -1]
    np.testing.assert_array_equal(lax.round(x), expected)
    np.testing.assert_array_equal(vmap(lax.round)(x), expected)
    assert lax.round(x.astype(np.float32)).dtype == np.float32


def test_sizes_are_taken_to_be_equal() -> None:
    both = jit(lambda x, y: lax.select(x > 0, lax.add(x, y), y))
    np.testing.assert_array_equal(both(np.arange(5.0), np.ones(5)), [1, 2, 3, 4, 5])
    with pytest.raises(TypeError, match="add requires arguments of equal shape, got"):
        both(np.arange(5.0), np.ones(4))


@pytest.mark.parametrize("function", [lax.erf, lax.lgamma, lax.logistic])
def test_halves_stay_halves(function: Any) -> None:
    x = np.array([0.5, 2.0], np.float16)
    assert function(x).dtype == np.float16
    assert vmap(function)(x).dtype == np.float16


NUMBERS = {
    "what is put in": lambda i: lax.dynamic_update_slice(i, np.ones(1), (0,)),
    "what is around": lambda i: lax.pad(i, 0.5, [(1, 1, 0)]),
    "bits of floats": lambda i: lax.population_count(i * 0.5),
    "a number of a case for a truth": lambda i: lax.select(i, i, i),
    "a float for a case": lambda i: lax.select_n(i * 0.5, i, i),
    "truths that are added": lambda i: lax.cumsum(i > 0),
    "bits of floats, reduced": lambda i: lax.reduce_and(i * 0.5, (0,)),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_do_not_fit(name: str) -> None:
    i = np.arange(3)
    with pytest.raises(TypeError):
        NUMBERS[name](i)
    with pytest.raises(TypeError, match="test_lax"):
        vmap(lambda i, x: NUMBERS[name](i), in_axes=(None, 0))(i, np.ones(2))
