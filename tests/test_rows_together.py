"""Sums over the rows above, for four rows of a triangle at a time; numbers that a loop reads again and again."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from lowered import as_loops, source_of

from transformer import grad, jit


def factored(a: Any) -> Any:
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[j, :j]
            a[i, j] /= a[j, j]
        a[i, i] = np.sqrt(a[i, i] - a[i, :i] @ a[i, :i])
    return a


def with_a_diagonal(a: Any) -> Any:
    """Two arrays, of which each row takes what earlier ones have left."""
    lower, middle = np.eye(a.shape[0], dtype=a.dtype), a[0] * 1
    for i in range(a.shape[0]):
        for j in range(i):
            total = a[i, j]
            for k in range(j):
                total -= lower[i, k] * lower[j, k] * middle[k]
            lower[i, j] = total / middle[j]
        middle[i] = a[i, i] - np.sum(lower[i, :i] ** 2 * middle[:i])
    return lower * middle


def apart(x: Any) -> Any:
    """A row has a place of its own before the sums; nothing is handed on."""
    out = np.zeros((x.shape[0] + 1, x.shape[0] + 1), x.dtype)
    for i in range(x.shape[0]):
        for j in range(i + 1):
            out[i, j] = np.sum((x[i] - x[j]) ** 2)
        out[i, i] = i
    return out


def of_the_row_behind(a: Any) -> Any:
    """The last row above a row of a block is of that block."""
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[j + 1, :j]
    return a


def into_the_next_row(a: Any) -> Any:
    a = a.copy()
    for i in range(a.shape[0] - 1):
        for j in range(i):
            a[i + 1, j] -= a[i, :j] @ a[j, :j]
    return a


def counted_up(a: Any) -> Any:
    """A number goes from row to row."""
    a, most = a.copy(), 0.0
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[j, :j]
            most = most + abs(a[i, j])
    return a * most


TOGETHER, ALONE = [factored, apart], [with_a_diagonal, of_the_row_behind, into_the_next_row, counted_up]


def matrix(n: int, dtype: Any = float) -> np.ndarray:
    rng = np.random.default_rng(n)
    return (rng.normal(size=(n, n)) / (n + 1) + 2 * np.eye(n)).astype(dtype)


@pytest.mark.parametrize("function", [*TOGETHER, *ALONE])
def test_results(function: Any) -> None:
    compiled = jit(function)
    for n, dtype in ((0, "f8"), (1, "f8"), (3, "f8"), (4, "f8"), (5, "f4"), (9, "c16"), (11, "f8")):
        if n == 0 and function is with_a_diagonal:
            continue
        a, rtol = matrix(n, dtype), 1e-4 if dtype == "f4" else 1e-11
        for call in (compiled, lambda a: as_loops(function, function, (a,))):
            np.testing.assert_allclose(call(a), function(a), rtol, rtol)


def test_gradient() -> None:
    derived = grad(lambda a: np.sum(np.cos(factored(a))))
    np.testing.assert_allclose(jit(derived)(matrix(9)), derived(matrix(9)), 1e-10, 1e-12)


@pytest.mark.parametrize("function", [*TOGETHER, *ALONE])
def test_rows_that_wait_for_each_other_stay_alone(function: Any) -> None:
    source = source_of(function, function, (matrix(12),))
    assert ("4 * i + 1" in source) is (function in TOGETHER), source


# -- numbers that are read before a loop --------------------------------------------------------------


def eliminated(a: Any) -> Any:
    a = a.copy()
    for k in range(a.shape[0]):
        for i in range(k + 1, a.shape[0]):
            a[i, k] /= a[k, k]
            for j in range(k + 1, a.shape[0]):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def with_the_column(a: Any) -> Any:
    """The first place that is written is the one that all of them read."""
    a = a.copy()
    for k in range(a.shape[0]):
        for i in range(k + 1, a.shape[0]):
            for j in range(k, a.shape[0]):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def behind_the_end(x: Any, count: int) -> Any:
    """The place is there if the loop runs."""
    x = x.copy()
    for k in range(count):
        x[k] += x[3] * x[k]
    return x


def test_numbers_that_stay_are_read_once() -> None:
    source = source_of(eliminated, eliminated, (matrix(9),))
    assert re.search(r"(a2_\w+) = a2\[k \+ i \+ 1, k\]\n +for j in .*\n.*-= \1 \* ", source), source
    assert re.search(r"-= a2\[\S.*\] \* a2", source_of(with_the_column, with_the_column, (matrix(9),)))


@pytest.mark.parametrize("function", [eliminated, with_the_column])
def test_results_of_eliminations(function: Any) -> None:
    compiled = jit(function)
    for n, dtype in ((0, "f8"), (1, "f4"), (2, "f8"), (5, "f8"), (9, "c16")):
        a = matrix(n, dtype)
        for call in (compiled, lambda a: as_loops(function, function, (a,))):
            np.testing.assert_allclose(call(a), function(a), 1e-5 if dtype == "f4" else 1e-11)


def test_places_that_are_not_there_are_not_read() -> None:
    compiled = jit(behind_the_end)
    for n, count in ((6, 5), (4, 4), (2, 0), (0, 0)):
        x = np.arange(1.0, n + 1)
        for call in (compiled, lambda x, count: as_loops(behind_the_end, behind_the_end, (x, count))):
            np.testing.assert_allclose(call(x, count), behind_the_end(x, count))
