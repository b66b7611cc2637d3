"""Python's `round` to digits: by the exact decimal value for its own numbers, compiled as well."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from transformer import grad, jit
from transformer.core.errors import NotSupported
from transformer.ops.scalars import rounded_decimal, rounded_integer

TIES = 2.675, 1.005, 0.125, 0.375, -2.675, 4.35, 1e22, 5e15, 4503599627370497.5, 25.0, -35.0, 1e300, -0.0, 0.004


def digits(x, ndigits):
    return round(x, ndigits)


def of_an_element(x, ndigits):
    return round(float(x[0]), ndigits) * 2 + round(x[0], ndigits)


def of_places(n):
    total = 0
    for k in range(n):
        total += round(k * 7, -1) + round(k * 12 - 100, -2)
    return total


@pytest.mark.parametrize("ndigits", [0, 1, 2, 5, 16, -1, -2, -15])
def test_numbers_of_python(ndigits: int) -> None:
    rng = np.random.default_rng(abs(ndigits))
    drawn = [*TIES, *rng.normal(size=2000) * 100, *(rng.integers(-99999, 99999, 2000) / 1000)]
    compiled = jit(digits, static_argnames="ndigits")
    for x in map(float, drawn):
        assert rounded_decimal(x, ndigits) == round(x, ndigits), x
    for x in (*map(float, drawn[:100]), math.inf, math.nan):
        np.testing.assert_equal(compiled(x, ndigits), round(x, ndigits))


@pytest.mark.parametrize("ndigits", [-1, -2, -5])
def test_integers(ndigits: int) -> None:
    for x in (*range(-1200, 1200, 5), 10**12 + 50):
        assert rounded_integer(x, ndigits) == round(x, ndigits)


def test_compiled_numbers_of_both_kinds() -> None:
    for number in TIES[:6]:
        x = np.array([number])
        assert jit(of_an_element, static_argnames="ndigits")(x, 2) == of_an_element(x, 2)
        assert jit(of_an_element, static_argnames="ndigits")(x.astype("f4"), 1) == of_an_element(x.astype("f4"), 1)
    assert jit(of_places)(50) == of_places(50)
    places = np.array([14, 15, 25, -35, 1250])
    np.testing.assert_array_equal(jit(lambda k: np.round(k, -1))(places), np.round(places, -1))


def test_a_derivative_of_zero() -> None:
    def loss(x: Any) -> Any:
        return x * round(x, 1)

    assert grad(loss)(2.34) == jit(grad(loss))(2.34) == 2.3


def test_more_digits_than_a_power_of_ten_has() -> None:
    with pytest.raises(NotSupported, match="round to 30 digits"):
        jit(digits, static_argnames="ndigits")(1.5, 30)
