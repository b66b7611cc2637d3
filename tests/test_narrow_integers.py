"""Integers of 8, 16 and 32 bits in compiled code: numba computes in 64, and results wrap around as NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bounds import outcome

from transformer import jit

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
