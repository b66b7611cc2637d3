"""Recurrences whose elements are handed on as numbers, and those that stay as they are."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest
from lowered import as_loops, source_of

from transformer import grad, jit, tree


def second_order(x: Any) -> Any:
    y = np.zeros(len(x), x.dtype)
    y[0], y[1] = x[0], x[1]
    for i in range(2, len(x)):
        y[i] = 0.5 * y[i - 1] - 0.25 * y[i - 2] + x[i]
    return y


def from_behind(x: Any) -> Any:
    y = np.zeros(len(x) + 3, x.dtype)
    y[len(x):] = x[0]
    for i in range(len(x) - 1, -1, -1):
        y[i] = 0.5 * y[i + 1] + 0.1 * y[i + 3] * x[i]
    return y


def added_ahead(x: Any) -> Any:
    """Each element is added to the two that follow, in the array of the caller."""
    for i in range(len(x) - 2):
        d = x[i] * 0.5
        x[i + 1] += d
        x[i + 2] -= 0.3 * d
        x[i] = d
    return np.sum(x)


def written_and_read_at_once(x: Any) -> Any:
    y = np.ones(len(x), x.dtype)
    for i in range(2, len(x)):
        y[i] = x[i]
        y[i - 1] += y[i] * y[i - 2]
        y[i] += 0.5 * y[i - 1]
    return y


def in_a_row(x: Any) -> Any:
    """Along a row of a matrix, again and again: what the row before has is not the row's own."""
    y = np.ones((3, len(x)), x.dtype)
    for k in range(3):
        for i in range(2, len(x)):
            y[k, i] = 0.5 * y[k, i - 1] - 0.25 * y[k, i - 2] + x[i]
    return y


def until_it_is_large(x: Any) -> Any:
    """The loop may end anywhere, and leaves what it has made."""
    y = np.ones(len(x), x.dtype)
    for i in range(2, len(x)):
        y[i] = y[i - 1] + y[i - 2]
        if y[i] * x[0] > 4:
            break
    return y


def under_a_condition(x: Any) -> Any:
    y = np.ones(len(x), x.dtype)
    for i in range(2, len(x)):
        y[i] = 0.5 * y[i - 1] + x[i]
        if x[i] > 0:
            y[i - 2] += y[i]
    return y


def at_a_computed_place(x: Any, k: Any) -> Any:
    y = np.ones(len(x), x.dtype)
    for i in range(2, len(x)):
        y[i] = 0.5 * y[i - 1] - y[i - 2] + x[i]
        y[k[i]] += 1.0
    return y


def last_two(x: Any) -> Any:
    """Nobody asks for the others."""
    y = second_order(x)
    return y[-1] * y[-2]


def of_few_numbers(n: Any, x: Any) -> Any:
    """There may be no iteration, and no place where one would begin."""
    y = np.zeros(n)
    for i in range(2, n):
        y[i] = x * y[i - 1] + y[i - 2] + 1.0
    return y


PROGRAMS = [second_order, from_behind, added_ahead, written_and_read_at_once, in_a_row, until_it_is_large,
            under_a_condition]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_results(program: Any, dtype: str) -> None:
    made = jit(program) if dtype == "f8" else lambda x: as_loops(program, program, (x,))
    rtol = 1e-5 if dtype == "f4" else 1e-13
    for n in (2, 3, 4, 9):
        x = np.random.default_rng(n).normal(size=n).astype(dtype)
        given, wanted = copy.copy(x), copy.copy(x)
        for got, want in zip(tree.leaves(made(given)), tree.leaves(program(wanted)), strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol, rtol)
        if dtype == "f8":
            np.testing.assert_allclose(given, wanted, rtol, rtol)


@pytest.mark.parametrize("program", [from_behind, written_and_read_at_once, last_two])
def test_gradients(program: Any) -> None:
    def total(x):
        return np.sum(program(x) ** 2)

    compiled = jit(grad(total))
    for n in (2, 3, 9):
        x = np.random.default_rng(n).normal(size=n)
        np.testing.assert_allclose(compiled(x), grad(total)(x), 1e-11, 1e-12)


def test_places_that_are_computed() -> None:
    x, k = np.random.default_rng(0).normal(size=9), np.array([0, 0, 2, 1, 4, 4, 3, 8, 7])
    np.testing.assert_allclose(jit(at_a_computed_place)(x, k), at_a_computed_place(x, k), 1e-13)


def test_no_iteration() -> None:
    compiled = jit(of_few_numbers)
    for n in (0, 1, 2, 3, 6):
        np.testing.assert_allclose(compiled(n, 0.5), of_few_numbers(n, 0.5))


def test_a_sweep_reads_no_cotangent_that_it_has_written() -> None:
    """And writes none, as nobody asks for these."""
    def total(x):
        y = np.zeros(len(x))
        y[0], y[1] = 0.3, 0.4
        for i in range(2, len(x)):
            y[i] = x[i] * y[i - 1] * (1 - y[i - 2])
        return np.sum(y ** 2)

    arguments = (np.linspace(0.5, 1.5, 6),)
    source = source_of(grad(total), total, arguments)
    sweep = source[source.index("-1, -1):"):]
    assert sweep.count("dy[") == 1 and "dy[i] =" not in sweep, source
    np.testing.assert_allclose(as_loops(grad(total), total, arguments), grad(total)(*arguments), 1e-13)


def test_a_single_element_is_left_to_the_compiler() -> None:
    def first_order(x):
        y = np.zeros(len(x))
        y[0] = x[0]
        for i in range(1, len(x)):
            y[i] = 0.5 * y[i - 1] + x[i]
        return y

    assert "y_before" not in source_of(first_order, first_order, (np.ones(6),))


def edit_distance(a: Any, b: Any) -> Any:
    before = np.arange(len(b) + 1)
    for i in range(len(a)):
        row = np.empty_like(before)
        row[0] = i + 1
        for j in range(len(b)):
            row[j + 1] = min(before[j + 1] + 1, row[j] + 1, before[j] + (a[i] != b[j]))
        before = row
    return before[len(b)]


def least_of_three(x: Any) -> Any:
    """The middle one is handed on; also what is only compared with the first one is needed."""
    last, other = 9, 0
    for k in range(len(x) - 1):
        least = max(x[k], last - 1)
        last = max(least, x[k + 1])
        other = other + least
    return last, other


def test_what_an_iteration_waits_for_is_compared_last() -> None:
    """Of integers; it is not where the comparison before is needed for something else."""
    rng = np.random.default_rng(0)
    for n, m in ((6, 5), (1, 4), (0, 3)):
        a, b = rng.integers(0, 3, n), rng.integers(0, 3, m)
        assert as_loops(edit_distance, edit_distance, (a, b)) == edit_distance(a, b) == jit(edit_distance)(a, b)
    text = source_of(edit_distance, edit_distance, (np.arange(3), np.arange(4)))
    assert re.search(r"row\[j \+ 1\] = min\(min\(.*\n +row\[j\] \+ 1\)\n", text), text
    x = rng.integers(0, 30, 9)
    assert as_loops(least_of_three, least_of_three, (x,)) == least_of_three(x) == jit(least_of_three)(x)
