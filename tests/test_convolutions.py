"""Convolutions are loops over the shorter vector, with NumPy's numbers and its errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lowered import as_loops, assert_same, source_of

from transformer import grad

SIZES = [(7, 3), (3, 7), (5, 5), (2, 2), (4, 1), (1, 1), (9, 5), (9, 7)]


def program(mode: str) -> Any:
    return lambda a, v: np.convolve(a, v, mode)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_all_sizes(mode: str) -> None:
    rng = np.random.default_rng(0)
    for n, m in SIZES:
        assert_same(program(mode), rng.normal(size=n), rng.normal(size=m))
    assert "np.convolve" not in source_of(program(mode), program(mode), (np.ones(9), np.ones(4)))


def test_other_numbers() -> None:
    rng = np.random.default_rng(1)
    full, valid = program("full"), program("valid")
    assert_same(full, rng.integers(-5, 5, 9), rng.normal(size=4).astype("f4"))
    assert_same(full, rng.integers(0, 5, 9).astype("i4"), rng.integers(0, 9, 4))
    assert_same(valid, rng.normal(size=9) + 1j, rng.normal(size=4))
    assert_same(full, np.array([1.0, 2.0, 3.0]), np.array([np.inf, 1.0, 0.0, -2.0]))
    assert_same(full, rng.normal(size=5) > 0, rng.normal(size=3) > 0)


def test_gradients() -> None:
    def loss(a, v):
        return np.sum(np.convolve(a, v, "same") ** 2) + np.sum(np.convolve(a, v, "valid"))

    for n, m in [(7, 3), (3, 7)]:
        a, v = np.linspace(1, 2, n), np.linspace(-1, 3, m)
        for k in (0, 1):
            derivative = grad(loss, argnums=k)
            np.testing.assert_allclose(as_loops(derivative, loss, (a, v)), derivative(a, v), rtol=1e-12)


def test_fewer_results_than_items_are_products_of_vectors() -> None:
    rng = np.random.default_rng(2)
    valid = program("valid")
    for n, m in [(9, 8), (2100, 2060), (5, 5)]:
        assert_same(valid, rng.normal(size=n), rng.normal(size=m))
        assert_same(valid, rng.normal(size=m % 7).astype("f4"), rng.normal(size=6).astype("f4"))
    assert_same(valid, rng.normal(size=9) + 1j, rng.normal(size=8))
    assert_same(valid, rng.integers(-5, 5, 9), rng.integers(-5, 5, 8))
    assert_same(valid, np.array([1.0, np.inf, 3.0, -0.0]), np.array([0.0, 1.0, -2.0]))


def test_sizes_of_the_program() -> None:
    def selected(a, v):
        return np.convolve(a[a > 0], v)

    assert_same(selected, np.array([1.0, -2.0, 3.0, 4.0]), np.array([1.0, 2.0]))
