"""Functions of `scipy.linalg` that NumPy has too, and those that are written with them.

What says how they compute, and not what, is left out: `overwrite_a`, `check_finite` and the like.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.triangular import solve_triangular
from .refusing import at_least, refused


def inv(a, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    return np.linalg.inv(a if assume_a is None else assumed(np.asarray(a), assume_a, lower))


def det(a, overwrite_a=False, check_finite=True):
    return np.linalg.det(a)


def norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    return np.linalg.norm(a, ord, axis, keepdims)


def pinv(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    if atol is not None or return_rank:
        refused("scipy.linalg.pinv with atol or return_rank is not supported", "Use np.linalg.pinv.")
    return np.linalg.pinv(a, rtol=rtol)


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    return np.linalg.cholesky(a, upper=not lower)


def eigh(a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, type=1,
         check_finite=True, subset_by_index=None, subset_by_value=None, driver=None):
    if subset_by_index is not None or subset_by_value is not None:
        refused("scipy.linalg.eigh with a subset of the eigenvalues is not supported",
                "Compute all of them, and select afterwards.")
    half = "L" if lower else "U"
    if b is not None:
        if not eigvals_only or type != 1:
            refused("scipy.linalg.eigh with b and eigenvectors is not supported", "Pass eigvals_only=True.")
        root = np.linalg.cholesky(b)
        a = np.linalg.solve(root, assumed(np.asarray(a), "her", lower))
        return np.linalg.eigvalsh(np.linalg.solve(root, np.conj(a).T))
    return np.linalg.eigvalsh(a, half) if eigvals_only else np.linalg.eigh(a, half)


def eigvalsh(a, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
             subset_by_index=None, subset_by_value=None, driver=None):
    return eigh(a, b, lower=lower, eigvals_only=True, subset_by_index=subset_by_index,
                subset_by_value=subset_by_value, type=type)


def lstsq(a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None):
    x, residues, rank, singular = np.linalg.lstsq(a, b, rcond=cond)
    return x, residues[0] if np.ndim(b) == 1 and at_least(residues.size, 1) else residues, rank, singular


def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    a = np.asarray(a)
    if pivoting or mode != "economic" and a.shape[-2] != a.shape[-1]:
        refused("scipy.linalg.qr other than with mode='economic' is not supported",
                "Pass mode='economic', without pivoting.")
    return np.linalg.qr(a)


def solve(a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None,
          transposed=False):
    a = np.asarray(a) if assume_a is None else assumed(np.asarray(a), assume_a, lower)
    if transposed:
        a = np.swapaxes(a, -1, -2)
    if assume_a in ("pos", "positive definite"):
        factor = np.linalg.cholesky(a)
        adjoined = 2 if factor.dtype.kind == "c" else 1
        return solve_triangular(factor, solve_triangular(factor, b, lower=True), trans=adjoined, lower=True)
    return np.linalg.solve(a, b)


def assumed(a, kind, lower):
    """The matrix that is meant, of which only a part is read."""
    if kind in ("gen", "general"):
        return a
    if kind in ("sym", "symmetric"):
        return np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2) if lower else \
            np.triu(a) + np.swapaxes(np.triu(a, 1), -1, -2)
    if kind in ("her", "hermitian", "pos", "positive definite"):
        return np.tril(a) + np.conjugate(np.swapaxes(np.tril(a, -1), -1, -2)) if lower else \
            np.triu(a) + np.conjugate(np.swapaxes(np.triu(a, 1), -1, -2))
    if kind == "upper triangular":
        return np.triu(a)
    if kind == "lower triangular":
        return np.tril(a)
    return refused("this value of `assume_a` is not supported", "Omit `assume_a`.")


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    both, places = lu_and_piv
    order = np.arange(len(places))
    for k in range(len(places)):
        other = places[k]
        row = order[k]
        order[k] = order[other]
        order[other] = row
    b = np.asarray(b)
    if trans == 0:
        forward = solve_triangular(both, b[order], lower=True, unit_diagonal=True)
        return solve_triangular(both, forward)
    forward = solve_triangular(both, b, trans=trans)
    return solve_triangular(both, forward, trans=trans, lower=True, unit_diagonal=True)[np.argsort(order)]


def solve_banded(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    below, above = l_and_u
    ab = np.asarray(ab)
    n = ab.shape[1]
    if below + above + 1 != len(ab):
        raise ValueError(f"invalid values for the number of lower and upper diagonals: l+u+1 ({below + above + 1}) "
                         f"does not equal ab.shape[0] ({len(ab)})")
    a = np.zeros((n, n), ab.dtype)
    for k in range(-below, above + 1):
        row = ab[above - k]
        a = a + np.diag(row[k:] if k >= 0 else row[:k], k)
    return np.linalg.solve(a, b)


def solveh_banded(ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True):
    ab = np.asarray(ab)
    n, rows = ab.shape[1], ab.shape[0]
    a = np.diag(ab[0] if lower else ab[-1])
    for k in range(1, rows):
        side = ab[k, : n - k] if lower else ab[rows - 1 - k, k:]
        a = a + np.diag(side, -k) + np.diag(np.conj(side), k)
    return np.linalg.solve(a if lower else np.conj(a), b)


def solve_toeplitz(c_or_cr, b, check_finite=True):
    from scipy.linalg import toeplitz

    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, np.conj(c_or_cr))
    return np.linalg.solve(toeplitz(c, r), b)


CALLS: dict[Any, Any] = {
    "scipy.linalg.inv": inv,
    "scipy.linalg.det": det,
    "scipy.linalg.norm": norm,
    "scipy.linalg.pinv": pinv,
    "scipy.linalg.cholesky": cholesky,
    "scipy.linalg.eigh": eigh,
    "scipy.linalg.eigvalsh": eigvalsh,
    "scipy.linalg.lstsq": lstsq,
    "scipy.linalg.qr": qr,
    "scipy.linalg.solve": solve,
    "scipy.linalg.lu_solve": lu_solve,
    "scipy.linalg.solve_banded": solve_banded,
    "scipy.linalg.solveh_banded": solveh_banded,
    "scipy.linalg.solve_toeplitz": solve_toeplitz,
}
