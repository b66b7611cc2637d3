"""Roots of functions of one number, as in `scipy.optimize`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..calls.given_functions import of_numbers, solved
from .many_roots import from_each
from .refusing import at_least, refused


def bracketed(search, f, a, b, args=(), xtol=2e-12, rtol=8.881784197001252e-16, maxiter=100, full_output=False,
              disp=True):
    """The root that is searched for between two places."""
    if full_output:
        refused(f"full_output of scipy.optimize.{search.__name__} is not supported",
                "Omit it: the function then returns the root.")
    if xtol <= 0:
        raise ValueError(f"xtol too small ({xtol:g} <= 0)")
    if rtol < 8.881784197001252e-16:
        raise ValueError(f"rtol too small ({rtol:g} < 8.88178e-16)")
    return solved(search, of_numbers(f, *several(args)), float(a), float(b), xtol, rtol, maxiter)


def bracketing(search: Any) -> Any:
    """`bracketed` as the function of SciPy's that searches so."""

    def found(f, a, b, *args, **options):
        return bracketed(search, f, a, b, *args, **options)

    found.__name__ = search.__name__
    return found


def several(args):
    return args if isinstance(args, tuple) else (args,)


def brentq(f, a, b, xtol, rtol, maxiter):
    return brent(f, a, b, xtol, rtol, maxiter, False)


def brenth(f, a, b, xtol, rtol, maxiter):
    return brent(f, a, b, xtol, rtol, maxiter, True)


def brent(f, a, b, xtol, rtol, maxiter, by_hyperbolas):
    """`x` is the best place so far, `other` is on the other side of the root, `before` is where x was."""
    before, x, other = a, b, 0.0
    f_before, f_x, f_other = number(f, a), number(f, b), 0.0
    if f_before == 0:
        x, f_x = before, f_before
    elif f_x != 0 and (f_before < 0) == (f_x < 0):
        raise ValueError("f(a) and f(b) must have different signs")
    last, step, steps = 0.0, 0.0, 0
    is_found = False
    while not is_found:
        if f_before != 0 and f_x != 0 and (f_before < 0) != (f_x < 0):
            other, f_other = before, f_before
            last = step = x - before
        if abs(f_other) < abs(f_x):
            before, x, other = x, other, x
            f_before, f_x, f_other = f_x, f_other, f_x
        least = (xtol + rtol * abs(x)) / 2
        half = (other - x) / 2
        is_found = f_x == 0 or abs(half) < least
        if not is_found:
            if steps == maxiter:
                raise RuntimeError(f"Failed to converge after {maxiter} iterations.")
            last, step = interpolated(before, x, other, f_before, f_x, f_other, last, step, half, least, by_hyperbolas)
            before, f_before = x, f_x
            x = x + (step if abs(step) > least else math.copysign(least, half))
            f_x = number(f, x)
            steps += 1
    return x


def interpolated(before, x, other, f_before, f_x, f_other, last, step, half, least, by_hyperbolas):
    """The last step and the next one, which is to the middle unless a parabola, a hyperbola or a line comes nearer."""
    if abs(last) <= least or abs(f_x) >= abs(f_before):
        return half, half
    if before == other:
        rise, run = -f_x * (x - before), f_x - f_before
    else:
        slope = (f_before - f_x) / (before - x)
        slope_other = (f_other - f_x) / (other - x)
        if by_hyperbolas:
            rise, run = -f_x * (f_other - f_before), f_other * slope - f_before * slope_other
        else:
            rise = -f_x * (f_other * slope_other - f_before * slope)
            run = slope_other * slope * (f_other - f_before)
    if 2 * abs(rise) < abs(run) * min(abs(last), 3 * abs(half) - least):
        return step, rise / run
    return half, half


def bisect(f, a, b, xtol, rtol, maxiter):
    low, f_low, f_b = a, number(f, a), number(f, b)
    if f_low != 0 and f_b != 0 and (f_low < 0) == (f_b < 0):
        raise ValueError("f(a) and f(b) must have different signs")
    x, step, steps = b if f_b == 0 and f_low != 0 else a, b - a, 0
    is_found = f_low == 0 or f_b == 0
    while not is_found:
        if steps == maxiter:
            raise RuntimeError(f"Failed to converge after {maxiter} iterations.")
        step = step * 0.5
        x = low + step
        f_x = number(f, x)
        if (f_x < 0) == (f_low < 0):
            low = x
        is_found = f_x == 0 or abs(step) < xtol + rtol * abs(x)
        steps += 1
    return x


def ridder(f, a, b, xtol, rtol, maxiter):
    f_a, f_b = number(f, a), number(f, b)
    if f_a != 0 and f_b != 0 and (f_a < 0) == (f_b < 0):
        raise ValueError("f(a) and f(b) must have different signs")
    x, steps = b if f_b == 0 and f_a != 0 else a, 0
    tolerance = xtol + rtol * min(abs(a), abs(b))
    is_found = f_a == 0 or f_b == 0
    while not is_found:
        if steps == maxiter:
            raise RuntimeError(f"Failed to converge after {maxiter} iterations.")
        half = 0.5 * (b - a)
        middle = a + half
        f_middle = number(f, middle)
        step = (half if f_b > f_a else -half) * f_middle / math.sqrt(f_middle * f_middle - f_a * f_b)
        x = middle - math.copysign(min(abs(step), abs(half) - 0.5 * tolerance), step)
        f_x = number(f, x)
        if (f_x < 0) != (f_middle < 0):
            a, f_a, b, f_b = x, f_x, middle, f_middle
        elif (f_x < 0) != (f_a < 0):
            b, f_b = x, f_x
        else:
            a, f_a = x, f_x
        tolerance = xtol + rtol * x
        is_found = f_x == 0 or abs(b - a) < tolerance
        steps += 1
    return x


def number(f, x):
    """The value of a function, which is no number that one could go on from if it is nan."""
    value = float(f(x))
    if math.isnan(value):
        raise ValueError(f"The function value at x={x} is NaN; solver cannot continue.")
    return value


def newton(func, x0, fprime=None, args=(), tol=1.48e-8, maxiter=50, fprime2=None, x1=None, rtol=0.0,
           full_output=False, disp=True):
    if full_output:
        refused("full_output of scipy.optimize.newton is not supported", "Omit it: the function then returns the root.")
    if tol <= 0:
        raise ValueError(f"tol too small ({tol:g} <= 0)")
    further, x0 = several(args), np.asarray(x0)[()] * 1.0
    if x0.ndim > 0:
        if not at_least(x0.size, 2):
            refused("scipy.optimize.newton of an array with one element is not supported",
                    "Pass the number itself: x0[0].")
        return from_each(func, x0.astype(np.result_type(x0, 0.0)), fprime, further, tol, maxiter, fprime2)
    f = of_numbers(func, *further)
    if fprime is None:
        return solved(secant, f, x0, x1, tol, rtol, maxiter)
    if fprime2 is None:
        return solved(newton_raphson, f, of_numbers(fprime, *further), x0, tol, rtol, maxiter)
    return solved(halley, f, of_numbers(fprime, *further), of_numbers(fprime2, *further), x0, tol, rtol, maxiter)


def newton_raphson(f, slope, x, tol, rtol, maxiter):
    return descended(f, slope, None, x, tol, rtol, maxiter)


def halley(f, slope, curvature, x, tol, rtol, maxiter):
    return descended(f, slope, curvature, x, tol, rtol, maxiter)


def descended(f, slope, curvature, x, tol, rtol, maxiter):
    steps = 0
    f_x = f(x)
    is_found = f_x == 0
    while not is_found:
        if steps == maxiter:
            raise RuntimeError(f"Failed to converge after {maxiter} iterations, value is {x}.")
        rise = slope(x)
        if rise == 0:
            raise RuntimeError(
                f"Derivative was zero. Failed to converge after {steps + 1} iterations, value is {x}.")
        step = f_x / rise
        if curvature is not None:
            bend = step * curvature(x) / rise / 2
            if abs(bend) < 1:
                step = step / (1.0 - bend)
        before, x = x, x - step
        steps += 1
        f_x = f(x)
        is_found = f_x == 0 or abs(x - before) <= tol + rtol * abs(before)
    return x


def secant(f, x0, x1, tol, rtol, maxiter):
    if x1 is None:
        x1 = x0 * (1 + 1e-4)
        x1 = x1 + (1e-4 if x1 >= 0 else -1e-4)
    elif x1 == x0:
        raise ValueError("x1 and x0 must be different")
    before, x = x0, x1 + 0.0 * x0
    f_before, f_x = f(before), f(x)
    if abs(f_x) < abs(f_before):
        before, x, f_before, f_x = x, before, f_x, f_before
    steps = 0
    is_found = False
    while not is_found:
        if steps == maxiter:
            raise RuntimeError(f"Failed to converge after {maxiter} iterations, value is {x}.")
        if f_x == f_before:
            if x != before:
                raise RuntimeError(f"Tolerance of {x - before} reached. Failed to converge after {steps + 1} "
                                   f"iterations, value is {(x + before) / 2.0}.")
            is_found = True
        else:
            if abs(f_x) > abs(f_before):
                after = (-f_before / f_x * x + before) / (1 - f_before / f_x)
            else:
                after = (-f_x / f_before * before + x) / (1 - f_x / f_before)
            is_found = abs(after - x) <= tol + rtol * abs(x)
            before, f_before = x, f_x
            x = after
            if not is_found:
                f_x = f(x)
        steps += 1
    return x


class RootResults:
    """What `root_scalar` returns, where it does not raise."""

    def __init__(self, root, method):
        self.root, self.method = root, method
        self.converged, self.flag = True, "converged"


def root_scalar(f, args=(), method=None, bracket=None, fprime=None, fprime2=None, x0=None, x1=None, xtol=None,
                rtol=None, maxiter=None, options=None):
    if options or fprime is True or fprime2 is True:
        refused("scipy.optimize.root_scalar with options or functions of several results is not supported",
                "Pass xtol, rtol and maxiter, and derivatives as separate functions.")
    if method is None:
        method = "brentq" if bracket is not None else "newton" if fprime is not None else "secant"
    limits = {key: value for key, value in {"rtol": rtol, "maxiter": maxiter}.items() if value is not None}
    if method in BRACKETING:
        if bracket is None:
            raise ValueError(f"Bracket needed for {method}")
        low, high = bracket
        exactness = {} if xtol is None else {"xtol": xtol}
        return RootResults(bracketed(BRACKETING[method], f, low, high, args, **exactness, **limits), method)
    if method not in ("newton", "secant", "halley"):
        refused(f"scipy.optimize.root_scalar with method {method!r} is not supported",
                "Use 'brentq', 'newton' or 'secant'.")
    if x0 is None:
        raise ValueError(f"x0 must not be None for {method}")
    slope, curvature = None if method == "secant" else fprime, fprime2 if method == "halley" else None
    exactness = {} if xtol is None else {"tol": xtol}
    return RootResults(newton(f, x0, slope, args, fprime2=curvature, x1=x1, **exactness, **limits), method)


BRACKETING = {"brentq": brentq, "brenth": brenth, "bisect": bisect, "ridder": ridder}
CALLS: dict[Any, Any] = {
    **{f"scipy.optimize.{name}": bracketing(search) for name, search in BRACKETING.items()},
    "scipy.optimize.newton": newton,
    "scipy.optimize.root_scalar": root_scalar,
}
