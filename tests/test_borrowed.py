"""Arrays that kernels are given: whose memory they are, in results, errors, views and other functions."""

from __future__ import annotations

import gc
import sys
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from transformer import jit
from transformer.run.compiling.known_before import forms_of

rng = np.random.default_rng(0)


def picked(x: np.ndarray, places: np.ndarray, table: np.ndarray) -> Any:
    total = np.sum(table.T.reshape(2, 6)[1] * x[1:7])
    for k in places:
        total += x[k]
    return total


def test_no_reference_is_left_behind() -> None:
    x, table, function = rng.normal(size=8), rng.normal(size=(3, 4)), jit(picked)
    right, wrong = np.array([3, 1]), np.array([3, 9])
    arrays = x, table, right, wrong
    assert np.isclose(function(x, right, table), picked(x, right, table))
    before = [sys.getrefcount(each) for each in arrays]
    for _ in range(5):
        function(x, right, table)
        with pytest.raises(IndexError):
            function(x, wrong, table)
    assert [sys.getrefcount(each) for each in arrays] == before


def one_of(x: np.ndarray, y: np.ndarray) -> Any:
    return (x if x[0] > 0 else y), x[x > 1]


def test_results_outlive_arguments() -> None:
    results = []
    for first in 1.0, -1.0:
        x, y = np.full(50_000, 2.0), np.full(50_000, 3.0)
        x[0] = first
        results.append((jit(one_of)(x, y), one_of(x.copy(), y.copy())))
        del x, y
    gc.collect()
    for _ in range(3):
        np.full(50_000, 9.0)
    for given, expected in results:
        assert all(map(np.array_equal, given, expected))


def into(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    np.dot(a, b, c)


@cache
def compiled() -> Any:
    from transformer.run.compiling.dispatchers import KernelDispatcher
    return KernelDispatcher(into, targetoptions={"nopython": True})


@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_products_of_all_sizes(dtype: str) -> None:
    for rows, inner, columns in product((0, 1, 2, 5), (0, 1, 3), (0, 1, 4)):
        a, b = (rng.integers(-3, 4, size).astype(dtype) for size in ((rows, inner), (inner, columns)))
        pairs = [(a, b), (np.asfortranarray(a), b), (a, np.asfortranarray(b))]
        pairs += [(row, b) for row in a[:1]] + [(a, column.copy()) for column in b.T[:1]]
        for x, y in pairs:
            result = np.full((x @ y).shape, 7, dtype)
            compiled()(x, y, result)
            assert np.array_equal(result, x @ y)


def test_products_that_do_not_fit_are_errors() -> None:
    for sizes in ((2, 3), (4, 2), (2, 2)), ((2, 3), (3, 2), (2, 3)), ((3,), (2, 2), (2,)):
        with pytest.raises(ValueError, match="incompatible array sizes"):
            compiled()(*map(np.ones, sizes))


TEXT = """
def plus(a):
    return a + {}
def twice(a):
    return 2 * plus(a)
def failing(a):
    raise ValueError("no")
def calling(a):
    return failing(a)
def of_table(a):
    return table[a]
"""


def test_functions_that_are_the_same_are_known() -> None:
    def forms(number: str, **options: Any) -> Any:
        namespace: dict[str, Any] = {"table": (1, 2)}
        exec(TEXT.format(number), namespace)
        names = "plus", "twice", "failing", "calling", "of_table"
        return forms_of(namespace, {name: {"nogil": True, **options} for name in names}, set())

    assert forms("1").keys() == {"plus", "twice"}
    assert forms("1") == forms("1")
    for other in forms("1.0"), forms("True"), forms("1", fastmath={"contract"}):
        assert all(other[name] != form for name, form in forms("1").items())
