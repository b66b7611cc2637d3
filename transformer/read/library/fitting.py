"""Polynomials through points, and the points where they are zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from .floats import floats
from .refusing import refused


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The columns of the Vandermonde matrix are scaled to the same length, as in NumPy."""
    if full or cov:
        refused("np.polyfit with full or cov is not supported", "Compute them from the residuals of the fit.")
    x, y = floats(x), floats(y)
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if len(x) != len(y):
        raise TypeError("expected x and y to have same length")
    powers = np.vander(x, deg + 1)
    if w is not None:
        weights = floats(w)
        powers = powers * weights[:, None]
        y = y * (weights[:, None] if y.ndim == 2 else weights)
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    found = np.linalg.lstsq(powers / scale, y, rcond)[0]
    return (found.T / scale).T


def roots(p):
    """The eigenvalues of the companion matrix. The first coefficient is not 0."""
    p = floats(p)
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    if len(p) < 2:
        return np.zeros(0)
    below = np.eye(len(p) - 2, len(p) - 1, dtype=p.dtype)
    return np.linalg.eigvals(np.concatenate(((-p[1:] / p[0])[None, :], below), axis=0))


CALLS: dict[Any, Any] = {np.roots: roots}
