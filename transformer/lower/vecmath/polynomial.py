"""What the other modules are written with: polynomials, and numbers as bits.

Functions of a dtype end in its name. Literals in a function whose name ends in `_f32` become float32
when it is printed; called from Python they are that already, by NumPy's promotion.
"""

import numpy as np


def polynomial(x, *coefficients):
    """By Horner's rule, the constant first. Printed as the products and sums themselves."""
    total = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        total = total * x + coefficient
    return total


def power_of_two_f64(shifted):
    """`2**n`, for a whole number to which 1.5 * 2**52 was added: its lowest bits are n."""
    return np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)


def power_of_two_f32(shifted):
    """`2**n`, for a whole number to which 1.5 * 2**23 was added: its lowest bits are n."""
    return np.int32((np.float32(shifted).view(np.int32) + 127) << 23).view(np.float32)


def scaled_f64(x, n):
    """`x * 2**n`, in two steps, so that it is rounded once where it underflows."""
    half = 0.5 * n + 6755399441055744.0
    rest = n - (half - 6755399441055744.0) + 6755399441055744.0
    return x * power_of_two_f64(half) * power_of_two_f64(rest)


def scaled_f32(x, n):
    """`x * 2**n`, in two steps, so that it is rounded once where it underflows."""
    half = 0.5 * n + 12582912.0
    rest = n - (half - 12582912.0) + 12582912.0
    return x * power_of_two_f32(half) * power_of_two_f32(rest)
