"""Floating numbers that are written to arrays of integers: refused where NumPy refuses them, compiled as well."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer import jit

NUMBERS = 1.5, -2.7, 3e9, -9.2233720368547758e18, 9.3e18, 1e300, np.inf, -np.inf, np.nan


def to_an_element(x, k):
    a = np.zeros(3, np.int64)
    a[k] = x[k]
    return a


def to_a_slice(x, k):
    a = np.zeros(3, np.int64)
    a[k:] = x[k]
    return a


def pythons_to_an_element(x, k):
    a = np.zeros(3, np.int32)
    a[k] = float(x[k]) * 2
    return a


def in_a_loop(x, k):
    a = np.zeros(len(x), np.int64)
    for i in range(k, len(x)):
        a[i] = np.floor(x[i] * 3)
    return a


def outcome(function: Any, number: float) -> Any:
    try:
        return function(np.array([number, 1.0, 2.0]), 0).tolist()
    except (OverflowError, ValueError) as raised:
        return OverflowError if isinstance(raised, OverflowError) else ValueError


@pytest.mark.parametrize("function", [to_an_element, to_a_slice, pythons_to_an_element, in_a_loop])
def test_compiled_as_numpy(function: Any) -> None:
    compiled = jit(function)
    for number in NUMBERS:
        assert outcome(compiled, number) == outcome(function, number), number


def test_arrays_are_cast_as_numpy_casts_them() -> None:
    """Which tests nothing."""
    def whole(x):
        a = np.zeros(3, np.int64)
        a[:] = x
        return a

    np.testing.assert_array_equal(jit(whole)(np.array([1.5, -2.7, 3.0])), [1, -2, 3])
