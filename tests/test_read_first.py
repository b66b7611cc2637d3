"""Arrays of loops that are written where they are, at once or part by part, and those of which an old element is still
needed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from gpu_checks import check
from lowered import as_loops, source_of

from transformer import grad


def elimination(a: Any, b: Any) -> Any:
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i + 1, a.shape[0]):
            factor = a[j, i] / a[i, i]
            a[j, i:] -= factor * a[i, i:]
    return a


def rows_but_one(a: Any, b: Any) -> Any:
    """Gauss and Jordan: the rows differ by a comparison."""
    a = a.copy()
    for i in range(a.shape[0]):
        a[i] /= a[i, i]
        for j in range(a.shape[0]):
            if j == i:
                continue
            a[j] -= a[j, i] * a[i]
    return a


def rests_of_matrices(a: Any, b: Any) -> Any:
    """What is read of the rows that are written is read before."""
    a = a.copy()
    for k in range(a.shape[0] - 1):
        a[k + 1:, k:] -= a[k + 1:, k:k + 1] / a[k, k] * a[k, k:]
    return a


def with_pivots(a: Any, b: Any) -> Any:
    a, b = a.copy(), b.copy()
    for i in range(a.shape[0]):
        p = i + np.argmax(np.abs(a[i:, i]))
        if p != i:
            a[[i, p]] = a[[p, i]]
            b[[i, p]] = b[[p, i]]
        for j in range(i + 1, a.shape[0]):
            factor = a[j, i] / a[i, i]
            a[j, i:] -= factor * a[i, i:]
            b[j] -= factor * b[i]
    return a, b


def rows_and_itself(a: Any, b: Any) -> Any:
    """The row that is read is among those that are written, element by element."""
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i, a.shape[0]):
            a[j, i:] -= 0.5 * a[i, i:]
    return a


IN_PLACE = [elimination, rows_but_one, rests_of_matrices, with_pivots, rows_and_itself]


def rows_below(a: Any, b: Any) -> Any:
    """Every row but the first reads one that is written."""
    a = a.copy()
    for k in range(2):
        a[1:, k:] -= 0.5 * a[:-1, k:]
    return a


def turned_rows(a: Any, b: Any) -> Any:
    a = a.copy()
    for i in range(a.shape[0]):
        a[i] -= 0.5 * a[i, ::-1]
        a[:, i] -= 0.5 * a[::-1, i]
    return a


def columns_beside(a: Any, b: Any) -> Any:
    """The first column of the written ones is read for all of them."""
    a = a.copy()
    for k in range(a.shape[0] - 1):
        a[k:, k:] -= 0.5 * a[k, k:] * a[k:, k:k + 1]
    return a


def rows_that_may_be_one(a: Any, b: Any) -> Any:
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            if i >= j:
                a[i] -= 0.25 * a[j, ::-1]
    return a


def relaxed_rows(a: Any, b: Any) -> Any:
    a = a.copy()
    for i in range(1, a.shape[0] - 1):
        a[i, 1:-1] = 0.25 * (a[i - 1, 1:-1] + a[i + 1, 1:-1] + a[i, 2:] + a[i, :-2])
    return a


def shortening_rows(a: Any, b: Any) -> Any:
    """What is read lies ahead of what is written."""
    a = a.copy()
    for i in range(a.shape[0]):
        for k in range(a.shape[1] - 1, 0, -1):
            a[i, :k] = 0.5 * a[i, :k] + 0.4 * a[i, 1:k + 1]
    return a


def averages_and_differences(a: Any, b: Any) -> Any:
    """Two parts, both of the old row."""
    a, h = a.copy(), a.shape[1] // 2
    for i in range(a.shape[0]):
        mean, difference = a[i, :2 * h:2] + a[i, 1:2 * h:2], a[i, :2 * h:2] - a[i, 1:2 * h:2]
        a[i, :h] = mean
        a[i, h:2 * h] = difference
    return a


def butterflies(a: Any, b: Any) -> Any:
    """Two parts of both of them, of a width that the program computes."""
    a, width = a.copy(), 1
    while 4 * width <= a.shape[1] + 1:
        for i in range(0, a.shape[1] - 2 * width + 1, 2 * width):
            left, right = a[:, i:i + width].copy(), a[:, i + width:i + 2 * width].copy()
            a[:, i:i + width] = left + right
            a[:, i + width:i + 2 * width] = left - right
        width *= 2
    return a


def products_of_columns(a: Any, b: Any) -> Any:
    m, a = a.copy(), a.copy()
    for j in range(a.shape[1]):
        a[:, j] = m @ a[:, j] + b
    return a


def number_of_an_old_row(a: Any, b: Any) -> Any:
    a, firsts = a.copy(), np.zeros_like(b)
    for i in range(a.shape[0]):
        row = a[i].copy()
        a[i] = b * row[::-1]
        firsts[i] = row[0] * a[i, 0]
    return a, firsts


PARTS = [rows_below, turned_rows, columns_beside, rows_that_may_be_one, relaxed_rows, shortening_rows,
         averages_and_differences, butterflies, products_of_columns,
         number_of_an_old_row]


def taken_behind(a: Any, b: Any) -> Any:
    """Computed places: what one writes, the next one reads."""
    a, order = a.copy(), np.argsort(b[:-1])
    for _ in range(2):
        a[order] = 0.5 * a[order + 1]
        a[[0, 1, 2], 1:] = a[[1, 2, 0], :-1]
    return a


def older_row_kept(a: Any, b: Any) -> Any:
    """The old version is looked at in the next iteration."""
    a, before = a.copy(), a.copy()
    for i in range(a.shape[0]):
        a[i] += 0.5 * before[i, ::-1]
        before = a.copy()
        a[i] -= 0.25 * a[i, ::-1]
    return a, before


COPIED = [taken_behind, older_row_kept]


def example(n: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n)) + 2 * np.eye(n), rng.normal(size=n)


@pytest.mark.parametrize("program", IN_PLACE + PARTS + COPIED)
def test_results(program: Any) -> None:
    for n in (3, 4, 6):
        arguments = example(n)
        for got, want in zip(_arrays(as_loops(program, program, arguments)), _arrays(program(*arguments)), strict=True):
            np.testing.assert_allclose(got, want, 1e-11, 1e-13)


def test_a_part_that_is_read_ahead_needs_no_memory() -> None:
    source = source_of(shortening_rows, shortening_rows, example(5))
    assert "a2[i, k] = 0.5 * a2[i, k] + 0.4 * a2[i, k + 1]" in source, source


@pytest.mark.parametrize("program", IN_PLACE + PARTS)
def test_nothing_is_copied_in_a_loop(program: Any) -> None:
    source = source_of(program, program, example(5))
    assert not re.search(r"^        .*\.copy\(\)", source, re.MULTILINE), source
    assert not re.search(r"^        .*= np\.empty\(\(n, [nm]\)\)", source, re.MULTILINE), source


@pytest.mark.parametrize("program", [elimination, with_pivots, columns_beside, shortening_rows])
def test_gradients(program: Any) -> None:
    def total(a, b):
        return sum(np.sum(x * x) for x in _arrays(program(a, b)))

    derived, arguments = grad(total), example(5, 1)
    np.testing.assert_allclose(as_loops(derived, total, arguments), derived(*arguments), 1e-10, 1e-12)


@pytest.mark.parametrize("program", [rests_of_matrices, shortening_rows])
def test_threads_of_gpus_do_not_mind(program: Any) -> None:
    """What one thread reads before another one writes it would be a race; memory never changes its size."""
    check(program, *example(4))


def _arrays(found: Any) -> Any:
    return found if isinstance(found, tuple) else (found,)
