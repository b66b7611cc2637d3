"""A place that is not in an array raises as in the program, also where no result needs the item."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer import grad, jit, jvp, vmap

X = np.arange(1.0, 6.0)
OUTSIDE = "out of bounds for axis 0 with size"


def times_nothing(x, k):
    return np.sum(x**2) + 0 * x[k]


def without_use(x, k):
    y = x[k]  # noqa: F841
    return np.sum(x**2)


def of_another_array(x, k):
    return np.sum(x**2) + np.arange(5.0)[k]


def written(x, k):
    y = np.zeros(4)
    y[k] = x[0]
    y[k - 1] += 1
    return np.sum(x**2)


def on_one_side(x, k):
    t = x[k] * 2 if x[0] > 0 else 0.0
    return np.sum(x) + t


def needed(x, k):
    return np.sum(x) * x[k]


PROGRAMS = [times_nothing, without_use, of_another_array, written, on_one_side, needed]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_derivatives_raise_as_the_function_does(function: Any) -> None:
    derivative, both = grad(function), grad(lambda x, k: np.sum(grad(function)(x, k) * x))
    step = 1e-6 * np.cos(X)
    wanted = (function(X + step, 1) - function(X - step, 1)) / 2e-6
    np.testing.assert_allclose(np.sum(derivative(X, 1) * np.cos(X)), wanted, rtol=1e-8)
    np.testing.assert_allclose(derivative(X, -2), derivative(X, 3))
    for each in (function, derivative, jit(derivative), lambda x, k: jvp(function, (x, k), (x, None))):
        with pytest.raises(IndexError, match=OUTSIDE):
            each(X, 7)
    assert both(X, 1).shape == (5,)


def test_nothing_is_tested_twice() -> None:
    """Where the item or its cotangent is asked for, that raises; so it does on the same side of a branch."""
    for function in (needed, on_one_side, lambda x, k: 2 * x[k]):
        derivative = grad(function)
        derivative(X, 1)
        assert "raise" not in derivative.source
    assert grad(times_nothing)(X, 1).shape == (5,)
    lanes = vmap(grad(needed))
    lanes(np.stack([X, X]), np.array([1, 2]))
    assert "raise" not in lanes.source


def test_compiled_functions_raise_for_what_nothing_needs() -> None:
    with pytest.raises(IndexError, match=OUTSIDE):
        jit(without_use)(X, 7)
    assert jit(without_use)(X, 1) == without_use(X, 1)
