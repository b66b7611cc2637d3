"""`power`: exp2(y log2(x)), where the logarithm has 13 digits more than a number.

In double precision as in fdlibm: `log(m) = 2/3 s (3 + s**2 + r)`, with `s = (m - 1) / (m + 1)`, in two parts
of which the first has 26 digits.
"""

import math

import numpy as np

from .logarithm import exponent_and_fraction_f64
from .pairs import leading_f64
from .polynomial import polynomial, power_of_two_f64, scaled_f64


def power_f64(x, y):
    high, low = log2_of_f64(abs(x))
    exponent = 3.6e19 if y > 3.6e19 else -3.6e19 if y < -3.6e19 else y
    leading = leading_f64(exponent)
    product = leading * high
    rest = (exponent - leading) * high + exponent * low
    total = product + rest
    total = 1100.0 if total > 1100.0 else -1100.0 if total < -1100.0 else total
    n = total + 6755399441055744.0 - 6755399441055744.0
    rest = 0.0 if abs(total) == 1100.0 else product - total + rest
    return special_power(x, y, scaled_f64(exp2_of_f64(total - n, rest), n))


def log2_of_f64(x):
    """`log2(x)` in two parts, of which the first has 26 digits; for positive x."""
    k, m = exponent_and_fraction_f64(x)
    f = m - 1.0
    inverse = 1.0 / (f + 2.0)
    s = f * inverse
    s_high = leading_f64(s)
    above_high = leading_f64(f + 2.0)
    s_low = inverse * (f - s_high * above_high - s_high * (f - (above_high - 2.0)))
    z = s * s
    square = s_high * s_high
    even = polynomial(z * z, 0.6000000000000343, 0.3333333378425736, 0.23080155056601662, 0.19798880340589387)
    odd = polynomial(z * z, 0.42857142855125985, 0.27272676151894976, 0.19884767860691033)
    rest = s_low * (s_high + s) + z * z * (even + z * odd)
    factor = leading_f64(3.0 + square + rest)
    factor_rest = rest - (factor - 3.0 - square)
    product = s_high * factor
    product_rest = s_low * factor + factor_rest * s
    high = leading_f64(product + product_rest)
    low = product_rest - (high - product)
    scaled = 0.9617967009544373 * high
    scaled_rest = -7.028461650952758e-09 * high + low * 0.9617966939259756
    total = leading_f64(scaled + scaled_rest + k)
    return total, scaled_rest - (total - k - scaled)


def exp2_of_f64(r, rest):
    """`2**(r + rest)`, for r at most 1/2."""
    leading = leading_f64(r)
    high = leading * 0.6931471824645996
    low = (r - leading + rest) * 0.6931471805599453 + leading * -1.904654299957768e-09
    total = high + low
    lost = high - total + low
    square = total * total
    even = polynomial(square, 0.500000000000001, 0.04166666666652199, 0.0013888888947820891,
                      2.4801487326012337e-05, 2.763265575933203e-07)
    odd = polynomial(square, 0.16666666666666674, 0.008333333333322207, 0.00019841269886591,
                     2.7557242336680357e-06, 2.5110049895858716e-08)
    return 1.0 + (total + (lost + square * (even + total * odd)))


def power_f32(x, y):
    """In double precision, where the logarithm has digits enough."""
    exponent = np.float64(1e12 if y > 1e12 else -1e12 if y < -1e12 else y)
    return special_power(x, y, np.float32(short_exp2_f64(exponent * short_log2_f64(np.float64(abs(x))))))


def short_log2_f64(x):
    """`log2(x)` to some 40 digits, for positive x."""
    k, m = exponent_and_fraction_f64(x)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    return k + s * (2.8853900817779268 + z * polynomial(
        z, 0.961796694059058, 0.5770779526951518, 0.4122084597663445, 0.3199321558418894, 0.28257998673741686))


def short_exp2_f64(x):
    """`2**x` to some 30 digits, for what fits into single precision."""
    x = 200.0 if x > 200.0 else -200.0 if x < -200.0 else x
    shifted = x + 6755399441055744.0
    r = x - (shifted - 6755399441055744.0)
    return power_of_two_f64(shifted) * (1.0 + r * polynomial(
        r, 0.6931471807044543, 0.24022651066518282, 0.055504103660040266, 0.009618038138833817,
        0.0013333935140466549, 0.00015466754103940125, 1.5196124713025319e-05))


def special_power(x, y, power):
    """`x**y`, from `abs(x)**y` for a positive finite `abs(x)`."""
    is_whole = np.rint(y) == y
    is_odd = is_whole and np.rint(0.5 * y) != 0.5 * y
    power = (0.0 if y > 0.0 else math.inf) if x == 0.0 else power
    power = (math.inf if y > 0.0 else 0.0) if abs(x) == math.inf else power
    power = math.nan if x < 0.0 and not is_whole and x > -math.inf else power
    power = np.copysign(power, x) if is_odd else power
    power = x + y if x != x or y != y else power
    return 1.0 if x == 1.0 or y == 0.0 else power
