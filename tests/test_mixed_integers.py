"""Integers of several widths beside each other and beside Python's numbers: NumPy's numbers and dtypes, as source and
as compiled code, or an error where NumPy has one."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest
from numpys import assert_numpys
from thinned import pairs

from transformer import jit
from transformer.core.errors import NotSupported

# -- signs: what has no sign has no opposite --------------------------------------------------------


def plus_opposite(x, b):
    return x + (-b), x - (-b)


def plus_product_with_opposite(x, b):
    return x + (-b) * x, x - (-b) / x, -((-b) * x)


def less_in_place(x, b):
    x = x.copy()
    x -= -b
    return x


def totals(x, b):
    s = x[0]
    for i in range(len(x)):
        s -= -b[i] * x[i]
    return s


@pytest.mark.parametrize("function, dtypes", pairs(
    [plus_opposite, plus_product_with_opposite, less_in_place, totals],
    ["u1 i1", "u1 u4", "u4 u1", "u1 i8", "i1 i4", "u8 i8", "u1 f8", "u4 f4", "i1 f8"]))
def test_signs_stay_where_integers_wrap_around(function: Any, dtypes: str) -> None:
    narrow, other = dtypes.split()
    assert_numpys(function, np.array([70, 3, 100]).astype(other), np.array([60, 120, 9]).astype(narrow))


def complements_of_one_less(x):
    return [~i for i in x - np.uint8(1)]


def test_what_is_called_after_a_constant_without_a_sign() -> None:
    assert_numpys(complements_of_one_less, np.array([7, 1]))


def plus_negative_constant(x):
    return x + (-1), x - (-1)


def by_negative_constant(x):
    return x * -1


def plus_least(x):
    return x + (-128)


def plus_opposite_number(x, k):
    return x + (-k)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i4", "u8", "f4"])
def test_negative_numbers_of_python_have_to_fit(dtype: str) -> None:
    x = np.array([1, 0, 3]).astype(dtype)
    for function in (plus_negative_constant, by_negative_constant, plus_least):
        assert_numpys(function, x)
    assert_numpys(plus_opposite_number, x, 2)
    assert_numpys(plus_opposite_number, x, 128)


# -- stores: NumPy's numbers have to fit integers with a sign, and wrap around in those without ---------


def element_set(x, v):
    x = x.copy()
    x[0] = v
    return x


def slice_set(x, v):
    x = x.copy()
    x[1:] = v
    return x


def picked_set(x, v):
    x = x.copy()
    x[[0, 2]] = v
    return x


def masked_set(x, v):
    x = x.copy()
    x[x > 1] = v
    return x


def element_of_another(x, v):
    x = x.copy()
    y = np.array([v, v])
    x[1] = y[1]
    return x


def element_plus(x, v):
    x = x.copy()
    x[1] += v
    return x


def constants_set(x):
    """The dtype of places says nothing about that of the number."""
    x = x.copy()
    x[[0, 2]] = np.int64(-1)
    x[np.array([1])] = -1 * np.int64(2)
    return x


NUMBERS = [np.int64(300), np.int64(-1), np.uint8(200), np.float64(300.7), np.float32(np.nan), np.float64(-2.0),
           np.float64(1e30), 300, -1, 2.5, np.inf, True, np.True_]


@pytest.mark.parametrize("number, dtype", pairs(NUMBERS, ["?", "i1", "u1", "i4", "i8", "f4"]), ids=repr)
def test_numbers_that_are_stored(dtype: str, number: Any) -> None:
    if dtype == "u1" and isinstance(number, np.floating) and not (0 <= number < 256):
        return
    x = np.array([1, 0, 3]).astype(dtype)
    for function in (element_set, slice_set, element_of_another, element_plus):
        assert_numpys(function, x, number)
    if not isinstance(number, float | np.floating) or abs(number) < 100:
        assert_numpys(picked_set, x, number)
        assert_numpys(masked_set, x, number)


@pytest.mark.parametrize("dtype", ["u1", "u4"])
def test_constants_that_are_stored_at_places_wrap_around(dtype: str) -> None:
    assert_numpys(constants_set, np.array([1, 0, 3]).astype(dtype))


# -- `initial` has the dtype of the result --------------------------------------------------------------


def extremes_from(x, v):
    return np.max(x, initial=v), np.min(x, initial=v), np.max(x, initial=v, where=x > 1)


def totals_from(x, v):
    return np.sum(x, initial=v), np.prod(x, initial=v), np.sum(x, initial=v, dtype=np.int16)


def extremes_of_none_from(x, v):
    return np.max(x[x > 5], initial=v), np.min(x[:0], initial=v), np.max(x[None, :0], axis=1, initial=v)


def extremes_along_axes_from(x, v):
    rows = np.stack((x, x))
    return np.max(rows, axis=0, initial=v), np.min(rows, axis=1, keepdims=True, initial=v)


@pytest.mark.parametrize("number, dtype", pairs(
    [1.5, -1, 300, np.int64(300), np.uint8(200), np.float64(2.5), True], ["?", "i1", "u1", "i8", "f4"]), ids=repr)
def test_initial_is_converted_to_what_is_found(dtype: str, number: Any) -> None:
    x = np.array([1, 0, 3]).astype(dtype)
    for function in (extremes_from, totals_from, extremes_of_none_from, extremes_along_axes_from):
        assert_numpys(function, x, number)


# -- bounds that no number of the dtype is beyond ---------------------------------------------------------


def clipped_by_constants(x):
    return np.clip(x, -1, None), np.clip(x, None, 300), np.clip(x, -1, 300), x.clip(-1), np.clip(x, -128, 2)


def clipped_by_others(x):
    return np.clip(x, -1.5, None), np.clip(x, 0, 2.5), np.clip(x, np.int64(-1), None), np.clip(x, np.uint8(2), 3)


def clipped_beyond(x):
    return np.clip(x, 300, None)


def clipped(x, low, high):
    return np.clip(x, low, high)


def clipped_numbers(x, k):
    return np.clip(x[0], k, None), np.clip(k, x[0], x[2]), np.clip(2.5, None, k)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i8", "u8", "f4"])
def test_bounds(dtype: str) -> None:
    x = np.array([1, 2, 3]).astype(dtype)
    for function in (clipped_by_constants, clipped_by_others, clipped_beyond):
        assert_numpys(function, x)
    for low, high in ((-1, 300), (-1, None), (None, -3), (2, 300), (300, None), (2, -1), (np.int64(-1), 2)):
        assert_numpys(clipped, x, low, high)
    for k in (-1, 2, -300):
        assert_numpys(clipped_numbers, x, k)


def clipped_by_nothing(x):
    y = np.clip(x, None, None)
    y[0] = 5
    return x, y


def test_what_nothing_bounds_is_a_copy() -> None:
    assert_numpys(clipped_by_nothing, np.arange(3))


# -- numbers of Python's beside arrays that they are joined with --------------------------------------------


def joined(x, k):
    return np.concatenate((x, k), axis=None), np.concatenate((k, x, x[:2]), axis=None)


def joined_as_arrays(x, k):
    return np.append(x, k), np.hstack((x, k))


def joined_as_sets(x, k):
    return np.union1d(x, k), np.setxor1d(x, k), np.union1d(x, [k, k])


JOINED, OTHERS = [2, 300, 2.5, True, np.int64(2)], ["?", "i1", "u1", "u8", "f4"]
COMPILED = {(repr(number), dtype) for number, dtype in zip(JOINED, OTHERS, strict=True)}


@pytest.mark.parametrize("number, dtype", pairs(JOINED, OTHERS), ids=repr)
def test_numbers_are_joined_in_the_dtype_that_they_make_with_the_others(dtype: str, number: Any) -> None:
    """Sets, which take long to compile, are compiled with each number and with each dtype once."""
    x = np.array([1, 2, 3]).astype(dtype)
    assert_numpys(joined, x, number)
    assert_numpys(joined_as_arrays, x, number)
    assert_numpys(joined_as_sets, x, number, compiled=(repr(number), dtype) in COMPILED)


def rolled(x):
    return np.roll(x, 1), np.roll(x, (1, 2))


@pytest.mark.parametrize("number", [2, 2.5, np.uint8(3), np.array(3.0), True], ids=repr)
def test_a_number_is_rolled(number: Any) -> None:
    assert_numpys(rolled, number)


def python_sum(x):
    return sum(x), sum(x, 3)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i8", "f4"])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (1,), (2, 3)])
def test_the_sum_of_no_items_is_what_it_begins_with(dtype: str, shape: tuple[int, ...]) -> None:
    assert_numpys(python_sum, np.ones(shape, dtype))


def sums_from(x, start):
    return sum(x, start), sum([v * 2 for v in x], start), math.prod([v for v in x], start=start)


@pytest.mark.parametrize("start, dtype", pairs([0.5, 3, np.int64(1000), np.float32(0.25)], ["?", "u1", "f4"]), ids=repr)
def test_items_are_added_in_the_dtype_that_they_make_with_the_start(dtype: str, start: Any) -> None:
    x = np.array([1, 100, 90]).astype(dtype)
    assert_numpys(sums_from, x, start)


# -- powers of truth values --------------------------------------------------------------------------------


def powers(x):
    return x ** 2, x ** 1, x ** 2.0, np.power(x, 2), np.square(x)


def power(x, k):
    return x ** k


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i8"])
def test_squares_of_truth_values_are_narrower_than_their_powers(dtype: str) -> None:
    x = np.array([1, 0, 1]).astype(dtype)
    assert_numpys(powers, x)
    for k in (2, 3):
        assert_numpys(power, x, k)


# -- items of lists that are numbers of either class --------------------------------------------------------


def some_of_the_array(x, k):
    items = []
    for i in range(k):
        if x[i] > 1:
            items.append(x[i])
        else:
            items.append(300)
    return np.array(items)


def test_items_of_two_classes_have_a_place_in_the_error() -> None:
    with pytest.raises(NotSupported, match="(?s)depends on a branch.*if x"):
        jit(some_of_the_array)(np.array([1, 2, 3], np.uint8), 3)


# -- functions that hand on what they are given ------------------------------------------------------------


def own_conjugate(x):
    y = x.conj()
    return y, np.conj(x), x[0].conjugate()


@pytest.mark.parametrize("dtype", ["?", "u1", "f4", "c8"])
def test_real_arrays_are_their_own_conjugates(dtype: str) -> None:
    assert_numpys(own_conjugate, np.array([1, 0, 1]).astype(dtype))


def larger(x, y):
    return max(x[0], y[0])


def test_the_larger_of_two_dtypes_is_refused() -> None:
    x = np.array([1, 2, 3])
    assert_numpys(larger, x.astype(np.uint8), x.astype(np.uint8) + 1)
    for narrow, wide in ((np.uint8, np.int8), (np.float32, np.float64)):
        with pytest.raises(NotSupported, match="(?s)max of .*x\\[0\\], y"):
            jit(larger)(x.astype(narrow), x.astype(wide))


def item_of_either_class(x, c):
    return np.array([x[0] if c > 0 else 1, x[1]])


def test_arrays_of_numbers_of_either_class_are_refused_where_that_decides_the_dtype() -> None:
    x = np.array([1, 2, 3])
    for c in (1.0, -1.0):
        assert_numpys(item_of_either_class, x, c)
        for dtype in (np.uint8, np.float32):
            with pytest.raises(NotSupported, match="cannot combine an array with a number"):
                jit(item_of_either_class)(x.astype(dtype), c)


def spreads(x):
    return np.var(x), np.std(x)


@pytest.mark.parametrize("dtype", ["i8", "u8", "?"])
def test_deviations_of_integers_are_floats(dtype: str) -> None:
    x = np.array([2 ** 62, 2 ** 62, 2 ** 62 + 2 ** 61, 2 ** 62]).astype(dtype)
    np.testing.assert_allclose(jit(spreads)(x), spreads(x), rtol=1e-12)


def rows_of_numbers(x, k):
    rows = np.r_[x, 1], np.r_[0, np.cumsum(x)], np.r_[1.5, x, k], np.r_[x[0], k], np.r_[x, True], np.r_[x, 1:3]
    return *rows, np.c_[x[:1], k]


@pytest.mark.parametrize("number, dtype", pairs([2, 2.5, 300, np.float32(1.5)], ["?", "u1", "i8", "f4"]), ids=repr)
def test_a_number_in_rows_does_not_make_them_wider(dtype: str, number: Any) -> None:
    assert_numpys(rows_of_numbers, np.array([1, 0, 3]).astype(dtype), number)


def distances(x):
    return math.dist(x, x[::-1]), math.hypot(*x[:3]), math.dist([x[0], x[1]], (x[2], 1.5))


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "f4"])
def test_distances_are_of_floats(dtype: str) -> None:
    x = np.array([1, 200, 3, 90, 7], int).astype(dtype)
    np.testing.assert_allclose(jit(distances)(x), distances(x), rtol=1e-14)


def windows(M):
    return np.hanning(M), np.hamming(M), np.bartlett(M), np.blackman(M), np.kaiser(M, 3.0)


@pytest.mark.parametrize("length", [np.uint8(7), np.int8(100), np.uint64(1), 6], ids=repr)
def test_lengths_of_windows_neither_wrap_around_nor_round(length: Any) -> None:
    for found, expected in zip(jit(windows)(length), windows(length), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, float])
def test_polar_numbers_are_of_floats(dtype: Any) -> None:
    found = jit(lambda r, phi: cmath.rect(r, phi))(dtype(2.5), dtype(1.5))
    np.testing.assert_allclose(found, cmath.rect(dtype(2.5), dtype(1.5)), rtol=1e-14)


def places(i, j):
    split = np.unravel_index(i, [300, 4]), np.unravel_index(i, np.array([6, 50]))
    return split, np.ravel_multi_index((i, j), (300, 300)), np.ravel_multi_index(([1, 2], [0, 3]), (3, 4))


@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
def test_places_are_integers_of_64_bits(dtype: Any) -> None:
    assert_numpys(places, np.array([7, 250, 0], dtype), np.array([20, 255, 1], dtype))


def rising_powers(x):
    series = np.polynomial.polynomial
    return series.polyvander(x, 3), series.polyvander(x[0], 2), series.polyder(x), series.polyfromroots(x)


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8"])
def test_powers_of_series(dtype: str) -> None:
    assert_numpys(rising_powers, np.array([1, 3, 2]).astype(dtype))
