"""Functions that take, leave out and put in elements, or call a function on parts of an array."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .refusing import axis_of, refused


def compress(condition, a, axis=None):
    a = np.asarray(a)
    if axis is None:
        return np.ravel(a)[: len(condition)][np.asarray(condition) != 0]
    kept = np.flatnonzero(np.asarray(condition))
    return np.take(a, kept, axis=axis)


def compress_method(a, condition, axis=None):
    return compress(condition, a, axis)


def extract(condition, arr):
    return np.ravel(arr)[np.ravel(condition) != 0]


def choose(a, choices, mode="raise"):
    places = a if mode == "raise" else np.take(np.arange(len(choices)), a, mode=mode)
    dtype = np.result_type(*choices)
    spread = np.broadcast_arrays(places, *[np.asarray(choice, dtype=dtype) for choice in choices])
    return np.take_along_axis(np.stack(spread[1:]), spread[0][None], axis=0)[0]


def delete(arr, obj, axis=None):
    arr = np.asarray(arr)
    if axis is None:
        arr, axis = np.ravel(arr), 0
    axis = axis_of(axis, arr.ndim)
    before = (slice(None),) * axis
    if np.ndim(obj) == 0 and not isinstance(obj, slice):
        size = arr.shape[axis]
        if obj < -size or obj >= size:
            raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {size}")
        first = arr[(*before, slice(None, obj))]
        rest = arr[(*before, slice(obj + 1, None) if obj != -1 else slice(0, 0))]
        return np.concatenate((first, rest), axis=axis)
    kept = np.ones(arr.shape[axis], dtype=bool)
    kept[obj] = False
    return arr[(*before, kept)]


def trim_zeros(filt, trim="fb", axis=None):
    filt, trim = np.asarray(filt), trim.lower()
    if trim not in ("f", "b", "fb", "bf"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    if filt.ndim != 1:
        refused("np.trim_zeros of an array with several axes is not supported", "Take the slice that is not 0.")
    size, there = len(filt), np.flatnonzero(filt)
    if len(there) == 0:
        return filt[:0]
    return filt[there[0] if "f" in trim else 0 : there[-1] + 1 if "b" in trim else size]


def insert(arr, obj, values, axis=None):
    arr = np.asarray(arr)
    if np.ndim(obj) != 0 or isinstance(obj, slice):
        refused("np.insert at several positions is not supported", "Insert one value at a time, or use np.concatenate.")
    if axis is None:
        arr, axis = np.ravel(arr), 0
    axis = axis_of(axis, arr.ndim)
    size = arr.shape[axis]
    if obj < -size or obj > size:
        raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {size}")
    before = (slice(None),) * axis
    added = np.asarray(values, dtype=arr.dtype)
    if added.ndim == 0 or axis == 0 and added.ndim < arr.ndim:
        added = np.broadcast_to(added, arr[(*before, slice(0, 1))].shape) if arr.ndim > 1 else np.ravel(added)
    elif added.ndim < arr.ndim:
        added = np.moveaxis(np.broadcast_to(added, arr[(*before, 0)].shape)[None], 0, axis)
    first, rest = arr[(*before, slice(None, obj))], arr[(*before, slice(obj, None))]
    return np.concatenate((first, added, rest), axis=axis)


def check_count(items, count):
    """Raises what Python does where an array does not have as many items as there are names for them."""
    if len(items) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
    if len(items) > count:
        raise ValueError(f"too many values to unpack (expected {count})")


def check_count_at_least(items, count):
    """The same where one of the names takes what is left."""
    if len(items) < count:
        raise ValueError(f"not enough values to unpack (expected at least {count}, got {len(items)})")


def resize(a, new_shape):
    items = np.ravel(a)
    if items.size == 0:
        return np.zeros(new_shape, items.dtype)
    count = math.prod(new_shape) if isinstance(new_shape, tuple) else new_shape
    repeated = np.tile(items, -(-count // items.size))[:count]
    return np.reshape(repeated, new_shape)


def repeat_each(a, repeats, axis=None):
    """`np.repeat` with an array of numbers, one for each element."""
    a = np.asarray(a)
    if axis is None:
        a, axis = np.ravel(a), 0
    axis = axis_of(axis, a.ndim)
    if repeats.dtype.kind not in "bui" or repeats.dtype == np.uint64:
        raise TypeError(
            f"Cannot cast array data from dtype('{repeats.dtype}') to dtype('int64') according to the rule 'safe'"
        )
    if repeats.shape[0] != a.shape[axis]:
        if repeats.shape[0] == 1:
            return np.repeat(a, repeats[0], axis=axis)
        raise ValueError(
            f"operands could not be broadcast together with shape ({a.shape[axis]},) ({repeats.shape[0]},)"
        )
    if np.any(repeats < 0):
        raise ValueError("repeats may not contain negative values.")
    ends = np.cumsum(repeats.astype(np.int64))
    places = np.searchsorted(ends, np.arange(np.sum(repeats)), side="right")
    return np.take(a, places, axis=axis)


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    arr = np.asarray(arr)
    lines = np.moveaxis(arr, axis, -1)
    around = lines.shape[:-1]
    results = np.array([func1d(line, *args, **kwargs) for line in np.reshape(lines, (-1, lines.shape[-1]))])
    own = results.shape[1:]
    whole = np.reshape(results, (*around, *own))
    if len(own) == 1:
        return np.moveaxis(whole, -1, axis)
    if len(own) > 1:
        refused("np.apply_along_axis with a function that returns a matrix is not supported", "Write a loop.")
    return whole


def each_element(function, *args, otypes=None):
    """What `np.vectorize(function, otypes)` gives: of numbers alone, what the function gives of them."""
    if not any([np.ndim(value) for value in args]):
        results = function(*[np.asarray(value)[()] for value in args])
        if not isinstance(results, tuple):
            return as_asked(np.asarray(results), otypes, 0)[()]
        return tuple([as_asked(np.asarray(result), otypes, k)[()] for k, result in enumerate(results)])
    spread = np.broadcast_arrays(*args)
    shape = np.shape(spread[0])
    flat = [np.ravel(array) for array in spread]
    if len(flat) == 1:
        rows = [function(item) for item in flat[0]]
    else:
        rows = [function(*items) for items in zip(*flat)]
    if not isinstance(rows[0], tuple):
        return in_shape(np.array(rows), shape, otypes, 0)
    return tuple([in_shape(np.array([row[k] for row in rows]), shape, otypes, k) for k in range(len(rows[0]))])


def in_shape(results, shape, otypes, k):
    """A result of `np.vectorize`."""
    results = as_asked(results, otypes, k)
    return np.reshape(results, shape) if len(shape) > 1 else results


def as_asked(results, otypes, k):
    """The results in the dtype that is asked for."""
    return results if otypes is None else results.astype(np.dtype(otypes[k]))


def piecewise(x, condlist, funclist, *args, **kwargs):
    x = np.asarray(x)
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) else [condlist]
    functions = list(funclist)
    if len(functions) == len(conditions) + 1:
        around = ~conditions[0]
        for condition in conditions[1:]:
            around = around & ~condition
        conditions.append(around)
    y = np.zeros_like(x)
    if not x.ndim:
        for condition, function in zip(conditions, functions):
            if condition:
                y = np.asarray(function(x, *args, **kwargs) if callable(function) else function).astype(x.dtype)
        return y
    for condition, function in zip(conditions, functions):
        if callable(function):
            y[condition] = function(x[condition], *args, **kwargs)
        else:
            y[condition] = function
    return y


def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    grid = np.indices(shape).astype(dtype)
    return function(*[grid[k] for k in range(len(shape))], **kwargs)


def modf(x):
    dtype = np.asarray(x).dtype
    if dtype.kind in "biu":
        x = np.asarray(x).astype(np.result_type(dtype, np.float16))[()]
    whole = np.trunc(x)
    return np.where(np.isinf(x), np.copysign(0.0, x), np.fmod(x, 1.0)), whole


def diag_indices_from(arr):
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    for k in range(1, arr.ndim):
        if arr.shape[k] != arr.shape[0]:
            raise ValueError("All dimensions of input must be of equal length")
    return np.diag_indices(arr.shape[0], arr.ndim)


def block(arrays):
    if isinstance(arrays, list):
        return joined(arrays, -depth_of(arrays), depth_of(arrays))
    return np.asarray(arrays)


def depth_of(arrays):
    return 1 + depth_of(arrays[0]) if isinstance(arrays, list) else 0


def joined(arrays, axis, depth):
    if not isinstance(arrays, list):
        array = np.asarray(arrays)
        return np.reshape(array, (*(1,) * (depth - array.ndim), *array.shape)) if array.ndim < depth else array
    return np.concatenate([joined(part, axis + 1, depth) for part in arrays], axis=axis)


def apply_over_axes(func, a, axes):
    a = np.asarray(a)
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        found = func(a, axis)
        a = found if found.ndim == a.ndim else np.expand_dims(found, axis)
    return a


def unstack(x, /, *, axis=0):
    parts = np.moveaxis(x, axis, 0)
    return tuple([parts[k] for k in range(len(parts))])


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    x = np.asarray(x)
    sums = np.cumsum(x, axis=one_axis(x, axis), dtype=dtype)
    return write(out, preceded(sums, axis, 0) if include_initial else sums)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    x = np.asarray(x)
    products = np.cumprod(x, axis=one_axis(x, axis), dtype=dtype)
    return write(out, preceded(products, axis, 1) if include_initial else products)


def one_axis(x, axis):
    if axis is None and x.ndim > 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    return 0 if axis is None else axis


def preceded(totals, axis, initial):
    """With what the total is before the first element."""
    axis = 0 if axis is None else axis
    first = np.take(totals, [0], axis=axis)
    return np.concatenate((np.full_like(first, initial), totals), axis=axis)


def write(out, result):
    if out is None:
        return result
    out[...] = result
    return out


METHODS: dict[str, Any] = {"compress": compress_method}
CALLS: dict[Any, Any] = {
    np.compress: compress,
    np.extract: extract,
    np.choose: choose,
    np.delete: delete,
    np.trim_zeros: trim_zeros,
    np.insert: insert,
    np.resize: resize,
    np.apply_along_axis: apply_along_axis,
    np.apply_over_axes: apply_over_axes,
    **{
        getattr(np, function.__name__): function
        for function in (unstack, cumulative_sum, cumulative_prod)
        if hasattr(np, function.__name__)
    },
    np.piecewise: piecewise,
    np.fromfunction: fromfunction,
    np.diag_indices_from: diag_indices_from,
    np.block: block,
    np.modf: modf,
}
