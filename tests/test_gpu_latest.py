"""Writes on GPUs to places that numbers decide upon: the last one to each place counts, and threads share them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu_checks import check


def numbers(y, at, x):
    y = y.copy()
    y[at] = x
    return y


def inverse(order):
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def rows(y, at, x):
    y = y.copy()
    y[at] = 2 * x
    return y


def of_two_axes(y, at, other, x):
    y = y.copy()
    y[at, other] = x
    return y


def columns(y, at, x):
    y = y.copy()
    y[:, at] = x
    return y


def of_themselves(y, at, x, steps):
    y = y.copy()
    for _ in range(steps):
        y[at] = y[at] * 0.5 + x
    return y


RNG = np.random.default_rng(0)


def drawn(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


def places(size: int, *shape: int) -> np.ndarray:
    return RNG.integers(-size, size, shape)


@pytest.mark.parametrize("function, arguments", [
    (numbers, (drawn(9), places(9, 33), drawn(33))), (numbers, (drawn(9), places(9, 5, 7), drawn(5, 7))),
    (inverse, (RNG.permutation(33),)), (rows, (drawn(9, 37), places(9, 33), drawn(33, 37))),
    (of_two_axes, (drawn(9, 7), places(9, 33), places(7, 33), drawn(33))),
    (columns, (drawn(9, 8), places(8, 33), drawn(9, 33))),
    (of_themselves, (drawn(9), places(9, 33), drawn(33), 3))])
def test_the_last_number_counts(function: Any, arguments: tuple[Any, ...]) -> None:
    source = check(function, *arguments, typed=function in (numbers, of_two_axes))
    assert "cuda.atomic.max(latest" in source and "one_thread" not in source


def test_memory_for_a_loop_is_made_once() -> None:
    source = check(of_themselves, drawn(9), places(9, 33), drawn(33), 3, typed=False)
    assert "latest = cp.empty" in source[source.index("_driver("):source.rindex("for ")]


def of_what_is_written(y, at):
    y = y.copy()
    for k in range(len(at)):
        y[at[k]] = y[at[k] - 1] + 1
    return y


def test_what_is_read_stays_in_order() -> None:
    assert "atomic.max" not in check(of_what_is_written, drawn(9), places(8, 33), typed=False)
