"""`arcsinh`, `arccosh`, `arctanh`, by the logarithm of one plus a number in two parts."""

import math

import numpy as np

from .inverse import quotient_and_rest
from .logarithm import log1p_of_sum_f64, log_f64
from .pairs import sum_f64


def arcsinh_f64(x):
    """`log(a + sqrt(a**2 + 1))`, in which the root less 1 is `a**2 / (1 + sqrt(a**2 + 1))`."""
    is_large = abs(x) > 1e9
    a = 1.0 if is_large else abs(x)
    high, low = sum_f64(a, a * a / (1.0 + np.sqrt(a * a + 1.0)))
    y = log_f64(abs(x)) + 0.6931471805599453 if is_large else log1p_of_sum_f64(high, low)
    return np.copysign(y, x)


def arccosh_f64(x):
    """`log(1 + t + sqrt(t (t + 2)))` with `t = x - 1`."""
    is_large = x > 1e9
    t = 1.0 if is_large else x - 1.0
    square = t * (t + 2.0)
    root = np.sqrt(square)
    rest = 0.5 * (t * (t + 2.0) - square + (square - root * root)) / (root + 1e-300)
    high, low = sum_f64(root, t)
    y = log_f64(x) + 0.6931471805599453 if is_large else log1p_of_sum_f64(high, low + rest)
    return math.nan if x < 1.0 else y


def arctanh_f64(x):
    """`log(1 + 2 a / (1 - a)) / 2`."""
    a = abs(x)
    below = 1.0 - a
    high, low = quotient_and_rest(2.0 * a, 0.0, below, 1.0 - below - a)
    return x if a < 1e-8 else np.copysign(0.5 * log1p_of_sum_f64(high, low), x)


def arcsinh_f32(x):
    """In double precision."""
    y = np.copysign(np.float32(short_arcsinh_f64(np.float64(abs(x)))), x)
    return x if abs(x) < 1e-5 else y


def short_arcsinh_f64(a):
    return log_f64(a + np.sqrt(a * a + 1.0))


def arccosh_f32(x):
    """In double precision."""
    return np.float32(short_arccosh_f64(np.float64(x)))


def short_arccosh_f64(x):
    return math.nan if x < 1.0 else log_f64(x + np.sqrt((x - 1.0) * (x + 1.0)))


def arctanh_f32(x):
    """In double precision."""
    y = np.copysign(np.float32(short_arctanh_f64(np.float64(abs(x)))), x)
    return x if abs(x) < 1e-5 else y


def short_arctanh_f64(a):
    return math.inf if a == 1.0 else 0.5 * log_f64((1.0 + a) / (1.0 - a))
