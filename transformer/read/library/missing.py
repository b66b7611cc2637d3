"""Functions that leave NaN out."""

from __future__ import annotations

from typing import Any

import numpy as np

from .refusing import refused


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None):
    if dtype is not None or out is not None or where is not True or mean is not None:
        refused("np.nanvar with dtype, out, where or mean", "Take np.var of the elements that count.")
    here = ~np.isnan(a)
    count = np.sum(here, axis=axis, keepdims=True)
    centre = np.sum(np.where(here, a, 0.0), axis=axis, keepdims=True) / count
    squares = np.where(here, a - centre, 0.0) ** 2
    return np.sum(squares, axis=axis, keepdims=keepdims) / (np.sum(here, axis=axis, keepdims=keepdims) - ddof)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None):
    variance = nanvar(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean)
    spread = variance != 0
    return np.where(spread, np.sqrt(np.where(spread, variance, 1.0)), 0.0)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    if axis is not None or out is not None or keepdims:
        refused("np.nanmedian with axis, out or keepdims", "Write a loop over the lines of the array.")
    a = np.asarray(a)
    return np.median(a[~np.isnan(a)])


def nancumsum(a, axis=None, dtype=None, out=None):
    if out is not None:
        refused("np.nancumsum with out", "Assign the result: y[:] = np.nancumsum(x).")
    return np.cumsum(np.where(np.isnan(a), 0.0, a), axis=axis, dtype=dtype)


def nancumprod(a, axis=None, dtype=None, out=None):
    if out is not None:
        refused("np.nancumprod with out", "Assign the result: y[:] = np.nancumprod(x).")
    return np.cumprod(np.where(np.isnan(a), 1.0, a), axis=axis, dtype=dtype)


CALLS: dict[Any, Any] = {
    np.nanvar: nanvar,
    np.nanstd: nanstd,
    np.nanmedian: nanmedian,
    np.nancumsum: nancumsum,
    np.nancumprod: nancumprod,
}
