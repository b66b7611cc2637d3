"""Matrices that equations define, as in `scipy.linalg`: square roots, equations of Sylvester, Lyapunov and Riccati.

Linear ones are solved for all elements at once. Of the others the solution is found in some way, and has the derivative
of what it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..calls.given_functions import own, solved
from .refusing import are_equal, refused


def real(a, what):
    a = np.asarray(a)
    if a.dtype.kind == "c":
        refused(f"scipy.linalg.{what} of complex matrices is not supported", "Pass real matrices.")
    return a.astype(float)


def width(*matrices):
    """The dtype of what equations between matrices define."""
    return np.result_type(*matrices, np.float32)


def sqrtm(A, disp=None, blocksize=None):
    if blocksize is not None or disp is False:
        refused("scipy.linalg.sqrtm with disp or blocksize is not supported", "Omit them.")
    a = real(A, "sqrtm")
    return solved(square_root, own(lambda x: x @ x - a), a).astype(width(np.asarray(A)))


def square_root(f, a):
    """Denman and Beavers: y tends to the root, z to its inverse."""
    y, z, steps = a, np.eye(len(a)), 0
    change, last = 1.0, np.inf
    while change > 0 and (change > 1e-8 or change < last):
        if steps == 60:
            raise ValueError("sqrtm: no real square root was found")
        before, last = y, change
        y, z = (y + np.linalg.inv(z)) / 2, (z + np.linalg.inv(y)) / 2
        change = np.max(np.abs(y - before)) / np.max(np.abs(y))
        steps += 1
    if not np.max(np.abs(f(y))) <= 1e-6 * np.max(np.abs(a)):
        raise ValueError("sqrtm: no real square root was found")
    return y


def solve_sylvester(a, b, q):
    """``a @ x + x @ b = q``."""
    a, b, q = np.asarray(a), np.asarray(b), np.asarray(q)
    if q.ndim != 2 or not (are_equal(q.shape[0], len(a)) and are_equal(q.shape[1], len(b))):
        raise ValueError("solve_sylvester: q must have as many rows as a and as many columns as b")
    system = np.kron(a, np.eye(len(b))) + np.kron(np.eye(len(a)), b.T)
    return np.reshape(np.linalg.solve(system, np.ravel(q)), q.shape).astype(width(a, b, q))


def solve_continuous_lyapunov(a, q):
    a = np.asarray(a)
    return solve_sylvester(a, np.conj(a).T, q)


def solve_discrete_lyapunov(a, q, method=None):
    """``x = a @ x @ a.T + q``."""
    a, q = np.asarray(a), np.asarray(q)
    if method not in (None, "direct", "bilinear"):
        raise ValueError(f"Unknown solver {method}")
    if q.ndim != 2 or not (are_equal(q.shape[0], len(a)) and are_equal(q.shape[1], len(a))):
        raise ValueError("solve_discrete_lyapunov: a and q must have the same shape")
    system = np.eye(a.size) - np.kron(a, np.conj(a))
    return np.reshape(np.linalg.solve(system, np.ravel(q)), q.shape)


def solve_continuous_are(a, b, q, r, e=None, s=None, balanced=True):
    a, b, q, r = riccati("solve_continuous_are", a, b, q, r, e, s)
    g = b @ np.linalg.solve(r, b.T)
    return solved(stable, own(lambda x: a.T @ x + x @ a - x @ g @ x + q), a, g, q)


def stable(f, a, g, q):
    """The solution that the stable half of the eigenvectors of Hamilton's matrix gives."""
    n = len(a)
    whole = np.concatenate((np.concatenate((a, -g), axis=1), np.concatenate((-q, -a.T), axis=1)))
    values, vectors = np.linalg.eig(whole + 0j)
    kept = vectors[:, np.argsort(values.real)[:n]]
    x = np.linalg.solve(kept[:n].T, kept[n:].T).real
    return checked(f, (x + x.T) / 2)


def solve_discrete_are(a, b, q, r, e=None, s=None, balanced=True):
    a, b, q, r = riccati("solve_discrete_are", a, b, q, r, e, s)

    def excess(x):
        gain = np.linalg.solve(r + b.T @ x @ b, b.T @ x @ a)
        return a.T @ x @ (a - b @ gain) - x + q

    return solved(doubled, own(excess), a, b @ np.linalg.solve(r, b.T), q)


def doubled(f, a, g, h):
    """Twice as many steps of the recursion each time (Chu, Fan, Lin)."""
    steps, change = 0, 1.0
    while change > 1e-15:
        if steps == 60:
            raise np.linalg.LinAlgError("Failed to find a finite solution.")
        middle = np.eye(len(a)) + g @ h
        forth, across = np.linalg.solve(middle, a), np.linalg.solve(middle, g)
        added = a.T @ h @ forth
        g, h, a = g + a @ across @ a.T, h + added, a @ forth
        change = np.max(np.abs(added)) / np.max(np.abs(h))
        steps += 1
    return checked(f, (h + h.T) / 2)


def checked(f, x):
    if not np.max(np.abs(f(x))) <= 1e-6 * (1 + np.max(np.abs(x)) ** 2):
        raise np.linalg.LinAlgError("Failed to find a finite solution.")
    return x


def riccati(name, a, b, q, r, e, s):
    if e is not None or s is not None:
        refused(f"scipy.linalg.{name} with e or s is not supported", "Omit them.")
    return [real(each, name) for each in (a, b, q, r)]


CALLS: dict[Any, Any] = {
    f"scipy.linalg.{function.__name__}": function
    for function in (sqrtm, solve_sylvester, solve_continuous_lyapunov, solve_discrete_lyapunov, solve_continuous_are,
                     solve_discrete_are)
}
