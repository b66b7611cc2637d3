"""Functions through points, as in `scipy.interpolate`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .floats import own_floats
from .piecewise import PiecewisePolynomial, doubles, moved
from .refusing import at_least, axis_of, of_object, refused
from .regular_grids import of_grid
from .splines import BSpline, of_b_spline, of_fitted, through


def samples(x, y, axis):
    """Places and values as floats, the axis of the samples in front."""
    x, y = doubles(x), doubles(y)
    axis = axis_of(axis, y.ndim)
    if x.ndim != 1:
        raise ValueError("`x` must be 1-dimensional.")
    if not at_least(len(x), 2):
        raise ValueError("`x` must contain at least 2 elements.")
    if x.shape[0] != y.shape[axis]:
        raise ValueError(f"The length of `y` along `axis`={axis} doesn't match the length of `x`")
    if np.any(np.diff(x) <= 0):
        raise ValueError("`x` must be strictly increasing sequence.")
    return x, np.moveaxis(y, axis, 0) if axis else y, axis


def cubic_spline(x, y, axis=0, bc_type="not-a-knot", extrapolate=None):
    x, y, axis = samples(x, y, axis)
    first, last = conditions(bc_type)
    if first == "periodic" or last == "periodic":
        return hermite(x, y, slopes_around(x, y, axis), axis, "periodic" if extrapolate is None else extrapolate)
    if not at_least(len(x), 3):
        first, last = tuple([(1, np.diff(y, axis=0)[0] / (x[1] - x[0])) if each == "not-a-knot" else each
                             for each in (first, last)])
    return hermite(x, y, slopes(x, y, first, last), axis, extrapolate)


def conditions(bc_type):
    """What holds at both ends: ``(order, value)`` of a derivative, or a name."""
    both = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    known = {"clamped": (1, 0.0), "natural": (2, 0.0)}
    return tuple([known.get(each, each) if isinstance(each, str) else each for each in both])


def slopes(x, y, first, last):
    """The derivatives at the points, with which the second derivative is continuous."""
    dx = np.diff(x)
    widths = np.reshape(dx, (-1, *(1,) * (y.ndim - 1)))
    slope = np.diff(y, axis=0) / widths
    below, middle, above = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    right = np.zeros_like(y)
    if at_least(len(x), 3):
        middle[1:-1] = 2 * (dx[:-1] + dx[1:])
        above[1:-1], below[1:-1] = dx[:-1], dx[1:]
        right[1:-1] = 3 * (widths[1:] * slope[:-1] + widths[:-1] * slope[1:])
    if first == "not-a-knot" and last == "not-a-knot" and not at_least(len(x), 4):
        middle[0], above[0], right[0] = 1.0, 1.0, 2 * slope[0]
        middle[2], below[2], right[2] = 1.0, 1.0, 2 * slope[1]
    else:
        middle[0], above[0], right[0] = at_end(dx, slope, first)
        middle[-1], below[-1], right[-1] = at_end(dx[::-1], slope[::-1], mirrored(last))
    return tridiagonal(below, middle, above, right)


def slopes_around(x, y, axis):
    """The same of a curve that begins again where it ends: two systems without corners give that with corners (Sherman
    and Morrison)."""
    if not at_least(len(x), 3):
        refused("scipy.interpolate.CubicSpline of two points with periodic boundary conditions is not supported",
                "Pass at least three points.")
    if not np.allclose(y[0], y[-1], rtol=1e-15, atol=1e-15):
        raise ValueError(f"The first and last `y` point along axis {axis} must be identical (within machine precision) "
                         "when bc_type='periodic'.")
    dx, ones = np.diff(x), (1,) * (y.ndim - 1)
    before = np.concatenate((dx[-1:], dx[:-1]))
    slope = np.diff(y, axis=0) / np.reshape(dx, (-1, *ones))
    slope_before = np.concatenate((slope[-1:], slope[:-1]))
    right = 3 * (np.reshape(dx, (-1, *ones)) * slope_before + np.reshape(before, (-1, *ones)) * slope)
    middle, corner = 2 * (before + dx), np.zeros_like(dx)
    corner[0], corner[-1] = -middle[0], before[-1]
    part = -dx[0] / middle[0]
    middle[0], middle[-1] = 2 * middle[0], middle[-1] - part * before[-1]
    s, turn = tridiagonal(dx, middle, before, right), tridiagonal(dx, middle, before, corner)
    excess = (s[0] + part * s[-1]) / (1 + turn[0] + part * turn[-1])
    s = s - np.reshape(turn, (-1, *ones)) * excess
    return np.concatenate((s, s[:1]))


def mirrored(condition):
    """A condition where the curve is followed backwards: its second derivative changes sign in the equation."""
    return (2, -condition[1]) if condition[0] == 2 else condition


def at_end(dx, slope, condition):
    """The equation of an end: what the derivatives at the end and next to it are multiplied by, and the right side."""
    if condition == "not-a-knot":
        both = dx[0] + dx[1]
        return dx[1], both, ((dx[0] + 2 * both) * dx[1] * slope[0] + dx[0] ** 2 * slope[1]) / both
    order, value = condition
    if order == 1:
        return 1.0, 0.0, value
    return 2 * dx[0], dx[0], -0.5 * value * dx[0] ** 2 + 3 * slope[0] * dx[0]


def tridiagonal(below, middle, above, right):
    """The solution of ``below[i] * x[i - 1] + middle[i] * x[i] + above[i] * x[i + 1] = right[i]``."""
    n = len(middle)
    pivots, x = middle.copy(), right.copy()
    for i in range(1, n):
        factor = below[i] / pivots[i - 1]
        pivots[i] -= factor * above[i - 1]
        x[i] -= factor * x[i - 1]
    x[n - 1] /= pivots[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (x[i] - above[i] * x[i + 1]) / pivots[i]
    return x


def hermite(x, y, s, axis, extrapolate):
    """The cubic polynomials with values y and derivatives s at the points."""
    widths = np.reshape(np.diff(x), (-1, *(1,) * (y.ndim - 1)))
    slope = np.diff(y, axis=0) / widths
    t = (s[:-1] + s[1:] - 2 * slope) / widths
    c = np.stack((t / widths, (slope - s[:-1]) / widths - t, s[:-1], y[:-1]))
    return PiecewisePolynomial(c, x, True if extrapolate is None else extrapolate, axis)


def cubic_hermite(x, y, dydx, axis=0, extrapolate=None):
    x, y, axis = samples(x, y, axis)
    s = doubles(dydx)
    return hermite(x, y, np.moveaxis(s, axis, 0) if axis else s, axis, extrapolate)


def akima(x, y, axis=0, *, method="akima", extrapolate=None):
    x, y, axis = samples(x, y, axis)
    if method not in ("akima", "makima"):
        raise NotImplementedError(f"`method`={method} is unsupported.")
    m = np.diff(y, axis=0) / np.reshape(np.diff(x), (-1, *(1,) * (y.ndim - 1)))
    if not at_least(len(x), 3):
        return hermite(x, y, np.concatenate((m, m)), axis, bool(extrapolate))
    first, last = 2 * m[0] - m[1], 2 * m[-1] - m[-2]
    m = np.concatenate(((2 * first - m[0])[None], first[None], m, last[None], (2 * last - m[-1])[None]))
    turn = np.abs(np.diff(m, axis=0))
    if method == "makima":
        turn = turn + 0.5 * np.abs(m[1:] + m[:-1])
    both = turn[2:] + turn[:-2]
    bends = both > 1e-9 * np.max(both)
    part = turn[:-2] / np.where(bends, both, 1.0)
    s = np.where(bends, m[1:-2] + part * (m[2:-1] - m[1:-2]), 0.5 * (m[3:] + m[:-3]))
    return hermite(x, y, s, axis, bool(extrapolate))


def pchip(x, y, axis=0, extrapolate=None):
    x, y, axis = samples(x, y, axis)
    h = np.reshape(np.diff(x), (-1, *(1,) * (y.ndim - 1)))
    m = np.diff(y, axis=0) / h
    s = np.zeros_like(y)
    if not at_least(len(x), 3):
        s[:] = m[0]
        return hermite(x, y, s, axis, extrapolate)
    turns = m[1:] * m[:-1] <= 0
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    inner = (w1 + w2) / (w1 / np.where(turns, 1.0, m[:-1]) + w2 / np.where(turns, 1.0, m[1:]))
    s[1:-1] = np.where(turns, 0.0, inner)
    s[0] = one_sided(h[0], h[1], m[0], m[1])
    s[-1] = one_sided(h[-1], h[-2], m[-1], m[-2])
    return hermite(x, y, s, axis, extrapolate)


def one_sided(h0, h1, m0, m1):
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    too_steep = (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3 * np.abs(m0))
    return np.where(np.sign(d) != np.sign(m0), 0.0, np.where(too_steep, 3 * m0, d))


class Interpolated:
    """`interp1d`: by lines, by the nearest point, or by a spline."""

    def __init__(self, x, y, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value=np.nan,
                 assume_sorted=False):
        order = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}.get(kind, kind)
        if order not in (1, 2, 3, "linear", "nearest", "previous", "next"):
            refused(f"scipy.interpolate.interp1d of kind {kind!r} is not supported", "Use make_interp_spline.")
        x, y = np.asarray(x), own_floats(y)
        self.axis = axis_of(axis, y.ndim)
        y = np.moveaxis(y, self.axis, 0)
        if not assume_sorted:
            order_of_x = np.argsort(x, kind="stable")
            x, y = x[order_of_x], y[order_of_x]
        self.x, self.y, self.kind = x, y, "linear" if order == 1 else order
        self.extrapolates = isinstance(fill_value, str) and fill_value == "extrapolate"
        if self.kind == "linear" and y.ndim == 1 and not self.extrapolates and not at_least(len(x), 2):
            self.kind = "nearest"
        self.fill_value = fill_value
        self.raises = not self.extrapolates and (bounds_error or bounds_error is None)
        quadratic = BSpline(*through(doubles(x), doubles(y), 2), 2) if order == 2 else None
        self.spline = cubic_spline(x, y) if order == 3 else quadratic

    def __call__(self, x):
        t = np.asarray(x)
        if self.raises:
            if np.any(t < self.x[0]):
                raise ValueError("A value in x_new is below the interpolation range's minimum value.")
            if np.any(t > self.x[-1]):
                raise ValueError("A value in x_new is above the interpolation range's maximum value.")
        value = self.inside(t)
        if not self.raises and not self.extrapolates:
            below, above = self.fill_value if isinstance(self.fill_value, tuple) else (self.fill_value, self.fill_value)
            outer = (*t.shape, *(1,) * (self.y.ndim - 1))
            value = np.where(np.reshape(t < self.x[0], outer), below, value)
            value = np.where(np.reshape(t > self.x[-1], outer), above, value)
        return value if self.axis == 0 or t.ndim == 0 else moved(value, t.ndim, self.axis)

    def inside(self, t):
        if self.spline is not None:
            return self.spline(t)
        if self.kind == "linear":
            after = np.clip(np.searchsorted(self.x, t), 1, len(self.x) - 1)
            part = (t - self.x[after - 1]) / (self.x[after] - self.x[after - 1])
            part = np.reshape(part, (*t.shape, *(1,) * (self.y.ndim - 1))) if self.y.ndim > 1 else part
            return (self.y[after] - self.y[after - 1]) * part + self.y[after - 1]
        if self.kind == "nearest":
            place = np.searchsorted(self.x[1:] / 2.0 + self.x[:-1] / 2.0, t)
        elif self.kind == "previous":
            place = np.clip(np.searchsorted(self.x, t, side="right") - 1, 0, len(self.x) - 1)
        else:
            place = np.clip(np.searchsorted(self.x, t), 0, len(self.x) - 1)
        if not self.extrapolates or self.kind == "nearest":
            return self.y[place]
        is_none = t < self.x[0] if self.kind == "previous" else t > self.x[-1]
        return np.where(np.reshape(is_none, (*t.shape, *(1,) * (self.y.ndim - 1))), np.nan, self.y[place])


def interp1d(x, y, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value=np.nan, assume_sorted=False):
    return Interpolated(x, y, kind, axis, copy, bounds_error, fill_value, assume_sorted)


def of_made(function: Any) -> Any:
    """What is read in place of a call of a spline of SciPy's that was made before, or of a method of it."""
    spline = getattr(function, "__self__", function)
    kind = type(spline).__name__
    if kind not in MADE or not type(spline).__module__.startswith("scipy.interpolate."):
        return None
    breaks = getattr(spline, "x", None)
    if breaks is not None and breaks[0] > breaks[-1]:
        refused("a piecewise polynomial with decreasing breakpoints is not supported",
                "Sort the breakpoints in increasing order.")
    method = "__call__" if spline is function else function.__name__

    def called(*args, **kwargs):
        return getattr(MADE[kind](spline), method)(*args, **kwargs)

    return called


def of_polynomials(spline):
    c, x = of_object(spline, "c", "coefficients"), of_object(spline, "x", "breaks")
    return PiecewisePolynomial(c, x, spline.extrapolate, spline.axis)


def of_lines(f):
    kind = of_object(f._spline, "k", "degree") if f._kind == "spline" else f._kind
    return Interpolated(f.x, f.y, kind, f.axis, True, f.bounds_error, of_object(f, "fill_value", "fill_value"), True)


MADE = {
    "CubicSpline": of_polynomials,
    "PchipInterpolator": of_polynomials,
    "Akima1DInterpolator": of_polynomials,
    "CubicHermiteSpline": of_polynomials,
    "PPoly": of_polynomials,
    "interp1d": of_lines,
    "BSpline": of_b_spline,
    "UnivariateSpline": of_fitted,
    "InterpolatedUnivariateSpline": of_fitted,
    "LSQUnivariateSpline": of_fitted,
    "RegularGridInterpolator": of_grid,
}

CALLS: dict[Any, Any] = {
    "scipy.interpolate.CubicSpline": cubic_spline,
    "scipy.interpolate.CubicHermiteSpline": cubic_hermite,
    "scipy.interpolate.Akima1DInterpolator": akima,
    "scipy.interpolate.PchipInterpolator": pchip,
    "scipy.interpolate.interp1d": interp1d,
}
