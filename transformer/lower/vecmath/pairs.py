"""Sums and products in two parts: the rounded number, and what is lost by rounding.

They do not rest on fused products and sums, and are right with them, too.
"""

import numpy as np


def sum_f64(a, b):
    """`a + b`, and what is lost in it."""
    total = a + b
    back = total - a
    return total, a - (total - back) + (b - back)


def sum_f32(a, b):
    """`a + b`, and what is lost in it."""
    total = a + b
    back = total - a
    return total, a - (total - back) + (b - back)


def leading_f64(x):
    """x in 26 digits, so that products of two such numbers are exact."""
    return np.int64((np.float64(x).view(np.int64) + 67108864) & -134217728).view(np.float64)


def product_f64(a, b):
    """`a * b`, and what is lost in it."""
    total = a * b
    a_high, b_high = leading_f64(a), leading_f64(b)
    a_low, b_low = a - a_high, b - b_high
    return total, a_high * b_high - total + a_high * b_low + a_low * b_high + a_low * b_low
