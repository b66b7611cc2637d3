"""`arcsinh`, `arccosh`, `arctanh`, by the logarithm of one plus a number in two parts."""

import math

import numpy as np

from .inverse import quotient_and_rest
from .logarithm import log1p_of_sum_f64, log_of_sum_f32, log_of_sum_f64, where_positive
from .pairs import sum_f32, sum_f64


def arcsinh_f64(x):
    """`log(a + sqrt(a**2 + 1))`, in which the root less 1 is `a**2 / (1 + sqrt(a**2 + 1))`. Of large numbers it is
    `log(2 a)`: one logarithm is that of these and of others."""
    is_large = abs(x) > 1e9
    a = 1.0 if is_large else abs(x)
    high, low = sum_f64(a, a * a / (1.0 + np.sqrt(a * a + 1.0)))
    total, lost = sum_f64(1.0, high)
    y = log_of_sum_f64(abs(x) if is_large else total, 0.0 if is_large else lost + low)
    y = np.copysign(y + (0.6931471805599453 if is_large else 0.0), x)
    return x if abs(x) < 1e-8 or abs(x) == math.inf or x != x else y


def arccosh_f64(x):
    """`log(1 + t + sqrt(t (t + 2)))` with `t = x - 1`."""
    is_large = x > 1e9
    t = 1.0 if is_large else x - 1.0
    square = t * (t + 2.0)
    root = np.sqrt(square)
    rest = 0.5 * (t * (t + 2.0) - square + (square - root * root)) / (root + 1e-300)
    high, low = sum_f64(root, t)
    total, lost = sum_f64(1.0, high)
    y = log_of_sum_f64(x if is_large else total, 0.0 if is_large else lost + low + rest)
    y = y + (0.6931471805599453 if is_large else 0.0 if x >= 1.0 else math.nan)
    return x if x == math.inf else y


def arctanh_f64(x):
    """`log(1 + 2 a / (1 - a)) / 2`."""
    a = abs(x)
    below = 1.0 - a
    high, low = quotient_and_rest(2.0 * a, 0.0, below, 1.0 - below - a)
    return x if a < 1e-8 else np.copysign(0.5 * log1p_of_sum_f64(high, low), x)


def arcsinh_f32(x):
    """As in double precision, by one logarithm for large and other numbers."""
    is_large = abs(x) > 1e4
    a = 1.0 if is_large else abs(x)
    high, low = sum_f32(a, a * a / (1.0 + np.sqrt(a * a + 1.0)))
    total, lost = sum_f32(1.0, high)
    y = log_of_sum_f32(abs(x) if is_large else total, 0.0 if is_large else lost + low)
    y = np.copysign(y + (0.6931472 if is_large else 0.0), x)
    return x if abs(x) < 1e-4 or abs(x) == math.inf or x != x else y


def arccosh_f32(x):
    """As in double precision, by one logarithm for large and other numbers."""
    is_large = x > 1e4
    t = 1.0 if is_large else x - 1.0
    square = t * (t + 2.0)
    root = np.sqrt(square)
    rest = 0.5 * (t * (t + 2.0) - square + (square - root * root)) / (root + 1e-30)
    high, low = sum_f32(root, t)
    total, lost = sum_f32(1.0, high)
    y = log_of_sum_f32(x if is_large else total, 0.0 if is_large else lost + low + rest)
    y = y + (0.6931472 if is_large else 0.0 if x >= 1.0 else math.nan)
    return x if x == math.inf else y


def arctanh_f32(x):
    """`log(1 + 2 a / (1 - a)) / 2`."""
    a = abs(x)
    below = 1.0 - a
    inverse = 1.0 / below
    t = 2.0 * a * inverse
    rest = (2.0 * a - t * below - t * (1.0 - below - a)) * inverse
    total, lost = sum_f32(1.0, t)
    y = np.copysign(0.5 * where_positive(total, log_of_sum_f32(total, lost + rest)), x)
    return x if a < 1e-4 else y
