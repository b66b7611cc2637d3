"""Lines of a few elements, which are sorted by comparisons: as NumPy sorts them, bit by bit but for equal numbers."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from lowered import as_loops, source_of

from transformer import grad, jit
from transformer.lower.expand.few_sorted import MOST, comparisons


def by_columns(x: Any) -> Any:
    return np.sort(x, axis=0)


def by_rows(x: Any) -> Any:
    return np.sort(x)


def in_the_middle(x: Any) -> Any:
    """Of three axes, and of what is computed."""
    return np.sort(x[:, :, None] + 0 * x[:, None, :2], axis=1)


def three_of_each(x: Any) -> Any:
    """So many as the program says, and of a vector."""
    return np.sort(np.stack([x[0], x[-1], x[0] - x[-1]]), axis=0), np.sort(np.array([x[0, 0], x[-1, -1], 2]))


def medians(x: Any) -> Any:
    return np.median(x, axis=1), np.quantile(x, 0.3, axis=1)


@pytest.mark.parametrize("count", range(1, MOST + 1))
def test_comparisons_sort(count: int) -> None:
    """All zeros and ones, of which many are sorted at a time: then all numbers are."""
    ones = np.arange(1 << count) >> np.arange(count)[:, None] & 1
    for low, high in comparisons(count):
        ones[[low, high]] = np.sort(ones[[low, high]], axis=0)
    assert np.all(ones[1:] >= ones[:-1])


def columns(count: int, dtype: str, lines: int = 70) -> np.ndarray:
    """Numbers of which some are equal, with those at the ends and, of floating ones, NaN, infinities and both zeros."""
    numbers = np.random.default_rng(count).integers(0, 2 * count + 1, (count, lines)).astype(dtype)
    if numbers.dtype.kind == "f":
        special = np.array([np.nan, -np.inf, np.inf, -0.0, 0.0, -np.nan], dtype)
    else:
        info = np.iinfo(dtype)
        special = np.array([info.min, info.max], dtype)
    chosen = np.random.default_rng(lines).integers(0, 4 * len(special), numbers.shape)
    return np.where(chosen < len(special), special[chosen % len(special)], numbers)


@pytest.mark.parametrize("function", [by_columns, by_rows, in_the_middle, three_of_each, medians])
def test_results(function: Any) -> None:
    compiled = jit(function)
    for count, dtype in ((2, "f8"), (7, "f4"), (1, "f8"), (9, "i4"), (4, "u8"), (0, "f8"), (MOST + 1, "f8")):
        if count == 0 and function is not by_columns or function is medians and dtype == "u8":
            continue
        x = columns(count, dtype)
        x = x.T.copy() if function is medians else x
        with np.errstate(all="ignore"):
            want = function(x)
        calls = [lambda x: as_loops(function, function, (x,)), *([compiled] if count in (7, 9) else [])]
        for call in calls:
            with np.errstate(all="ignore"):
                got = call(x)
            for one, other in zip(*(each if isinstance(each, tuple) else (each,) for each in (got, want)), strict=True):
                np.testing.assert_array_equal(one, other)


def test_every_number_stays() -> None:
    """Zeros keep their signs, whatever their order."""
    zeros = np.array(list(product([0.0, -0.0], repeat=3))).T
    zeros = np.concatenate([zeros] * 9, axis=1)
    np.testing.assert_array_equal(np.signbit(jit(by_columns)(zeros)).sum(0), np.signbit(zeros).sum(0))


def middle(x: Any) -> Any:
    return np.median(x, axis=1)


def test_what_nobody_reads_is_not_kept() -> None:
    """There is no array of sorted lines, nor memory for one."""
    source = source_of(middle, middle, (columns(5, "f8").T.copy(),))
    assert "np.sort" not in source and source.count("np.empty") == 0, source
    assert "np.sort" in source_of(by_columns, by_columns, (columns(5, "f8", lines=9),))


def test_other_numbers_of_elements_have_other_code() -> None:
    compiled = jit(by_columns)
    for count in (5, 6, 40, 5):
        np.testing.assert_array_equal(compiled(columns(count, "i8")), by_columns(columns(count, "i8")))


def test_gradient() -> None:
    x = np.random.default_rng(0).normal(size=(80, 5))
    derived = grad(lambda x: np.sum(np.median(x, axis=1) * np.arange(80.0)))
    np.testing.assert_allclose(jit(derived)(x), derived(x))
