"""Medians and quantiles: elements at places among the sorted ones, or between two of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .refusing import axes_of, refused


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    if out is not None:
        refused("np.median with out is not supported", "Assign the result: y[:] = np.median(x, axis=0).")
    a = np.asarray(a)
    ordered = np.sort(lines(a, axis), axis=0)
    count = ordered.shape[0]
    if count == 0:                            # the mean of nothing
        return kept(np.mean(ordered, axis=0), a, axis, keepdims)
    middle = 0.5 * ordered[(count - 1) // 2] + 0.5 * ordered[count // 2]
    return kept(np.where(np.isnan(ordered[-1]), np.nan, middle), a, axis, keepdims)


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    if out is not None or method != "linear" or weights is not None:
        refused("np.quantile with out, weights or a method other than 'linear' is not supported", "Omit them.")
    a = of_real_numbers(a)
    if not are_parts(q):
        raise ValueError("Quantiles must be in the range [0, 1]")
    return among(a, q, axis, keepdims)


def of_real_numbers(a):
    a = np.asarray(a)
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    return a


def are_parts(q):
    """Whether all are between 0 and 1; nan is not. Of constants that is known."""
    if isinstance(q, (list, tuple)):
        return all(are_parts(part) for part in q)
    return 0 <= q <= 1 if type(q) in (int, float) else np.all((q >= 0) & (q <= 1))


def among(a, q, axis, keepdims):
    """Between the two elements that are nearest to a part of the whole, in their order; from the nearer one, as in
    NumPy, which decides what comes of infinite ones."""
    is_pythons = type(q) in (int, float)      # the result is as wide as the array
    q = np.asarray(q)
    ordered = np.sort(lines(a, axis), axis=0)
    position = q * (ordered.shape[0] - 1)
    below = np.floor(position)
    low = below.astype(int)
    high = np.minimum(low, ordered.shape[0] - 2) + 1
    weight = float(position - below) if is_pythons else position - below
    if is_pythons:
        nearer, weight = (low, weight) if weight < 0.5 else (high, weight - 1)
    else:
        nearer, weight = np.where(weight < 0.5, low, high), np.where(weight < 0.5, weight, weight - 1)
    if q.ndim and ordered.ndim > 1:
        weight = np.reshape(weight, (*q.shape, *(1,) * (ordered.ndim - 1)))
    between = ordered[nearer] + (ordered[high] - ordered[low]) * weight
    return kept(np.where(np.isnan(ordered[-1]), np.nan, between), a, axis, keepdims, q.shape)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    if out is not None or method != "linear" or weights is not None:
        refused("np.percentile with out, weights or a method other than 'linear' is not supported", "Omit them.")
    a, parts = of_real_numbers(a), part_of(q)
    if not are_parts(parts):
        raise ValueError("Percentiles must be in the range [0, 100]")
    return among(a, parts, axis, keepdims)


def part_of(percents):
    return [part_of(each) for each in percents] if isinstance(percents, (list, tuple)) else percents / 100


def lines(a, axis):
    if axis is None:
        return np.ravel(a)
    if isinstance(axis, tuple):
        gone = axes_of(axis, a.ndim)
        around = tuple(k for k in range(a.ndim) if k not in gone)
        front = np.transpose(a, (*gone, *around))
        return np.reshape(front, (-1, *front.shape[len(gone) :]))
    return np.moveaxis(a, axis, 0)


def kept(result, a, axis, keepdims, before=()):
    if not keepdims:
        return result
    gone = range(a.ndim) if axis is None else axes_of(axis, a.ndim)
    return np.reshape(result, (*before, *[1 if k in gone else a.shape[k] for k in range(a.ndim)]))


CALLS: dict[Any, Any] = {np.median: median, np.quantile: quantile, np.percentile: percentile}
