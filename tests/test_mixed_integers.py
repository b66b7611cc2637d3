"""Integers of several widths beside each other and beside Python's numbers: NumPy's numbers and dtypes, as source and
as compiled code, or an error where NumPy has one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpys import assert_numpys

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


@pytest.mark.parametrize("function", [plus_opposite, plus_product_with_opposite, less_in_place, totals])
@pytest.mark.parametrize("dtypes", ["u1 i1", "u1 u4", "u4 u1", "u1 i8", "i1 i4", "u8 i8", "u1 f8", "u4 f4", "i1 f8"])
def test_signs_stay_where_integers_wrap_around(function: Any, dtypes: str) -> None:
    narrow, other = dtypes.split()
    assert_numpys(function, np.array([70, 3, 100]).astype(other), np.array([60, 120, 9]).astype(narrow))


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




NUMBERS = [np.int64(300), np.int64(-1), np.uint8(200), np.float64(300.7), np.float32(np.nan), np.float64(-2.0),
           np.float64(1e30), 300, -1, 2.5, np.inf, True, np.True_]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i4", "i8", "f4"])
def test_numbers_that_are_stored(dtype: str, number: Any) -> None:
    if dtype == "u1" and isinstance(number, np.floating) and not (0 <= number < 256):
        return
    x = np.array([1, 0, 3]).astype(dtype)
    for function in (element_set, slice_set, element_of_another, element_plus):
        assert_numpys(function, x, number)
    if not isinstance(number, float | np.floating) or abs(number) < 100:
        assert_numpys(picked_set, x, number)
        assert_numpys(masked_set, x, number)
