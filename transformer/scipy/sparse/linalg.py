"""Iterative solutions of linear equations of pytrees, as `jax.scipy.sparse.linalg`.

What solves is run on vectors. Derivatives are those of the solution, and not of the way to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...flatten_util import ravel_pytree
from ...lax.solving import custom_linear_solve
from ...taking import taking_arrays

__all__ = ["bicgstab", "cg", "gmres"]


@taking_arrays
def cg(A: Any, b: Any, x0: Any = None, *, tol: float = 1e-5, atol: float = 0.0, maxiter: Any = None, M: Any = None
       ) -> tuple[Any, None]:
    """The x with `A x = b` for a symmetric positive definite A, a matrix or a linear function, by conjugate gradients,
    and None. As `jax.scipy.sparse.linalg.cg`.

    Args:
        b, x0: pytrees of one structure; x0, by default 0, is where the iteration starts.
        tol, atol: it ends when the norm of `b - A x` is at most ``max(tol * norm(b), atol)``.
        maxiter: the largest number of steps, by default ten times the number of unknowns.
        M: about the inverse of A, a matrix or a function.

    M. R. Hestenes, E. Stiefel, "Methods of conjugate gradients for solving linear systems" (1952).

    >>> cg(np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0]))[0]
    array([0.0909..., 0.6363...])
    """
    return _solved(_conjugate_gradients, A, b, x0, tol, atol, maxiter, M, True)


@taking_arrays
def bicgstab(A: Any, b: Any, x0: Any = None, *, tol: float = 1e-5, atol: float = 0.0, maxiter: Any = None,
             M: Any = None) -> tuple[Any, None]:
    """The same for any A, by stabilised biconjugate gradients. As `jax.scipy.sparse.linalg.bicgstab`.

    H. A. van der Vorst, "Bi-CGSTAB" (1992).

    >>> bicgstab(np.array([[4.0, 1.0], [0.0, 3.0]]), np.array([5.0, 3.0]))[0]
    array([1., 1.])
    """
    return _solved(_stabilised, A, b, x0, tol, atol, maxiter, M, False)


@taking_arrays
def gmres(A: Any, b: Any, x0: Any = None, *, tol: float = 1e-5, atol: float = 0.0, restart: int = 20,
          maxiter: Any = None, M: Any = None, solve_method: str = "batched") -> tuple[Any, None]:
    """The same for any A, by generalised minimal residuals, from anew after `restart` steps. As
    `jax.scipy.sparse.linalg.gmres`; `solve_method` changes nothing.

    Y. Saad, M. H. Schultz, "GMRES" (1986).

    >>> np.round(gmres(np.array([[4.0, 1.0], [0.0, 3.0]]), np.array([1.0, 3.0]))[0], 12) + 0.0
    array([0., 1.])
    """
    def search(matvec: Any, b: Any, x: Any, limit: Any, most: Any, near: Any) -> Any:
        return _minimal_residuals(matvec, b, x, limit, most, near, restart)

    return _solved(search, A, b, x0, tol, atol, maxiter, M, False)


def _solved(search: Callable[..., Any], A: Any, b: Any, x0: Any, tol: Any, atol: Any, maxiter: Any, M: Any,
            symmetric: bool) -> tuple[Any, None]:
    right, back = ravel_pytree(b)
    start = np.zeros_like(right) if x0 is None else ravel_pytree(x0)[0]
    multiply, near = _as_function(A, back), _as_function(M, back)
    most = 10 * len(right) if maxiter is None else maxiter

    def solve(matvec: Callable[[Any], Any], b: Any) -> Any:
        return search(matvec, b, start, np.maximum(tol * np.linalg.norm(b), atol), most, near)

    return back(custom_linear_solve(multiply, right, solve, symmetric=symmetric)), None


def _as_function(A: Any, back: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What multiplies vectors."""
    if A is None:
        return lambda x: x
    if callable(A):
        return lambda x: ravel_pytree(A(back(x)))[0]
    return lambda x: A @ x


def _conjugate_gradients(matvec: Any, b: Any, x: Any, limit: Any, most: Any, near: Any) -> Any:
    r = b - matvec(x)
    z = near(r)
    p, gamma = z, np.vdot(r, z).real
    steps = 0
    while np.linalg.norm(r) > limit and steps < most:
        image = matvec(p)
        alpha = gamma / np.vdot(p, image).real
        x = x + alpha * p
        r = r - alpha * image
        z = near(r)
        before, gamma = gamma, np.vdot(r, z).real
        p = z + gamma / before * p
        steps += 1
    return x


def _stabilised(matvec: Any, b: Any, x: Any, limit: Any, most: Any, near: Any) -> Any:
    r = b - matvec(x)
    shadow, p = r, r
    rho = np.vdot(shadow, r)
    steps = 0
    while np.linalg.norm(r) > limit and steps < most and rho != 0:
        direction = near(p)
        image = matvec(direction)
        alpha = rho / np.vdot(shadow, image)
        s = r - alpha * image
        further = near(s)
        turned = matvec(further)
        size = np.vdot(turned, turned)
        omega = np.vdot(turned, s) / np.where(size == 0, 1, size)
        x = x + alpha * direction + omega * further
        r = s - omega * turned
        before, rho = rho, np.vdot(shadow, r)
        p = r + rho / before * (alpha / np.where(omega == 0, 1, omega)) * (p - omega * image)
        steps += 1
    return x


def _minimal_residuals(matvec: Any, b: Any, x: Any, limit: Any, most: Any, near: Any, restart: int) -> Any:
    """Each round has the least squares over what A makes of the residual, A of that, and so on, made orthogonal."""
    steps = 0
    count = min(restart, len(b))
    r = b - matvec(x)
    while np.linalg.norm(r) > limit and steps < most:
        basis = np.zeros((count + 1, len(b)), b.dtype)
        images = np.zeros((count, len(b)), b.dtype)
        basis[0] = r / np.linalg.norm(r)
        for k in range(count):
            image = matvec(near(basis[k]))
            images[k] = image
            rest = image - basis.T @ (basis.conj() @ image)
            rest = rest - basis.T @ (basis.conj() @ rest)
            size = np.linalg.norm(rest)
            is_new = size > 1e-14 * np.linalg.norm(image)
            basis[k + 1] = np.where(is_new, rest / np.where(is_new, size, 1), 0)
        parts = np.linalg.pinv(images.T) @ r
        x = x + near(basis[:count].T @ parts)
        r = b - matvec(x)
        steps += 1
    return x
