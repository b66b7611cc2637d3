"""Derivatives where NumPy reads one triangle of a matrix: those of differences, whatever the matrix is made of; of an
argument, by convention, their symmetric part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

from transformer import checkpoint, grad, jit, jvp, vmap

X = np.array([[0.4, -0.7, 1.1], [-0.3, 0.9, 0.2], [0.8, 0.5, -0.6]])
WEIGHTS = np.cos(np.arange(9.0)).reshape(3, 3)
S = X @ X.T + 2 * np.eye(3)


def gradient(function: Any, x: Any, step: float = 1e-5) -> Any:
    """By central differences."""
    found = np.zeros(x.shape)
    for k in np.ndindex(x.shape):
        ends = [x.copy(), x.copy()]
        ends[0][k] += step
        ends[1][k] -= step
        found[k] = (function(ends[0]) - function(ends[1])) / (2 * step)
    return found


def filled(x):
    """The lower triangle alone."""
    a = np.zeros((3, 3))
    for i in range(3):
        for j in range(i + 1):
            a[i, j] = x[i, j]
        a[i, i] += 5
    return a


def lower(x):
    return np.tril(x) + 4 * np.eye(3)


def roots(a):
    return np.sum(np.linalg.eigvalsh(a) ** 3)


def vectors(a):
    w, v = np.linalg.eigh(a)
    return np.sum(v**2 * WEIGHTS) + np.sum(w**3)


def factor(a):
    return np.sum(np.linalg.cholesky(a) * WEIGHTS)


TRIANGLES = {
    "filled in loops": lambda x: factor(filled(x)),
    "eigenvalues": lambda x: roots(filled(x)),
    "eigenvectors": lambda x: vectors(filled(x)),
    "upper eigenvalues": lambda x: np.sum(np.linalg.eigvalsh(np.triu(x), "U") ** 3),
    "upper factor": lambda x: np.sum(np.linalg.cholesky(lower(x).T, upper=True) * WEIGHTS),
    "masked": lambda x: factor(x * np.tri(3) + 4 * np.eye(3)),
    "not symmetric": lambda x: vectors(x @ x + x),
    "antisymmetric": lambda x: roots(x - x.T),
    "differences": lambda x: roots(x[0][:, None] - x[1]),
    "of SciPy": lambda x: np.sum(scipy.linalg.cholesky(np.triu(x) + 4 * np.eye(3)) * WEIGHTS),
    "eigh of SciPy": lambda x: np.sum(scipy.linalg.eigh(np.triu(x), lower=False)[0] ** 3),
    "cho_factor": lambda x: np.sum(scipy.linalg.cho_factor(lower(x), lower=True)[0] * WEIGHTS),
    "solve": lambda x: np.sum(scipy.linalg.solve(lower(x), x[0], assume_a="pos", lower=True) ** 2),
    "complex": lambda x: np.sum(np.abs(np.linalg.cholesky(lower(x) + 1j * np.tril(x @ x) + np.eye(3))) ** 3 * WEIGHTS),
    "checkpointed": lambda x: checkpoint(roots)(np.tril(x)),
}


def check(function: Any, x: Any, wanted: Any, tangent: Any) -> None:
    """Both modes, of one point and of two."""
    np.testing.assert_allclose(grad(function)(x), wanted, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(jvp(function, (x,), (tangent,))[1], np.sum(wanted * tangent), rtol=1e-5)
    lanes = np.stack([x, 1.1 * x])
    by_lane = vmap(grad(function))(lanes)
    np.testing.assert_allclose(by_lane[0], wanted, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(grad(lambda xs: np.sum(vmap(function)(xs)))(lanes), by_lane, atol=1e-12)


@pytest.mark.parametrize("name", TRIANGLES)
def test_derivatives_are_those_of_the_triangle_that_is_read(name: str) -> None:
    function = TRIANGLES[name]
    check(function, X, gradient(function, X), WEIGHTS)


@pytest.mark.parametrize("name", ["filled in loops", "eigenvectors", "not symmetric"])
def test_second_derivatives(name: str) -> None:
    function = TRIANGLES[name]

    def along(x):
        return np.sum(grad(function)(x) * WEIGHTS)

    wanted = gradient(along, X)
    np.testing.assert_allclose(grad(along)(X), wanted, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(jvp(along, (X,), (WEIGHTS,))[1], np.sum(wanted * WEIGHTS), rtol=1e-6)


def test_compiled() -> None:
    derivative = grad(TRIANGLES["filled in loops"])
    np.testing.assert_allclose(jit(derivative)(X), derivative(X), rtol=1e-12)


def test_a_derivative_inside_is_differentiated_as_it_is() -> None:
    """Inside, the matrix is an argument, and the gradient symmetric; around it, it is a triangle."""
    def function(x):
        return np.sum(grad(roots)(np.tril(x)) * WEIGHTS)

    np.testing.assert_allclose(grad(function)(X), gradient(function, X), rtol=1e-6, atol=1e-8)


ARGUMENTS = {
    "itself": factor,
    "transposed": lambda a: factor(a.T),
    "eigenvalues": roots,
    "with a jitter": lambda a: factor(a + 0.1 * np.eye(3)),
    "scaled": lambda a: vectors(-a / 2 + 1),
    "upper": lambda a: np.sum(np.linalg.cholesky(a, upper=True) * WEIGHTS),
}


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("x", [S, np.tril(S)], ids=["symmetric", "half"])
def test_an_argument_counts_as_symmetric(name: str, x: Any) -> None:
    true = gradient(ARGUMENTS[name], x)
    check(ARGUMENTS[name], x, (true + true.T) / 2, WEIGHTS + WEIGHTS.T)


def test_so_do_matrices_in_an_argument() -> None:
    def in_turn(a):
        total = 0.0
        for k in range(len(a)):
            total += factor(a[k])
        return total + sum(roots(each) for each in a) + factor(a.mean(axis=0))

    a = np.stack([S, 2 * S])
    true = gradient(in_turn, a)
    np.testing.assert_allclose(grad(in_turn)(a), (true + np.swapaxes(true, 1, 2)) / 2, rtol=1e-5, atol=1e-7)


def test_a_mask_among_arguments_is_no_symmetric_matrix() -> None:
    def masked(a, mask):
        return factor(a * mask)

    mask = np.tri(3)
    np.testing.assert_allclose(grad(masked)(S, mask), gradient(lambda a: masked(a, mask), S), rtol=1e-6, atol=1e-8)


SYMMETRIC = {
    "product": lambda x: x @ x.T + np.eye(3),
    "other product": lambda x: 2 * x.T @ x / 3 + np.diag(x[0] ** 2),
    "congruence": lambda x: x @ (WEIGHTS @ WEIGHTS.T) @ x.T,
    "sum": lambda x: (x + x.T) / 2 + 1.0,
    "pairs": lambda x: np.exp(-np.sum((x[:, None] - x[None, :]) ** 2, axis=-1)) + x[0, 0] * np.identity(3),
    "distances": lambda x: np.linalg.norm(x[:, None, :] - x, axis=-1) + np.abs(x[:, None] - x[None])[..., 0],
    "squares": lambda x: np.sqrt(np.sum(x**2, 1)[:, None] + np.sum(x**2, 1) + 2 * x @ x.T + 1),
    "antisymmetric twice": lambda x: (x - x.T) * (x - x.T) - (x - x.T) @ (x - x.T),
    "outer": lambda x: np.outer(x[0], x[0]) + np.maximum(x, x.T) * np.linalg.inv(x @ x.T),
    "written out": lambda x: np.array([[x[0, 0], x[0, 1]], [x[0, 1], x[1, 1]]]),
}


@pytest.mark.parametrize("name", SYMMETRIC)
def test_matrices_that_are_made_symmetric_take_no_triangle(name: str) -> None:
    def function(x):
        a = SYMMETRIC[name](x)
        return np.sum(np.linalg.eigvalsh(a) ** 3) + np.sum(np.linalg.eigh(a)[1][:, -1] ** 2 * WEIGHTS[0, :len(a)])

    derivative = grad(function)
    np.testing.assert_allclose(derivative(X), gradient(function, X), rtol=1e-5, atol=1e-7)
    assert "tril" not in derivative.source
    pushed = vmap(lambda x: jvp(function, (x,), (WEIGHTS,))[1])
    np.testing.assert_allclose(pushed(X[None])[0], np.sum(derivative(X) * WEIGHTS), rtol=1e-9)
