"""Where something is: extremes, places in sorted arrays, and what lies between samples; with nan, both zeros and
equal numbers, as NumPy has it, to the last bit. Products of several operands, two at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lowered import as_loops, assert_same

from transformer import grad, jit, vmap

nan, inf = np.nan, np.inf
NUMBERS: list[np.ndarray] = [
    np.array([1.0, 3.0, 3.0, 2.0]), np.array([-0.0, 0.0, -0.0]), np.array([1.0, nan, 3.0, nan]), np.array([nan, nan]),
    np.array([-inf, inf, -inf, inf]), np.array([1.5, 2.5, 2.5], np.float32), np.array([-128, 127, 127], np.int8),
    np.array([2**63, 1, 2**63], np.uint64), np.array([False, True, True]), np.array([1 + 1j, 1 + 2j, 1 + 2j]),
]
SORTED: list[np.ndarray] = [
    np.zeros(0), np.array([1.0]), np.array([1.0, 1.0, 1.0, 2.0, 2.0, 3.0, nan, nan]), np.arange(9.0)[::2],
    np.array([-inf, -0.0, 0.0, inf]), np.array([1, 3, 3, 5]), np.array([0.1, 0.3], np.float32),
    np.array([2**53, 2**53 + 1]), np.array([1 + 1j, 1 + 2j, 2 + 0j]),
]
VALUES = np.array([nan, -inf, inf, -0.0, 0.0, 1.0, 2.0, 2.5, 0.1, 7.5])


def places(x: Any) -> Any:
    made = x + x[::-1]
    of_made = np.argmax(made), np.argmin(made, axis=0), np.max(made, axis=0), np.argmax(x * x, axis=1)
    return np.argmax(x), np.argmin(x), np.argmax(x, axis=0), np.argmin(x, axis=0), np.argmax(x, axis=1), *of_made


def extremes(x: Any) -> Any:
    """Those of columns and rows, and where they are."""
    columns, rows = (np.max(x, axis=0), np.argmax(x, axis=0)), (np.argmin(x, axis=1, keepdims=True), np.min(x, axis=1))
    return *columns, np.min(x, axis=0), np.max(x, axis=1), *rows, np.argmax(x), np.max(x)


def first_positive(x: Any) -> Any:
    """Nothing is found where nothing is better than what is begun with, also where something equals it."""
    best, place = 0.0, -1
    for k in range(len(x)):
        if x[k] > best:
            best, place = x[k], k
    return best, place


def searched(a: Any, v: Any) -> Any:
    return np.searchsorted(a, v), np.searchsorted(a, v, side="right"), a.searchsorted(v[0])


def in_bins(x: Any, bins: Any) -> Any:
    return np.digitize(x, bins), np.digitize(x, bins, right=True)


def between(x: Any, xp: Any, fp: Any) -> Any:
    return np.interp(x, xp, fp)


def of_open_size(x: Any, v: Any) -> Any:
    found = np.sort(x[x > 0])
    return np.searchsorted(found, v), np.digitize(v, found), np.argmax(np.append(found, 1.0))


@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
def test_places_of_extremes(numbers: np.ndarray) -> None:
    rows = np.stack([numbers, numbers[::-1], np.roll(numbers, 1)])
    exactly(places, rows)
    if not np.any(numbers == 0):                             # of two zeros, NumPy gives either
        exactly(extremes, rows)
    exactly(places, np.asfortranarray(rows))


def test_of_no_numbers() -> None:
    for shape in ((0, 3), (3, 0)):
        assert_same(places, np.zeros(shape))


def test_of_loops_that_are_written_out() -> None:
    for x in ([0.0, -1.0], [0.0, 3.0, 3.0], [nan, 2.0], [-1.0]):
        exactly(first_positive, np.array(x))


@pytest.mark.parametrize("numbers", SORTED, ids=str)
def test_places_in_sorted_arrays(numbers: np.ndarray) -> None:
    values = VALUES.astype(complex) if numbers.dtype.kind == "c" else VALUES
    exactly(searched, numbers, values)
    exactly(searched, numbers, numbers[::-1] if numbers.size else VALUES)
    exactly(searched, numbers, values.reshape(2, 5)) if numbers.dtype.kind != "c" else None


@pytest.mark.parametrize("bins", [*SORTED[:2], *SORTED[3:6], np.array([2.0, 2.0]), np.array([1.0, 2.0, nan])], ids=str)
def test_bins(bins: np.ndarray) -> None:
    exactly(in_bins, VALUES, bins)
    exactly(in_bins, VALUES, bins[::-1]) if not np.isnan(bins).any() else None


def test_of_computed_sizes() -> None:
    for x in ([3.0, -1.0, 2.0, 5.0], [-3.0, -1.0]):
        exactly(of_open_size, np.array(x), VALUES)


SAMPLES: list[tuple[list[float], list[float]]] = [
    ([0, 1, 1, 2, 4], [1, 2, 5, -1, 0]), ([0, 1, 1, 2, 4], [inf, 2, inf, inf, -inf]), ([0, 1, 2], [nan, 2, nan]),
    ([-inf, 0, 1, inf], [1, 2, 5, -1]), ([1], [7]), ([1, 2], [7, 8]), ([1, 1, 1], [3, 4, 5]),
]


@pytest.mark.parametrize("samples", SAMPLES, ids=str)
def test_interpolation(samples: tuple[list[float], list[float]]) -> None:
    xp, fp = (np.array(each, float) for each in samples)
    for x in (VALUES, VALUES[::2].reshape(1, 5), np.array(0.3), np.zeros(0), VALUES.astype(np.float32)):
        exactly(between, x, xp, fp)
    exactly(between, np.array([0, 1, 2]), xp.astype(np.float32), fp)


def test_lanes() -> None:
    """Arrays that differ from lane to lane are searched otherwise."""
    sorted_ones, values = np.stack([np.sort(VALUES), np.arange(10.0)]), np.stack([VALUES, VALUES[::-1]])
    bins = np.stack([np.arange(5.0), np.arange(5.0)[::-1]])
    for f, one, other in ((searched, sorted_ones, values), (in_bins, values, bins)):
        for both in ((0, 0), (None, 0), (0, None)):
            args = [each if axis == 0 else each[1] for each, axis in zip((one, other), both, strict=True)]
            lanes = [f(*(each[k] if axis == 0 else each for each, axis in zip(args, both, strict=True)))
                     for k in range(2)]
            for got, *want in zip(vmap(f, in_axes=both)(*args), *lanes, strict=True):
                np.testing.assert_array_equal(got, np.stack(want))


def test_compiled() -> None:
    """The first place of an extreme is found by comparisons of whole numbers, and searches take as many steps for each
    value: for other sizes, and numbers that are not in order, too."""
    plain: Callable[..., Any] = lambda x, v: (*places(x), *extremes(x), *searched(x[0], v), np.interp(v, x[0], x[1]))
    compiled = jit(plain)
    for shape in ((2, 17), (3, 2), (2, 1000)):
        x = np.sort(np.random.default_rng(0).normal(size=shape), axis=1)
        x[1, 1] = nan
        for got, want in zip(compiled(x, VALUES), plain(x, VALUES), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-13)


PAIRS = [
    ("ij,jk,kl->il", ((2, 3), (3, 4), (4, 2))), ("ij,jk,kl->il", ((1, 3), (3, 1), (1, 2))),
    ("ij,jk,kl->il", ((0, 3), (3, 2), (2, 2))), ("ij,jk,kl->il", ((2, 0), (0, 2), (2, 2))),
    ("ij,jk,kl->il", ((2, 1), (3, 4), (4, 2))), ("ij,jk,ik->i", ((3, 2), (2, 2), (3, 2))),
    ("ij,ij,j->", ((2, 3), (2, 3), (3,))), ("ii,ij,j->i", ((3, 3), (3, 2), (2,))), ("i,i,i->", ((3,),) * 3),
    ("ij,k,l->ikl", ((2, 3), (2,), (3,))), ("ij,ij,ij->ij", ((2, 3),) * 3), (",i,ij->j", ((), (2,), (2, 3))),
    ("a,ab,abc,bc->c", ((2,), (2, 3), (2, 3, 2), (3, 2))), ("...i,ij,...j->...", ((2, 3), (3, 2), (2, 2))),
]


@pytest.mark.parametrize(("subscripts", "shapes"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_products_of_several(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    rng = np.random.default_rng(0)
    operands = [rng.normal(size=shape) for shape in shapes]
    whole = [rng.integers(-3, 4, shape) for shape in shapes]

    def product(*operands: Any) -> Any:
        return np.einsum(subscripts, *operands, optimize=True)

    def loss(*operands: Any) -> Any:
        return np.sum(np.einsum(subscripts, *operands) ** 2)

    np.testing.assert_allclose(as_loops(product, product, tuple(operands)), product(*operands), rtol=1e-12, atol=1e-14)
    exactly(product, *whole)
    positions = tuple(range(len(operands)))
    derivative = grad(loss, argnums=positions)
    for got, want in zip(as_loops(derivative, loss, tuple(operands)), derivative(*operands), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


def test_products_of_narrow_integers() -> None:
    """What is in between is in the dtype of the whole, as in NumPy: it would not fit into theirs."""
    def product(x: Any, y: Any, z: Any) -> Any:
        return np.einsum("ij,jk,kl->il", x, y, z)

    rng = np.random.default_rng(0)
    whole = rng.integers(-100, 100, (2, 3, 3)).astype(np.int8)
    for x, y in (whole, whole > 0):
        exactly(product, x, y, np.arange(6.0).reshape(3, 2))


def exactly(function: Any, *args: Any) -> None:
    """Asserts that a program's loops give what NumPy does, in the same dtypes."""
    with np.errstate(all="ignore"):
        got, want = as_loops(function, function, args), function(*args)
    got, want = (each if isinstance(each, tuple) else (each,) for each in (got, want))
    for one, other in zip(got, want, strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(one, other)


def test_one_sample_is_a_constant() -> None:
    samples, level = np.array([1.0]), np.array([7.0])
    x = np.array([0.5, 1.0, 2.0, np.nan])
    for wrapped in (lambda f: f, jit):
        np.testing.assert_array_equal(wrapped(lambda x, fp: np.interp(x, samples, fp))(x, level), np.full(4, 7.0))
        dx, dlevel = wrapped(grad(lambda x, fp: np.sum(np.interp(x, samples, fp)), (0, 1)))(x, level)
        np.testing.assert_array_equal(dx, np.zeros(4))
        np.testing.assert_array_equal(dlevel, np.array([4.0]))
