"""Functions and methods that write to an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...updates import repeats
from .folding import BINARY, UFUNCS
from .refusing import axis_of, refused, replaced


def put(a, ind, v, mode="raise"):
    values = v if np.ndim(v) == 1 and not isinstance(v, list) else np.ravel(v)
    indices = ind if isinstance(ind, list) or np.ndim(ind) == 1 else np.ravel(ind)
    if mode != "raise":
        indices = np.take(np.arange(a.size), indices, mode=mode)
    target = a if a.ndim == 1 else a.flat
    if len(values) == 1:
        target[indices] = values[0]
    elif len(values) == len(indices):
        target[indices] = values
    else:
        target[indices] = values[np.arange(len(indices)) % len(values)]


def put_along_axis(arr, indices, values, axis=-1):
    if axis is None:
        arr.flat[indices] = values
    else:
        axis = axis_of(axis, arr.ndim)
        places = tuple(indices if k == axis else positions_along(arr.shape[k], k, arr.ndim) for k in range(arr.ndim))
        arr[places] = values


def positions_along(size, axis, rank):
    return np.arange(size)[tuple(slice(None) if k == axis else None for k in range(rank))]


def copyto(dst, src, casting="same_kind", where=True):
    if where is True:
        np.copyto(dst, src, casting=casting)
    elif where is not False:
        mask = where if np.shape(where) == dst.shape else np.broadcast_to(where, dst.shape)
        dst[mask] = src if np.ndim(src) == 0 else np.broadcast_to(src, dst.shape)[mask]


def place(arr, mask, vals):
    here = np.flatnonzero(mask)
    target = arr if arr.ndim == 1 else arr.flat
    values = np.ravel(vals)
    target[here] = values[0] if values.size == 1 else values[np.arange(here.size) % values.size]


def putmask(a, mask, values):
    mask = np.asarray(mask) != 0
    if np.size(values) == 1:
        a[mask] = np.ravel(values)[0]
    elif np.shape(values) == a.shape:
        a[mask] = values[mask]
    else:
        a[mask] = np.ravel(values)[np.reshape(np.arange(a.size), a.shape)[mask] % np.size(values)]


def fill_diagonal(a, val, wrap=False):
    if wrap:
        refused("np.fill_diagonal with wrap=True is not supported", "Write to the diagonals of parts of the array.")
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    diagonal = np.arange(min(a.shape))
    if np.ndim(val) == 0 or np.size(val) == diagonal.size:
        a[(diagonal,) * a.ndim] = val
    else:
        a[(diagonal,) * a.ndim] = np.ravel(val)[diagonal % np.size(val)]


def sort(a, axis=-1, kind=None, order=None, *, stable=None, **others):
    replaced(a, np.sort(a, axis, kind=kind, order=order, stable=stable, **others))


def partition(a, kth, axis=-1, kind="introselect", order=None):
    replaced(a, np.partition(a, kth, axis))


def masked(function, args, out, where):
    """`function(*args, out=out, where=where)`: elements where the mask does not hold stay, and nothing is
    computed there."""
    mask = where if np.shape(where) == out.shape else np.broadcast_to(where, out.shape)
    out[mask] = function(*[arg if np.ndim(arg) == 0 else np.broadcast_to(arg, out.shape)[mask] for arg in args])
    return out


def in_dtype(function, args, dtype):
    """`function(*args, dtype=dtype)`: what it gives of arguments of that dtype."""
    return function(*[np.asarray(arg).astype(dtype)[()] for arg in args])


def subtract_at(a, indices, b):
    np.add.at(a, indices, -np.asarray(b).astype(np.result_type(a, b)))


def sequentially_at(function):
    """`ufunc.at`: one element after the other, so that what stands in `indices` twice is changed twice."""

    def at(a, indices, b):
        index = indices[0] if isinstance(indices, tuple) and len(indices) == 1 else indices
        if not repeats(index):
            a[index] = function(a[index], b)
        elif not isinstance(index, tuple) and np.ndim(index) == 1:
            values = np.broadcast_to(b, (len(index), *a.shape[1:]))
            for k in range(len(index)):
                a[index[k]] = function(a[index[k]], values[k])
        else:
            places = places_of(a, index)
            values = np.ravel(np.broadcast_to(b, places.shape))
            target = a if a.ndim == 1 else a.flat
            for k, place in enumerate(np.ravel(places)):
                target[place] = function(target[place], values[k])

    return at


def each_at(function):
    """`ufunc.at` of a ufunc of one argument."""

    def at(a, indices):
        index = indices[0] if isinstance(indices, tuple) and len(indices) == 1 else indices
        if not repeats(index):
            a[index] = function(a[index])
        elif not isinstance(index, tuple) and np.ndim(index) == 1:
            for k in index:
                a[k] = function(a[k])
        else:
            target = a if a.ndim == 1 else a.flat
            for place in np.ravel(places_of(a, index)):
                target[place] = function(target[place])

    return at


def places_of(a, index):
    """The places of `a[index]` in the flattened array."""
    return np.reshape(np.arange(a.size), a.shape)[index]


METHODS: dict[str, Any] = {"sort": sort, "partition": partition, "put": put}
CALLS: dict[Any, Any] = {
    np.put: put,
    np.put_along_axis: put_along_axis,
    np.place: place,
    np.putmask: putmask,
    np.fill_diagonal: fill_diagonal,
    **{ufunc.at: each_at(ufunc) for ufunc in UFUNCS if (ufunc.nin, ufunc.nout) == (1, 1)},
    **{ufunc.at: sequentially_at(ufunc) for ufunc in BINARY - {np.add}},
    np.subtract.at: subtract_at,
}
