"""`arctan`, `arctan2`, `arcsin`, `arccos`: the argument is made small, and a polynomial in it.

Where the small argument is a quotient or a root, what is lost in it is added again. Constants such as pi/2
are added in two parts.
"""

import math

import numpy as np

from .polynomial import polynomial


def arctan_f64(x):
    """`arctan(a) = pi/4 + arctan((a - 1) / (a + 1)) = pi/2 - arctan(1 / a)`."""
    a = 1e17 if abs(x) > 1e17 else abs(x)
    far, middle = a > 2.414213562373095, a > 0.41421356237309503
    above = -1.0 if far else a - 1.0 if middle else a
    below = a if far else a + 1.0 if middle else 1.0
    back = below - 1.0
    above_rest = 0.0 if far else a - (above + 1.0) if middle else 0.0
    below_rest = 0.0 if far else a - back + (1.0 - (below - back)) if middle else 0.0
    t, rest = quotient_and_rest(above, above_rest, below, below_rest)
    first = 1.5707963267948966 if far else 0.7853981633974483 if middle else 0.0
    second = 6.123233995736766e-17 if far else 3.061616997868383e-17 if middle else 0.0
    return np.copysign(first + (t + (second + rest + beyond_arctan_f64(t))), x)


def quotient_and_rest(above, above_rest, below, below_rest):
    """`(above + above_rest) / (below + below_rest)` in two parts."""
    inverse = 1.0 / below
    t = above * inverse
    return t, (above - t * below + (above_rest - t * below_rest)) * inverse


def beyond_arctan_f64(t):
    """`arctan(t) - t`, for t at most tan(pi/8)."""
    z = t * t
    return t * z * polynomial(
        z, -0.333333333333332, 0.19999999999953222, -0.14285714280157502, 0.11111110781398438,
        -0.09090897695276803, 0.07692059046818885, -0.06663090113747813, 0.058477831018321706,
        -0.05038804701897935, 0.03805132252944207, -0.017892142184019008)


def arctan_f32(x):
    """`arctan(a) = pi/4 + arctan((a - 1) / (a + 1)) = pi/2 - arctan(1 / a)`."""
    a = 1e9 if abs(x) > 1e9 else abs(x)
    far, middle = a > 2.41421356, a > 0.41421356
    above = -1.0 if far else a - 1.0 if middle else a
    below = a if far else a + 1.0 if middle else 1.0
    back = below - 1.0
    above_rest = 0.0 if far else a - (above + 1.0) if middle else 0.0
    below_rest = 0.0 if far else a - back + (1.0 - (below - back)) if middle else 0.0
    t, rest = quotient_and_rest(above, above_rest, below, below_rest)
    z = t * t
    beyond = t * z * polynomial(z, -0.33333316, 0.19998477, -0.1424362, 0.10594226, -0.060787436)
    first = 1.57079637 if far else 0.785398185 if middle else 0.0
    second = -4.37113900e-8 if far else -2.18556950e-8 if middle else 0.0
    return np.copysign(first + (t + (second + rest + beyond)), x)


def arctan2_f64(y, x):
    """The angle in the first eighth of a turn, and its reflections: a multiple of pi/4, and t or -t."""
    small, large = ratio_of(y, x)
    scale = 0.25 if large > 1e300 else 1.0715086071862673e+301 if large < 1e-270 else 1.0
    small, large = small * scale, large * scale
    middle = small > 0.41421356237309503 * large
    back = small - large
    above, below = back if middle else small, large + small if middle else large
    above_rest = small - (back + large) if middle else 0.0
    below_rest = small - (below - large) if middle else 0.0
    t, rest = quotient_and_rest(above, above_rest, below, below_rest)
    eighths, sign = eighths_of(y, x, 1.0 if middle else 0.0)
    rest = eighths * 3.061616997868383e-17 + sign * (rest + beyond_arctan_f64(t))
    angle = eighths * 0.7853981633974483 + (sign * t + rest)
    return x + y if x != x or y != y else np.copysign(angle, y)


def ratio_of(y, x):
    """Two positive numbers with the ratio of the smaller and the larger of `abs(x)` and `abs(y)`."""
    small, large = (abs(x), abs(y)) if abs(y) > abs(x) else (abs(y), abs(x))
    infinite = large == math.inf
    small = (1.0 if small == math.inf else 0.0) if infinite else small
    return small, 1.0 if infinite or large == 0.0 else large


def eighths_of(y, x, eighths):
    """The angle in eighths of a turn where the smaller one is `eighths`, and the sign of what is added to it."""
    is_steep, is_left = abs(y) > abs(x), np.copysign(1.0, x) < 0.0
    eighths = 2.0 - eighths if is_steep else eighths
    return 4.0 - eighths if is_left else eighths, 1.0 if is_steep == is_left else -1.0


def arctan2_f32(y, x):
    """In double precision."""
    small, large = ratio_of(y, x)
    small, large = np.float64(small), np.float64(large)
    eighths, sign = eighths_of(y, x, 0.0)
    angle = short_arctan2_f64(small, large, np.float64(eighths), np.float64(sign))
    return x + y if x != x or y != y else np.copysign(np.float32(angle), y)


def short_arctan2_f64(small, large, eighths, sign):
    middle = small > 0.41421356237309503 * large
    t = (small - large if middle else small) / (large + small if middle else large)
    z = t * t
    t = (0.7853981633974483 if middle else 0.0) + (t + t * z * polynomial(
        z, -0.3333333250540135, 0.19999904319529066, -0.14282015870488457, 0.11044752000432156,
        -0.08476405554285414, 0.047439526162886506))
    return eighths * 0.7853981633974483 + sign * t


def arcsin_f64(x):
    """`arcsin(a) = pi/2 - 2 arcsin(sqrt((1 - a) / 2))` for a beyond 1/2."""
    a = abs(x)
    large = a > 0.5
    s, rest = half_angle_f64(a)
    factor = -2.0 if large else 1.0
    first = 1.5707963267948966 if large else 0.0
    total = first + factor * s
    rest = first - total + factor * s + ((6.123233995736766e-17 if large else 0.0) + factor * rest)
    return np.copysign(total + rest, x)


def arccos_f64(x):
    """`arccos(a) = 2 arcsin(sqrt((1 - a) / 2))` for a beyond 1/2, and pi minus that for -a."""
    large = abs(x) > 0.5
    s, rest = half_angle_f64(abs(x))
    factor = (-2.0 if x < 0.0 else 2.0) if large else 1.0 if x < 0.0 else -1.0
    first = (3.141592653589793 if x < 0.0 else 0.0) if large else 1.5707963267948966
    second = (1.2246467991473532e-16 if x < 0.0 else 0.0) if large else 6.123233995736766e-17
    total = first + factor * s
    return total + (first - total + factor * s + (second + factor * rest))


def half_angle_f64(a):
    """`arcsin(s)` in two parts, for s = a up to 1/2, and s = sqrt((1 - a) / 2) beyond."""
    large = a > 0.5
    z = 0.5 * (1.0 - a) if large else a * a
    s = np.sqrt(z) if large else a
    lost = 0.5 * (z - s * s) / (s + 1e-300) if large else 0.0
    return s, lost + s * z * polynomial(
        z, 0.16666666666665383, 0.07500000000342964, 0.04464285682355189, 0.030381959328329624,
        0.0223717535937359, 0.017359770054800494, 0.01388460863697039, 0.012173214660350724,
        0.006511122339822643, 0.019573200728142438, -0.016293015167342495, 0.03195827266286085)


def arcsin_f32(x):
    """`arcsin(a) = pi/2 - 2 arcsin(sqrt((1 - a) / 2))` for a beyond 1/2."""
    a = abs(x)
    large = a > 0.5
    s, rest = half_angle_f32(a)
    factor = -2.0 if large else 1.0
    first = 1.57079637 if large else 0.0
    total = first + factor * s
    rest = first - total + factor * s + ((-4.37113900e-8 if large else 0.0) + factor * rest)
    return np.copysign(total + rest, x)


def arccos_f32(x):
    """`arccos(a) = 2 arcsin(sqrt((1 - a) / 2))` for a beyond 1/2, and pi minus that for -a."""
    large = abs(x) > 0.5
    s, rest = half_angle_f32(abs(x))
    factor = (-2.0 if x < 0.0 else 2.0) if large else 1.0 if x < 0.0 else -1.0
    first = (3.14159274 if x < 0.0 else 0.0) if large else 1.57079637
    second = (-8.74227800e-8 if x < 0.0 else 0.0) if large else -4.37113900e-8
    total = first + factor * s
    return total + (first - total + factor * s + (second + factor * rest))


def half_angle_f32(a):
    """`arcsin(s)` in two parts, for s = a up to 1/2, and s = sqrt((1 - a) / 2) beyond."""
    large = a > 0.5
    z = 0.5 * (1.0 - a) if large else a * a
    s = np.sqrt(z) if large else a
    lost = 0.5 * (z - s * s) / (s + 1e-30) if large else 0.0
    return s, lost + s * z * polynomial(z, 0.16666754, 0.07495241, 0.0454772, 0.024147151, 0.04221927)
