"""Polynomials by their coefficients, the highest power first; those of `np.polynomial` are in `polynomial_series`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .fitting import polyfit
from .floats import floats, own_floats
from .refusing import refused


def polyval(p, x):
    y = np.zeros_like(x, dtype=np.result_type(np.asarray(p).dtype, np.asarray(x).dtype))[()]
    for coefficient in p:
        y = y * x + coefficient
    return y


def vander(x, N=None, increasing=False):
    x = np.asarray(x)
    count = len(x) if N is None else N
    powers = np.arange(count) if increasing else np.arange(count - 1, -1, -1)
    return x[:, None] ** powers


def polyder(p, m=1):
    p = np.asarray(p)
    for _ in range(m):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


def polyint(p, m=1, k=None):
    p = np.asarray(p)
    constants = [0.0] * m if k is None else [k] * m if np.ndim(k) == 0 else list(k)
    for constant in constants:
        p = np.append(p / np.arange(len(p), 0, -1), constant)
    return p


def polymul(a1, a2):
    return np.convolve(leading(np.atleast_1d(a1)), leading(np.atleast_1d(a2)))


def leading(p):
    """The coefficients, of which NumPy leaves out zeros in front: how many those are is known only to the program."""
    if len(p) > 1 and p[0] == 0:
        raise ValueError("np.polymul with a leading coefficient of 0: NumPy drops it, so its result is shorter")
    return p


def padded(a, b):
    """Both with as many coefficients: zeros in front of the shorter one."""
    a, b = np.atleast_1d(a), np.atleast_1d(b)
    if len(a) < len(b):
        a = np.concatenate((np.zeros(len(b) - len(a), a.dtype), a))
    elif len(b) < len(a):
        b = np.concatenate((np.zeros(len(a) - len(b), b.dtype), b))
    return a, b


def polyadd(a1, a2):
    first, second = padded(a1, a2)
    return first + second


def polysub(a1, a2):
    first, second = padded(a1, a2)
    return first - second


def polydiv(u, v):
    """As in NumPy the remainder begins with its first coefficient that is not 0."""
    rest, v = own_floats(np.atleast_1d(u)), floats(np.atleast_1d(v))
    if rest.dtype != v.dtype:
        rest = rest.astype(np.result_type(rest.dtype, v.dtype))
    steps = len(rest) - len(v) + 1
    quotient = np.zeros(max(steps, 1), rest.dtype)
    for k in range(steps):
        quotient[k] = rest[k] / v[0]
        rest[k : k + len(v)] -= quotient[k] * v
    counts = ~np.isclose(rest, 0.0, rtol=1e-14)
    first = np.argmax(counts) if np.any(counts) else len(rest) - 1
    return quotient, rest[first:]


def poly(seq_of_zeros):
    zeros = np.atleast_1d(seq_of_zeros)
    if zeros.ndim != 1:
        refused("np.poly of a matrix is not supported",
                "Use the eigenvalues: np.poly(np.linalg.eigvalsh(a)) if it is symmetric.")
    is_single = zeros.dtype in (np.float32, np.complex64)
    coefficients = np.zeros(len(zeros) + 1, zeros.dtype if is_single else np.result_type(zeros.dtype, float))
    coefficients[0] = 1.0
    for zero in zeros:
        coefficients[1:] = coefficients[1:] - zero * coefficients[:-1]
    return coefficients


def rosen(x):
    x = np.asarray(x)
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, axis=0)


CALLS: dict[Any, Any] = {
    np.polyval: polyval,
    np.vander: vander,
    np.polyder: polyder,
    np.polyint: polyint,
    np.polyadd: polyadd,
    np.polysub: polysub,
    np.polymul: polymul,
    np.polydiv: polydiv,
    np.poly: poly,
    np.polyfit: polyfit,
    "scipy.optimize.rosen": rosen,
}
