"""What the versions by hand have in common: how they are compiled, and vector mathematics that LLVM can vectorise."""

import numpy as np
from numba import njit

by_hand = njit(error_model="numpy", fastmath={"contract"})
summing = njit(error_model="numpy", fastmath={"contract", "reassoc", "nsz"})     # sums in any order
exactly = njit(error_model="numpy", forceinline=True)          # else loops around calls stay scalar


@exactly
def exp(x):
    x = min(max(x, -708.0), 709.0)
    k = np.floor(x * 1.4426950408889634 + 0.5)
    r = x - k * 0.693147180369123816490
    r = r - k * 1.90821492927058770002e-10
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * np.int64((np.int64(k) + 1023) << 52).view(np.float64)


@exactly
def exp_f32(x):
    x = min(max(x, np.float32(-87.0)), np.float32(88.0))
    k = np.floor(x * np.float32(1.442695) + np.float32(0.5))
    r = x - k * np.float32(0.693359375)
    r = r + k * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(0.5)
    p = p * r * r + r + np.float32(1.0)
    return p * np.int32((np.int32(k) + np.int32(127)) << np.int32(23)).view(np.float32)


@exactly
def log(x):
    """Of positive numbers that are not denormal."""
    bits = np.float64(x).view(np.int64)
    exponent = (bits - 0x3FE6A09E667F3BCD) >> 52
    m = np.int64(bits - (exponent << 52)).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 1.0 / 19
    p = p * z + 1.0 / 17
    p = p * z + 1.0 / 15
    p = p * z + 1.0 / 13
    p = p * z + 1.0 / 11
    p = p * z + 1.0 / 9
    p = p * z + 1.0 / 7
    p = p * z + 1.0 / 5
    p = p * z + 1.0 / 3
    p = p * z + 1.0
    return exponent * 0.6931471805599453 + 2.0 * s * p


@exactly
def erf(x):
    """By the Chebyshev series of its complement (Numerical Recipes, 6.2.2)."""
    z = abs(x)
    t = 2.0 / (2.0 + z)
    ty = 4.0 * t - 2.0
    d = 0.0
    dd = 0.0
    d, dd = ty * d - dd - 2.8e-17, d
    d, dd = ty * d - dd + 1.21e-16, d
    d, dd = ty * d - dd - 9.4e-17, d
    d, dd = ty * d - dd - 1.523e-15, d
    d, dd = ty * d - dd + 7.106e-15, d
    d, dd = ty * d - dd + 3.81e-16, d
    d, dd = ty * d - dd - 1.12708e-13, d
    d, dd = ty * d - dd + 3.13092e-13, d
    d, dd = ty * d - dd + 8.94487e-13, d
    d, dd = ty * d - dd - 6.886027e-12, d
    d, dd = ty * d - dd + 2.394038e-12, d
    d, dd = ty * d - dd + 9.6467911e-11, d
    d, dd = ty * d - dd - 2.27365122e-10, d
    d, dd = ty * d - dd - 9.91364156e-10, d
    d, dd = ty * d - dd + 5.059343495e-9, d
    d, dd = ty * d - dd + 6.529054439e-9, d
    d, dd = ty * d - dd - 8.5238095915e-8, d
    d, dd = ty * d - dd + 1.5626441722e-8, d
    d, dd = ty * d - dd + 1.303655835580e-6, d
    d, dd = ty * d - dd - 1.624290004647e-6, d
    d, dd = ty * d - dd - 2.0278578112534e-5, d
    d, dd = ty * d - dd + 4.2523324806907e-5, d
    d, dd = ty * d - dd + 3.66839497852761e-4, d
    d, dd = ty * d - dd - 9.46595344482036e-4, d
    d, dd = ty * d - dd - 9.561514786808631e-3, d
    d, dd = ty * d - dd + 1.9476473204185836e-2, d
    d, dd = ty * d - dd + 6.4196979235649026e-1, d
    complement = t * exp(-z * z + 0.5 * (ty * d - 1.3026537197817094) - dd)
    return 1.0 - complement if x >= 0 else complement - 1.0
