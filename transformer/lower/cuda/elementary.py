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


def signbit(x: Any) -> Any:
    """Whether there is a minus, also that of 0."""
    return math.copysign(1.0, x) < 0.0


def is_negative(x: Any) -> Any:
    """Whether there is a minus, in whole numbers."""
    return x < 0


def fmod(x: Any, y: Any) -> Any:
    """What is left of a division, with the sign of what is divided."""
    return x * math.nan if y == 0.0 or math.isinf(x) else math.copysign(abs(x) % abs(y), x)


def nextafter(x: Any, to: Any) -> Any:
    """The neighbour of a number in the direction of another one: as far away as numbers of its size are apart."""
    is_wide = 1.0 + 1e-10 > 1.0                                          # of 53 binary digits, else of 24
    if x == to or x != x or to != to:
        return to if x == to else x + to
    if math.isinf(x):
        return math.copysign(1.7976931348623157e308 if is_wide else 3.4028234663852886e38, x)
    part, exponent = math.frexp(abs(x))
    grows = (x < to) == (x >= 0.0)
    if part == 0.5 and not grows:
        exponent -= 1                            # below a power of 2 they lie twice as close
    step = math.ldexp(1.0, max(exponent - 53, -1074) if is_wide else max(exponent - 24, -149))
    if x == 0.0:
        return math.copysign(math.ldexp(1.0, -1074 if is_wide else -149), to)
    return math.copysign(abs(x) + step if grows else abs(x) - step, x)


def is_finite(x: Any) -> Any:
    """Whether both parts of a complex number are."""
    return math.isfinite(x.real) and math.isfinite(x.imag)


def is_infinite(x: Any) -> Any:
    """Whether a part of a complex number is."""
    return math.isinf(x.real) or math.isinf(x.imag)


def rint_of_parts(x: Any) -> Any:
    """Both parts of a complex number, each the nearest whole number."""
    return complex(rint(x.real), rint(x.imag))


def exp2_of_complex(x: Any) -> Any:
    """2 to the power of a complex number."""
    return cmath.exp(x * math.log(2.0))


def expm1_of_complex(x: Any) -> Any:
    """exp(x) - 1 of a complex number, without what is lost where both are close."""
    half = math.sin(x.imag * 0.5)
    return complex(math.expm1(x.real) * math.cos(x.imag) - 2.0 * half * half, math.exp(x.real) * math.sin(x.imag))


def log1p_of_complex(x: Any) -> Any:
    """log(1 + x) of a complex number."""
    return complex(math.log(math.hypot(x.real + 1.0, x.imag)), math.atan2(x.imag, x.real + 1.0))


OF_NUMBERS: dict[Any, Any] = {np.floor: floor, np.ceil: ceil, np.trunc: trunc, np.rint: rint, np.cbrt: cbrt}
OF_SIGNS: dict[Any, Any] = {np.signbit: signbit, np.fmod: fmod, np.nextafter: nextafter}
OF_PARTS: dict[Any, Any] = {np.isfinite: is_finite, np.isinf: is_infinite, np.rint: rint_of_parts,
                            np.exp2: exp2_of_complex, np.expm1: expm1_of_complex, np.log1p: log1p_of_complex}
OF_COMPLEX = {np.exp: cmath.exp, np.log: cmath.log, np.log10: cmath.log10, np.sqrt: cmath.sqrt, np.sin: cmath.sin,
              np.cos: cmath.cos, np.tan: cmath.tan, np.sinh: cmath.sinh, np.cosh: cmath.cosh, np.tanh: cmath.tanh,
              np.arcsin: cmath.asin, np.arccos: cmath.acos, np.arctan: cmath.atan, np.arcsinh: cmath.asinh,
              np.arccosh: cmath.acosh, np.arctanh: cmath.atanh}
FORMS: dict[tuple[Any, str], Any] = {**{(function, "f"): form for function, form in {**OF_NUMBERS, **OF_SIGNS}.items()},
                                     **{(np.signbit, kind): is_negative for kind in "iub"},
                                     **{(function, "c"): form for function, form in OF_PARTS.items()},
                                     **{(function, "c"): form for function, form in OF_COMPLEX.items()}}
