"""Functions of NumPy that are read as Python, for arguments at the edges: the same, or the same error."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np
import pytest
from lowered import assert_same

from transformer import grad


def parts_added(x, places):
    return np.add.reduceat(x, places)


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "i4", "i8", "f4", "f8"])
def test_sums_of_parts_are_as_wide_as_the_sum(dtype: str) -> None:
    assert_same(parts_added, np.array([1, 0, 1, 1]).astype(dtype), np.array([0, 2, 1]))


@pytest.mark.parametrize("place", [-1, 4])
def test_a_part_begins_inside(place: int) -> None:
    assert_same(parts_added, np.arange(4.0), np.array([0, place]))


def counted(x):
    return np.bincount(x)


COUNTED = [np.array([True, False, True]), np.zeros(0, int), np.array([3, 1], np.uint8), np.array([3, -1]),
           np.zeros(0), np.zeros((2, 2), int), np.array([1.0]), np.array(3)]


@pytest.mark.parametrize("x", COUNTED, ids=str)
def test_counts(x: Any) -> None:
    assert_same(counted, x)


def quantile(x, q):
    return np.quantile(x, q)


def percentile(x, q):
    return np.percentile(x, q)


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, 1.01, np.nan, np.array([0.1, 1.2])], ids=str)
def test_parts_of_the_whole(q: Any) -> None:
    assert_same(quantile, np.arange(4.0), q)
    assert_same(percentile, np.arange(4.0), q * 100)


def product_without_nan(x):
    return np.nanprod(x)


def sums_without_nan(x):
    return np.nancumsum(x)


def products_without_nan(x):
    return np.nancumprod(x)


def part_without_nan(x):
    return np.nanpercentile(x, 30)


WITHOUT_NAN = [product_without_nan, sums_without_nan, products_without_nan, part_without_nan]


@pytest.mark.parametrize("function", WITHOUT_NAN)
@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "i8", "f4", "f8"])
def test_whole_numbers_have_no_nan(function: Any, dtype: str) -> None:
    assert_same(function, np.array([1, 2, 0, 3]).astype(dtype))


def spread_without_nan(x):
    return np.nanvar(x) + np.nanstd(x)


def test_the_variance_of_complex_numbers_is_real() -> None:
    assert_same(spread_without_nan, np.array([1 + 1j, 2 - 1j, np.nan, 0.5j]))


def middle_of_positive(x):
    return np.median(x[x > 0])


def test_the_median_of_nothing() -> None:
    with pytest.warns(RuntimeWarning):
        assert_same(middle_of_positive, np.zeros(3))


def mean_of_positive(x):
    return np.mean(x[x > 0])


def variance_of_positive(x):
    return np.var(x[x > 0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [middle_of_positive, mean_of_positive, variance_of_positive])
def test_nothing_has_no_influence(function: Any) -> None:
    np.testing.assert_array_equal(grad(function)(-np.ones(3)), np.zeros(3))


def polynomial(x):
    return np.polyval([1, 2, 3], x)


@pytest.mark.parametrize("dtype", ["u1", "i4", "i8", "f4", "f8", "c8"])
def test_polynomials_are_as_wide_as_their_coefficients(dtype: str) -> None:
    assert_same(polynomial, np.array([250, 2, 0]).astype(dtype))


def of_cmath(z):
    radius, angle = cmath.polar(z)
    turned = cmath.sqrt(z) * cmath.phase(z) + cmath.rect(radius, angle)
    return cmath.exp(z) + cmath.log(z) + cmath.log(z + 3, 2) + turned


@pytest.mark.parametrize("z", [1 + 2j, -1.0, 2, np.complex128(1j), np.float64(-2.0), 0j], ids=str)
def test_functions_of_cmath(z: Any) -> None:
    assert_same(of_cmath, z)
