"""Scans on GPUs: folds that write what they hand on are done in chunks, at several places at once."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from gpu_checks import check
from test_golden_gpu import looped

from transformer import grad, vmap
from transformer.lower.cuda import scans

NUMBERS = np.random.default_rng(3).standard_normal(37)


def driver_of(source: str) -> str:
    return source[source.index("_driver("):]


def summed(x):
    return np.cumsum(x)


def summed_beside(x):
    return np.cumsum(x), np.argmax(x), x.max(), np.cumprod(1 + x / 8), np.exp(x / 8)


def summed_rows(x):
    return np.cumsum(x), np.cumsum(x[::-1, ::2].ravel()) * 2, x.all(axis=1)


def picked(x):
    return x[x > 0], np.flatnonzero(x > 1), np.where(x < 0)[0]


def picked_places(x):
    return np.nonzero(x > 0), np.argwhere(x < 0)


def running(x):
    total, greatest, product = 0.0, x[0], 1.0
    before, mean, upper = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    for i in range(len(x)):
        before[i] = total
        total += 2 * x[i]
        product *= np.cos(x[i])
        greatest = max(greatest, x[i])
        mean[i] = total / (i + 1) + product
        upper[i] = greatest
    return before, mean, upper, total, product, greatest


def of_rows(x):
    total = 0.0
    ends, all_of_them = np.zeros(len(x)), np.zeros_like(x)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            total += x[i, j]
            all_of_them[i, j] = total
        ends[i] = total
    return ends, all_of_them


def sum_of_sums(x):
    return np.sum(np.cumsum(x) ** 2)


SCANS = [summed, summed_beside, picked, running, grad(sum_of_sums)]
TYPED = [summed, running, picked_places]               # of which kernels are compiled in the types of numba


def arguments(target: Any, size: int) -> tuple[Any, ...]:
    shape = (size, 5) if target in (summed_rows, picked_places, of_rows) else (size,)
    return np.random.default_rng(size).integers(-3, 4, shape).astype(float),


@pytest.mark.parametrize("length", [4, scans.LENGTH])
@pytest.mark.parametrize("target", [*SCANS, summed_rows, picked_places, of_rows])
def test_scans_are_done_in_chunks(target: Any, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "LENGTH", length)
    for size in (39,) if length == 4 else (2, 3, 129):
        user = sum_of_sums if target is SCANS[-1] else None
        source = check(target, *arguments(target, size), user=user, typed=length == 4 and target in TYPED)
    assert driver_of(source).count("[over_threads(") >= 2


@pytest.mark.parametrize("dtype", ["?", "i4", "u1", "f4", "c8"])
def test_dtypes_of_scans(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "LENGTH", 4)
    check(summed, np.arange(-9, 22).astype(dtype), typed=dtype in "?u1")


def with_the_one_before(x):
    total, own, twice, longer = np.zeros_like(x), x.copy(), x.copy(), np.zeros(len(x) + 1)
    total[0] = x[0]
    for i in range(1, len(x)):
        total[i] = total[i - 1] + np.sin(x[i])
    for i in range(1, len(x)):
        own[i] += own[i - 1]
    for i in range(1, len(x)):
        twice[i] = twice[i - 1] + 2 * twice[i]
    for i in range(len(x)):
        longer[i + 1] = longer[i] + x[i]
    return total, own, twice, longer


def extremes(x):
    return np.maximum.accumulate(x), np.minimum.accumulate(x), x.sum()


@pytest.mark.parametrize("function, scans_in_it", [(with_the_one_before, 4), (extremes, 2)])
def test_loops_that_read_the_element_before(function: Any, scans_in_it: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(function, NUMBERS[:2], typed=False)
    monkeypatch.setattr(scans, "LENGTH", 4)
    driver = driver_of(check(function, NUMBERS))
    assert driver.count("[over_threads(") >= 2 * scans_in_it


def with_both_beside(x):
    y = x.copy()
    for i in range(1, len(x) - 1):
        y[i] = y[i - 1] + y[i + 1]
    return y


def with_half_of_it(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + y[i]
    return y


def with_the_first(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = y[i - 1] + y[0]
    return y


def up_to(x, end):
    y = x.copy()
    for i in range(1, end):
        y[i] += y[i - 1]
    return y


def of_sums(x):
    total = again = 0.0
    out = np.zeros_like(x)
    for i in range(len(x)):
        total += x[i]
        again += total
        out[i] = again
    return out


def filtered(x):
    state = 0.0
    out = np.zeros_like(x)
    for i in range(len(x)):
        state = 0.5 * state + x[i]
        out[i] = state
    return out


def put(x, at):
    total = 0.0
    out = np.zeros_like(x)
    for i in range(len(x)):
        total += x[i]
        out[at[i]] = total
    return out


def compacted(x):
    count = 0
    out = np.zeros_like(x)
    for i in range(len(x)):
        if x[i] > 0:
            out[count] = x[i]
            count += 1
    return out, count


def counted_down(x, steps):
    total = 0.0
    out = np.zeros_like(x)
    for i in range(steps):
        total += x[i]
        out[i] = total
    return out, total


@pytest.mark.parametrize("function, given", [
    (of_sums, ()), (filtered, ()), (put, (np.arange(37) // 2,)), (compacted, ()), (counted_down, (-700,)),
    (counted_down, (5,)), (with_both_beside, ()), (with_half_of_it, ()), (with_the_first, ()), (up_to, (7,))])
def test_what_is_no_scan_stays_in_order(function: Any, given: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Items that are made of what is handed on, places that may be the same, and numbers of steps below 0."""
    monkeypatch.setattr(scans, "LENGTH", 4)
    source = check(function, NUMBERS, *given, typed=False)
    assert not re.search(r"parts|chunks", driver_of(source))


def test_a_scan_in_a_loop_of_the_driver_makes_memory_once() -> None:
    def smoothed(x, steps):
        for _ in range(steps):
            x = np.cumsum(x) / x.shape[0]
        return x

    driver = driver_of(looped(smoothed, smoothed, (NUMBERS, 200)).module.source)
    assert "cp.empty" not in driver[driver.index("for "):] and "replayed" in driver
    check(smoothed, NUMBERS, 3, typed=False)


def fed_by_rows(c):
    total = c[0]
    rows = np.empty((c.shape[0], c.shape[0]))
    for i in range(c.shape[0]):
        rows[i] = c * total + i
        total = total + np.sum(rows[i]) / 100
    return rows, total


@pytest.mark.parametrize("function, c", [(fed_by_rows, NUMBERS[:6]), (vmap(fed_by_rows), NUMBERS[:36].reshape(6, 6))])
def test_what_an_iteration_reads_of_its_writing_is_read_behind_it(function: Any, c: np.ndarray) -> None:
    """A sum of such numbers is made in order, and an element at a time."""
    check(function, c, user=fed_by_rows)
