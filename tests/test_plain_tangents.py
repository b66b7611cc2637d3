"""Lines of forward mode that a person would write so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from differences import assert_close, directional

from transformer import grad, jacfwd, jacrev
from transformer.api import pushforward

X = np.arange(1.0, 7.0).reshape(2, 3)
V = np.array([0.5, -1.0, 2.0])


def chosen(r: Any, d: Any) -> Any:
    return r, np.sum(np.where(r <= d, 0.5 * r ** 2, d * r))


def pendulum(q: Any, p: Any, dt: Any) -> Any:
    return 0.5 * p ** 2 - np.cos(q) + dt * np.sin(q) / p


def directed(x: Any, v: Any) -> Any:
    unit = (x + v) / np.sqrt(x @ x)
    return unit, np.sum(np.exp(x[:, None] - np.max(x[:, None] * v, axis=0)))


def moves(x: Any) -> Any:
    return x @ (2 * x.T).T


def solved_twice(a: Any, b: Any) -> Any:
    x = np.linalg.solve(a, b)
    return x @ np.linalg.solve(a.T, x)


def logistic(w: Any, b: Any) -> Any:
    z = 1 / (1 + np.exp(-(X @ w + b)))
    return np.sum(z ** 2)


def standardized(x: Any) -> Any:
    y = (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 0.5)
    return np.sum(np.tanh(y) ** 3)


def turned_to(x: Any) -> Any:
    n = np.linalg.norm(x)
    return x / n @ V


def kernel(log_l: Any) -> Any:
    d = (V[:, None] - V[None, :]) / np.exp(log_l)
    return np.sum(np.exp(-0.5 * d ** 2))


def mixed(m: Any) -> Any:
    z = (V[:, None] - m) / np.exp(m)
    return np.sum(np.sin(z) * (V[:, None] - m))


def distance(x: Any, y: Any) -> Any:
    return np.sum(np.sqrt(x ** 2 + y ** 2))


def decayed(w: Any) -> Any:
    return np.sum(np.sin(w)) + 0.01 * w @ w


TANGENTS = [
    (pendulum, (0.3, 0.7, 0.1), (1.0, 1.0, 1.0),
     ["dtotal = dp * p + dq * sin_q + (ddt * sin_q + dt * (dq * cos_q) - ratio * dp) / p"], ["0.5 * (", "/ p / p"]),
    (directed, (V, V), (V, V), ["(dx + dv - unit * (dx @ x / root)) / root", "same = scaled == top\n"], ["x @ dx"]),
    (chosen, (V, 0.7), (V, 1.0), ["np.sum(np.where(mask, dr * r, "], ["0.0"]),
    (moves, (X[:, :2],), (X[:, :2],), ["x @ scaled, dx @ scaled + x @ (2 * dx)"], [".T"]),
    (solved_twice, (np.eye(3) + X.T @ X, V), (np.outer(V, V + 1), V),
     ["dx = np.linalg.solve(a, db - da @ x)\n", "np.linalg.solve(a.T, dx - da.T @ solution)"], []),
    (logistic, (V, 0.1), (V, 0.3), ["z = 1 / (1 + np.exp(-(X @ w + b)))\n", "(X @ dw + db) * z * (1 - z)\n"], []),
    (standardized, (X ** 2,), (X,), [" - y * (np.mean(diff * dx, axis=0) / root)) / root"], ["shape", "np.sum(diff"]),
    (turned_to, (V,), (V + 1,), ["dn = x @ dx / n\n"], ["np.inf"]),
    (kernel, (0.1,), (1.0,), [], ["/ e"]),
    (mixed, (V[:2],), (X[0, :2],), [], ["broadcast_to"]),
    (distance, (V, V + 3), (V, 2 * V), ["np.sum((dx * x + dy * y) / root)"], []),
    (decayed, (V,), (V + 1,), ["0.02 * (dw @ w)"], ["0.01 * dw"]),
]


@pytest.mark.parametrize("function, primals, directions, there, gone", TANGENTS,
                         ids=lambda item: getattr(item, "__name__", ""))
def test_tangents(function: Callable[..., Any], primals: Any, directions: Any, there: Any, gone: Any) -> None:
    """Factors stand where the primal has them, constants in front, and a quotient is divided once."""
    made = pushforward(function, tuple(range(len(primals))))
    source = made.source_for(*primals, *directions)
    assert [line for line in there if line not in source] == [], source
    assert [line for line in gone if line in source] == [], source
    assert_close(made(*primals, *directions)[1], directional(function, primals, directions), "tangent", np.dtype(float))


def test_jacobians_do_not_multiply_by_the_unit_matrix() -> None:
    """It is not there: rows are scaled, and what is linear is its matrix."""
    def layer(w: Any, x: Any) -> Any:
        return np.tanh(w @ x) - 0.5 * w @ x

    for made in (jacfwd(layer, argnums=1), jacrev(layer, argnums=1)):
        source = made.source_for(X, V)
        assert "eye" not in source, source
        np.testing.assert_allclose(made(X, V), (0.5 - np.tanh(X @ V) ** 2)[:, None] * X, atol=1e-12)


def test_tangents_are_numbers_where_the_exponential_or_the_determinant_is_none() -> None:
    def volume(a: Any) -> Any:
        return np.log(np.linalg.det(a))

    far, small = np.array([-1000.0, 0.0, 1000.0]), 1e-200 * np.eye(3)
    with np.errstate(over="ignore", divide="ignore"):
        tangent = pushforward(lambda x: 1 / (1 + np.exp(-x)), (0,))(far, np.ones(3))[1]
        np.testing.assert_array_equal(tangent, [0.0, 0.25, 0.0])
        np.testing.assert_allclose(grad(volume)(small), 1e200 * np.eye(3))
