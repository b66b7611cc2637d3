"""Medians and quantiles: elements at places among the sorted ones, or between two of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .refusing import axes_of, refused


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    if out is not None:
        refused("np.median with out", "Assign the result: y[:] = np.median(x, axis=0).")
    a = np.asarray(a)
    ordered = np.sort(lines(a, axis), axis=0)
    count = ordered.shape[0]
    middle = 0.5 * ordered[(count - 1) // 2] + 0.5 * ordered[count // 2]
    return kept(np.where(np.isnan(ordered[-1]), np.nan, middle), a, axis, keepdims)


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    if out is not None or method != "linear" or weights is not None:
        refused("np.quantile with out, weights or another method than 'linear'", "Leave them out.")
    is_pythons = type(q) in (int, float)      # the result is as wide as the array
    a, q = np.asarray(a), np.asarray(q)
    ordered = np.sort(lines(a, axis), axis=0)
    position = q * (ordered.shape[0] - 1)
    below = np.floor(position)
    low = below.astype(int)
    high = np.minimum(low + 1, ordered.shape[0] - 1)
    weight = float(position - below) if is_pythons else position - below
    if q.ndim and ordered.ndim > 1:
        weight = np.reshape(weight, (*q.shape, *(1,) * (ordered.ndim - 1)))
    between = ordered[low] + (ordered[high] - ordered[low]) * weight
    return kept(np.where(np.isnan(ordered[-1]), np.nan, between), a, axis, keepdims, q.shape)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    return quantile(a, part_of(q), axis, out, overwrite_input, method, keepdims, weights=weights)


def part_of(percents):
    return percents / 100 if type(percents) in (int, float) else np.asarray(percents) / 100


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
