"""Places of extremes along columns: found row by row, with the extremes themselves where the program has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lowered import as_loops, source_of

from transformer import grad, jit


def greatest(x: Any) -> Any:
    return np.argmax(x, axis=0), np.max(x, axis=0)


def least(x: Any) -> Any:
    """Of what is computed."""
    y = x * x - x
    place = np.argmin(y, axis=0)
    return np.min(y, axis=0), place


def greatest_first(x: Any) -> Any:
    """The extreme before its place, with its axis and without, and where only some calls ask for the place."""
    top = np.max(x, axis=0, keepdims=True)
    place = np.argmax(x, axis=0)
    bottom = np.min(x, axis=0)
    if x[0, 0] > 1:
        place = place + np.argmin(x, axis=0)
    return top, place, bottom


def place_alone(x: Any) -> Any:
    return x[0] + np.argmax(x[:, ::-1], axis=0)


def in_the_middle(x: Any) -> Any:
    return np.argmax(x[:, :, None] * x[:3, None, :], axis=1) if len(x) == 3 else np.argmin(x, axis=0)


def best_path(x: Any) -> Any:
    """In a loop, in which what is found is the next thing to be added."""
    best, found = x[0], np.zeros(x.shape, np.int64)
    for t in range(len(x)):
        scores = best[:, None] + x[t] - x.T[:, :1] * x[t]
        found[t] = np.argmax(scores, axis=0)
        best = np.max(scores, axis=0)
    return found, best


def best_path_first(x: Any) -> Any:
    best, found = x[0], np.zeros(x.shape, np.int64)
    for t in range(len(x)):
        scores = best[:, None] + x[t] - x.T[:, :1] * x[t]
        best = np.max(scores, axis=0)
        found[t] = np.argmax(scores, axis=0)
    return found, best


def numbers(n: int, m: int, dtype: str) -> np.ndarray:
    """Small whole numbers, of which many are equal, and some NaN."""
    x = np.random.default_rng(n + m).integers(0, 4, (n, m)).astype(dtype)
    if x.dtype.kind == "f" and n > 3:
        x[2, ::3] = x[3, ::4] = np.nan
        x[1, 1] = np.inf
    return x


@pytest.mark.parametrize("function", [greatest, least, greatest_first, place_alone, in_the_middle, best_path,
                                      best_path_first])
def test_results(function: Any) -> None:
    compiled = jit(function)
    for n, m, dtype in ((20, 30, "f8"), (17, 40, "i4"), (1, 20, "f8"), (3, 2, "f4")):
        x = numbers(n, n if function in (best_path, best_path_first) else m, dtype)
        with np.errstate(all="ignore"):
            want, got = function(x), [compiled(x), as_loops(function, function, (x,))]
        for each in got:
            for one, other in zip(*(y if isinstance(y, tuple) else (y,) for y in (each, want)), strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("function", [greatest, least])
def test_both_are_found_in_one_pass(function: Any) -> None:
    source = source_of(function, function, (numbers(20, 30, "f8"),))
    assert source.count(" for ") == 3 and "min(" not in source, source
    assert "larger(" not in source_of(greatest_first, greatest_first, (numbers(20, 30, "f8"),))
    assert "larger(" not in source_of(best_path_first, best_path_first, (numbers(20, 20, "f8"),))
    assert "min(" in source_of(place_alone, place_alone, (numbers(20, 2, "f8"),))


def test_nothing_has_no_place() -> None:
    for call in (jit(greatest), greatest):
        with pytest.raises(ValueError, match="empty"):
            call(np.ones((0, 30)))
    assert [each.shape for each in jit(greatest)(np.ones((20, 0)))] == [(0,), (0,)]


def test_gradient() -> None:
    derived = grad(lambda x: np.sum(np.max(x, axis=0) * np.argmax(x, axis=0)))
    x = np.random.default_rng(0).normal(size=(20, 30))
    np.testing.assert_allclose(jit(derived)(x), derived(x))
