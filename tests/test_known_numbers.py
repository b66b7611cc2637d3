"""Numbers that are known when a function is read: in its derivative they are as short as one would write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from transformer import grad

EXPONENT = 3.0


def of_module(x):
    return x[0] ** EXPONENT


def of_function(x):
    power = 3.0
    return x[0] ** power


def of_loop(x):
    total = 0.0
    for factor, power in [(1.0, 2.0), (4.0, 3.0)]:
        total += factor * x[0] ** power
    return total


def of_default(x, power=3.0):
    return x[0] ** power


@pytest.mark.parametrize("function, line", [
    (of_module, "EXPONENT * x[0] ** (EXPONENT - 1)"),
    (of_function, "power * x[0] ** (power - 1)"),
    (of_loop, "12.0 * x_0 ** 2 + 2 * x_0"),
    (of_default, "3.0 * x[0] ** 2"),
])
def test_powers(function: Any, line: str) -> None:
    derivative = grad(function)
    for start in (2.0, 0.0, -1.5):
        x = np.array([start, 1.0])
        step = (function(x + [1e-6, 0]) - function(x - [1e-6, 0])) / 2e-6
        np.testing.assert_allclose(derivative(x), [step, 0.0], atol=1e-6)
    assert line in derivative.source
