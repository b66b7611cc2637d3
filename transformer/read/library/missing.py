"""Functions that leave NaN out."""

from __future__ import annotations

from typing import Any

import numpy as np

from .folding import divided
from .ranks import are_parts, kept, lines, of_real_numbers, part_of
from .refusing import refused


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None):
    if dtype is not None or out is not None or where is not True or mean is not None:
        refused("np.nanvar with dtype, out, where or mean is not supported",
                "Use np.var of the elements that are not nan: x[~np.isnan(x)].")
    here = ~np.isnan(a)
    count = np.sum(here, axis=axis, keepdims=True)
    centre = divided(np.sum(np.where(here, a, 0.0), axis=axis, keepdims=True), count)
    apart = np.where(here, a - centre, 0.0)
    squares = apart.real**2 + apart.imag**2 if apart.dtype.kind == "c" else apart**2
    total = np.sum(squares, axis=axis, keepdims=keepdims)
    free = np.sum(here, axis=axis, keepdims=keepdims) - ddof
    return divided(total, np.where(free > 0, free, np.nan) if ddof else free)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None):
    variance = nanvar(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean)
    spread = variance != 0
    return np.where(spread, np.sqrt(np.where(spread, variance, 1.0)), 0.0)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    if out is not None:
        refused("np.nanmedian with out is not supported", "Assign the result: y[:] = np.nanmedian(x, axis=0).")
    return among_numbers(np.asarray(a), 0.5, axis, keepdims)


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    if out is not None or method != "linear" or weights is not None:
        refused("np.nanquantile or np.nanpercentile with out, weights or a method other than 'linear' is not supported",
                "Omit them.")
    a = of_real_numbers(a)
    if not are_parts(q):
        raise ValueError("Quantiles must be in the range [0, 1]")
    return among_numbers(a, q, axis, keepdims)


def among_numbers(a, q, axis, keepdims):
    """NaN are sorted to the end, so that the others are the first ones of each line."""
    is_pythons = type(q) in (int, float)      # the result is as wide as the array
    q = np.asarray(q)
    ordered = np.sort(lines(a, axis), axis=0)
    if a.dtype.kind in "fc" and ordered.shape[0] == 0:
        ordered = np.full((1, *ordered.shape[1:]), np.nan, a.dtype)
    last = np.maximum(np.sum(~np.isnan(ordered), axis=0) - 1, 0)
    position = (np.reshape(q, (*q.shape, *(1,) * last.ndim)) if q.ndim and last.ndim else q) * last
    low = np.floor(position).astype(int)
    high = np.minimum(low, last - 1) + 1
    if ordered.ndim == 1:
        below, above = ordered[low], ordered[high]
    elif q.ndim == 0:
        below, above = (np.take_along_axis(ordered, place[None], axis=0)[0] for place in (low, high))
    else:
        below, above = (np.take_along_axis(ordered[None], place[:, None], axis=1)[:, 0] for place in (low, high))
    between = below + (above - below) * (position - low)
    return kept(between.astype(a.dtype) if is_pythons and a.dtype.kind == "f" else between, a, axis, keepdims, q.shape)


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    a = of_real_numbers(a)
    if not are_parts(part_of(q)):
        raise ValueError("Percentiles must be in the range [0, 100]")
    return nanquantile(a, part_of(q), axis, out, overwrite_input, method, keepdims, weights=weights)


def present(a, otherwise):
    """The array with a number in place of NaN; whole numbers have none, and stay whole."""
    a = np.asarray(a)
    return np.where(np.isnan(a), otherwise, a) if a.dtype.kind in "fc" else a


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    if out is not None or initial is not None or where is not True:
        refused("np.nanprod with out, initial or where is not supported",
                "Use np.prod(np.where(np.isnan(x), 1.0, x)), which accepts them.")
    return np.prod(present(a, 1.0), axis=axis, dtype=dtype, keepdims=keepdims)


def nancumsum(a, axis=None, dtype=None, out=None):
    if out is not None:
        refused("np.nancumsum with out is not supported", "Assign the result: y[:] = np.nancumsum(x).")
    return np.cumsum(present(a, 0.0), axis=axis, dtype=dtype)


def nancumprod(a, axis=None, dtype=None, out=None):
    if out is not None:
        refused("np.nancumprod with out is not supported", "Assign the result: y[:] = np.nancumprod(x).")
    return np.cumprod(present(a, 1.0), axis=axis, dtype=dtype)


CALLS: dict[Any, Any] = {
    np.nanvar: nanvar,
    np.nanstd: nanstd,
    np.nanmedian: nanmedian,
    np.nanquantile: nanquantile,
    np.nanpercentile: nanpercentile,
    np.nanprod: nanprod,
    np.nancumsum: nancumsum,
    np.nancumprod: nancumprod,
}
