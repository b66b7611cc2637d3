"""Sums over what the iterations before have made: four iterations at a time where their items are there before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lowered import as_loops, source_of

from transformer import grad


def solved_downwards(a: Any, b: Any) -> Any:
    y = np.zeros_like(b)
    for i in range(len(b)):
        y[i] = (b[i] - a[i, :i] @ y[:i]) / (2 + a[i, i])
    return y


def solved_upwards(a: Any, b: Any) -> Any:
    x = np.zeros_like(b)
    for i in range(len(b) - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1:] @ x[i + 1:]) / (2 + a[i, i])
    return x


def with_its_own_place(a: Any, b: Any) -> Any:
    """The last item is what the iteration writes over."""
    y = b.copy()
    for i in range(len(b)):
        y[i] = b[i] - np.sum(a[i, :i + 1] * y[:i + 1])
    return y


def turned_round(a: Any, b: Any) -> Any:
    """An integral of what has been with its weights turned round: the item of one place moves on."""
    y = np.zeros_like(b)
    for i in range(len(b)):
        y[i] = b[i] - 0.1 * np.dot(a[0, :i], y[:i][::-1])
    return y


def added_to_the_first(a: Any, b: Any) -> Any:
    """All iterations write to the first item, which is added up last."""
    y = b.copy()
    for i in range(len(b)):
        y[0] += 0.1 * np.dot(a[i, :i], y[:i])
    return y


def in_loops(a: Any, b: Any) -> Any:
    """The order of the items is that of the program; a sum begins with a number of its own."""
    y = np.zeros_like(b)
    for i in range(len(b)):
        total = b[i]
        for k in range(i):
            total -= a[i, k] * y[k]
        y[i] = total / (2 + a[i, i])
    return y


def cholesky_in_loops(a: Any, b: Any) -> Any:
    n = len(b)
    a, factor = a @ a.T + 3 * np.eye(n), np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            total = 0.0
            for k in range(j):
                total += factor[i, k] * factor[j, k]
            if i == j:
                factor[i, j] = np.sqrt(a[i, i] - total)
            else:
                factor[i, j] = (a[i, j] - total) / factor[j, j]
    return factor.astype(b.dtype)


def in_loops_that_run_down(a: Any, b: Any) -> Any:
    """What an iteration adds to the items of the one before it comes first."""
    y = np.zeros_like(b)
    for i in range(len(b)):
        total = b[i]
        for k in range(i - 1, -1, -1):
            total -= 0.1 * a[i, k] * y[k]
        y[i] = total
    return y


def turned_round_in_loops(a: Any, b: Any) -> Any:
    y = np.zeros_like(b)
    for i in range(len(b)):
        total = b[i]
        for k in range(i):
            total -= 0.1 * a[0, k] * y[i - 1 - k]
        y[i] = total
    return y


def largest_so_far(a: Any, b: Any) -> Any:
    y = b.copy()
    for i in range(1, len(b)):
        y[i] += np.max(a[i, :i] + y[:i])
    return y


def by_a_row_that_changes(a: Any, b: Any) -> Any:
    """An iteration writes into the row of the next one."""
    a, y = a.copy(), np.zeros_like(b)
    for i in range(len(b)):
        y[i] = b[i] - 0.1 * np.dot(a[i, :i], y[:i])
        a[min(i + 1, len(b) - 1), 0] = y[i]
    return y


def by_weights_that_change(a: Any, b: Any) -> Any:
    """An iteration writes into all rows of a column that all sums have."""
    a, y = a.copy(), np.zeros_like(b)
    for i in range(len(b)):
        y[i] = b[i] - 0.1 * np.dot(a[i, :i], y[:i])
        a[:, 0] *= y[i]
    return y


def again(function: Any) -> Any:
    """What runs often is worth its compilation."""
    def refined(a: Any, b: Any, times: int = 2) -> Any:
        for _ in range(times):
            b = function(a, b)
        return b
    refined.__name__ = f"{function.__name__}_again"
    return refined


ONLY_IN_LOOPS = (solved_downwards, solved_upwards, turned_round, added_to_the_first, largest_so_far)
TOGETHER = (*map(again, ONLY_IN_LOOPS), in_loops, cholesky_in_loops)
NEVER = (with_its_own_place, in_loops_that_run_down, turned_round_in_loops, by_a_row_that_changes,
         by_weights_that_change)
ALONE = (*ONLY_IN_LOOPS, *map(again, NEVER))


def arguments(n: int, dtype: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(n)
    parts = [rng.normal(size=shape) + 1j * rng.normal(size=shape) * (dtype == "c16") for shape in ((n, n), (n,))]
    return tuple((0.3 * (part if dtype == "c16" else part.real)).astype(dtype) for part in parts)   # type: ignore[return-value]


@pytest.mark.parametrize("n", [1, 3, 4, 9, 14])
@pytest.mark.parametrize("function", [*TOGETHER, *map(again, NEVER)])
def test_results(function: Any, n: int) -> None:
    for dtype in ("f8", "f4", "c16")[:1 if "largest" in function.__name__ or function is cholesky_in_loops else 3]:
        given = arguments(n, dtype)
        found, wanted = as_loops(function, function, given), function(*given)
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-4 if dtype == "f4" else 1e-12, atol=1e-6)


@pytest.mark.parametrize("function", [*TOGETHER, *ALONE])
def test_which_are_done_together(function: Any) -> None:
    assert ("// 4" in source_of(function, function, arguments(9, "f8"))) == (function in TOGETHER)


def test_large_triangles_are_fetched_from_memory() -> None:
    for n, together in ((1023, False), (1024, True)):
        source = source_of(solved_upwards, solved_upwards, (np.broadcast_to(1.0, (n, n)), np.zeros(n)))
        assert ("// 4" in source) is together, source


def test_order_of_loops() -> None:
    """They give the same bits."""
    for function in (in_loops, cholesky_in_loops):
        given = arguments(14, "f8")
        assert (as_loops(function, function, given) == function(*given)).all()


def sum_of_eliminated(a: Any) -> Any:
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= 2 + a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return np.sum(a * a)


def test_gradients() -> None:
    """The reverse of an elimination is a solution with the same triangle."""
    a, _ = arguments(9, "f8")
    gradient = grad(sum_of_eliminated)
    np.testing.assert_allclose(as_loops(gradient, sum_of_eliminated, (a,)), gradient(a), rtol=1e-12)
    assert "total4 = plus(total4, a2[i - 4" in source_of(gradient, sum_of_eliminated, (a,))
