"""`cbrt` and `hypot`."""

import math

import numpy as np

from .logarithm import exponent_and_fraction_f64
from .pairs import product_f64
from .polynomial import polynomial, power_of_two_f64


def cbrt_f64(x):
    """A step of Newton's method for `1 / cbrt(m)`, and what is lost in the product."""
    k, m = exponent_and_fraction_f64(abs(x))
    third = k * 0.3333333333333333 + 6755399441055744.0
    y, m = inverse_cbrt_f64(m, k - 3.0 * (third - 6755399441055744.0))
    rest = 1.0 - m * y * y * y
    y = y + y * rest * 0.3333333333333333
    root = m * y * y
    square, square_lost = product_f64(root, root)
    cube, cube_lost = product_f64(square, root)
    rest = m - cube - cube_lost - square_lost * root
    root = np.copysign((root + rest * y * y * 0.3333333333333333) * power_of_two_f64(third), x)
    return x if x == 0.0 or abs(x) == math.inf or x != x else root


def inverse_cbrt_f64(m, power):
    """`1 / cbrt(m * 2**power)` to some 40 digits, for m near 1 and a power of -1, 0 or 1, and that product."""
    y = polynomial(m, 1.8745294435331743, -1.8617607551495394, 1.561041290186969, -0.702116023814305,
                   0.12828222851293866)
    y = y * (0.7937005259840998 if power > 0.0 else 1.2599210498948732 if power < 0.0 else 1.0)
    m = m * (2.0 if power > 0.0 else 0.5 if power < 0.0 else 1.0)
    rest = 1.0 - m * y * y * y
    return y + y * rest * (0.3333333333333333 + rest * 0.2222222222222222), m


def cbrt_f32(x):
    """In double precision."""
    root = np.copysign(np.float32(short_cbrt_f64(np.float64(abs(x)))), x)
    return x if x == 0.0 or abs(x) == math.inf or x != x else root


def short_cbrt_f64(x):
    k, m = exponent_and_fraction_f64(x)
    third = k * 0.3333333333333333 + 6755399441055744.0
    y, m = inverse_cbrt_f64(m, k - 3.0 * (third - 6755399441055744.0))
    return m * y * y * power_of_two_f64(third)


def hypot_f64(x, y):
    """Of large and of small numbers scaled by a power of two, so that their squares are in range."""
    a, b = abs(x), abs(y)
    large = a if a > b else b
    scale = 2.409919865102884e-181 if large > 1e150 else 4.149515568880993e+180 if large < 1e-150 else 1.0
    back = 4.149515568880993e+180 if large > 1e150 else 2.409919865102884e-181 if large < 1e-150 else 1.0
    root = back * np.sqrt(a * scale * (a * scale) + b * scale * (b * scale))
    return math.inf if a == math.inf or b == math.inf else root


def hypot_f32(x, y):
    """In double precision, where squares neither overflow nor underflow."""
    a, b = np.float64(x), np.float64(y)
    infinite = abs(x) == math.inf or abs(y) == math.inf
    return math.inf if infinite else np.float32(np.sqrt(a * a + b * b))
