"""Elementary functions: roots, exponentials, logarithms, trigonometric and hyperbolic functions."""

from __future__ import annotations

import math

import numpy as np

from . import scalars, scalars_of_complex
from .elementwise import LOG_2, LOG_10, Elementwise, number_of, where
from .value import call


class Sqrt(Elementwise):
    calls = np.sqrt, math.sqrt
    where = "positive"
    partials = (lambda t, x, y: t / (2 * y),)


class Cbrt(Elementwise):
    calls = np.cbrt, math.cbrt
    loop = np.cbrt
    where = "nonzero"
    partials = (lambda t, x, y: t / (3 * y * y),)


class Exp(Elementwise):
    calls = np.exp, math.exp
    partials = (lambda t, x, y: t * y,)


class Expm1(Elementwise):
    calls = np.expm1, math.expm1
    loop = {"c": scalars_of_complex.expm1_of_complex}
    partials = (lambda t, x, y: t * (y + 1),)


class Exp2(Elementwise):
    calls = np.exp2, math.exp2
    partials = (lambda t, x, y: t * y * LOG_2,)


class Log(Elementwise):
    calls = np.log, math.log
    where = "positive"
    partials = (lambda t, x, y: t / x,)

    def front(args, kwargs, spelling):
        """`math.log` of two arguments is the quotient of two logarithms, in CPython too."""
        if spelling == "math.log" and len(args) == 2:
            return call(math.log, args[:1], {}) / call(math.log, args[1:], {})
        return None


class Log1p(Elementwise):
    calls = np.log1p, math.log1p
    where = "positive"
    partials = (lambda t, x, y: t / (1 + x),)


class Log2(Elementwise):
    calls = np.log2, math.log2
    loop = {"f": math.log2}
    where = "positive"
    partials = (lambda t, x, y: t / (x * LOG_2),)


class Log10(Elementwise):
    calls = np.log10, math.log10
    loop = {"f": math.log10}
    where = "positive"
    partials = (lambda t, x, y: t / (x * LOG_10),)


class Sin(Elementwise):
    calls = np.sin, math.sin
    is_total = True
    partials = (lambda t, x, y: t * np.cos(x),)


class Cos(Elementwise):
    calls = np.cos, math.cos
    is_total = True
    partials = (lambda t, x, y: -t * np.sin(x),)


class Tan(Elementwise):
    calls = np.tan, math.tan
    where = "unit"
    partials = (lambda t, x, y: t * (1 + y * y),)


class Arcsin(Elementwise):
    calls = np.arcsin, math.asin
    where = "unit"
    partials = (lambda t, x, y: t / np.sqrt(1 - x * x),)


class Arccos(Elementwise):
    calls = np.arccos, math.acos
    where = "unit"
    partials = (lambda t, x, y: -t / np.sqrt(1 - x * x),)


class Arctan(Elementwise):
    calls = np.arctan, math.atan
    is_total = True
    partials = (lambda t, x, y: t / (1 + x * x),)


class Arctan2(Elementwise):
    """The angle of the point with ordinate `a` and abscissa `b`."""

    calls = np.arctan2, math.atan2
    where = "nonzero"
    partials = (lambda t, a, b, y: t * b / (a * a + b * b),
                lambda t, a, b, y: -t * a / (a * a + b * b))


class Sinh(Elementwise):
    calls = np.sinh, math.sinh
    partials = (lambda t, x, y: t * np.cosh(x),)


class Cosh(Elementwise):
    calls = np.cosh, math.cosh
    partials = (lambda t, x, y: t * np.sinh(x),)


class Tanh(Elementwise):
    calls = np.tanh, math.tanh
    loop = {"c": scalars_of_complex.tanh_of_complex}
    is_total = True
    partials = (lambda t, x, y: t * (1 - y * y),)


class Arcsinh(Elementwise):
    calls = np.arcsinh, math.asinh
    partials = (lambda t, x, y: t / np.sqrt(x * x + 1),)


def _arccosh_partial(t, x, y):
    if x.dtype.kind == "c":                    # on its branch, which the real form leaves
        return t / (np.sqrt(x - 1) * np.sqrt(x + 1))
    return t / np.sqrt(x * x - 1)


class Arccosh(Elementwise):
    calls = np.arccosh, math.acosh
    loop = {"c": scalars_of_complex.arccosh_of_complex}
    where = "above one"
    partials = (_arccosh_partial,)


class Arctanh(Elementwise):
    calls = np.arctanh, math.atanh
    where = "unit"
    partials = (lambda t, x, y: t / (1 - x * x),)


class Hypot(Elementwise):
    """Like the square root of which it is made, not differentiable at the origin (nan)."""

    calls = np.hypot, math.hypot
    loop = math.hypot
    where = "nonzero"
    partials = (lambda t, a, b, y: t * a / y,
                lambda t, a, b, y: t * b / y)


def _least(a, b, y):
    """The logarithm of a sum, as that of its parts is taken from: what is impossible (-inf) has no part in it, also
    where the sum is impossible too, as in front of all paths that lead to a state."""
    return y if any(number_of(x) not in (None, -np.inf) for x in (a, b)) else where(y == -np.inf, 0, y)


class Logaddexp(Elementwise):
    calls = (np.logaddexp,)
    loop = scalars.log_sum
    partials = (lambda t, a, b, y: t * np.exp(a - _least(a, b, y)),
                lambda t, a, b, y: t * np.exp(b - _least(a, b, y)))


class Logaddexp2(Elementwise):
    calls = (np.logaddexp2,)
    loop = scalars.log_sum_2
    partials = (lambda t, a, b, y: t * np.exp2(a - _least(a, b, y)),
                lambda t, a, b, y: t * np.exp2(b - _least(a, b, y)))


class Radians(Elementwise):
    calls = np.deg2rad, np.radians, math.radians
    loop = scalars.radians_of
    partials = (lambda t, x, y: np.deg2rad(t),)


class Degrees(Elementwise):
    calls = np.rad2deg, np.degrees, math.degrees
    loop = scalars.degrees_of
    partials = (lambda t, x, y: np.rad2deg(t),)
