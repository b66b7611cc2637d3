"""Comparison, and what kind of number one is."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..core.types import BOOL, ArrayType
from . import arguments, scalars, scalars_of_complex
from .elementwise import FLAT, Elementwise, aligned, elementwise_type
from .value import value


class Less(Elementwise):
    calls = np.less, operator.lt
    is_total = True
    symbol = "<"
    loop = {"c": scalars_of_complex.complex_less}
    derivative = FLAT


class LessEqual(Elementwise):
    name = "less_equal"
    calls = np.less_equal, operator.le
    is_total = True
    symbol = "<="
    loop = {"c": scalars_of_complex.complex_less_equal}
    derivative = FLAT


class Greater(Elementwise):
    calls = np.greater, operator.gt
    is_total = True
    symbol = ">"
    loop = {"c": scalars_of_complex.complex_greater}
    derivative = FLAT


class GreaterEqual(Elementwise):
    name = "greater_equal"
    calls = np.greater_equal, operator.ge
    is_total = True
    symbol = ">="
    loop = {"c": scalars_of_complex.complex_greater_equal}
    derivative = FLAT


class Equal(Elementwise):
    calls = np.equal, operator.eq
    is_total = True
    symbol = "=="
    derivative = FLAT


class NotEqual(Elementwise):
    name = "not_equal"
    calls = np.not_equal, operator.ne
    is_total = True
    symbol = "!="
    derivative = FLAT


def _close_arguments(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    return value(a), value(b), rtol, atol, equal_nan


class Isclose(Elementwise):
    calls = (np.isclose,)
    loop = scalars.is_close
    derivative = FLAT

    def types(a: ArrayType, b: ArrayType, rtol: float = 1e-5, atol: float = 1e-8,
              equal_nan: bool = False) -> Any:
        return elementwise_type(np.isclose, (a, b))

    def front(args, kwargs, spelling):
        """Tolerances that the program computes are operands like the others."""
        a, b, *tolerances, equal_nan = _close_arguments(*args, **kwargs)
        if not any(map(arguments.is_dynamic, tolerances)):
            return None
        rtol, atol = tolerances
        close = (a == b) | (abs(a - b) <= atol + rtol * abs(b)) & np.isfinite(b)
        return close | np.isnan(a) & np.isnan(b) if arguments.known(equal_nan, "equal_nan") else close

    def simpler(a, b, **attrs):
        """Whole numbers are compared as floats."""
        whole = a.dtype.kind in "biu" and b.dtype.kind in "biu"
        return Isclose.applied(a.astype(float), b.astype(float), **attrs) if whole else None


def _number_pairs(rng):
    return [((1.0, other), {}) for other in (1.0, 1.0 + 1e-10, 1.1, np.float64(np.inf))]


class IscloseNumbers(Elementwise):
    """`math.isclose`, which is symmetric in its arguments."""

    name = "isclose_numbers"
    calls = (math.isclose,)
    loop = scalars.is_close_number
    derivative = FLAT
    domain = _number_pairs

    def types(a: ArrayType, b: ArrayType, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> ArrayType:
        return BOOL

    def batch(lead, a, b, rel_tol=1e-9, abs_tol=0.0):
        a, b = aligned(lead, (a, b))
        tolerance = np.maximum(rel_tol * np.maximum(np.abs(a), np.abs(b)), abs_tol)
        return (a == b) | (np.abs(a - b) <= tolerance) & np.isfinite(a) & np.isfinite(b)


class Isnan(Elementwise):
    calls = np.isnan, math.isnan

    def simpler(x):
        return x != x

    where = "any"
    derivative = FLAT


class Isinf(Elementwise):
    calls = np.isinf, math.isinf

    def simpler(x):
        return value(False) if x.dtype.kind in "biu" else None

    where = "any"
    derivative = FLAT


class Isfinite(Elementwise):
    calls = np.isfinite, math.isfinite

    def simpler(x):
        return value(True) if x.dtype.kind in "biu" else None

    where = "any"
    derivative = FLAT


class Signbit(Elementwise):
    calls = (np.signbit,)
    loop = np.signbit
    derivative = FLAT

    def simpler(x):
        return x < 0 if x.dtype.kind in "iub" else None
