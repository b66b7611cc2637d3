"""What is known of numbers in kernels is not computed, and is what computing gives."""

from __future__ import annotations

import numpy as np
import pytest
from lowered import assert_same, source_of

from transformer import vmap

pytestmark = pytest.mark.filterwarnings("ignore")


def unrolled(x):
    total = 0.0
    for k in (0, 1, 3):
        total += (2 * k + 1.0) / 2.0 * x[k] - (k - 1) * x[k + 1]
    return total


def chosen(x):
    total = 0.0
    for k in (1, 2):
        if k == 2:
            total += 3.0 * x[k]
        else:
            total -= x[k] * 1.0 if k > 5 or x[0] > 1.0 else -2.0 * x[k]
    return total


def product(x):
    return np.prod(x[:2]) * np.eye(2)[0, 0] + np.maximum(1.5, 0.5) * x[2]


def overflowing(x):
    return x[0] * (np.float64(1e200) * np.float64(1e200)) + x[1] / (np.float64(0.0) * 3.0)


def narrow(x):
    return x[:2] * np.int8(100) * np.int8(2) + np.int8(1)


@pytest.mark.parametrize("function", [unrolled, chosen, product, overflowing, narrow])
def test_numbers_are_the_same(function) -> None:
    for dtype in (np.float64, np.float32, np.int8):
        for x in (np.arange(5), np.array([3, -1, 0, 7, 2])):
            assert_same(function, x.astype(dtype))


def without_negative_zeros(x):
    return 1 / (x + 0.0), np.arctan2(0 + x, -1.0), 1 / (x - -0.0), 1 / (x - 0.0)


def test_zeros_that_a_program_adds_make_zeros_positive() -> None:
    """Also in source."""
    x = np.array([-0.0, 0.0, 2.0])
    assert_same(without_negative_zeros, x)
    for mine, wanted in zip(vmap(without_negative_zeros)(x[None]), without_negative_zeros(x), strict=True):
        np.testing.assert_array_equal(mine[0], wanted)


def test_nothing_known_is_computed() -> None:
    x = np.arange(5.0)
    source = source_of(unrolled, unrolled, (x,))
    assert "0.5 * x[0] + x_1" in source and "3.5 * x[3] - 2.0 * x[4]" in source
    source = source_of(chosen, chosen, (x,))
    assert "True" not in source and "False" not in source and "+ 3.0 * x" in source
    assert "1.0" not in source_of(product, product, (x,))


def half_powers(x):
    d = x[1:] - x[:-1]
    below = np.sum((d ** 2 + np.exp(d)) ** -1.5) + (d @ d) ** 2.5 + np.sum(np.abs(d)[::-1] ** -0.5)
    return below + np.sum(np.maximum(d, 0.0) ** 1.5)


def powers_of_any(x):
    return np.sum(x ** -1.5) + np.sum((x * x[0]) ** -0.5) + np.sum((x - 1.0) ** 2.5)


def test_what_is_not_negative_is_not_minus_infinity():
    x = np.array([0.3, -0.7, 1.9, 0.3, np.inf])
    assert "inf" not in source_of(half_powers, half_powers, (x,))
    assert source_of(powers_of_any, powers_of_any, (x,)).count("== -np.inf") == 3
    assert_same(half_powers, x)
    assert_same(powers_of_any, np.array([-np.inf, 1.0, np.nan, 4.0]))
