"""Terms of a derivative that are multiples of one product are one term: what comes of it at numbers like inf and nan is
what the terms would have given."""

from __future__ import annotations

import numpy as np
import pytest

from transformer import grad, jit

SPECIAL = np.array([0.0, -0.0, 1.0, -2.0, 1e-30, 1e30, np.inf, -np.inf, np.nan])


def stepped(x):
    return np.sum(x - (x ** 3 - 2.0) / (3 * x * x))


def by_hand(x):
    scaled = 3 * x
    ratio = 1 / (scaled * x)
    share = ratio * ((x ** 3 - 2.0) / (scaled * x))
    return 1 + share * scaled + share * x * 3 - 3 * ratio * x ** 2


def shrunk(x, y):
    return np.sum(y * (x - 0.5 * y) * 3)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_multiples_of_one_product(dtype) -> None:
    x = SPECIAL.astype(dtype)
    for gradient in (grad(stepped), jit(grad(stepped))):
        found = gradient(x)
        assert found.dtype == dtype
        tiny = 1e-25 < abs(x)                 # where x * x is a number; elsewhere both overflow
        np.testing.assert_allclose(found[tiny], by_hand(x)[tiny], rtol=1e-4 if dtype == np.float32 else 1e-12)
        assert not np.isfinite(found[:2]).any()
    assert grad(stepped)(x[:0]).shape == (0,)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_taken_off_twice() -> None:
    y = SPECIAL[:, None] + 0 * SPECIAL
    x = y.T
    found = grad(shrunk, argnums=1)(x, y)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(3 * (x - 0.5 * y) - 1.5 * y))
    assert "dy = 3 * (x - 0.5 * y) - 1.5 * y\n" in grad(shrunk, argnums=1).source_for(x, y)


def weighted(x, y):
    none = x * (0.0 * y) - 0.0 * (x * y) + x * (y * 1e-200) - 1e-200 * (x * y)
    return np.sum(none) + 1e20 * np.sum(x * y) + np.sum(x * y)


def test_numbers_that_are_0_or_far_apart() -> None:
    x, y = np.array([1.0, 2.0]), np.array([3.0, -1.0])
    for gradient in (grad(weighted, argnums=(0, 1)), jit(grad(weighted, argnums=(0, 1)))):
        np.testing.assert_allclose(gradient(x, y), (1e20 * y, 1e20 * x))


def cancelled(x):
    y = x - x
    z = y / y
    return np.sum(z)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_multiples_by_zero() -> None:
    """The slope of `y` is 0, and what is handed on to it infinite."""
    assert np.isnan(grad(cancelled)(np.array([1.0, -3.0]))).all()
