"""Piecewise polynomials, as `PPoly` of `scipy.interpolate` and what is derived from it."""

from __future__ import annotations

import numpy as np

from .refusing import refused


class PiecewisePolynomial:
    """Polynomials between breakpoints x: ``c[0, i]`` is the coefficient of the highest power of t - x[i]."""

    def __init__(self, c, x, extrapolate=True, axis=0):
        self.c, self.x, self.extrapolate, self.axis = c, x, extrapolate, axis

    def __call__(self, x, nu=0, extrapolate=None):
        beyond = self.extrapolate if extrapolate is None else extrapolate
        c, t = derived(self.c, nu), doubles(x)
        if beyond == "periodic":
            t = self.x[0] + (t - self.x[0]) % (self.x[-1] - self.x[0])
        piece = np.clip(np.searchsorted(self.x, t, side="right") - 1, 0, len(self.x) - 2)
        step = t - self.x[piece]
        if c.ndim > 2:
            step = np.reshape(step, (*t.shape, *(1,) * (c.ndim - 2)))
        first, *others = c
        value = first[piece]
        for coefficients in others:
            value = value * step + coefficients[piece]
        if not beyond:
            value = np.where(np.reshape((t < self.x[0]) | (t > self.x[-1]), step.shape), np.nan, value)
        return value if self.axis == 0 or t.ndim == 0 else moved(value, t.ndim, self.axis)

    def derivative(self, nu=1):
        return PiecewisePolynomial(derived(self.c, nu), self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu=1):
        c = self.c
        for _ in range(nu):
            c = integrated(c, self.x)
        return PiecewisePolynomial(c, self.x, self.extrapolate, self.axis)

    def integrate(self, a, b, extrapolate=None):
        if extrapolate == "periodic" or self.extrapolate == "periodic":
            refused("integrate of a periodic spline is not supported",
                    "Add the integrals over whole periods and over the rest.")
        whole = self.antiderivative()
        return whole(b, 0, extrapolate) - whole(a, 0, extrapolate)


def doubles(array):
    """In double precision, as SciPy computes."""
    array = np.asarray(array)
    return array.astype(complex if array.dtype.kind == "c" else float)


def moved(value, ndim, axis):
    """The axes of the places where the axis of the samples was."""
    return np.moveaxis(value, tuple(range(ndim)), tuple(range(axis, axis + ndim)))


def derived(c, nu):
    if nu < 0:
        refused("a derivative of negative order is not supported", "Use antiderivative().")
    for _ in range(nu):
        if c.shape[0] == 1:
            return np.zeros_like(c)
        c = c[:-1] * np.reshape(np.arange(c.shape[0] - 1, 0, -1), (-1, *(1,) * (c.ndim - 1)))
    return c


def integrated(c, x):
    """The integrals from the first breakpoint on."""
    ones = (1,) * (c.ndim - 1)
    higher = c / np.reshape(np.arange(c.shape[0], 0, -1), (-1, *ones))
    step, rise = np.reshape(np.diff(x), (-1, *ones[1:])), np.zeros_like(c[0])
    for coefficients in tuple(higher):
        rise = (rise + coefficients) * step
    start = np.concatenate((np.zeros_like(rise[:1]), np.cumsum(rise[:-1], axis=0)))
    return np.concatenate((higher, start[None]))
