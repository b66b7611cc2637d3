"""Functions of `np.polynomial`: series of powers or of orthogonal polynomials, the lowest degree first."""

from __future__ import annotations

from typing import Any

import numpy as np

from .floats import floats
from .polynomials import poly, polyfit
from .refusing import at_least, refused


def argument(x):
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


def series(c):
    c = np.asarray(c)
    if c.ndim != 1:
        refused("a series with several columns of coefficients is not supported", "Evaluate the columns one by one.")
    return c.astype(float) if c.dtype.kind in "biu" else c


def degrees(first, end, dtype):
    """Whole numbers, which do not make narrow coefficients wider."""
    numbers = np.arange(first, end)
    return numbers.astype(dtype) if dtype in (np.float16, np.float32) else numbers


def polyval(x, c, tensor=True):
    x, c = argument(x), series(c)
    y = c[-1] + 0 * x
    for k in range(2, len(c) + 1):
        y = c[-k] + y * x
    return y


def summed(x, c, following, before_first):
    """``c[0] p_0(x) + c[1] p_1(x) + …``: ``following(k, x, p_k, p_{k-1})`` is the polynomial of degree k + 1."""
    below, here = before_first, 1.0 + 0 * x
    y = c[0] * here
    for k in range(1, len(c)):
        below, here = here, following(k - 1, x, here, below)
        y = y + c[k] * here
    return y


def chebval(x, c, tensor=True):
    x = argument(x)
    return summed(x, series(c), lambda k, x, here, below: 2 * x * here - below, 1.0 * x)


def legval(x, c, tensor=True):
    x = argument(x)
    return summed(x, series(c), lambda k, x, here, below: ((2 * k + 1) * x * here - k * below) / (k + 1), 0.0 * x)


def lagval(x, c, tensor=True):
    x = argument(x)
    return summed(x, series(c), lambda k, x, here, below: ((2 * k + 1 - x) * here - k * below) / (k + 1), 0.0 * x)


def hermval(x, c, tensor=True):
    x = argument(x)
    return summed(x, series(c), lambda k, x, here, below: 2 * x * here - 2 * k * below, 0.0 * x)


def hermeval(x, c, tensor=True):
    x = argument(x)
    return summed(x, series(c), lambda k, x, here, below: x * here - k * below, 0.0 * x)


def polyder(c, m=1, scl=1, axis=0):
    c = floats(series(c))
    if not at_least(len(c), m + 1):
        return 0 * c[:1]
    for _ in range(m):
        c = scl * c[1:] * degrees(1, len(c), c.dtype)
    return c


def polyvander(x, deg):
    x = floats(np.atleast_1d(x))
    return x[..., None] ** degrees(0, deg + 1, x.dtype)


def polyfromroots(roots):
    roots = np.asarray(roots)
    is_narrow = roots.dtype in (np.float16, np.float32, np.complex64)
    return poly(roots.astype(np.result_type(roots.dtype, float)) if is_narrow else roots)[::-1]


def rising_polyfit(x, y, deg, rcond=None, full=False, w=None):
    return polyfit(x, y, deg, rcond, full, w)[::-1]


CALLS: dict[Any, Any] = {
    np.polynomial.polynomial.polyval: polyval,
    np.polynomial.polynomial.polyder: polyder,
    np.polynomial.polynomial.polyvander: polyvander,
    np.polynomial.polynomial.polyfromroots: polyfromroots,
    np.polynomial.polynomial.polyfit: rising_polyfit,
    np.polynomial.chebyshev.chebval: chebval,
    np.polynomial.legendre.legval: legval,
    np.polynomial.laguerre.lagval: lagval,
    np.polynomial.hermite.hermval: hermval,
    np.polynomial.hermite_e.hermeval: hermeval,
}
