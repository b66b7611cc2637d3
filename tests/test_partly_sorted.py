"""Of a sorted array of which only a few elements are read, these are chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lowered import assert_same, source_of

LONG = np.random.default_rng(0).normal(size=1100)
WITH_NAN = np.where(np.arange(1100) == 7, np.nan, LONG)


def middle(x):
    return np.median(x)


def between(x):
    return np.percentile(x, 12.5) - np.quantile(x, 0.9)


def largest(x, k):
    return np.sort(x)[-k] - np.sort(x)[3]


def later(x):
    ordered = np.sort(x)
    first = ordered[2]
    return ordered[int(abs(first))]


def looked_at(x):
    ordered = np.sort(x)
    return ordered[5] * np.sum(ordered[1:] - ordered[:-1])


CHOOSING = [(middle, ()), (between, ()), (largest, (5,))]


@pytest.mark.parametrize(("program", "more"), CHOOSING)
def test_elements_are_chosen(program: Any, more: Any) -> None:
    source = source_of(program, program, (LONG, *more))
    assert "np.partition" in source and "np.sort" not in source
    for x in (LONG, WITH_NAN, np.round(LONG), LONG[:9]):
        assert_same(program, x, *more)


@pytest.mark.parametrize("program", [later, looked_at])
def test_others_are_sorted(program: Any) -> None:
    assert "np.sort" in source_of(program, program, (LONG,))
    assert_same(program, LONG)


def test_places_outside() -> None:
    for k in (1100, 1101, 0, -1099, -1100, -1101):
        assert_same(largest, LONG, k)
