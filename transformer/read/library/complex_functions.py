"""Functions of `cmath`: those of NumPy for numbers of Python."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np

from .numbers import as_float


def of_one(function):
    """A function of `cmath` that NumPy has, too."""

    def computed(z):
        return complex(function(complex(z)))

    return computed


def logarithm(z, base=None):
    z = complex(z)
    if base is None and z == 0:
        raise ValueError("math domain error")
    found = complex(np.log(z))
    return found if base is None else found / complex(np.log(complex(base)))


def phase(z):
    return float(np.angle(complex(z)))


def polar(z):
    return float(abs(complex(z))), phase(z)


def rect(r, phi):
    r, phi = as_float(r), as_float(phi)
    return complex(r * np.cos(phi) + 1j * (r * np.sin(phi)))


NAMES = {"exp": "exp", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "sinh": "sinh", "cosh": "cosh",
         "tanh": "tanh", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
         "atanh": "arctanh"}
CALLS: dict[Any, Any] = {
    **{getattr(cmath, name): of_one(getattr(np, numpys)) for name, numpys in NAMES.items()},
    cmath.log: logarithm,
    cmath.phase: phase,
    cmath.polar: polar,
    cmath.rect: rect,
}
