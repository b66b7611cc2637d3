"""Distances of `scipy.spatial.distance` between the rows of matrices, integrals of samples, and standard scores."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .floats import floats
from .refusing import refused


def cdist(XA, XB, metric="euclidean"):
    rows, others = np.asarray(XA, np.float64), np.asarray(XB, np.float64)
    if rows.ndim != 2 or others.ndim != 2:
        raise ValueError("XA and XB must be 2-dimensional arrays.")
    if metric == "cosine":
        return 1 - rows @ others.T / (np.linalg.norm(rows, axis=1)[:, None] * np.linalg.norm(others, axis=1))
    return lengths(rows[:, None] - others, metric)


def pdist(X, metric="euclidean"):
    rows = np.asarray(X, np.float64)
    if rows.ndim != 2:
        raise ValueError("A 2-dimensional array must be passed.")
    first, second = np.triu_indices(len(rows), 1)
    return lengths(rows[first] - rows[second], metric)


def squareform(X, force="no", checks=True):
    X = np.asarray(X)
    if X.ndim == 2:
        if checks and np.any(X != X.T):
            raise ValueError("Distance matrix 'X' must be symmetric.")
        if checks and np.any(np.diag(X) != 0):
            raise ValueError("Distance matrix 'X' diagonal must be zero.")
        return X[np.triu_indices(len(X), 1)]
    n = round((1 + math.sqrt(1 + 8 * len(X))) / 2)
    if n * (n - 1) // 2 != len(X):
        raise ValueError("Incompatible vector size. It must be a binomial coefficient n choose 2 for some integer "
                         "n >= 2.")
    square = np.zeros((n, n), X.dtype)
    first, second = np.triu_indices(n, 1)
    square[first, second] = X
    square[second, first] = X
    return square


def zscore(a, axis=0, ddof=0, nan_policy="propagate"):
    if nan_policy != "propagate":
        refused("scipy.stats.zscore with nan_policy is not supported", "Use np.nanmean and np.nanstd.")
    a = np.asarray(a)
    return (a - np.mean(a, axis=axis, keepdims=True)) / np.std(a, axis=axis, ddof=ddof, keepdims=True)


def lengths(steps, metric):
    """The lengths of vectors along the last axis."""
    if metric == "euclidean":
        return np.sqrt(np.sum(steps**2, axis=-1))
    if metric == "sqeuclidean":
        return np.sum(steps**2, axis=-1)
    if metric == "cityblock":
        return np.sum(np.abs(steps), axis=-1)
    if metric == "chebyshev":
        return np.max(np.abs(steps), axis=-1)
    return refused("this metric of scipy.spatial.distance is not supported",
                   "Compute the distances from rows[:, None] - others.")


def vectors(u, v, w):
    if w is not None:
        refused("a distance of scipy.spatial.distance with weights is not supported", "Write it out: np.sum(w * ...).")
    one, other = np.asarray(u), np.asarray(v)
    if one.ndim != 1 or other.ndim != 1:
        raise ValueError("Input vector should be 1-D.")
    return one, other


def step_of(u, v, w):
    one, other = vectors(u, v, w)
    return one - other


def euclidean(u, v, w=None):
    return float(lengths(floats(step_of(u, v, w)), "euclidean"))


def sqeuclidean(u, v, w=None):
    one, other = vectors(u, v, w)
    return lengths(floats(one) - floats(other), "sqeuclidean")


def cityblock(u, v, w=None):
    return lengths(step_of(u, v, w), "cityblock")


def chebyshev(u, v, w=None):
    return lengths(step_of(u, v, w), "chebyshev")


def minkowski(u, v, p=2, w=None):
    if p <= 0:
        raise ValueError("p must be greater than 0")
    if p == 2:
        return euclidean(u, v, w)
    if p == np.inf:
        return lengths(floats(step_of(u, v, w)), "chebyshev")
    return np.sum(np.abs(floats(step_of(u, v, w))) ** p) ** (1 / p)


def cosine(u, v, w=None):
    u, v = vectors(u, v, w)
    if np.iscomplexobj(u) or np.iscomplexobj(v):
        raise TypeError("`u` and `v` must be real.")
    distance = 1 - np.dot(u, v) / math.sqrt(np.dot(u, u) * np.dot(v, v))
    return np.clip(distance, 0, 2)                      # rounded, it may lie below zero


def trapezoid(y, x=None, dx=1.0, axis=-1):
    return np.trapezoid(y, x, dx, axis)


def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    y = np.moveaxis(np.asarray(y), axis, -1)
    step = dx if x is None else np.diff(spread(x, y, axis))
    sums = np.cumsum(step * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        if initial != 0:
            raise ValueError("`initial` must be `None` or `0`.")
        sums = np.concatenate([np.zeros((*y.shape[:-1], 1), sums.dtype), sums], axis=-1)
    return np.moveaxis(sums, -1, axis)


def spread(x, y, axis):
    """The places of samples, along the last axis."""
    x = np.asarray(x)
    return x if x.ndim == 1 else np.moveaxis(x, axis, -1)


def simpson(y, x=None, *, dx=1.0, axis=-1):
    y = np.moveaxis(np.asarray(y), axis, -1)
    h = np.full(y.shape[-1] - 1, dx) if x is None else np.diff(spread(x, y, axis))
    if y.shape[-1] % 2 == 1:
        return parabolas(y, h)
    if y.shape[-1] == 2:
        return h[..., 0] * (y[..., 0] + y[..., 1]) / 2
    a, b = h[..., -2], h[..., -1]                        # the last interval, by Cartwright
    last = ((2 * b**2 + 3 * a * b) / (6 * (a + b)) * y[..., -1] + (b**2 + 3 * a * b) / (6 * a) * y[..., -2]
            - b**3 / (6 * a * (a + b)) * y[..., -3])
    return parabolas(y[..., :-1], h[..., :-1]) + last


def parabolas(y, h):
    """The integral of parabolas through three samples each, of which there is an odd number."""
    pairs = h.shape[-1] // 2
    a, b = h[..., : 2 * pairs : 2], h[..., 1 : 2 * pairs : 2]
    first, middle, last = y[..., : 2 * pairs : 2], y[..., 1 : 2 * pairs : 2], y[..., 2 : 2 * pairs + 1 : 2]
    both = a + b
    return np.sum(both / 6 * (first * (2 - b / a) + middle * (both**2 / (a * b)) + last * (2 - a / b)), axis=-1)


CALLS: dict[Any, Any] = {
    "scipy.spatial.distance.cdist": cdist,
    "scipy.spatial.distance.pdist": pdist,
    "scipy.spatial.distance.squareform": squareform,
    **{f"scipy.spatial.distance.{each.__name__}": each
       for each in (euclidean, sqeuclidean, cityblock, chebyshev, minkowski, cosine)},
    "scipy.stats.zscore": zscore,
    "scipy.integrate.trapezoid": trapezoid,
    "scipy.integrate.cumulative_trapezoid": cumulative_trapezoid,
    "scipy.integrate.simpson": simpson,
}
