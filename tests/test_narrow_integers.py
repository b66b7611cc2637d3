"""Integers of 8, 16 and 32 bits in compiled code: numba computes in 64, and results wrap around as NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bounds import outcome

from transformer import jit, vmap

pytestmark = pytest.mark.filterwarnings("ignore")

DTYPES = [np.int8, np.uint8, np.int32, np.uint32]


def linear(x, y):
    return x + y * 3 - 7


def halved(x, y):
    return (x >> 1) + (y << 3) + (x // 3) * (y % 7)


def masked(x, y):
    return ~x & y | (x ^ 5)


def averaged(x, y):
    return (x * y + 1) // 2 + (x + 100) % 3


def compared(x, y):
    return np.where(x + 100 > y * 50, x * y + 100, y - 100)


def hashed(x, y):
    s = x[0]
    for i in range(len(x)):
        s = s * 3 + x[i] * y[i] - 1
        s ^= s >> 2
    return s


@pytest.mark.parametrize("function", [linear, halved, masked, averaged, compared, hashed])
def test_results_wrap_around(function: Any) -> None:
    rng = np.random.default_rng(0)
    compiled = jit(function)
    for dtype in DTYPES:
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        for _ in range(2):
            x, y = (rng.integers(least, most, 9, dtype, endpoint=True) for _ in range(2))
            expected, found = outcome(lambda: function(x, y)), outcome(lambda: compiled(x, y))
            if isinstance(expected, np.ndarray | np.integer):
                np.testing.assert_array_equal(found, expected, strict=True)
            else:
                assert type(found) is type(expected)


def test_what_is_wrapped_around_is_written_once() -> None:
    x = np.arange(5, dtype=np.int16)
    assert "np.int16(x[i] + y[i] * 3 - 7)" in jit(linear).source_for(x, x)
    assert "np.int16((x_i >> 1) + (y_i << 3) + x_i // 3 * (y_i % 7))" in jit(halved).source_for(x, x)
    wide = jit(halved).source_for(x.astype(int), x.astype(int))
    assert "(x_i >> 1) + (y_i << 3) + x_i // 3 * (y_i % 7)" in wide


def element_less(a, b):
    a = a.copy()
    a[-1] -= b
    return a


def elements_less_in_a_loop(a, b):
    a = a.copy()
    for i in range(len(a)):
        a[i] -= b[0]
    return a


def masked_less(a, b):
    a = a.copy()
    a[a > 0] -= b[0]
    return a


def less_at(a, b):
    a = a.copy()
    np.subtract.at(a, [0, 1, 0], b[0])
    return a


SUBTRACTED = [np.array([8, 0, 2], np.uint8), np.array([8, 0, 2], np.uint32), np.array([-128, 3, 4], np.int8),
              np.array([True, False, True])]


@pytest.mark.parametrize("function", [element_less, elements_less_in_a_loop, masked_less, less_at])
@pytest.mark.parametrize("dtype", [np.int16, np.int64, np.float32, np.float64])
def test_what_is_subtracted_in_place_may_have_no_opposite(function: Any, dtype: Any) -> None:
    a = np.array([[5, -1, -5], [-4, -2, -5]], dtype)
    for b in SUBTRACTED:
        try:
            expected = function(a, b)
        except TypeError:                         # NumPy does not cast so far
            continue
        np.testing.assert_array_equal(jit(function)(a, b), expected, strict=True)
        np.testing.assert_array_equal(vmap(function, in_axes=(0, None))(a[None], b)[0], expected, strict=True)


def beside_numbers_of_python(a, k):
    return (np.array([a[0], -1]), np.stack((a[1], k)), np.hstack((a, 0.1, k)), np.vstack((k, a[:1])),
            np.outer(a, -1), np.kron(k, a), np.kron(a, 0.1))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.int64, np.float32])
def test_numbers_of_python_that_count_as_arrays_are_not_of_the_dtype_beside_them(dtype: Any) -> None:
    a = np.array([1, 2, 250], np.uint8).astype(dtype)
    for found, expected in zip(jit(beside_numbers_of_python)(a, -300), beside_numbers_of_python(a, -300), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint32, np.int64, np.float32])
@pytest.mark.parametrize("number", [-1, 200, 2])
def test_what_is_inserted_fits_or_raises(dtype: Any, number: int) -> None:
    def inserted(x: Any) -> Any:
        return np.insert(x, 1, number)

    x = np.arange(3).astype(dtype)
    found, expected = outcome(lambda: jit(inserted)(x)), outcome(lambda: inserted(x))
    if isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected, strict=True)
    else:
        assert expected.is_like(found), (expected, found)


def nearest_of(a, b):
    return np.minimum(np.maximum(a, b[::-1]), a.dtype.type(3)), np.max(a), np.fmin(a, b)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8"])
def test_extremes_of_integers_are_those_of_python(dtype):
    """For which processors have an instruction; of floating numbers, nan has to be asked for."""
    a, b = np.arange(7).astype(dtype), np.arange(3, 10).astype(dtype)[::-1]
    for got, want in zip(jit(nearest_of)(a, b), nearest_of(a, b), strict=True):
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype
    assert "larger" not in jit(nearest_of).source_for(a, b)


def converted(x):
    return x.astype(np.int8), x.astype(np.uint8), x.astype(np.int16), x.astype(np.uint16), x.astype(np.uint32)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_floats_wrap_around_in_narrow_integers(dtype: str) -> None:
    x = np.array([-2, 3.5, 300, -1, 128, -129, 255.9, 256, -7.5, -200, 0.1] * 8).astype(dtype)
    for found, expected in zip(jit(converted)(x), converted(x), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)
