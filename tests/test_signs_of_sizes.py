"""A size that is computed may be negative: NumPy raises where it makes the array, and so does what is made of the
program, even where nothing is left of the array itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer import grad, jit, vmap


def of_zeros(x, k):
    return np.sum(np.zeros(k) + x)


def of_ones(x, k):
    return np.sum(np.ones(k)) * x


def of_length(x, k):
    return np.zeros((k, 2)).shape[0] * x


def of_rows(x, k):
    return np.full((3, k), x).mean(axis=0).sum()


def of_difference(x, k):
    return np.ones(k - 2).sum() * x


def of_broadcast(x, k):
    return np.broadcast_to(x, (2, k)).sum()


def of_points(x, k):
    return np.linspace(0.0, x, k).sum()


def of_identity(x, k):
    return np.eye(k).sum() * x


def of_tiles(x, k):
    return np.tile(np.sin(x), k).sum()


def of_repeats(x, k):
    return np.repeat(np.sin(x), k).sum()


def of_product(x, k):
    return np.zeros(k * 3).size * x


def in_loop(x, k):
    total = 0.0
    for i in range(3):
        total += np.sum(np.ones(k + i)) * x
    return total


def in_branch(x, k):
    return np.sum(np.ones(k)) * x if k > 0 else x


def filled(x, k):
    y = np.zeros(k)
    for i in range(5):
        y[i % k] += x * i
    return y.sum()


def around(x, k):
    y = np.zeros(k)
    y[k - 1] = x
    z = np.ones(k)
    return (y * z).sum()


PROGRAMS = [of_zeros, of_ones, of_length, of_rows, of_difference, of_broadcast, of_points, of_identity, of_tiles,
            of_repeats, of_product, in_loop, in_branch, filled, around]


def outcome(function: Any, *args: Any) -> Any:
    try:
        return function(*args)
    except (ValueError, ZeroDivisionError, IndexError) as error:
        return type(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", PROGRAMS)
def test_compiled_code_raises_what_numpy_does(function: Any) -> None:
    compiled = jit(function)
    for k in (3, 1, 0, -1, -4):
        expected = outcome(function, 1.5, k)
        found = outcome(compiled, 1.5, k)
        if isinstance(expected, type):
            assert found is expected, k
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", PROGRAMS)
def test_derivatives_raise_what_numpy_does(function: Any) -> None:
    for derivative in (grad(function), jit(grad(function))):
        for k in (3, -1):
            expected = outcome(function, 1.5, k)
            found = outcome(derivative, 1.5, k)
            if isinstance(expected, type):
                assert found is expected, k
            else:
                step = (function(1.5 + 1e-6, k) - function(1.5 - 1e-6, k)) / 2e-6
                np.testing.assert_allclose(found, step, atol=1e-6)


@pytest.mark.parametrize("function", [of_zeros, of_points, in_loop])
def test_lanes_raise_what_numpy_does(function: Any) -> None:
    lanes = vmap(function, in_axes=(0, None))
    np.testing.assert_allclose(lanes(np.arange(3.0), 2), [function(x, 2) for x in np.arange(3.0)])
    with pytest.raises(ValueError, match="negative"):
        lanes(np.arange(3.0), -3)


def test_tests_that_numpy_repeats_are_not_written() -> None:
    assert "if" not in grad(of_rows).source_for(1.5, 3)
    assert "if k < 0:" in grad(of_zeros).source_for(1.5, 3)


def test_what_has_been_tested_is_known() -> None:
    source = jit(filled).source_for(1.5, 3)
    assert "IndexError" not in source and "i % k" in source
