"""Lines of generated source that a person would write so: where tests, signs and values stand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_emitted_files import for_call

from transformer import grad, jit


def triangle(a: Any) -> Any:
    n, m = a.shape
    total = 0.0
    for i in range(n):
        total += np.sum(a[i, i:m] ** 2)
    return total


def spring(y0: Any, k: Any, n: int) -> Any:
    y = y0.copy()
    for _ in range(n):
        y += 0.1 * np.array([y[1], -k * y[0]])
    return y[0] ** 2 + y[1]


def peak(x: Any, t: Any) -> Any:
    return np.sum(np.exp(-t * x ** 2))


def burgers(u: Any, nu: Any, dx: Any, dt: Any, n: int) -> Any:
    for _ in range(n):
        un = u.copy()
        u[1:-1] = (un[1:-1] - dt / dx * un[1:-1] * (un[1:-1] - un[:-2])
                   + nu * dt / dx ** 2 * (un[2:] - 2 * un[1:-1] + un[:-2]))
    return np.sum(u)


def behind_the_second(x: Any) -> Any:
    total = 0.0
    for k in range(len(x)):
        if k < 2:
            total += 1.0
        else:
            total = total * x[k]
    return total


def test_axes_are_tested_before_sizes_have_names() -> None:
    a = np.arange(12.0).reshape(3, 4)
    emitted = for_call(grad(triangle), a)
    np.testing.assert_allclose(emitted(a), 2 * np.triu(a))
    for other in (np.ones(3), np.ones((2, 2, 2)), 1.0):
        with pytest.raises(ValueError, match="2 axes"):
            emitted(other)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_signs_in_products_are_taken_up(dtype: Any) -> None:
    gradient = grad(spring, argnums=(0, 1))
    y0, k = np.array([0.5, -0.25], dtype), dtype(2.0)
    found = gradient(y0, k, 3)
    assert "dy[0] -= " in gradient.source and "* -" not in gradient.source
    for mine, compiled in zip(found, jit(gradient)(y0, k, 3), strict=True):
        assert np.asarray(mine).dtype == dtype
        np.testing.assert_allclose(mine, compiled, rtol=1e-5)
    bell = grad(peak)
    x = np.array([0.5, -1.0, 2.0], dtype)
    np.testing.assert_allclose(bell(x, 0.5), -x * np.exp(-0.5 * x ** 2), rtol=1e-5)
    assert "* -" not in bell.source


def test_a_wide_value_stands_in_its_write() -> None:
    gradient = grad(burgers, argnums=(0, 1))
    u, others = np.array([0.1, 0.4, -0.3, 0.2, 0.5]), (0.2, 0.1, 2)
    du, dnu = gradient(u, 0.3, *others)
    assert "u[1:-1] = (" in gradient.source
    step = 1e-6
    ends = [burgers(u.copy(), 0.3 + step * sign, *others) for sign in (1, -1)]
    np.testing.assert_allclose(dnu, (ends[0] - ends[1]) / (2 * step), rtol=1e-6)
    ends = [burgers(u + step * np.eye(5)[2] * sign, 0.3, *others) for sign in (1, -1)]
    np.testing.assert_allclose(du[2], (ends[0] - ends[1]) / (2 * step), rtol=1e-6)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_integers_are_compared_without_not(n: int) -> None:
    gradient = grad(behind_the_second)
    x = np.arange(1.0, n + 1)
    expected = [0.0 if k < 2 else 2.0 * np.prod(x[2:]) / x[k] for k in range(n)]
    np.testing.assert_allclose(gradient(x), expected)
    assert "if k >= 2:" in gradient.source and "not " not in gradient.source
