"""`sinh`, `cosh`, `tanh` and the logistic function, from exponentials that do not overflow."""

import numpy as np

from .exponential import exp_f32, exp_f64, moderate_exp_f32, moderate_exp_f64
from .polynomial import polynomial, power_of_two_f64


def logistic_of(small, x):
    """The logistic function of x, for `small = exp(-abs(x))`; the quotient is corrected by what is lost in the sum."""
    total = 1.0 + small
    lost = small - (total - 1.0)
    inverse = 1.0 / total
    inverse = inverse + inverse * (1.0 - total * inverse - lost * inverse)
    return inverse if x >= 0.0 else small * inverse


def expit_f64(x):
    return logistic_of(exp_f64(-abs(x)), x)


def expit_f32(x):
    return logistic_of(exp_f32(-abs(x)), x)


def tanh_f64(x):
    """`1 - 2 / (exp(2 x) + 1)`, and a polynomial near 0."""
    a = 20.0 if abs(x) > 20.0 else abs(x)
    z = a * a
    square = z * z
    even = polynomial(square, -0.33333333333333276, -0.05396825396172491, -0.008863231637310705,
                      -0.0014554796464286283, -0.00023271624406177377, -1.8903975684192566e-05)
    odd = polynomial(square, 0.13333333333323133, 0.02186948832728671, 0.003592082250983334,
                     0.0005881836623669906, 8.236095610489979e-05)
    far = 1.0 - 2.0 / (moderate_exp_f64(2.0 * a) + 1.0)
    return np.copysign(far if a > 0.5625 else a + a * z * (even + z * odd), x)


def tanh_f32(x):
    """`1 - 2 / (exp(2 x) + 1)`, and a polynomial near 0."""
    a = 10.0 if abs(x) > 10.0 else abs(x)
    z = a * a
    near = a + a * z * polynomial(z, -0.33333313, 0.13332452, -0.053837437, 0.021007484, -0.0061798384)
    far = 1.0 - 2.0 / (moderate_exp_f32(2.0 * a) + 1.0)
    return np.copysign(far if a > 0.5625 else near, x)


def odd_and_even_f64(a):
    """`2**(n - 3)`, `2**(-n - 3)`, `sinh(r)` and `cosh(r) - 1` for `a = n ln(2) + r`, and whether n is 0."""
    a = 711.0 if a > 711.0 else a
    shifted = a * 1.4426950408889634 + 6755399441055744.0
    n = shifted - 6755399441055744.0
    high = a - n * 0.6931471803691238
    r = high - n * 1.9082149292705877e-10
    lost = high - r - n * 1.9082149292705877e-10
    z = r * r
    odd = r + (lost + r * z * polynomial(
        z, 0.16666666666666677, 0.008333333333321617, 0.00019841269886157698, 2.7557244182703013e-06,
        2.5109044640537406e-08))
    even = 0.5 * z + (r * lost + z * z * polynomial(
        z, 0.041666666666666685, 0.0013888888888873476, 2.480158734876548e-05, 2.7557252230031306e-07,
        2.092163332047202e-09))
    down = 0.0 if n > 60.0 else power_of_two_f64(6755399441055741.0 - n)
    return power_of_two_f64(shifted - 3.0), down, odd, even, n == 0.0


def sinh_f64(x):
    up, down, odd, even, is_small = odd_and_even_f64(abs(x))
    y = 4.0 * (up - down + ((up + down) * odd + (up - down) * even))
    return np.copysign(odd if is_small else y, x)


def cosh_f64(x):
    up, down, odd, even, _ = odd_and_even_f64(abs(x))
    return 4.0 * (up + down + ((up + down) * even + (up - down) * odd))


def short_odd_and_even_f64(a):
    """`2**(n - 1)`, `2**(-n - 1)`, `sinh(r)` and `cosh(r)` for `a = n ln(2) + r`, to some 35 digits."""
    a = 100.0 if a > 100.0 else a
    shifted = a * 1.4426950408889634 + 6755399441055744.0
    n = shifted - 6755399441055744.0
    r = a - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    z = r * r
    odd = r + r * z * polynomial(z, 0.16666666754526718, 0.008333288958441173, 0.0001990495929602191)
    even = 1.0 + 0.5 * z + z * z * polynomial(z, 0.04166645944297371, 0.001393540836364321)
    return power_of_two_f64(shifted - 1.0), power_of_two_f64(6755399441055743.0 - n), odd, even


def sinh_f32(x):
    up, down, odd, even = short_odd_and_even_f64(np.float64(abs(x)))
    return np.copysign(np.float32((up + down) * odd + (up - down) * even), x)


def cosh_f32(x):
    up, down, odd, even = short_odd_and_even_f64(np.float64(abs(x)))
    return np.float32((up + down) * even + (up - down) * odd)
