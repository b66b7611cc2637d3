"""Loop forms of functions of complex numbers: see `scalars`."""

from __future__ import annotations

import math

import numpy as np

from .scalars import rounded


def complex_less(a, b):
    """Complex numbers are ordered by their real parts first."""
    if a.real != b.real:
        return a.real < b.real and a.imag == a.imag or b.imag != b.imag and a.real < b.real
    return a.imag < b.imag


def complex_less_equal(a, b):
    if a.real != b.real:
        return complex_less(a, b)
    return a.imag <= b.imag


def complex_greater(a, b):
    return complex_less(b, a)


def complex_greater_equal(a, b):
    return complex_less_equal(b, a)


def larger_complex(a, b):
    """The larger complex number; the first with a nan if one has it."""
    return a if a != a or b == b and complex_less_equal(b, a) else b


def smaller_complex(a, b):
    """The smaller complex number; the first with a nan if one has it."""
    return a if a != a or b == b and complex_less_equal(a, b) else b


def larger_complex_number(a, b):
    return a if b != b or a == a and complex_less_equal(b, a) else b


def smaller_complex_number(a, b):
    return a if b != b or a == a and complex_less_equal(a, b) else b


def of_parts(real, imag):
    return complex(real, imag)


def length(x):
    """Of a complex number, as a vector of two."""
    return math.hypot(x.real, x.imag)


def sign_of_complex(x):
    """Of length 1, or 0; along the part that is infinite."""
    if math.isinf(x.real):
        return complex(math.nan, math.nan) if math.isinf(x.imag) else complex(math.copysign(1.0, x.real), 0.0)
    if math.isinf(x.imag):
        return complex(0.0, math.copysign(1.0, x.imag))
    size = math.hypot(x.real, x.imag)
    return complex(x.real / size, x.imag / size) if size != 0.0 else complex(0.0, 0.0)


def quotient_of_complex(a, b):
    """By the larger part of the divisor, as NumPy divides; numba raises where that is 0."""
    if abs(b.real) >= abs(b.imag):
        if b.real == 0.0:
            return complex(a.real / abs(b.real), a.imag / abs(b.real))
        ratio = b.imag / b.real
        scale = 1.0 / (b.real + b.imag * ratio)
        return complex((a.real + a.imag * ratio) * scale, (a.imag - a.real * ratio) * scale)
    ratio = b.real / b.imag
    scale = 1.0 / (b.imag + b.real * ratio)
    return complex((a.real * ratio + a.imag) * scale, (a.imag * ratio - a.real) * scale)


def expm1_of_complex(x):
    """Without `1 - 1` near 0."""
    half = math.sin(0.5 * x.imag)
    return complex(math.expm1(x.real) * math.cos(x.imag) - 2.0 * half * half, math.exp(x.real) * math.sin(x.imag))


def tanh_of_complex(x):
    """W. Kahan, "Branch cuts for complex elementary functions" (1987); numba's is nan where `sinh` is too large."""
    if abs(x.real) > 20.0:
        small = math.exp(-abs(x.real))
        return complex(math.copysign(1.0, x.real), 4.0 * math.sin(x.imag) * math.cos(x.imag) * small * small)
    slope, rise = math.tan(x.imag), math.sinh(x.real)
    square = 1.0 + slope * slope
    below = 1.0 + square * rise * rise
    return complex(square * math.sqrt(1.0 + rise * rise) * rise / below, slope / below)


def arccosh_of_complex(x):
    """On the side of the branch cut that the sign of the imaginary part says, also where that is 0."""
    angle = np.arccos(x)
    return complex(abs(angle.imag), math.copysign(angle.real, x.imag))


def whole_power(a, n):
    left = abs(n)
    result = a if left % 2 == 1 else complex(1.0, 0.0)
    while left > 1:
        left = left // 2
        a = a * a
        if left % 2 == 1:
            result = result * a
    return quotient_of_complex(complex(1.0, 0.0), result) if n < 0 else result


def power_of_complex(a, b):
    """By products for whole numbers below 100, as NumPy; 0 has powers with a positive real part alone, and to 0."""
    if b.imag == 0.0 and b.real == math.floor(b.real) and abs(b.real) < 100.0 and (a != 0.0 or b.real >= 0.0):
        return whole_power(a, int(b.real))
    if a == 0.0:
        return a * a if b.real > 0.0 else complex(math.nan, math.nan)
    return a ** b


def rounded_complex(x, decimals=0):
    return complex(rounded(x.real, decimals), rounded(x.imag, decimals))
