"""Sums in loops of the program at one place of an array: in a number where nothing else touches that place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lowered import as_loops, source_of


def eliminated(a: Any, b: Any) -> Any:
    a = a.copy()
    for i in range(len(b)):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= 2 + a[j, j]
    return a


def solved(a: Any, b: Any) -> Any:
    """The number begins as what was stored before."""
    y = np.zeros_like(b)
    for i in range(len(b)):
        y[i] = b[i]
        for k in range(i):
            y[i] = y[i] - a[i, k] * y[k]
        y[i] /= 2 + a[i, i]
    return y


def covariances(a: Any, b: Any) -> Any:
    """All sums have as many items."""
    c = np.zeros_like(a)
    for i in range(len(b)):
        for j in range(i, len(b)):
            for k in range(len(b)):
                c[i, j] += a[k, i] * a[k, j]
            c[j, i] = c[i, j]
    return c


def upwards(a: Any, b: Any) -> Any:
    """Loops may run down."""
    y = b.copy()
    for i in range(len(b) - 1, -1, -1):
        for k in range(len(b) - 1, i, -1):
            y[i] += a[i, k] * y[k]
    return y


def with_itself(a: Any, b: Any) -> Any:
    """The place is one of those that are read."""
    y = b.copy()
    for i in range(len(b)):
        for k in range(i + 1):
            y[i] += a[i, k] * y[k]
    return y


def behind_the_end(a: Any, b: Any) -> Any:
    """No array has the place where the loop runs over nothing."""
    y = b.copy()
    for i in range(len(b) + 3):
        for k in range(len(b) - 1 - i):
            y[i + 1] += a[i, k] * b[k]
    return y


def rounded(a: Any, b: Any) -> Any:
    """Each sum is rounded to the array's precision."""
    y = np.zeros(len(b), np.float32)
    for i in range(len(b)):
        for k in range(len(b)):
            y[i] += a[i, k] * b[k]
    return y.astype(b.dtype)


IN_NUMBERS = eliminated, solved, covariances, rounded, upwards
IN_MEMORY = with_itself, behind_the_end


def arguments(n: int, dtype: str = "f8") -> tuple[Any, Any]:
    rng = np.random.default_rng(n)
    return (0.3 * rng.normal(size=(n, n))).astype(dtype), (0.3 * rng.normal(size=n)).astype(dtype)


@pytest.mark.parametrize("function", [*IN_NUMBERS, *IN_MEMORY])
def test_results(function: Any) -> None:
    """They are the same bits."""
    for n in (1, 2, 5, 8, 13):
        for dtype in "f8", "f4", "i4":
            given = arguments(n, dtype) if dtype != "i4" else tuple((each * 9).astype(dtype) for each in arguments(n))
            if dtype != "i4" or function in (covariances, upwards, with_itself, behind_the_end):
                np.testing.assert_array_equal(as_loops(function, function, given), function(*given))


@pytest.mark.parametrize("function", [*IN_NUMBERS, *IN_MEMORY])
def test_which_are_in_numbers(function: Any) -> None:
    """Four of them at a time."""
    source = source_of(function, function, arguments(9))
    assert ("value4 = " in source) == (function in IN_NUMBERS), source
