"""Integrals of functions of one number, as in `scipy.integrate`."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..calls.given_functions import integrated, is_infinite, of_numbers, own
from .refusing import refused
from .roots import several


def integral(func, a, b, args=(), full_output=0, epsabs=1.49e-8, epsrel=1.49e-8, limit=50, points=None, weight=None,
         wvar=None, wopts=None, maxp1=50, limlst=50, complex_func=False):
    if full_output or complex_func or weight not in (None, "cos", "sin"):
        refused("scipy.integrate.quad with full_output, complex_func, or weight other than 'cos' and 'sin' is not "
                "supported", "Integrate real and imaginary parts separately, and multiply the integrand by the weight.")
    if weight is None:
        f = of_numbers(func, *several(args))
    elif is_infinite(a) or is_infinite(b):
        refused("scipy.integrate.quad with weight over an infinite range is not supported",
                "Truncate the range where the integrand is negligible.")
    else:
        wave = math.cos if weight == "cos" else math.sin
        f = of_numbers(lambda x: func(x, *several(args)) * wave(wvar * x))
    if points is None:
        return integrated(quad, f, float(a), float(b), epsabs, epsrel, limit)
    if is_infinite(a) or is_infinite(b):
        raise ValueError("Infinity inputs cannot be used with break points.")
    if weight is not None:
        raise ValueError("Break points cannot be specified when using weighted integrand.")
    places = np.sort(np.clip(np.asarray(points) * 1.0, min(a, b), max(a, b)))
    start, total, error = float(a), 0.0, 0.0
    for place in places:
        part, part_error = integrated(quad, f, start, float(place), epsabs, epsrel, limit)
        start, total, error = float(place), total + part, error + part_error
    part, part_error = integrated(quad, f, start, float(b), epsabs, epsrel, limit)
    return total + part, error + part_error


def dblquad(func, a, b, gfun, hfun, args=(), epsabs=1.49e-8, epsrel=1.49e-8):
    def dblquad_inner(x):
        start = gfun(x) if callable(gfun) else gfun
        end = hfun(x) if callable(hfun) else hfun
        return integral(lambda y: func(y, x, *several(args)), start, end, epsabs=epsabs, epsrel=epsrel)[0]

    return integral(dblquad_inner, a, b, epsabs=epsabs, epsrel=epsrel)


def tplquad(func, a, b, gfun, hfun, qfun, rfun, args=(), epsabs=1.49e-8, epsrel=1.49e-8):
    def tplquad_inner(y, x):
        start = qfun(x, y) if callable(qfun) else qfun
        end = rfun(x, y) if callable(rfun) else rfun
        return integral(lambda z: func(z, y, x, *several(args)), start, end, epsabs=epsabs, epsrel=epsrel)[0]

    return dblquad(tplquad_inner, a, b, gfun, hfun, epsabs=epsabs, epsrel=epsrel)


def fixed_quad(func, a, b, args=(), n=5):
    """The rule of Gauss with n places, of a function that takes them all at once."""
    from scipy.special import roots_legendre

    if is_infinite(a) or is_infinite(b):
        raise ValueError("Gaussian quadrature is only available for finite limits.")
    places, weights = roots_legendre(n)
    x = (b - a) * (places + 1) / 2.0 + a
    return (b - a) / 2.0 * np.sum(weights * func(x, *several(args)), axis=-1), None


def quad(f, a, b, epsabs, epsrel, limit):
    """Halves the piece whose error is the largest, until the sum of all errors is small. There are twice as many pieces
    as in QUADPACK, as it extrapolates."""
    if is_infinite(a) or is_infinite(b):
        f, a, b = onto_unit(f, a, b), 0.0, 1.0
    elif math.isinf(a) or math.isinf(b):
        raise ValueError("quad: infinite limits must be written as np.inf")
    rule = own(kronrod(f))
    total, error = rule(a, b)
    starts, ends = np.full(2 * limit, a), np.full(2 * limit, b)
    parts, errors = np.zeros((2 * limit, *np.shape(total))), np.zeros(2 * limit)
    parts[0], errors[0] = total, error
    pieces = 1
    while error > max(epsabs, epsrel * size(total)) and pieces < 2 * limit:
        worst = np.argmax(errors)
        start, end = float(starts[worst]), float(ends[worst])
        middle = 0.5 * (start + end)
        left, left_error = rule(start, middle)
        right, right_error = rule(middle, end)
        starts[pieces], ends[pieces], ends[worst] = middle, end, middle
        parts[worst], errors[worst] = left, left_error
        parts[pieces], errors[pieces] = right, right_error
        pieces += 1
        total, error = np.sum(parts, axis=0), np.sum(errors)
    if error > max(epsabs, epsrel * size(total)):
        warnings.warn(f"The maximum number of subdivisions ({limit}) has been achieved.", stacklevel=2)
    return total, error


def onto_unit(f, a, b):
    """The function whose integral from 0 to 1 is that of f over an infinite range: of t with x = (1 - t) / t."""
    if is_infinite(a) and is_infinite(b):
        sign = (b > a) - (b < a)

        def on_unit(t):
            return sign * (f((1 - t) / t) + f((t - 1) / t)) / t**2

        return on_unit
    end, way, sign = (a, 1 if b > 0 else -1, 1) if is_infinite(b) else (b, 1 if a > 0 else -1, -1)

    def on_unit(t):
        return sign * way * f(end + way * (1 - t) / t) / t**2

    return on_unit


def kronrod(f):
    """The rule of Gauss and Kronrod with 21 places, and its error, as QUADPACK estimates it."""

    def kronrod21(a, b):
        places, weights, weights_of_gauss = np.array(PLACES), np.array(WEIGHTS), np.array(WEIGHTS_OF_GAUSS)
        middle, half = 0.5 * (a + b), 0.5 * (b - a)
        values = np.array([f(float(middle + half * places[k])) for k in range(21)])
        mean = summed(weights, values)
        error = abs(half) * size(mean - summed(weights_of_gauss, values[1::2]))
        spread = abs(half) * size(summed(weights, np.abs(values - mean / 2)))
        if spread != 0 and error != 0:
            error = spread * min(1.0, (200 * error / spread) ** 1.5)
        return half * mean, max(error, 1.1102230246251565e-14 * abs(half) * size(summed(weights, np.abs(values))))

    return kronrod21


def summed(weights, values):
    return weights @ values if values.ndim <= 2 else np.tensordot(weights, values, 1)


def size(vector):
    return abs(vector) if np.ndim(vector) == 0 else np.max(np.abs(vector))


# Of places above 0, from the outermost one to the middle.
OUTER = (
    0.995657163025808080735527280689003, 0.973906528517171720077964012084452, 0.930157491355708226001207180059508,
    0.865063366688984510732096688423493, 0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
    0.562757134668604683339000099272694, 0.433395394129247190799265943165784, 0.294392862701460198131126602103866,
    0.148874338981631210884826001129720)
HALVES = (
    0.011694638867371874278064396062192, 0.032558162307964727478818972459390, 0.054755896574351996031381300244580,
    0.075039674810919952767043140916190, 0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
    0.123491976262065851077958109585166, 0.134709217311473325928054001771707, 0.142775938577060080797094273138717,
    0.147739104901338491374841515972068)
HALVES_OF_GAUSS = (
    0.066671344308688137593568809893332, 0.149451349150580593145863397657697, 0.219086362515982043995534934228163,
    0.269266719309996355091226921569469, 0.295524224714752870173815619188769)

PLACES = (*[-place for place in OUTER], 0.0, *OUTER[::-1])
WEIGHTS = (*HALVES, 0.149445554002916905664936468389821, *HALVES[::-1])
WEIGHTS_OF_GAUSS = (*HALVES_OF_GAUSS, *HALVES_OF_GAUSS[::-1])

CALLS: dict[Any, Any] = {
    "scipy.integrate.quad": integral,
    "scipy.integrate.dblquad": dblquad,
    "scipy.integrate.tplquad": tplquad,
    "scipy.integrate.fixed_quad": fixed_quad,
}
