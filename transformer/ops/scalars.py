"""Loop forms of elementwise ops, as functions of numbers: NumPy's results, one element at a time.

They are plain Python in the subset that numba compiles and LLVM vectorises. Code made from Core calls copies of them,
in which literals have the dtype of the operands (see `lower/printing/functions.py`), so they are complete in
themselves: they use `math`, `np`, and one another, and no other names. Functions of floating-point numbers write their
literals as floats.
"""

from __future__ import annotations

import math

import numpy as np

from .loops import joined


def same(x):
    return x


def chosen(condition, a, b):
    return a if condition else b


def plus(a, b):
    """a + b, where many numbers are added in any order."""
    return a + b


def product(a, b):
    """a * b, rounded also where what calls it fuses products and sums."""
    return a * b


def wrapping_add(a, b):
    """Of int64, the sum that NumPy gives; without a sign, as to numba a sum with one never leaves 64 bits."""
    return np.int64(np.uint64(a) + np.uint64(b))


def wrapping_sub(a, b):
    """Of int64, the difference that NumPy gives, where it leaves 64 bits too."""
    return np.int64(np.uint64(a) - np.uint64(b))


def wrapping_mul(a, b):
    """Of int64, the product that NumPy gives, where it leaves 64 bits too."""
    return np.int64(np.uint64(a) * np.uint64(b))


def order_f64(x):
    """A whole number for x: the larger, the larger x is; the largest for nan."""
    bits = np.float64(x).view(np.int64)
    return np.int64(9223372036854775807) if x != x else bits ^ ((bits >> 63) & 9223372036854775807)


def order_f32(x):
    """A whole number for x: the larger, the larger x is; the largest for nan."""
    bits = np.float32(x).view(np.int32)
    return np.int32(2147483647) if x != x else np.int32(bits ^ ((bits >> 31) & 2147483647))


def order_from_nan_f64(x):
    """A whole number for x: the larger, the larger x is; the smallest for nan."""
    bits = np.float64(x).view(np.int64)
    return np.int64(-9223372036854775808) if x != x else bits ^ ((bits >> 63) & 9223372036854775807)


def order_from_nan_f32(x):
    """A whole number for x: the larger, the larger x is; the smallest for nan."""
    bits = np.float32(x).view(np.int32)
    return np.int32(-2147483648) if x != x else np.int32(bits ^ ((bits >> 31) & 2147483647))


def of_order_f64(order):
    """The number that has a place in the order."""
    return np.int64(order ^ ((order >> 63) & 9223372036854775807)).view(np.float64)


def of_order_f32(order):
    """The number that has a place in the order."""
    return np.int32(order ^ ((order >> 31) & 2147483647)).view(np.float32)


def rounding(a, b, whole):
    """What is rounded away in `whole = a + b`; 0 where that is not finite."""
    if whole - whole != 0.0:
        return 0.0
    return (a - whole) + b if abs(a) >= abs(b) else (b - whole) + a


def floor_quotient(a, b):
    """Of integers: 0 for a divisor of 0; the one quotient that does not fit wraps around."""
    return b if b == 0 else -a if b == -1 else a // b


def c_remainder(a, b):
    """Of integers, with the sign of the dividend; 0 for a divisor of 0."""
    rest = a % b if b != 0 else b
    return rest - b if rest != 0 and (a < 0) != (b < 0) else rest


def ieee_remainder(x, y):
    """What is left of x next to the nearest multiple of y; of two as near, the even one."""
    size = abs(y)
    rest = np.fmod(x, 2.0 * y)
    over = abs(rest) - size
    if 2.0 * abs(rest) <= size:
        return rest
    return math.copysign(1.0, rest) * (over if 2.0 * over < size else over - size)


def times_power_of_two(x, n):
    """x * 2**n, for any n: far from 0 all of them give the same."""
    return math.ldexp(x, int(min(max(n, -5000), 5000)))


def larger(a, b):
    """The larger number; nan if one of them is."""
    return a if a >= b or a != a else b


def smaller(a, b):
    """The smaller number; nan if one of them is."""
    return a if a <= b or a != a else b


def first_or_larger(a, b):
    """What Python's `max` gives."""
    return b if b > a else a


def first_or_smaller(a, b):
    """What Python's `min` gives."""
    return b if b < a else a


def larger_number(a, b):
    """The larger number, or the one that is not nan."""
    return a if a >= b or b != b else b


def smaller_number(a, b):
    """The smaller number, or the one that is not nan."""
    return a if a <= b or b != b else b


def sign_of_float(x):
    """nan for nan."""
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0 if x == 0.0 else x


def sign_of_integer(x):
    return 1 if x > 0 else -1 if x < 0 else 0


def power_of_integers(a, n):
    """The power that NumPy gives, where it leaves 64 bits too; n is not negative."""
    return np.int64(power_of_unsigned(a, n))


def power_of_unsigned(a, n):
    square, left, result = np.uint64(a), np.uint64(n), np.uint64(1)
    while left > np.uint64(0):
        if left & np.uint64(1):
            result = result * square
        square = square * square
        left = left >> np.uint64(1)
    return result


def heaviside(x, at_zero):
    return 1.0 if x > 0.0 else 0.0 if x < 0.0 else at_zero if x == 0.0 else x


def rounded(x, decimals=0):
    """To even where it is halfway; with decimals, as NumPy does it: by a power of ten, and back."""
    if decimals == 0:
        return np.rint(x)
    if decimals < 0:
        tens = 10.0 ** -decimals
        return np.rint(x / tens) * tens
    tens = 10.0 ** decimals
    return np.rint(x * tens) / tens


def rounded_decimal(x, ndigits):
    """As Python rounds: by the exact decimal value, to even where that is halfway."""
    if not math.isfinite(x):
        return x
    if ndigits < 0:
        tens = 10.0 ** -ndigits
        over = abs(x) % tens
        whole = abs(x) - over
        is_up = over > tens - over or over == tens - over and (whole / tens) % 2.0 == 1.0
        return math.copysign(whole + tens if is_up else whole, x)
    tens = 10.0 ** ndigits
    scaled = x * tens
    if not abs(scaled) < 2.0**53:
        return x
    whole = np.rint(scaled)
    if abs(scaled - whole) == 0.5:
        rest = rest_of_product(x, tens, scaled)
        whole = scaled + math.copysign(0.5, rest) if rest != 0.0 else whole
    return whole / tens


def rest_of_product(a, b, product):
    """What is missing of a product that was rounded; T. J. Dekker, "A floating-point technique for extending the
    available precision" (1971)."""
    left, right = a * 134217729.0, b * 134217729.0
    high_a, high_b = left - (left - a), right - (right - b)
    low_a, low_b = a - high_a, b - high_b
    return ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


def rounded_integer(x, ndigits):
    tens = 10 ** -ndigits
    whole, over = x // tens, x % tens
    is_up = over > tens - over or over == tens - over and whole % 2 == 1
    return (whole + 1 if is_up else whole) * tens


def is_close(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    if a == b:
        return True
    if equal_nan and a != a and b != b:
        return True
    return abs(a - b) <= atol + rtol * abs(b) and abs(b) < math.inf


def is_close_number(a, b, rel_tol=1e-9, abs_tol=0.0):
    if a == b:
        return True
    tolerance = max(rel_tol * max(abs(a), abs(b)), abs_tol)
    return abs(a - b) <= tolerance and abs(a) < math.inf and abs(b) < math.inf


def shifted_left(a, b):
    """0 where all bits go. Made of `a`: numba computes unsigned numbers and ints like 0 in floating point."""
    return a << b if 0 <= b < 64 else a ^ a


def shifted_right(a, b):
    """Where all bits go, what is left is the sign: -1 or 0."""
    return a >> b if 0 <= b < 64 else a >> 63 >> 1


def real_part(x):
    return x.real


def imaginary_part(x):
    return x.imag


@joined
def log_sum(a, b):
    """`log(exp(a) + exp(b))` without overflow; equal ones may be infinite, and have no distance then."""
    distance = 0.0 if a == b else abs(a - b)
    return (a if a > b else b) + math.log1p(math.exp(-distance))


@joined
def log_sum_2(a, b):
    """`log2(2**a + 2**b)` without overflow."""
    distance = 0.0 if a == b else abs(a - b)
    beyond = 1.0 if a == b else 1.4426950408889634 * math.log1p(math.exp2(-distance))
    return (a if a > b else b) + beyond


def radians_of(x):
    return x * 0.017453292519943295


def degrees_of(x):
    return x * 57.29577951308232


def logistic(x):
    """`1 / (1 + exp(-x))`, where neither overflows."""
    small = math.exp(-abs(x))
    return 1.0 / (1.0 + small) if x >= 0.0 else small / (1.0 + small)


@joined
def log_logistic(x):
    small = math.log1p(math.exp(-abs(x)))
    return -small if x >= 0.0 else x - small


@joined
def logit(x):
    """By `log1p` near 1/2, where the logarithm of the odds would lose digits."""
    distance = 2.0 * (x - 0.5)
    far = math.log(x / (1.0 - x))
    return far if (x < 0.3) | (x > 0.65) else math.log1p(distance) - math.log1p(-distance)


@joined
def sinc(x):
    """`sin(pi x) / (pi x)`."""
    y = math.pi * x
    return math.sin(y) / y if x != 0.0 else 1.0


def x_log_y(x, y):
    return 0.0 if x == 0.0 and y == y else x * math.log(y)


def x_log1p_y(x, y):
    return 0.0 if x == 0.0 and y == y else x * math.log1p(y)


def entropy(x):
    """`-x log(x)`; minus infinity below 0."""
    return -x * math.log(x) if x > 0.0 else 0.0 if x == 0.0 else x if x != x else -math.inf


def relative_entropy(x, y):
    """`x log(x / y)`; infinity outside of its domain."""
    if x != x or y != y:
        return x + y
    if x > 0.0 and y > 0.0:
        ratio = x / y
        if 0.5 < ratio < 2.0:
            return x * math.log1p((x - y) / y)
        return x * (math.log(ratio) if 0.0 < ratio < math.inf else math.log(x) - math.log(y))
    return 0.0 if x == 0.0 and y >= 0.0 else math.inf
