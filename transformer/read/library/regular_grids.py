"""Functions through values on a grid, as `RegularGridInterpolator` and `interpn` of `scipy.interpolate`."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from .floats import own_floats
from .piecewise import doubles
from .refusing import at_least, of_object, refused


class RegularGrid:
    """By lines along each axis, or by the nearest point. Axes of the values beyond those of the grid stay."""

    def __init__(self, points, values, method, bounds_error, fill_value):
        self.grid = tuple([doubles(line) for line in points])
        self.values, self.method = own_floats(values), method
        self.bounds_error, self.fill_value = bounds_error, fill_value
        for axis, line in enumerate(self.grid):
            size = self.values.shape[axis]
            if line.shape[0] != size:
                raise ValueError(f"There are {len(line)} points and {size} values on dimension {axis}")
            if not at_least(len(line), 2):
                refused("interpolation on a grid with a single point along an axis is not supported", "Drop that axis.")
            if np.any(np.diff(line) <= 0):
                raise ValueError(f"The points in dimension {axis} must be strictly ascending")

    def __call__(self, xi, method=None, *, nu=None):
        method = self.method if method is None else method
        if method not in ("linear", "nearest") or nu is not None:
            refused(f"interpolation on a grid with method {method!r} is not supported",
                    "Use method='linear' or 'nearest'.")
        return self.at([doubles(place) for place in by_axes(xi, len(self.grid))], method)

    def at(self, places, method):
        if len(places) != len(self.grid):
            raise ValueError(f"The requested sample points xi have dimension {len(places)} but this "
                             f"RegularGridInterpolator has dimension {len(self.grid)}")
        if self.bounds_error:
            for axis, (x, line) in enumerate(zip(places, self.grid)):
                if not np.all((line[0] <= x) & (x <= line[-1])):
                    raise ValueError(f"One of the requested xi is out of bounds in dimension {axis}")
        pieces = [np.clip(np.searchsorted(line, x, side="right") - 1, 0, len(line) - 2)
                  for x, line in zip(places, self.grid)]
        parts = [(x - line[piece]) / (line[piece + 1] - line[piece])
                 for x, line, piece in zip(places, self.grid, pieces)]
        value = self.nearest(pieces, parts) if method == "nearest" else self.linear(pieces, parts)
        if self.bounds_error or self.fill_value is None:
            return value
        is_outside, is_none = np.zeros(np.shape(places[0]), bool), np.zeros(np.shape(places[0]), bool)
        for x, line in zip(places, self.grid):
            is_outside = is_outside | (x < line[0]) | (x > line[-1])
            is_none = is_none | np.isnan(x)
        return np.where(self.spread(is_outside & ~is_none), self.fill_value, value)

    def nearest(self, pieces, parts):
        """Where a place is nan, so is its part of a cell."""
        at = tuple([np.where(part <= 0.5, piece, piece + 1) for piece, part in zip(pieces, parts)])
        return self.values[at] + self.spread(0.0 * sum(parts)).astype(self.values.dtype)

    def linear(self, pieces, parts):
        """The sum over the corners of the cell around each place."""
        terms = []
        for corner in product((0, 1), repeat=len(pieces)):
            weight = 1.0
            for step, part in zip(corner, parts):
                weight = weight * (part if step else 1 - part)
            at = tuple([piece + step for piece, step in zip(pieces, corner)])
            terms.append(self.spread(weight) * self.values[at])
        return sum(terms[1:], terms[0])

    def spread(self, each):
        """With axes for those of the values that are not axes of the grid."""
        more = self.values.ndim - len(self.grid)
        return np.reshape(each, (*np.shape(each), *(1,) * more)) if more else each


def by_axes(xi, count):
    """The places along each axis of the grid: a tuple has an array for each, an array a number for each in its last
    axis."""
    if isinstance(xi, tuple) and len(xi) > 1:
        return np.broadcast_arrays(*xi)
    xi = np.asarray(xi[0] if isinstance(xi, tuple) else xi)
    xi = np.reshape(xi, (-1, count)) if xi.ndim == 1 else xi
    return [xi[..., axis] for axis in range(xi.shape[-1])]


def interpolator(points, values, method="linear", bounds_error=True, fill_value=np.nan, *, solver=None,
                 solver_args=None):
    return RegularGrid(points, values, method, bounds_error, fill_value)


def interpn(points, values, xi, method="linear", bounds_error=True, fill_value=np.nan):
    return RegularGrid(points, values, method, bounds_error, fill_value)(xi)


def of_grid(made):
    grid = of_object(made, "grid", "grid")
    return RegularGrid(grid, of_object(made, "values", "values"), made.method, made.bounds_error, made.fill_value)


CALLS: dict[Any, Any] = {
    "scipy.interpolate.RegularGridInterpolator": interpolator,
    "scipy.interpolate.interpn": interpn,
}
