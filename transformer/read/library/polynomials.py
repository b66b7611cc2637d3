"""Polynomials by their coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np


def polyval(p, x):
    y = np.zeros_like(x) if np.ndim(x) else 0.0
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
    return np.convolve(np.atleast_1d(a1), np.atleast_1d(a2))



def rosen(x):
    x = np.asarray(x)
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, axis=0)


CALLS: dict[Any, Any] = {
    np.polyval: polyval,
    np.vander: vander,
    np.polyder: polyder,
    np.polyint: polyint,
    np.polymul: polymul,
    "scipy.optimize.rosen": rosen,
}
