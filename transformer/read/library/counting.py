"""Functions that sort elements into classes: unique ones, bins, positions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .refusing import refused


def unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True
):
    if axis is not None:
        refused("np.unique with axis is not supported",
                "Compute the unique rows outside, and pass them as an argument.")
    items = np.ravel(ar)
    if return_index or return_inverse:
        order = np.argsort(items, kind="stable")
        ordered = items[order]
    else:
        ordered = np.sort(items)
    first = np.ones(ordered.shape, dtype=bool)
    if ordered.dtype.kind in "fc" and equal_nan:
        first[1:] = (ordered[1:] != ordered[:-1]) & ~(np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    else:
        first[1:] = ordered[1:] != ordered[:-1]
    results = [ordered[first]]
    if return_index:
        results.append(order[first])
    if return_inverse:
        inverse = np.empty(order.shape, dtype=np.intp)
        inverse[order] = np.cumsum(first) - 1
        results.append(np.reshape(inverse, np.shape(ar)))
    if return_counts:
        starts = np.flatnonzero(first)
        results.append(np.diff(np.append(starts, items.size)))
    return results[0] if len(results) == 1 else tuple(results)


def unique_values(x, /):
    return unique(x, equal_nan=False)


def unique_counts(x, /):
    return COUNTS(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x, /):
    return INVERSE(*unique(x, return_inverse=True, equal_nan=False))


def unique_all(x, /):
    return EVERYTHING(*unique(x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False))


COUNTS, INVERSE, EVERYTHING = (type(call(np.zeros(1))) for call in (np.unique_counts, np.unique_inverse, np.unique_all))


def bincount(x, weights=None, minlength=0):
    x = counted(np.asarray(x))
    if weights is not None and np.shape(weights) != np.shape(x):
        raise ValueError("The weights and list don't have the same length.")
    if x.dtype.kind != "u" and np.any(x < 0):
        raise ValueError("'list' argument must have no negative elements")
    count = minlength if minlength else int(np.max(x)) + 1 if len(x) else 0
    if minlength and np.any(x >= minlength):
        raise ValueError("np.bincount with a number of minlength or more: its result would be longer than minlength")
    sums = np.zeros(count, dtype=int if weights is None else float)
    np.add.at(sums, x, 1 if weights is None else weights)
    return sums


def counted(x):
    """What `bincount` counts: as whole numbers."""
    if x.ndim != 1:
        raise ValueError(f"object {'too deep' if x.ndim else 'of too small depth'} for desired array")
    if x.dtype.kind in "fc":
        dtypes = f"from dtype('{x.dtype}') to dtype('int64')"
        raise TypeError(f"Cannot cast array data {dtypes} according to the rule 'safe'")
    return x.astype(int) if x.dtype.kind == "b" else x


def histogram(a, bins=10, range=None, density=None, weights=None):
    if isinstance(bins, str):
        refused("np.histogram with a named binning method is not supported",
                "Compute the bin edges outside: np.histogram_bin_edges(x, bins).")
    if weights is not None and np.shape(weights) != np.shape(a):
        raise ValueError("weights should have the same shape as a.")
    items = np.ravel(a)
    edges = histogram_bin_edges(items, bins, range)
    if np.ndim(bins) == 0:
        counts = sums_in_equal_bins(items, edges, None if weights is None else np.ravel(weights))
    elif weights is None:
        counts = counts_between(items, edges)
    else:
        counts = differences_of_sums(items, edges, np.ravel(weights))
    if density:
        return counts / np.diff(edges).astype(float) / np.sum(counts), edges
    return counts, edges


def counts_between(items, edges):
    ordered = np.sort(items)
    below = np.searchsorted(ordered, edges[:-1])
    return np.diff(np.append(below, np.searchsorted(ordered, edges[-1], side="right")))


def sums_in_equal_bins(items, edges, weights):
    """One sum for each bin, so that a weight that is not finite stays in its own, and one for what is in none."""
    dtype = np.dtype(int) if weights is None else weights.dtype
    sums = np.zeros(len(edges), dtype if weights is None else np.result_type(dtype, 0.0))
    np.add.at(sums, equal_bins(items, edges), 1 if weights is None else weights)
    return sums[:-1].astype(dtype)


def equal_bins(items, edges):
    """The bin of each item, and one behind all bins for what is in none. What the width of bins says is wrong by one at
    most, next to an edge."""
    last = len(edges) - 2
    inside = (items >= edges[0]) & (items <= edges[-1])
    x = items.astype(edges.dtype)
    widths = (x - edges[0]) / (edges[-1] - edges[0]) * (last + 1)
    place = np.clip(np.where(inside, widths, 0).astype(int), 0, last)
    place = np.clip(place - (x < edges[place]), 0, last)
    place = np.clip(place + (x >= edges[place + 1]), 0, last)
    return np.where(inside, place, last + 1)


def differences_of_sums(items, edges, weights):
    """As NumPy has it where bins are given by their edges."""
    order = np.argsort(items)
    ordered = items[order]
    sums = np.concatenate((np.zeros(1, dtype=weights.dtype), np.cumsum(weights[order]).astype(weights.dtype)))
    below = np.searchsorted(ordered, edges[:-1])
    return np.diff(sums[np.append(below, np.searchsorted(ordered, edges[-1], side="right"))])


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    if np.ndim(bins) == 1:
        return increasing(np.asarray(bins))
    items = np.ravel(a)
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    low, high = outer_edges(items, range)
    return np.linspace(low, high, bins + 1, dtype=np.result_type(low, high, items.dtype))


def increasing(edges):
    if np.any(edges[:-1] > edges[1:]):
        raise ValueError("`bins` must increase monotonically, when an array")
    return edges


def outer_edges(items, range):
    if range is not None:
        low, high = range
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
    elif items.size == 0:
        low, high = 0, 1
    else:
        low, high = np.min(items), np.max(items)
        if items.dtype.kind == "f" and not (np.isfinite(low) & np.isfinite(high)):
            raise ValueError(f"autodetected range of [{low}, {high}] is not finite")
    low, high = low + 0.0, high + 0.0
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    if not isinstance(bins, int) and len(bins) > 2:
        bins = (bins, bins)
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]


def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """Each point counts in the box that it is in; what is outside of all boxes counts nothing."""
    columns = sample if isinstance(sample, (list, tuple)) else list(np.atleast_2d(np.transpose(sample)))
    edges, place = [], 0
    inside = np.ones(np.shape(columns[0]), dtype=bool)
    for k, column in enumerate(columns):
        own = bins if isinstance(bins, int) else bins[k]
        each = edges_along(column, own, None if range is None else range[k])
        box = np.searchsorted(each, column, side="right") - 1
        box = np.where(column == each[-1], len(each) - 2, box)
        inside = inside & (box >= 0) & (box < len(each) - 1)
        place = place * (len(each) - 1) + np.clip(box, 0, len(each) - 2)
        edges.append(each)
    shape = tuple([len(each) - 1 for each in edges])
    counts = np.zeros(math.prod(shape))
    np.add.at(counts, place, np.where(inside, 1.0 if weights is None else weights, 0.0))
    counts = np.reshape(counts, shape)
    if density:
        for k, each in enumerate(edges):
            counts = counts / np.reshape(np.diff(each), tuple([-1 if k == j else 1 for j, _ in enumerate(edges)]))
        counts = counts / np.sum(np.where(inside, 1.0 if weights is None else weights, 0.0))
    return counts, edges


def edges_along(column, bins, range):
    """Unlike those of `histogram`, they are as wide as the range."""
    if np.ndim(bins) == 1:
        return increasing(np.asarray(bins))
    low, high = outer_edges(np.ravel(column), range)
    return np.linspace(low, high, bins + 1)


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    element = np.asarray(element)
    found = np.any(element[..., None] == np.ravel(test_elements), axis=-1)
    return ~found if invert else found


def setdiff1d(ar1, ar2, assume_unique=False):
    items = np.ravel(ar1) if assume_unique else unique(ar1)
    return items[isin(items, ar2, invert=True)]


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    if return_indices:
        refused("np.intersect1d with return_indices is not supported", "Find them with np.isin and np.flatnonzero.")
    items = np.sort(np.ravel(ar1)) if assume_unique else unique(ar1)
    return items[isin(items, ar2)].astype(np.result_type(items.dtype, np.asarray(ar2).dtype))


def union1d(ar1, ar2):
    return unique(np.concatenate((ar1, ar2), axis=None))


def setxor1d(ar1, ar2, assume_unique=False):
    first, second = (np.ravel(ar1), np.ravel(ar2)) if assume_unique else (unique(ar1), unique(ar2))
    items = np.sort(np.concatenate((first, second)))
    ends = np.ones(items.size + 1, dtype=bool)
    ends[1:-1] = items[1:] != items[:-1]
    return items[ends[1:] & ends[:-1]]


def lexsort(keys, axis=-1):
    """By the last key, where that is equal by the one before, and so on."""
    rows = [np.asarray(key) for key in keys]
    order = np.argsort(rows[0], axis=axis, kind="stable")
    for row in rows[1:]:
        again = np.argsort(np.take_along_axis(row, order, axis=axis), axis=axis, kind="stable")
        order = np.take_along_axis(order, again, axis=axis)
    return order


def unravel_index(indices, shape, order="C"):
    if order != "C":
        refused("np.unravel_index with an order other than 'C' is not supported", "Reverse the shape and the result.")
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) or np.ndim(shape) else (shape,)
    indices, found = as_index(indices), []
    size = math.prod(sizes)
    if np.any((indices < 0) | (indices >= size)):
        raise ValueError("index is out of bounds for array with size " + str(size))
    for k in reversed(range(1, len(sizes))):
        found.append(indices % sizes[k])
        indices = indices // sizes[k]
    return (indices, *found[::-1])


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    if mode != "raise" or order != "C":
        refused("np.ravel_multi_index with mode or order is not supported", "Compute the index: i * m + j.")
    multi_index = [as_index(places) for places in multi_index]
    for k in range(len(dims)):
        if np.any((multi_index[k] < 0) | (multi_index[k] >= dims[k])):
            raise ValueError("invalid entry in coordinates array")
    index = multi_index[0]
    for k in range(1, len(dims)):
        index = index * dims[k] + multi_index[k]
    return index


def as_index(places):
    """Places that take part in arithmetic: narrow ones would wrap around."""
    places = np.asarray(places)
    if places.dtype.kind not in "iu":
        raise TypeError("only int indices permitted")
    return places if places.dtype == np.int64 else places.astype(int)


def array_equal(a1, a2, equal_nan=False):
    a1, a2 = np.asarray(a1), np.asarray(a2)
    if a1.ndim != a2.ndim:
        return False
    for k in range(a1.ndim):
        if a1.shape[k] != a2.shape[k]:
            return False
    if equal_nan:
        return bool(np.all((a1 == a2) | (np.isnan(a1) & np.isnan(a2))))
    return bool(np.all(a1 == a2))


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(np.all(np.isclose(a, b, rtol, atol, equal_nan)))


CALLS: dict[Any, Any] = {
    np.unique: unique,
    np.unique_values: unique_values,
    np.unique_counts: unique_counts,
    np.unique_inverse: unique_inverse,
    np.unique_all: unique_all,
    np.bincount: bincount,
    np.histogram: histogram,
    np.histogram_bin_edges: histogram_bin_edges,
    np.histogram2d: histogram2d,
    np.histogramdd: histogramdd,
    np.setxor1d: setxor1d,
    np.lexsort: lexsort,
    np.isin: isin,
    np.setdiff1d: setdiff1d,
    np.intersect1d: intersect1d,
    np.union1d: union1d,
    np.unravel_index: unravel_index,
    np.ravel_multi_index: ravel_multi_index,
    np.array_equal: array_equal,
    np.allclose: allclose,
}
