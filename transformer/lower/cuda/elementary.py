"""Functions of numbers that numba has for processors only, as kernels compute them."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np


def floor(x: Any) -> Any:
    """The next whole number below, with its sign also where it is 0."""
    return math.copysign(math.floor(x), x) if math.isfinite(x) else x


def ceil(x: Any) -> Any:
    """The next whole number above, with its sign also where it is 0."""
    return math.copysign(math.ceil(x), x) if math.isfinite(x) else x


def trunc(x: Any) -> Any:
    """The next whole number towards 0, with its sign also where it is 0."""
    return math.copysign(math.floor(abs(x)), x) if math.isfinite(x) else x


def rint(x: Any) -> Any:
    """The nearest whole number, of two the even one."""
    if not math.isfinite(x):
        return x
    below = floor(x)
    part = x - below
    is_up = part > 0.5 or part == 0.5 and floor(below * 0.5) != below * 0.5
    return math.copysign(below + 1.0 if is_up else below, x)


def cbrt(x: Any) -> Any:
    """The cube root: a power, and a step of Newton's."""
    size = abs(x)
    if x == 0.0 or not math.isfinite(x):
        return x
    root = math.pow(size, 1.0 / 3.0)
    root -= (root * root * root - size) / (3.0 * root * root)
    return math.copysign(root, x)


OF_NUMBERS: dict[Any, Any] = {np.floor: floor, np.ceil: ceil, np.trunc: trunc, np.rint: rint, np.cbrt: cbrt}
OF_COMPLEX = {np.exp: cmath.exp, np.log: cmath.log, np.log10: cmath.log10, np.sqrt: cmath.sqrt, np.sin: cmath.sin,
              np.cos: cmath.cos, np.tan: cmath.tan, np.sinh: cmath.sinh, np.cosh: cmath.cosh, np.tanh: cmath.tanh,
              np.arcsin: cmath.asin, np.arccos: cmath.acos, np.arctan: cmath.atan, np.arcsinh: cmath.asinh,
              np.arccosh: cmath.acosh, np.arctanh: cmath.atanh}
FORMS: dict[tuple[Any, str], Any] = {**{(function, "f"): form for function, form in OF_NUMBERS.items()},
                                     **{(function, "c"): form for function, form in OF_COMPLEX.items()}}
