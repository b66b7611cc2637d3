"""Sums over rows of the array that they are added to: several rows at a time where they are certainly others."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from lowered import as_loops, source_of

from transformer import grad, jit


def eliminated(a: Any) -> Any:
    a = a.copy()
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= 2 + a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def sum_of_eliminated(a: Any) -> Any:
    return np.sum(eliminated(a) ** 2)


def with_every_row(a: Any) -> Any:
    """The row itself is one of those that are added to it."""
    a = a.copy()
    for i in range(a.shape[0]):
        for k in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] += 0.1 * a[k, 0] * a[k, j]
    return a


def by_its_own_numbers(a: Any) -> Any:
    """What a row is multiplied by is a total."""
    a = a.copy()
    for i in range(1, a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(a.shape[1]):
                a[i, j] += a[i, k] * a[0, j]
    return a


def by_what_is_far(a: Any) -> Any:
    """An item takes a number to which all items before it add, behind what they add at first."""
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] *= 1 + a[i, i - 1]
            a[i, j + 1:i] -= a[i, j] * a[j, j + 1:i]
    return a


def with_itself(a: Any) -> Any:
    """One of the rows that are added is the row of sums."""
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j + 1:] += a[i, j] * a[j, j + 1:]
    return a


def solved(a: Any) -> Any:
    """A triangular system, as loops of the program."""
    x = a[0] + 0
    for j in range(len(x)):
        x[j] /= 2 + a[j, j]
        for k in range(j + 1, len(x)):
            x[k] -= x[j] * a[j, k]
    return x


def solved_upwards(a: Any) -> Any:
    """The rows end one earlier with each item. The second is another one for each of them, and the last line no row."""
    x, used, c = a[0] + 0, a * 1, a[0] * 0
    for j in range(len(x) - 1, -1, -1):
        x[j] /= 2 + a[j, j]
        x[:j] -= x[j] * a[j, :j]
        used[j, :j] += x[j] * a[0, :j]
        c[j] = 2 * x[j]
    return x + used + c


def upwards_by_what_is_far(a: Any) -> Any:
    """An item takes the first number, to which all items before it add."""
    x = a[0] + 0
    for j in range(len(x) - 1, -1, -1):
        x[j] *= 1 + x[0]
        x[:j] -= x[j] * a[j, :j]
    return x


def upwards_by_one_number(a: Any) -> Any:
    """What all items add to the ends of one row is the same."""
    x = a[0] + 0
    for j in range(len(x) - 1, -1, -1):
        x[:j] -= 0.5 * x[len(x) - 1] * a[1 % len(x), :j]
    return x


def upwards_with_its_own_sums(a: Any) -> Any:
    """The row of each item takes from the one to which all of them add."""
    x, used = a[0] + 0, a * 1
    for j in range(len(x) - 1, -1, -1):
        x[:j] -= x[j] * a[j, :j]
        used[j, :j] += x[j] * x[:j]
    return x + used


def again(function: Any) -> Any:
    """What runs often is worth its compilation."""
    def refined(a: Any, times: int = 2) -> Any:
        for _ in range(times):
            a = 0.5 * a + function(a)
        return a
    refined.__name__ = f"{function.__name__}_again"
    return refined


def moved_along(a: Any) -> Any:
    """Loops of the program, in both directions, over the weights of a window; the second reads what it adds to."""
    x, weights = a.flatten(), a[0] * 1
    n = len(x) - len(weights) + 1
    out = np.zeros(n, a.dtype)
    for k in range(len(weights) - 1, -1, -1):
        out = out + weights[k] * x[k:k + n]
    for k in range(len(weights)):
        x[:n] += weights[k] * x[k:k + n]
    return x[:n] * out


def blurred(x: Any, weights: Any) -> Any:
    """Along rows, and along columns."""
    n, m, k = *x.shape, len(weights)
    along = np.zeros((n, m - k + 1))
    for d in range(k):
        along += weights[d] * x[:, d:d + m - k + 1]
    out = np.zeros((n - k + 1, m - k + 1))
    for d in range(k):
        out += weights[d] * along[d:d + n - k + 1]
    return out


def pushed_down(x: Any, weights: Any) -> Any:
    """A row takes from the one that the item before has added to."""
    x = x.copy()
    for d in range(len(weights)):
        x[1:] += weights[d] * np.sin(x[:-1])
    return x


def spread(x: Any, h: Any) -> Any:
    """A row of sums that moves on with each weight."""
    out = np.zeros((2, len(x) + len(h) - 1))
    for k in range(len(h)):
        out[1, k:k + len(x)] += h[k] * x * x
    return out


def down_columns(x: Any, w: Any) -> Any:
    """What lies between zeros, too, is added up."""
    padded = np.zeros((x.shape[0], x.shape[1] + 2), x.dtype)
    padded[:, 1:-1] = x
    mean = np.sum(padded, axis=0)
    return mean, np.sum((padded - mean) ** 2, axis=0), np.sum(np.exp(x) * w, axis=0)


def numbers(dtype: str, n: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    return (rng.normal(size=(n, n)) / n).astype(dtype)


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
@pytest.mark.parametrize("function", [eliminated, with_every_row, by_its_own_numbers, by_what_is_far,
                                      with_itself, again(solved), moved_along])
def test_results(function: Any, dtype: str) -> None:
    compiled, rtol = jit(function), 1e-4 if dtype == "f4" else 1e-11
    for n in (1, 2, 4, 5, 8, 13):
        a = numbers(dtype, n)
        np.testing.assert_allclose(compiled(a), function(a), rtol, rtol)
        np.testing.assert_allclose(as_loops(function, function, (a,)), function(a), rtol, rtol)


@pytest.mark.parametrize("function", [solved_upwards, upwards_by_one_number, upwards_by_what_is_far,
                                      upwards_with_its_own_sums])
def test_rows_that_end_one_earlier(function: Any) -> None:
    often = again(function)
    for n in (1, 2, 4, 5, 8, 13):
        np.testing.assert_allclose(as_loops(often, often, (numbers("f8", n),)), often(numbers("f8", n)), 1e-12)
    source = source_of(often, often, (numbers("f8", 9),))
    assert ("// 4" in source) is (function in (solved_upwards, upwards_by_one_number)), source
    assert "// 4" not in source_of(function, function, (numbers("f8", 9),))


def test_gradient() -> None:
    derived = grad(sum_of_eliminated)
    for n in (3, 9):
        np.testing.assert_allclose(jit(derived)(numbers("f8", n)), derived(numbers("f8", n)), 1e-10, 1e-12)


SOLVED_AGAIN = again(solved)


@pytest.mark.parametrize("function", [eliminated, SOLVED_AGAIN, with_every_row, by_its_own_numbers, by_what_is_far,
                                      with_itself])
def test_only_other_rows_are_added_together(function: Any) -> None:
    source = source_of(function, function, (numbers("f8", 9),))
    assert bool(re.search(r"4 \* \w \+ \w \+ 4", source)) is (function in (eliminated, SOLVED_AGAIN)), source
    assert bool(re.search(r"= a2\[i, 4 \* \w \+ 3\]", source)) is (function is eliminated), source


def test_loops_of_the_program() -> None:
    source = source_of(moved_along, moved_along, (numbers("f8", 9),))
    assert source.count("a_at4 = ") == 1 and "x[i] += a_0k * x[k + i]" in source, source


@pytest.mark.parametrize("function", [blurred, pushed_down])
def test_sums_over_matrices(function: Any) -> None:
    compiled = jit(function)
    for shape, count in (((5, 7), 3), ((6, 5), 5), ((6, 70), 6), ((7, 71), 1)):
        x, weights = np.random.default_rng(count).normal(size=shape), np.arange(1.0, count + 1) / 10
        np.testing.assert_allclose(compiled(x, weights), function(x, weights), 1e-12)
        np.testing.assert_allclose(as_loops(function, function, (x, weights)), function(x, weights), 1e-12)


def test_rows_of_sums_that_move() -> None:
    """To most places all items of a pass are added at once; each item has its own first and last ones."""
    compiled = jit(spread)
    for n, count in ((3, 5), (64, 1), (70, 4), (75, 11)):
        x, h = np.arange(1.0, n + 1), np.arange(1.0, count + 1) / 3
        np.testing.assert_allclose(compiled(x, h), spread(x, h), 1e-13)
        np.testing.assert_allclose(as_loops(spread, spread, (x, h)), spread(x, h), 1e-13)
    source = source_of(spread, spread, (np.ones(70), np.ones(5)))
    assert "for i in range(n - 3):" in source and "h_at4" in source, source


def test_long_rows_are_done_one_after_another() -> None:
    """With all of their items; of short ones, one item after another is added to all."""
    weights = np.ones(6)
    long, short = (source_of(blurred, blurred, (np.ones((8, m)), weights)) for m in (80, 20))
    for source in (long, short):
        assert source.count("weights_at4 = ") == 2, source
    assert long.index("for i in range(n)") < long.index("for d2 in range(d)"), long
    assert short.index("for d2 in range(") < short.index("for i in range(n)"), short
    assert "4 * k + 3" not in source_of(pushed_down, pushed_down, (np.ones((8, 80)), weights))


def test_rows_that_are_added_up() -> None:
    """Each column is added up in the order of its rows; what is dear to compute is done row by row."""
    compiled, w = jit(down_columns), np.arange(20.0)
    for n in (1, 3, 4, 5, 11):
        x = np.arange(20.0 * n).reshape(n, 20) * 37 % 11 - 3
        for one, other in zip(compiled(x, w), down_columns(x, w)):
            np.testing.assert_allclose(one, other, 1e-12)
    source = source_of(down_columns, down_columns, (numbers("f8", 20), np.ones(20)))
    assert source.count("for i in range(n // 4)") == 1 and source.count("exp_f64(x[") == 1, source


def test_columns_have_the_order_of_their_rows() -> None:
    x = np.random.default_rng(0).normal(size=(23, 20)) * 10.0 ** np.arange(20)
    total = np.zeros(20)
    for row in x:
        total += row
    np.testing.assert_array_equal(jit(lambda x: np.sum(x, axis=0))(x), total)
