"""`log`, `log2`, `log10`, `log1p`: x = 2**k (1 + f), and a polynomial for log(1 + f).

In double precision `log(1 + f) = f - f**2 / 2 + s (f**2 / 2 + R(s**2))` with `s = f / (2 + f)`, as in fdlibm.
"""

import math

import numpy as np

from .pairs import leading_f64
from .polynomial import polynomial, power_of_two_f32, power_of_two_f64


def exponent_and_fraction_f64(x):
    """k and m with `x = 2**k m`, and m between the roots of 1/2 and 2; for positive x."""
    tiny = x < 2.2250738585072014e-308
    bits = np.float64(x * 18014398509481984.0 if tiny else x).view(np.int64) + 0x95F619980C433
    exponent = np.int64((bits >> 52) | 0x4330000000000000).view(np.float64)
    k = exponent - (4503599627371573.0 if tiny else 4503599627371519.0)
    return k, np.int64((bits & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).view(np.float64)


def exponent_and_fraction_f32(x):
    """k and m with `x = 2**k m`, and m between the roots of 1/2 and 2; for positive x."""
    tiny = x < 1.17549435e-38
    bits = np.int32(np.float32(x * 33554432.0 if tiny else x).view(np.int32) + 0x4AFB0D)
    k = np.float32(np.int32(bits >> 23)) - (152.0 if tiny else 127.0)
    return k, np.int32((bits & 0x7FFFFF) + 0x3F3504F3).view(np.float32)


def beyond_square_f64(f):
    """`log(1 + f) - f + f**2 / 2`."""
    s = f / (2.0 + f)
    z = s * s
    return s * (0.5 * f * f + z * polynomial(
        z, 0.6666666666666735, 0.3999999999940745, 0.2857142874414681, 0.22222198378033936,
        0.18183575187253945, 0.15313755177720018, 0.14799072445730785))


def beyond_square_f32(f):
    """`log(1 + f) - f + f**2 / 2`."""
    return f * f * f * polynomial(
        f, 0.33333313, -0.2500001, 0.20002118, -0.16667995, 0.14219564, -0.124056235, 0.11888124,
        -0.11675443, 0.06746456)


def where_positive(x, y):
    """y, the logarithm of x, where it is one of a positive finite number."""
    return math.inf if x == math.inf else y if x > 0.0 else -math.inf if x == 0.0 else math.nan


def log_f64(x):
    k, m = exponent_and_fraction_f64(x)
    f = m - 1.0
    rest = beyond_square_f64(f) + k * 1.9082149292705877e-10
    return where_positive(x, k * 0.6931471803691238 - (0.5 * f * f - rest - f))


def log_f32(x):
    k, m = exponent_and_fraction_f32(x)
    f = m - 1.0
    rest = beyond_square_f32(f) + k * -2.12194440e-4
    return where_positive(x, k * 0.693359375 - (0.5 * f * f - rest - f))


def log_in_two_parts_f64(m):
    """`log(m)` for m near 1, as a number of 26 digits and the rest."""
    f = m - 1.0
    square = 0.5 * f * f
    high = leading_f64(f - square)
    return high, f - high - square + beyond_square_f64(f)


def log2_f64(x):
    k, m = exponent_and_fraction_f64(x)
    high, low = log_in_two_parts_f64(m)
    product = high * 1.4426950216293335
    total = k + product
    rest = (low + high) * 1.9259629911266175e-08 + low * 1.4426950216293335
    return where_positive(x, total + (rest + (k - total + product)))


def log2_f32(x):
    k, m = exponent_and_fraction_f32(x)
    f = m - 1.0
    rest = beyond_square_f32(f) - 0.5 * f * f
    return where_positive(x, k + (f + (rest + (f * 0.44269504 + rest * 0.44269504))))


def log10_f64(x):
    k, m = exponent_and_fraction_f64(x)
    high, low = log_in_two_parts_f64(m)
    product = high * 0.4342944771051407
    first = k * 0.30102999566361177
    total = first + product
    rest = k * 3.694239077158931e-13 + (low + high) * 4.798111141615973e-09 + low * 0.4342944771051407
    return where_positive(x, total + (rest + (first - total + product)))


def log10_f32(x):
    k, m = exponent_and_fraction_f32(x)
    f = m - 1.0
    rest = beyond_square_f32(f) - 0.5 * f * f
    small = k * 2.48745663e-4 + (f + rest) * 7.00731903e-4 + rest * 0.43359375
    return where_positive(x, k * 0.30078125 + (f * 0.43359375 + small))


def log_of_sum_f64(x, rest):
    """`log(x + rest)`, for a rest that is lost in the sum."""
    k, m = exponent_and_fraction_f64(x)
    f = m - 1.0
    large = k > 60.0
    scaled = (0.0 if large else rest) * power_of_two_f64(6755399441055744.0 - (0.0 if large else k))
    rest = beyond_square_f64(f) + (k * 1.9082149292705877e-10 + scaled * ((1.0 - f) * (1.0 + f * f)))
    return k * 0.6931471803691238 - (0.5 * f * f - rest - f)


def log_of_sum_f32(x, rest):
    """`log(x + rest)`, for a rest that is lost in the sum."""
    k, m = exponent_and_fraction_f32(x)
    f = m - 1.0
    large = k > 30.0
    scaled = (0.0 if large else rest) * power_of_two_f32(12582912.0 - (0.0 if large else k))
    rest = beyond_square_f32(f) + (k * -2.12194440e-4 + scaled * ((1.0 - f) * (1.0 + f * f)))
    return k * 0.693359375 - (0.5 * f * f - rest - f)


def log1p_of_sum_f64(x, rest):
    """`log(1 + x + rest)`, for a rest that is lost in `x + rest`."""
    total = 1.0 + x
    back = total - 1.0
    return where_positive(total, log_of_sum_f64(total, x - back + (1.0 - (total - back)) + rest))


def log1p_f64(x):
    return x if x == 0.0 else log1p_of_sum_f64(x, 0.0)


def log1p_f32(x):
    total = 1.0 + x
    back = total - 1.0
    y = log_of_sum_f32(total, x - back + (1.0 - (total - back)))
    return x if x == 0.0 else where_positive(total, y)
