"""`sin`, `cos`, `tan`: x = n pi/2 + r, and polynomials in r, at most pi/4, in two parts.

The reduction is right for all numbers and has no branches (M. Payne and R. Hanek, "Radian reduction for
trigonometric functions", SIGNUM Newsletter 18, 1983). In single precision all is done in double precision.
"""

import numpy as np

from .pairs import product_f64, sum_f64
from .polynomial import polynomial
from .turns import TWO_OVER_PI


def quarter_f64(x):
    """n, shifted so that its lowest bits can be read, r, and what is lost in r; for any x.

    Of large x a factor of 2**(32 j) is taken out that leaves a whole number. 2/pi times that factor is known
    modulo 4, so that whole turns can be taken off the products with the first two of its parts."""
    exponent = (np.float64(x).view(np.int64) >> 52) & 2047
    j = np.uint64(max((exponent - 1075) >> 5, 0))
    scaled = x * np.int64((1023 - 32 * np.int64(j)) << 52).view(np.float64)
    first, first_lost = product_f64(scaled, TWO_OVER_PI[4 * j])
    second, second_lost = product_f64(scaled, TWO_OVER_PI[4 * j + 1])
    third, third_lost = product_f64(scaled, TWO_OVER_PI[4 * j + 2])
    turn, lost = sum_f64(within_turn_f64(first), within_turn_f64(first_lost))
    total, rest = sum_f64(turn, within_turn_f64(second))
    shifted = total + 6755399441055744.0
    total, rest = sum_f64(total - (shifted - 6755399441055744.0), rest)
    total, second_rest = sum_f64(total, lost)
    total, third_rest = sum_f64(total, second_lost)
    total, last_rest = sum_f64(total, third)
    lost = rest + second_rest + third_rest + last_rest + third_lost + scaled * TWO_OVER_PI[4 * j + 3]
    part = total + lost
    r, r_lost = product_f64(part, 1.5707963267948966)
    r_lost = r_lost + ((total - part + lost) * 1.5707963267948966 + part * 6.123233995736766e-17)
    total = r + r_lost
    return shifted, total, r - total + r_lost


def within_turn_f64(quarters):
    """Without whole turns, which are multiples of 4."""
    return quarters - 4.0 * np.rint(0.25 * quarters)


def sine_f64(r, lost):
    """In two parts, for r at most pi/4."""
    z = r * r
    rest = lost - 0.5 * z * lost + r * z * polynomial(
        z, -0.16666666666666632, 0.008333333333322316, -0.00019841269829725313, 2.755731366205312e-06,
        -2.5050753261135355e-08, 1.589650469254627e-10)
    total = r + rest
    return total, r - total + rest


def cosine_f64(r, lost):
    """In two parts, for r at most pi/4."""
    z = r * r
    first = 1.0 - 0.5 * z
    rest = 1.0 - first - 0.5 * z - r * lost + z * z * polynomial(
        z, 0.0416666666666666, -0.001388888888887399, 2.4801587289394777e-05, -2.755731432597521e-07,
        2.087571954996016e-09, -1.1359448182842138e-11)
    total = first + rest
    return total, first - total + rest


def sin_f64(x):
    shifted, r, lost = quarter_f64(x)
    quarter = np.float64(shifted).view(np.int64)
    y = cosine_f64(r, lost)[0] if quarter & 1 else sine_f64(r, lost)[0]
    return x if abs(x) < 1e-8 else -y if quarter & 2 else y


def cos_f64(x):
    shifted, r, lost = quarter_f64(x)
    quarter = np.float64(shifted).view(np.int64)
    y = sine_f64(r, lost)[0] if quarter & 1 else cosine_f64(r, lost)[0]
    return -y if (quarter + 1) & 2 else y


def tan_f64(x):
    shifted, r, lost = quarter_f64(x)
    odd = np.float64(shifted).view(np.int64) & 1
    sine, sine_rest = sine_f64(r, lost)
    cosine, cosine_rest = cosine_f64(r, lost)
    above, below = -cosine if odd else sine, sine if odd else cosine
    above_rest, below_rest = -cosine_rest if odd else sine_rest, sine_rest if odd else cosine_rest
    inverse = 1.0 / below
    y = above * inverse
    return x if abs(x) < 1e-8 else y + (above - y * below + (above_rest - y * below_rest)) * inverse


def short_quarter_f64(x):
    """n, shifted so that its lowest bits can be read, and r, to some 50 digits; for x of 24 digits.

    For large x, 2**24, 2**48, ... are factored out, and 2/pi times them is known modulo 4. It is in parts
    of 29 digits, so that their products with x are exact, and whole turns can be taken off."""
    a = abs(x)
    whole, scale = 0.6366197690367699, 1.0
    part, last = 3.3308114738561656e-09, 2.276010073078396e-18
    if a >= 281474976710656.0:
        whole, scale = -0.5691182538866997, 5.960464477539063e-08
        part, last = -2.5229519723390936e-09, 4.76073975187604e-18
    if a >= 4.722366482869645e+21:
        whole, scale = 0.0826718881726265, 3.552713678800501e-15
        part, last = 1.7096864618482144e-09, 2.8658837463471963e-18
    if a >= 7.922816251426434e+28:
        whole, scale = 0.15368378162384033, 2.117582368135751e-22
        part, last = -2.513055527564312e-09, -1.984897966848882e-18
    if a >= 1.329227995784916e+36:
        whole, scale = 1.957837924361229, 1.262177448353619e-29
        part, last = 1.995295872969649e-10, -5.570879806868444e-18
    first = within_turn_f64(x * scale * whole)
    second = within_turn_f64(x * scale * part)
    shifted = first + second + 6755399441055744.0
    n = shifted - 6755399441055744.0
    return shifted, (first - n + second + x * scale * last) * 1.5707963267948966


def short_sine_f64(r):
    z = r * r
    return r + r * z * polynomial(
        z, -0.16666666641428993, 0.008333329362541945, -0.00019839327216687592, 2.718237984685298e-06)


def short_cosine_f64(r):
    z = r * r
    return 1.0 - 0.5 * z + z * z * polynomial(
        z, 0.04166664676082293, -0.001388736204303402, 2.4437790624193356e-05)


def sin_f32(x):
    shifted, r = short_quarter_f64(np.float64(x))
    quarter = np.float64(shifted).view(np.int64)
    y = short_cosine_f64(r) if quarter & 1 else short_sine_f64(r)
    return x if x == 0.0 else np.float32(-y if quarter & 2 else y)


def cos_f32(x):
    shifted, r = short_quarter_f64(np.float64(x))
    quarter = np.float64(shifted).view(np.int64)
    y = short_sine_f64(r) if quarter & 1 else short_cosine_f64(r)
    return np.float32(-y if (quarter + 1) & 2 else y)


def tan_f32(x):
    shifted, r = short_quarter_f64(np.float64(x))
    odd = np.float64(shifted).view(np.int64) & 1
    sine, cosine = short_sine_f64(r), short_cosine_f64(r)
    y = (-cosine if odd else sine) / (sine if odd else cosine)
    return x if x == 0.0 else np.float32(y)
