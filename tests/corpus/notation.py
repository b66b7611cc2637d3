"""Notation that must not disturb: annotations, docstrings, prints, names, constants."""

import cmath
import enum
import math

import numpy as np
import scipy.constants

from .program import Program, fixed, normal


def typed(x: float, n: int = 3, name: str | None = None) -> float:
    """Annotated assignments, with and without a value."""
    total: float = 0.0
    scale: float
    for k in range(n):
        total += x**k
    scale = 2.0 if name is None else 3.0
    return total * scale


def inverse_hyperbolic(x):
    y: float = x + math.sqrt(x * x + 1)
    return math.log(y)


def documented(x):
    """A docstring
    of several lines.

    It must not disturb anything.
    """
    "a stray string"
    ...
    pass
    return x**2


def prints(x):
    print("entering with", len(x), "values")
    total = np.sum(x**2)
    print(f"total = {total:.3f}")
    return total * x[0]


def prints_by_percent(x, n):
    if np.isscalar(x) or x[0] > 100:
        raise ValueError("%e of %d" % (x[0], n))
    print("%5.2f|%-9.3e|%+d|%05d|% d|%#x|%.3g" % (x[0], x[1], n, n, -n, n, n), "%i %%" % x[1])
    print("%s: %r, %8s|%-6s|%.4s|" % (x[0], n, x[1], n, x[1]) + "%(of)s %(step)03d" % {"step": n, "of": "all"})
    print("%s" % x, "%d" % np.sum(x > 0), "%f" % np.sum(x), "%s %5d%s" % ((x[0], n), 7, None))
    return np.sum(x**2) * n


def errstate_around(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(np.abs(x)) / x
    return np.sum(y**2)


def constant_folding(x, n):
    size = int(math.sqrt(n)) + len("ab") - max(1, 2)
    names = ["w" + str(i) for i in range(size)]
    table = {name: float(i + 1) for i, name in enumerate(names)}
    return sum(table[name] * x ** len(name) for name in names) * ("w1" in table)


def shadowed_names(x, y):
    """Parameters of helpers, loop variables and locals share their names."""

    def f(y, x):
        x = x * y
        return x + y

    y, x = f(x, y), f(y, x)
    total = 0.0
    for x in (x, y):  # noqa: B020
        total += x**2
    return total * x


def python_names(dx, lambda_, x_0, np_):
    """Names that a derivative would like to use itself."""
    dy = dx * lambda_
    grad = dy + x_0
    dx_0 = grad * np_
    return dx_0**2 + dy * dx


def wrapped(x, min, max=4.0):
    """Parameters with the names of functions, which the source needs too."""
    total = 0.0
    for k in range(len(x) - 1, -1, -1):
        v = x[k]
        while v > max:
            v = v - (max - min) * 0.75
        total += v * v * k
    return total + abs(min)


def called_like_modules(np, math, *, len=3, range=None):
    total = 0.0
    for i in (0, 1, 2):
        total += np["scale"] * math[i] ** i
        while total > 9.0:
            total = total / 2
    return total * len


def constants_of_modules(x):
    return np.sum(np.exp(-x * scipy.constants.g)) + cmath.pi


class Unit(enum.StrEnum):
    """Members are texts, but are not written as such."""
    RADIAN = "rad"
    DEGREE = "deg"


def named_like_words(el, ef, az, unit=Unit.RADIAN):
    """`d` before the names gives words of Python's own."""
    el, az = (math.radians(el), math.radians(az)) if unit == Unit.DEGREE else (el, az)
    return math.cos(el) * math.sin(az) * ef ** 2


PROGRAMS = [
    Program(named_like_words, normal(None, None, None), (0, 1, 2)),
    Program(named_like_words, normal(None, None, None, then=(Unit.DEGREE,)), (0, 1), name="named_in_degrees"),
    Program(typed, normal(None)),
    Program(typed, normal(None, then=(4, "name")), name="typed_with_arguments"),
    Program(inverse_hyperbolic, normal(None)),
    Program(documented, normal(None)),
    Program(prints, normal((3,))),
    Program(prints_by_percent, fixed(np.array([1.5, 2.75]), 7)),
    Program(errstate_around, normal((4,))),
    Program(constant_folding, normal(None, then=(9,))),
    Program(shadowed_names, normal(None, None), (0, 1)),
    Program(python_names, normal(None, None, None, None), (0, 1, 2, 3)),
    Program(wrapped, fixed(np.array([0.5, 7.25, 11.75]), 0.375, 3.25), (0, 1, 2)),
    Program(constants_of_modules, normal((4,))),
    Program(called_like_modules, fixed({"scale": 1.75}, np.array([0.5, 3.25, 1.75])), (0, 1)),
]
