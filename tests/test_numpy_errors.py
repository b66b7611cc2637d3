"""What NumPy raises for the values of arrays: compiled code raises the same, and tells the user's line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from transformer import grad, jit, jvp, vmap

pytestmark = pytest.mark.filterwarnings("ignore")

NAN = np.full((2, 3), np.nan)
ROW = np.array([[1.0, np.nan, 0.5], [np.nan, np.nan, np.nan]])


def place_of_largest(x):
    return np.nanargmax(x)


def places_in_rows(x):
    return np.nanargmin(x, axis=1)


def places_kept(x):
    return np.nanargmax(x, axis=0, keepdims=True)


def smallest_in_rows(x):
    total = np.zeros(len(x))
    for k, row in enumerate(x):
        total[k] = 2 * row[np.nanargmin(row)]
    return total


BINS = np.array([0.0, 1.0, 2.5])


def in_bins(x, bins):
    return np.digitize(x, bins)


def in_bins_with_ends(x, bins):
    return np.digitize(x, bins, right=True)


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return np.asarray(function(*arguments)).tolist()
    except (ValueError, TypeError) as raised:
        return ValueError if isinstance(raised, ValueError) else TypeError, str(raised).split("\n")[0]


def notes(function: Callable[..., Any], *arguments: Any) -> str:
    """What is told besides the text of an error."""
    with pytest.raises(ValueError) as raised:
        function(*arguments)
    return "\n".join(getattr(raised.value, "__notes__", ()))


@pytest.mark.parametrize("x", [NAN, ROW, ROW[:1], np.arange(6).reshape(2, 3), ROW > 0], ids=repr)
@pytest.mark.parametrize("function", [place_of_largest, places_in_rows, places_kept, smallest_in_rows])
def test_places_of_extremes_without_numbers(function: Any, x: Any) -> None:
    assert outcome(jit(function), x) == outcome(function, x)


def test_the_line_of_the_user() -> None:
    assert "return np.nanargmin(x, axis=1)" in notes(jit(places_in_rows), ROW)
    assert "return np.nanargmax(x)" in notes(jit(vmap(place_of_largest)), ROW)
    assert "return np.digitize(x, bins)" in notes(jit(in_bins), BINS, np.array([1.0, 0.0, 2.0]))


ORDERS = [BINS, BINS[::-1], np.array([1.0, 1.0, 1.0]), np.array([1.0, 0.0, 2.0]), np.array([0.0, 2.0, 1.0]),
          np.array([2.0, 2.0, 1.0]), np.array([3.0]), np.zeros(0), np.zeros((2, 2))]


@pytest.mark.parametrize("bins", ORDERS, ids=repr)
@pytest.mark.parametrize("function", [in_bins, in_bins_with_ends])
def test_bins_that_rise_or_fall(function: Any, bins: Any) -> None:
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 2.5, 7.0, np.nan])
    assert outcome(jit(function), x, bins) == outcome(function, x, bins)
    assert outcome(vmap(function, in_axes=(0, None)), x, bins) == outcome(function, x, bins)
    assert outcome(jit(function), x[2], bins) == outcome(function, x[2], bins)


def test_bins_of_each_lane() -> None:
    x, bins = np.array([0.5, 1.0]), np.stack([BINS, BINS[::-1]])
    for function in (in_bins, in_bins_with_ends):
        wanted = [function(x, row).tolist() for row in bins]
        for lanes in (vmap(function, in_axes=(None, 0)), jit(vmap(function, in_axes=(None, 0)))):
            assert lanes(x, bins).tolist() == wanted
            with pytest.raises(ValueError, match="bins must be monotonically"):
                lanes(x, bins[:, [1, 0, 2]])


def quantile(x):
    return np.quantile(x, 0.3)


def percentile(x):
    return np.percentile(x, [30, 40])


def quantile_without_nan(x):
    return np.nanquantile(x, 0.3)


def percentile_without_nan(x):
    return np.nanpercentile(x, 30)


def middle(x):
    return np.median(x) + np.nanmedian(x)


@pytest.mark.parametrize("function", [quantile, percentile, quantile_without_nan, percentile_without_nan, middle])
def test_parts_of_complex_numbers(function: Any) -> None:
    x = np.array([1 + 2j, 3 - 1j, 1 + 0.5j])
    assert outcome(jit(function), x) == outcome(function, x)
    assert outcome(vmap(function), x[None])[0] == (TypeError if function is not middle else function(x))


def running(x):
    return np.cumsum(x), np.cumsum(x.reshape(3, -1), axis=1)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4"])
def test_running_sums_keep_the_sign_of_zero(dtype: str) -> None:
    x = np.array([-1.0, 0, 1, -1, 0, 0], dtype) * np.array(0.0).astype(dtype)
    for found, wanted in zip(jit(running)(x), running(x), strict=True):
        for part in (np.real, np.imag):
            assert np.signbit(part(found)).tolist() == np.signbit(part(wanted)).tolist()


def solved(a):
    b = np.linalg.inv(a + np.eye(2))
    return np.sum(np.linalg.solve(a, np.ones(2))) + b[0, 0]


def determinant(a):
    return np.linalg.det(a)


@pytest.mark.parametrize("target, line", [
    (jit(solved), "np.linalg.solve(a, np.ones(2))"), (grad(solved), "np.linalg.solve(a, np.ones(2))"),
    (jit(grad(determinant)), "return np.linalg.det(a)"), (grad(determinant), "return np.linalg.det(a)"),
])
def test_the_line_of_a_singular_matrix(target: Any, line: str) -> None:
    assert line in notes(target, np.ones((2, 2)))


def large_rows(x):
    rows = []
    for v in x:
        if v > 1:
            rows.append(v * x)
    return np.stack(rows)


def all_rows(x):
    return np.vstack([v * x for v in x])


def rows_that_follow(x):
    rows, k = [], 0
    while k < len(x) and x[k] > 1:
        rows.append(np.outer(x, x))
        k += 1
    return np.concatenate(rows)


@pytest.mark.parametrize("x", [np.array([2.0, 0.5, 3.0]), np.array([0.5, 0.25]), np.zeros(0)], ids=repr)
@pytest.mark.parametrize("function", [large_rows, all_rows, rows_that_follow])
def test_joining_of_no_arrays(function: Any, x: Any) -> None:
    assert outcome(jit(function), x) == outcome(function, x)
    assert outcome(lambda x: jvp(function, (x,), (x,))[0], x) == outcome(function, x)


def into_rows(x, count):
    return x.reshape(count, -1) * 2


@pytest.mark.parametrize("count", [2, 0, 3])
@pytest.mark.parametrize("size", [6, 0])
def test_rows_of_no_elements(size: int, count: int) -> None:
    x = np.arange(size) + 1.0
    assert outcome(jit(into_rows), x, count) == outcome(into_rows, x, count)
