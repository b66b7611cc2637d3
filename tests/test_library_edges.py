"""Functions of NumPy that are read as Python, for arguments at the edges: the same, or the same error."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest
from bounds import Raised, outcome
from lowered import assert_same, source_of

from transformer import NotSupported, grad, jit, jvp, vmap


def parts_added(x, places):
    return np.add.reduceat(x, places)


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "i4", "i8", "f4", "f8"])
def test_sums_of_parts_are_as_wide_as_the_sum(dtype: str) -> None:
    assert_same(parts_added, np.array([1, 0, 1, 1]).astype(dtype), np.array([0, 2, 1]))


@pytest.mark.parametrize("place", [-1, 4])
def test_a_part_begins_inside(place: int) -> None:
    assert_same(parts_added, np.arange(4.0), np.array([0, place]))


FOLDED = [np.logical_or, np.logical_xor, np.divide, np.hypot, np.logaddexp, np.bitwise_and, np.maximum]


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("ufunc", FOLDED, ids=str)
def test_ufuncs_fold_in_the_type_of_what_they_give(ufunc: Any, dtype: str) -> None:
    x = np.array([[3, 1, 2], [0, 5, 1]]).astype(dtype)
    if ufunc in (np.hypot, np.logaddexp) and dtype in "?u1" or ufunc is np.bitwise_and and dtype in "f4f8":
        return                                    # float16, which is computed as float32, or no such ufunc
    assert_same(lambda x: ufunc.accumulate(x, axis=1), x)
    assert_same(lambda x: ufunc.reduce(x[:1]), x)
    assert_same(lambda x: ufunc.reduceat(x[0], [0, 2]), x)


@pytest.mark.parametrize("ufunc", [np.logical_xor, np.bitwise_and, np.bitwise_or, np.hypot, np.gcd], ids=str)
def test_ufuncs_of_nothing_give_what_changes_nothing(ufunc: Any) -> None:
    dtype = np.float64 if ufunc is np.hypot else np.uint32
    assert_same(lambda x: (ufunc.reduce(x[x > 5]), ufunc.reduce(x[:0])), np.array([3, 1], dtype))


@pytest.mark.parametrize("dtype", [np.int8, np.float32, bool])
def test_sums_have_the_dtype_that_is_said(dtype: Any) -> None:
    x = np.array([100, 90, 0])
    assert_same(lambda x: np.add.reduce(x, dtype=dtype), x)
    assert_same(lambda x: np.add.accumulate(x, dtype=dtype), x)


NUMBERS = [8, 0, 2.5, True, np.uint8(8), np.float32(0.5), np.array(3), np.array(0.0)]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_a_number_is_at_one_place_or_at_none(number: Any) -> None:
    assert_same(lambda x: np.flatnonzero(x), number)
    assert_same(lambda x: np.argwhere(x), number)


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


@pytest.mark.parametrize("items", [[1, np.inf, 2], [1, np.inf, np.inf], [-np.inf, 1, np.inf], [-np.inf, np.inf],
                                   [np.inf], [-np.inf, -np.inf, 3, np.inf]], ids=str)
@pytest.mark.parametrize("q", [0.0, 0.3, 0.6, 1.0, np.array([0.2, 0.7])], ids=str)
def test_quantiles_next_to_infinities(items: list[float], q: Any) -> None:
    assert_same(quantile, np.array(items), q)


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


def assert_as_wide(function: Any, *arguments: Any) -> None:
    """The same, and in the same dtype and shape: also where it is read beside lanes, that have no part in it."""
    assert_same(function, *arguments)
    with np.errstate(all="ignore"):
        want = outcome(lambda: function(*arguments))
        if not isinstance(want, Raised):
            got = vmap(lambda lane: function(*arguments), out_axes=None)(np.zeros(2))
            assert np.shape(got) == np.shape(want) and np.asarray(got).dtype == np.asarray(want).dtype, (got, want)


X = np.array([3.0, 1.0, 2.0, 1.0, 0.0])


def in_bins(x, w):
    return np.histogram(x, bins=3, range=(0, 2), weights=w)[0]


def in_bins_of_all(x, w):
    return np.histogram(x, bins=3, weights=w)[0]


def in_given_bins(x, w):
    return np.histogram(x, bins=[0, 1, 2], weights=w)[0]


def shares_of_bins(x, w):
    return np.histogram(x, bins=3, range=(0, 2), weights=w, density=True)[0]


WEIGHTS = [np.arange(5.0), np.arange(5, dtype="f4"), np.arange(5), np.arange(5, dtype="i1"), 1j * np.arange(5.0),
           np.array([1.0, np.inf, 1.0, 1.0, np.nan])]


@pytest.mark.parametrize("function", [in_bins, in_bins_of_all, in_given_bins, shares_of_bins])
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_weights_stay_in_their_bins_and_keep_their_dtype(function: Any, weights: Any) -> None:
    assert_as_wide(function, X, weights)
    assert_as_wide(function, X.astype("f4"), weights)


def test_bins_of_one_width_are_found_by_that() -> None:
    """As by NumPy, which corrects what lies next to an edge; nothing is sorted."""
    x = np.arange(-3, 64) / 30
    np.testing.assert_array_equal(jit(in_bins)(x, None), in_bins(x, None))
    text = source_of(in_bins, in_bins, (x, None))
    assert "sort" not in text and "while" not in text and "raise" not in text, text


@pytest.mark.parametrize("function", [in_bins, in_given_bins])
@pytest.mark.parametrize("count", [1, 4, 6])
def test_each_number_has_a_weight(function: Any, count: int) -> None:
    with pytest.raises(ValueError):
        jit(function)(X, np.arange(float(count)))


def edges_of_bins(x):
    return np.histogram(x, bins=3)[1]


@pytest.mark.parametrize("x", [X.astype("f4"), np.zeros(0), np.zeros(3), np.array([1.0, np.nan]), np.array([3, 1, 1])],
                         ids=str)
def test_the_edges_of_bins(x: Any) -> None:
    assert_as_wide(edges_of_bins, x)


def in_bins_from(x, low, high):
    return np.histogram(x, bins=3, range=(low, high))[0]


def in_bins_between(x, edges):
    return np.histogram(x, bins=edges)[0]


def test_bins_increase() -> None:
    assert_as_wide(in_bins_from, X, 2.0, 0.0)
    assert_as_wide(in_bins_from, X, 1.0, 1.0)
    assert_as_wide(in_bins_between, X, np.array([0.0, 2.0, 1.0]))


def differences_with_ends(x, end):
    return np.ediff1d(x, to_end=end)


@pytest.mark.parametrize("dtype", ["i1", "i8", "f4", "f8"])
@pytest.mark.parametrize("end", [7, 2.5, np.arange(2.0)], ids=str)
def test_ends_become_what_the_differences_are(dtype: str, end: Any) -> None:
    assert_as_wide(differences_with_ends, X.astype(dtype), end)


def in_both(x, y):
    return np.intersect1d(x, y)


def quotient(x, y):
    return np.polydiv(x, y)[0]


def remainder(x, y):
    return np.polydiv(x, y)[1]


def with_zeros_at(x):
    return np.poly(x)


@pytest.mark.parametrize("dtypes", [("f4", "f8"), ("f8", "f4"), ("i1", "i8"), ("f4", "f4")])
def test_the_wider_dtype(dtypes: tuple[str, str]) -> None:
    x, y = X.astype(dtypes[0]), np.array([1.0, 2.0]).astype(dtypes[1])
    assert_as_wide(in_both, x, y)
    assert_as_wide(quotient, x, y)
    assert_as_wide(remainder, x, y)
    assert_as_wide(with_zeros_at, x)


def product_of_polynomials(x, y):
    return np.polymul(x, y)


def test_a_product_of_polynomials_has_no_zeros_in_front() -> None:
    y = np.array([1.0, 2.0])
    assert_as_wide(product_of_polynomials, y, X)
    assert_as_wide(product_of_polynomials, np.zeros(1), X)
    with pytest.raises(ValueError, match="NumPy drops it"):
        jit(product_of_polynomials)(y, X - 3.0)


def windows(x):
    n = len(x)
    return np.bartlett(n), np.hanning(n), np.hamming(n), np.blackman(n), np.kaiser(n, 2.0)


@pytest.mark.parametrize("n", range(4))
def test_a_window_of_one_is_one(n: int) -> None:
    assert_as_wide(windows, np.zeros(n))


def unwrapped(x, period):
    return np.unwrap(x, period=period)


@pytest.mark.parametrize("period", [360, 7, 6.0])
def test_whole_numbers_are_unwrapped(period: Any) -> None:
    assert_as_wide(unwrapped, np.array([0, 350, 20, 4, -300]), period)


def parts_of_numbers(x):
    return np.modf(x)


@pytest.mark.parametrize("dtype", ["i2", "i8", "f4"])
def test_parts_of_whole_numbers_are_floats(dtype: str) -> None:
    assert_as_wide(parts_of_numbers, np.array([1, 0, 3]).astype(dtype))


def covariance(x):
    return np.cov(x)


def spread_with_few(x):
    return np.nanvar(x, ddof=1), np.nanvar(x, ddof=3)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [covariance, spread_with_few])
@pytest.mark.parametrize("n", range(3))
def test_nothing_is_known_of_too_few(function: Any, n: int) -> None:
    x = np.arange(float(n)) ** 2
    np.testing.assert_allclose(jvp(function, (x,), (x,))[0], function(x))


def norms(x):
    return np.array([np.linalg.norm(x, 1), np.linalg.norm(x, -1), np.linalg.norm(x, np.inf)]) // 2


def largest_sum(x):
    return np.linalg.norm(x, 1)


@pytest.mark.parametrize("dtype", ["i1", "i8", "u1", "f4"])
def test_norms_are_floats(dtype: str) -> None:
    x = np.array([[100, 27], [101, 4]]).astype(dtype)
    for function in (norms, largest_sum):
        assert_as_wide(function, x)
        assert_as_wide(function, x[0])


def middle_of_numbers(x):
    return np.nanmedian(x)


def middle_of_positive_numbers(x):
    return np.nanmedian(x[x > 0]) * np.sum(x)


def part_of_columns(x):
    return np.nanquantile(x, 0.3, axis=0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_middle_of_nothing_is_nan(dtype: str) -> None:
    assert_as_wide(middle_of_numbers, np.zeros(0, dtype))
    assert_as_wide(middle_of_positive_numbers, np.zeros(3, dtype))
    assert_as_wide(middle_of_positive_numbers, np.arange(4).astype(dtype))
    assert_as_wide(part_of_columns, np.zeros((0, 3), dtype))


def repeated(x):
    return np.resize(x, (2, 3))


@pytest.mark.parametrize("n", range(3))
def test_nothing_is_repeated_as_zeros(n: int) -> None:
    assert_as_wide(repeated, np.arange(float(n)) + 1)


def in_the_plane(x):
    return np.fft.fft2(x)


def test_no_planes_are_transformed() -> None:
    assert_as_wide(in_the_plane, np.zeros((0, 3, 4)))
    assert vmap(in_the_plane)(np.zeros((0, 3, 4))).shape == (0, 3, 4)


@pytest.mark.filterwarnings("ignore")
def test_no_number_of_python_and_no_count_widens_what_there_is() -> None:
    picked = np.array([0, 1, 0])
    functions: list[Any] = [
        lambda x: np.vecdot(x, x), lambda x: np.vecmat(x[:, 0], x), lambda x: np.mean(x, where=x > 1),
        lambda x: np.var(x, axis=0, where=x > 1), lambda x: np.std(x, where=x > 1, ddof=9), np.nan_to_num,
        lambda x: np.select([x > 1, x > 0], [x, 2], -1), lambda x: np.choose(picked, [x[0], 3]),
        lambda x: np.choose(picked, [x[0], 3.5]), lambda x: np.isneginf(x[0, 0]), np.signbit,
        lambda x: np.einsum("ij,ij", x, x), lambda x: np.linalg.norm(x, 1), lambda x: np.interp(x, [0, 1], [5, 6])]
    for dtype in ("?", "i1", "u1", "f4", "c8"):
        x = np.array([[0, 1, 2], [3, 1, np.inf if dtype == "f4" else 90]]).astype(dtype)
        for function in functions:
            assert_as_wide(function, x)
    half = np.array([0.5, np.inf, -np.inf, np.nan], np.float16)
    assert jit(lambda x: np.ldexp(x, np.array([1, 2])))(np.array([1, 3], np.uint8)).tolist() == [2, 12]
    for function in (np.i0, np.nan_to_num):
        got, want = vmap(function)(half), function(half)
        assert got.dtype == want.dtype and np.allclose(got, want, rtol=1e-3, equal_nan=True)


def weighted(x):
    return np.average(x, axis=0, weights=np.array([1.0, 2.0, 3.0]))


def test_each_row_has_a_weight() -> None:
    assert_same(weighted, np.ones((1, 4)))


def test_what_is_behind_the_point_has_the_sign_of_the_number() -> None:
    fraction, _ = jvp(lambda x: np.modf(x)[0], (np.array([-0.0, -2.0, 2.0]),), (np.ones(3),))
    assert np.signbit(fraction).tolist() == [True, True, False]


def test_sums_of_float32_that_are_exact() -> None:
    x = np.full(3, 0.1, np.float32)
    assert_same(lambda x: math.fsum(x), x)


def test_in_which_order_elements_lie_in_memory_is_not_known() -> None:
    for function in (lambda x: np.ravel(x, "K"), lambda x: x.flatten(order="A"), lambda x: np.reshape(x, (6,), "A")):
        with pytest.raises(NotSupported, match="with order="):
            jit(function)(np.asfortranarray(np.ones((2, 3))))
    assert_same(lambda x: (np.ravel(x, "K"), x.copy("K"), np.reshape(x, (4,), order="A")), np.arange(4.0))


def test_distances_of_whole_numbers_do_not_wrap_around() -> None:
    assert_same(lambda x, at: np.gradient(x, at), np.array([1.0, 2.0, 5.0]), np.array([200, 100, 0], np.uint8))


def test_lanes_of_narrow_numbers_have_functions_of_math_in_doubles() -> None:
    for x in (np.array([2, 3], np.float32), np.array([2, 3], np.uint8)):
        assert vmap(lambda v: math.exp(v) + math.hypot(v, 1.0))(x).tolist() \
            == pytest.approx([math.exp(v) + math.hypot(v, 1.0) for v in x], rel=1e-14)
