"""Fourier transforms and linear algebra where the generated tests of ops do not reach: complex vectors, other
spellings, what is refused, and errors of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.linalg

from transformer import grad, jit, jvp
from transformer.core.errors import NotDifferentiable, NotSupported, TransformError

A = np.array([[2.0, -0.4, 0.7], [0.2, 4.1, -0.8], [0.6, -0.35, 7.3]])
S = A @ A.T
TALL = np.array([[1.1, -0.4], [0.2, 1.9], [0.6, -0.35], [-0.7, 0.8]])
B = np.array([0.4, -1.2, 0.9])
TURN = np.array([[0.1, 0.4, -0.3], [0.5, -0.2, 0.7], [0.3, 0.6, 0.2]])


def check(function: Any, x: Any, compiled: bool = False) -> None:
    """The value, and the derivative along a line, against SciPy and NumPy themselves."""
    step, length = np.cos(np.arange(x.size)).reshape(x.shape), 1e-6
    wanted = (function(x + length * step) - function(x - length * step)) / (2 * length)
    value, slope = jvp(function, (x,), (step,))
    np.testing.assert_allclose(value, function(x), rtol=1e-12)
    np.testing.assert_allclose(slope, wanted, rtol=1e-6)
    np.testing.assert_allclose(np.sum(grad(function)(x) * step), wanted, rtol=1e-6)
    if compiled:
        np.testing.assert_allclose(jit(function)(x), function(x), rtol=1e-12)


def complex_low_rank(a):
    u, s, vh = np.linalg.svd(a + 1j * TURN, full_matrices=False)
    return np.sum(np.abs(u[:, :1] * s[0] @ vh[:1]) ** 3)


def spread(a):
    w, v = np.linalg.eig(a + 1j * TURN)
    return np.sum(np.abs(v) ** 3) + np.sum(np.abs(w) ** 2)


def solved_by_lu(a):
    factors = scipy.linalg.lu_factor(a[::-1])
    return np.sum(scipy.linalg.lu_solve(factors, B) ** 3) + np.sum(scipy.linalg.lu_solve(factors, B, trans=1))


def of_lu(a):
    p, lower, upper = scipy.linalg.lu(a[::-1])
    return np.sum(p @ lower**2) + np.sum(upper**3)


ALIKE = {
    "complex svd": (complex_low_rank, A),
    "complex eig": (spread, A),
    "singular values": (lambda a: np.sum(scipy.linalg.svdvals(a) ** 3), TALL),
    "no vectors": (lambda a: np.sum(np.linalg.svd(a, compute_uv=False) ** 3), TALL.T),
    "square with all vectors": (lambda a: np.sum((np.linalg.svd(a)[0][:, 0]) ** 3), A),
    "norm over axes": (lambda a: np.sum(np.linalg.norm(np.stack([a, a[::-1]]), -2, axis=(0, 2), keepdims=True)), A),
    "condition": (lambda a: np.linalg.cond(a, 1) + np.linalg.cond(a, "fro") + np.linalg.cond(a, -2), A),
    "lu": (of_lu, A),
    "lu_solve": (solved_by_lu, A),
    "inv and det": (lambda a: np.sum(scipy.linalg.inv(a)) * scipy.linalg.det(a), A),
    "solve": (lambda a: np.sum(scipy.linalg.solve(a, B, transposed=True) ** 2), A),
    "solve of half": (lambda a: np.sum(scipy.linalg.solve(a + 9 * np.eye(3), B, assume_a="pos", lower=True) ** 2), A),
    "upper factor": (lambda a: np.sum(scipy.linalg.cholesky(a @ a.T) ** 3), A),
    "eigh": (lambda a: np.sum(scipy.linalg.eigh(a + a.T, eigvals_only=True) ** 3), A),
    "qr": (lambda a: np.sum(scipy.linalg.qr(a, mode="economic")[1] ** 3), TALL),
    "tensorinv": (lambda a: np.sum(np.linalg.tensorinv(a.reshape(3, 1, 3), ind=2) ** 2), A),
    "tensorsolve": (lambda a: np.sum(np.linalg.tensorsolve(a.reshape(3, 3, 1), B) ** 2), A),
    "hfft": (lambda a: np.sum(np.fft.hfft(np.fft.ihfft(a, 5), 6) ** 3), B),
    "several axes": (lambda a: np.sum(np.abs(scipy.fft.fftn(a, s=(2, 5), axes=(1, 0), norm="ortho")) ** 3), A),
    "an axis twice": (lambda a: np.sum(np.abs(np.fft.fftn(a, axes=(0, 0, 1))) ** 3), A),
    "shifted": (lambda a: np.sum(np.fft.fftshift(a, axes=1) * np.fft.ifftshift(a) ** 2), A),
}


@pytest.mark.parametrize("name", ALIKE)
def test_derivatives_are_those_of_what_numpy_computes(name: str) -> None:
    check(*ALIKE[name], compiled=name in ("lu_solve", "complex svd", "several axes"))


def test_singular_values_alone_may_be_equal() -> None:
    slope = grad(lambda a: np.sum(np.linalg.svd(a, full_matrices=False)[1]))(np.eye(3))
    np.testing.assert_allclose(slope, np.eye(3), atol=1e-12)


def test_vectors_of_no_singular_value_have_no_derivative() -> None:
    def all_vectors(a):
        u, s, _ = np.linalg.svd(a)
        return np.sum(u**3) + np.sum(s)

    with pytest.raises(NotDifferentiable, match="full_matrices"):
        grad(all_vectors)(TALL)
    np.testing.assert_allclose(jit(all_vectors)(TALL), all_vectors(TALL))


@pytest.mark.parametrize("dependent", [False, True], ids=["full rank", "dependent"])
def test_least_squares_of_any_rank(dependent: bool) -> None:
    a = np.stack([TALL[:, 0], 2 * TALL[:, 0]], axis=1) if dependent else TALL
    b = np.array([0.4, -1.2, 0.9, 0.3])

    def fitted(scale):
        x, residuals, rank, s = np.linalg.lstsq(a * scale, b * scale**2, rcond=None)
        return np.sum(x**2) + rank * np.sum(residuals) + s[0]

    check(fitted, np.array(1.3))


def test_the_rank_decides_whether_there_are_residuals() -> None:
    a = np.ones((4, 2))
    function = lambda a: np.linalg.lstsq(a, a[:, 0] + 1, rcond=None)[1]  # noqa: E731
    assert jvp(function, (a,), (a,))[0].shape == function(a).shape == (0,)


ERRORS = {
    "axis": (lambda a: np.sum(np.fft.rfft(a, axis=2).real), A, IndexError),
    "length": (lambda a: np.sum(np.fft.fft(a, n=0).real), A, ValueError),
    "norm": (lambda a: np.sum(np.fft.fft(a, norm="most").real), A, ValueError),
    "lengths": (lambda a: np.sum(np.fft.fftn(a, s=(2, 3), axes=(0,)).real), A, ValueError),
    "not square": (lambda a: np.sum(scipy.linalg.expm(a)), TALL, np.linalg.LinAlgError),
    "singular": (lambda a: np.sum(scipy.linalg.solve_triangular(0 * a, B)), A, np.linalg.LinAlgError),
    "orthogonal: weights of shape": (lambda b: np.sum(np.linalg.svdvals(b)), B, np.linalg.LinAlgError),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_numpys(name: str) -> None:
    function, x, error = ERRORS[name]
    with pytest.raises((ValueError, IndexError, np.linalg.LinAlgError)):
        function(x)
    with pytest.raises(error):
        grad(function)(x)


def test_what_is_refused_is_said_with_its_place() -> None:
    with pytest.raises(NotSupported, match="b, left") as found:
        grad(lambda a: np.sum(scipy.linalg.eigvals(a, S).real))(A)
    assert isinstance(found.value, TransformError) and "File " in str(found.value)
