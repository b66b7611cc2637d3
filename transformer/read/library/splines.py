"""B-splines, as in `scipy.interpolate`: those through points, and those that are given by knots and coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from .piecewise import doubles, moved
from .refusing import are_equal, axis_of, of_object, refused


def basis(t, x, k):
    """Which of the functions of degree k over the knots t is the first one that is not 0 at x, and the values of it and
    of the k next ones (de Boor)."""
    piece = np.clip(np.searchsorted(t, x, side="right") - 1, k, len(t) - k - 2)
    values = [np.ones_like(x)]
    for degree in range(1, k + 1):
        carried, higher = None, []
        for r in range(degree):
            left, right = t[piece + (r + 1 - degree)], t[piece + (r + 1)]
            part = values[r] / (right - left)
            higher.append((right - x) * part if carried is None else carried + (right - x) * part)
            carried = (x - left) * part
        values = [*higher, carried]
    return piece - k, values


def combined(t, c, k, x):
    """The spline at x: the sum of its coefficients times the functions of the basis."""
    first, values = basis(t, x, k)
    terms = []
    for r in range(k + 1):
        weight = np.reshape(values[r], (*x.shape, *(1,) * (c.ndim - 1))) if c.ndim > 1 else values[r]
        terms.append(weight * c[first + r])
    return sum(terms[1:], terms[0])


def lower(t, c, k, nu):
    """The same of a derivative that is a spline of its own, with as many coefficients as SciPy keeps of it."""
    if nu > k:
        raise ValueError(f"Order of derivative (n = {nu}) must be <= order of spline (k = {k})")
    t, c, k = derived(t, c, k, nu)
    return t, as_many_as_knots(c, t, 0.0), k


def as_many_as_knots(c, t, last):
    """Coefficients of which the last ones count for nothing."""
    return np.concatenate((c, np.zeros((len(t) - c.shape[0], *c.shape[1:])) + last))


def derived(t, c, k, nu):
    """Knots, coefficients and degree of a derivative."""
    if nu < 0:
        refused("a derivative of negative order is not supported", "Use antiderivative().")
    for _ in range(nu):
        if k == 0:
            return t, np.zeros_like(c), k
        n = len(t) - k - 1
        widths = t[k + 1 : n + k] - t[1:n]
        is_none = widths == 0
        scale = np.where(is_none, 0.0, k / np.where(is_none, 1.0, widths))
        c = (c[1:n] - c[: n - 1]) * (np.reshape(scale, (-1, *(1,) * (c.ndim - 1))) if c.ndim > 1 else scale)
        t, k = t[1:-1], k - 1
    return t, c, k


def integral_of(t, c, k):
    """Of the spline that is 0 at the first knot whose derivative this one is."""
    n = len(t) - k - 1
    widths = (t[k + 1 :] - t[:n]) / (k + 1)
    rise = c[:n] * (np.reshape(widths, (-1, *(1,) * (c.ndim - 1))) if c.ndim > 1 else widths)
    higher = np.concatenate((np.zeros_like(rise[:1]), np.cumsum(rise, axis=0)))
    return np.concatenate((t[:1], t, t[-1:])), higher, k + 1


class BSpline:
    """The sum of ``c[i]`` times the i-th function of degree k over the knots t."""

    def __init__(self, t, c, k, extrapolate=True, axis=0):
        c = np.asarray(c)
        axis = axis_of(axis, c.ndim)
        self.t, self.c, self.k = doubles(t), doubles(np.moveaxis(c, axis, 0) if axis else c), k
        self.extrapolate, self.axis = extrapolate, axis

    def __call__(self, x, nu=0, extrapolate=None):
        beyond = self.extrapolate if extrapolate is None else extrapolate
        x = doubles(x)
        start, end = self.t[self.k], self.t[len(self.t) - self.k - 1]
        if beyond == "periodic":
            x = start + (x - start) % (end - start)
        value = combined(*derived(self.t, self.c, self.k, nu), x)
        if not beyond:
            is_outside = (x < start) | (x > end)
            shape = (*x.shape, *(1,) * (self.c.ndim - 1))
            value = np.where(np.reshape(is_outside, shape) if self.c.ndim > 1 else is_outside, np.nan, value)
        return value if self.axis == 0 or x.ndim == 0 else moved(value, x.ndim, self.axis)

    @property
    def tck(self):
        return self.t, self.c, self.k

    def derivative(self, nu=1):
        t, c, k = lower(self.t, self.c, self.k, nu)
        return BSpline(t, np.moveaxis(c, 0, self.axis), k, self.extrapolate, self.axis)

    def antiderivative(self, nu=1):
        if self.k == 0:
            refused("the integral of a BSpline of degree 0 is not supported", "Sum its steps, or use degree 1 or more.")
        t, c, k = self.t, self.c, self.k
        for _ in range(nu):
            t, c, k = integral_of(t, c, k)
        c = as_many_as_knots(c, t, c[-1])
        goes_on = self.extrapolate != "periodic" and self.extrapolate
        return BSpline(t, np.moveaxis(c, 0, self.axis), k, goes_on, self.axis)

    def integrate(self, a, b, extrapolate=None):
        if not (self.extrapolate if extrapolate is None else extrapolate) or self.extrapolate == "periodic":
            refused("integrate of a periodic or non-extrapolating spline is not supported", "Use antiderivative().")
        whole = self.antiderivative()
        return whole(b) - whole(a)


def b_spline(t, c, k, extrapolate=True, axis=0):
    if np.any(np.diff(t) < 0):
        raise ValueError("Knots must be in a non-decreasing order.")
    return BSpline(t, c, k, extrapolate, axis)


def make_interp_spline(x, y, k=3, t=None, bc_type=None, axis=0, check_finite=True):
    if t is not None or bc_type not in (None, "not-a-knot"):
        refused("scipy.interpolate.make_interp_spline with knots or boundary conditions is not supported",
                "Use CubicSpline.")
    x, y = doubles(x), doubles(y)
    axis = axis_of(axis, y.ndim)
    t, c = through(x, np.moveaxis(y, axis, 0) if axis else y, k)
    return BSpline(t, np.moveaxis(c, 0, axis) if axis else c, k, True, axis)


def through(x, y, k):
    """Knots and coefficients of the spline of degree k through points; it has no knots at those next to the ends."""
    if not are_equal(len(x), len(y)):
        raise ValueError(f"Shapes of x {x.shape} and y {y.shape} are incompatible")
    if np.any(np.diff(x) <= 0):
        raise ValueError("Expect x to not have duplicates, and to be sorted")
    if k == 0:
        return np.concatenate((x, x[-1:])), y
    inner = x if k % 2 else (x[1:] + x[:-1]) / 2
    cut = (k + 1) // 2 if k % 2 else k // 2
    t = np.concatenate((np.full(k + 1, x[0]), inner[cut : len(inner) - cut], np.full(k + 1, x[-1])))
    if k == 1:
        return t, y
    first, values = basis(t, x, k)
    rows = np.zeros((len(x), len(x)))
    for r in range(k + 1):
        rows[np.arange(len(x)), first + r] = values[r]
    return t, np.linalg.solve(rows, y)


def splrep(x, y, w=None, xb=None, xe=None, k=3, task=0, s=None, t=None, full_output=0, per=0, quiet=1):
    if w is not None or xb is not None or xe is not None or task or t is not None or full_output or per:
        refused("scipy.interpolate.splrep with weights, xb, xe, knots or a period is not supported",
                "Pass x, y and k only.")
    if s:
        refused("scipy.interpolate.splrep with s is not supported", "Omit it: the spline then interpolates the points.")
    t, c = through_as_fitpack(doubles(x), doubles(y), k)
    return t, np.concatenate((c, np.zeros(k + 1))), k


def through_as_fitpack(x, y, k):
    if not 1 <= k <= 5:
        raise ValueError(f"k should be 1 <= k <= 5, and is {k}")
    return through(x, y, k)


def splev(x, tck, der=0, ext=0):
    t, c, k = (tck.t, tck.c, tck.k) if isinstance(tck, BSpline) else tck
    if not 0 <= der <= k:
        raise ValueError(f"0<=der={der}<=k={k} must hold")
    if ext not in (0, 1, 2, 3):
        raise ValueError(f"ext = {ext} not in (0, 1, 2, 3)")
    t, c, x = doubles(t), doubles(c), doubles(x)
    start, end = t[k], t[len(t) - k - 1]
    if ext == 3 and der == 0:                        # derivatives go on beyond the ends
        x = np.clip(x, start, end)
    value = combined(*derived(t, c, k, der), x)
    if ext == 1:
        return np.where((x < start) | (x > end), 0.0, value)
    if ext == 2 and np.any((x < start) | (x > end)):
        raise ValueError("Found x value not in the domain")
    return value


def splint(a, b, tck, full_output=0):
    """FITPACK takes the spline as 0 outside of its knots."""
    t, c, k = (tck.t, tck.c, tck.k) if isinstance(tck, BSpline) else tck
    t, c = doubles(t), doubles(c)
    whole, ends = integral_of(t, c, k), (t[k], t[len(t) - k - 1])
    above, below = (combined(*whole, np.clip(doubles(x), *ends)) for x in (b, a))
    return above - below


class Fitted:
    """`InterpolatedUnivariateSpline`, and what `UnivariateSpline` has been fitted to outside."""

    def __init__(self, t, c, k, ext):
        self.tck = t, c, k
        self.ext = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}.get(ext, ext)

    def __call__(self, x, nu=0, ext=None):
        return splev(x, self.tck, nu, self.ext if ext is None else ext)

    def derivative(self, n=1):
        return Fitted(*lower(*self.tck, n), 1 if self.ext == 3 else self.ext)

    def antiderivative(self, n=1):
        tck = self.tck
        for _ in range(n):
            tck = integral_of(*tck)
        return Fitted(*tck, self.ext)

    def integral(self, a, b):
        return splint(a, b, self.tck)


def interpolated_univariate(x, y, w=None, bbox=(None, None), k=3, ext=0, check_finite=False):
    if w is not None or tuple(bbox) != (None, None):
        refused("scipy.interpolate.InterpolatedUnivariateSpline with w or bbox is not supported",
                "Pass x, y, k and ext only.")
    return Fitted(*through_as_fitpack(doubles(x), doubles(y), k), k, ext)


def univariate(x, y, w=None, bbox=(None, None), k=3, s=None, ext=0, check_finite=False):
    if s is None or not isinstance(s, (int, float)) or s > 0:
        refused("scipy.interpolate.UnivariateSpline with s > 0, which selects the number of knots, is not supported",
                "Pass s=0 for an interpolating spline, or fit the spline outside.")
    return interpolated_univariate(x, y, w, bbox, k, ext)


def of_b_spline(spline):
    t, c = of_object(spline, "t", "knots"), of_object(spline, "c", "coefficients")
    return BSpline(t, c, spline.k, spline.extrapolate, spline.axis)


def of_fitted(spline):
    t, c, k = of_object(spline, "_eval_args", "knots")
    return Fitted(t, c, k, spline.ext)


CALLS: dict[Any, Any] = {
    "scipy.interpolate.BSpline": b_spline,
    "scipy.interpolate.make_interp_spline": make_interp_spline,
    "scipy.interpolate.splrep": splrep,
    "scipy.interpolate.splev": splev,
    "scipy.interpolate.splint": splint,
    "scipy.interpolate.InterpolatedUnivariateSpline": interpolated_univariate,
    "scipy.interpolate.UnivariateSpline": univariate,
}
