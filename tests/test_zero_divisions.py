"""Derivatives at numbers of Python where Python cannot divide: infinite or nan, as at NumPy's numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import special

from transformer import grad, hessian, jit, jvp, linearize, value_and_grad, vjp

pytestmark = pytest.mark.filterwarnings("ignore")


def logarithm(x):
    return np.log(x)


def root(x):
    return x**0.5


def length(x):
    return math.hypot(x, 0.0)


def angle(x):
    return np.arctan2(x, 0.0)


def inverse(x):
    return 1 / x


def root_by_math(x):
    return math.sqrt(x)


def of_parts(p, *, scale=2.0):
    return scale * np.log(p["a"]) + p["b"] ** 0.5 + p["c"]


@pytest.mark.parametrize("function, slope", [(logarithm, np.inf), (root, np.inf), (length, np.nan), (angle, np.nan),
                                             (inverse, -np.inf)])
def test_gradients(function: Any, slope: float) -> None:
    for derivative in (grad(function), jit(grad(function)), grad(jit(function))):
        for x in (0.0, 1.0, 0.0, np.float64(0)):
            np.testing.assert_equal(derivative(x), slope if x == 0 else derivative(np.float64(x)))


def test_all_ways() -> None:
    assert value_and_grad(logarithm)(0.0) == (-np.inf, np.inf)
    assert vjp(logarithm, 0.0)[1](1.0) == (np.inf,)
    assert jvp(logarithm, (0.0,), (1.0,)) == (-np.inf, np.inf)
    assert linearize(logarithm, 0.0)[1](1.0) == np.inf
    assert hessian(logarithm)(0.0) == -np.inf


def test_numbers_in_containers_and_keywords() -> None:
    found = jit(grad(of_parts))({"a": 0.0, "b": 0.0, "c": 1.0}, scale=3.0)
    assert found == {"a": np.inf, "b": np.inf, "c": 1.0}


@pytest.mark.parametrize("target", [jit(inverse), grad(root_by_math), jit(grad(root_by_math))])
def test_what_python_raises_is_told_with_the_line(target: Any) -> None:
    """A function that raises still does, and so does a derivative of what only takes Python's numbers."""
    with pytest.raises(ZeroDivisionError) as raised:
        target(0.0)
    assert "return " in raised.value.__notes__[-1]


def test_donated_arguments_are_not_there_for_a_second_time() -> None:
    def scaled(w, x):
        w *= 2
        return np.sum(w) + np.log(x)

    derivative = jit(value_and_grad(scaled, argnums=1), donate="w")
    assert derivative(np.ones(3), 1.0) == (6.0, 1.0)
    with pytest.raises(ZeroDivisionError):
        derivative(np.ones(3), 0.0)


def log_odds(x):
    return special.logit(x)


@pytest.mark.parametrize("x", [0.0, 1.0, np.float64(0), np.float64(1)])
def test_all_orders_at_the_ends_of_the_odds(x: float) -> None:
    second = -np.inf if x == 0 else np.inf
    for derivative in (grad(grad(log_odds)), jit(grad(grad(log_odds)))):
        assert derivative(x) == second
    assert grad(log_odds)(x) == jit(grad(log_odds))(x) == np.inf
