"""Numbers rounded to those that float16 and bfloat16 have, to the nearest, of two to the even one.

Half of the last bit that stays, less one where that bit is 0, is added to the bits; what overflows there is the next
power of two, or infinite. Below the least power of two of a format the sum with a number, of which the last bit is the
last one of the format, rounds.
"""

import math

import numpy as np


def to_float16_f32(x):
    bits = np.float32(x).view(np.int32)
    rounded = np.int32((bits + 4095 + ((bits >> 13) & 1)) & -8192).view(np.float32)
    small = np.copysign((abs(x) + 0.75) - 0.75, x)
    near = small if abs(x) < 6.103515625e-05 else rounded
    return x if x != x else np.copysign(math.inf, x) if abs(near) > 65504.0 else near


def to_float16_f64(x):
    bits = np.float64(x).view(np.int64)
    rounded = np.int64((bits + 2199023255551 + ((bits >> 42) & 1)) & -4398046511104).view(np.float64)
    small = np.copysign((abs(x) + 402653184.0) - 402653184.0, x)
    near = small if abs(x) < 6.103515625e-05 else rounded
    return x if x != x else np.copysign(math.inf, x) if abs(near) > 65504.0 else near


def to_bfloat16_f32(x):
    bits = np.float32(x).view(np.int32)
    return x if x != x else np.int32((bits + 32767 + ((bits >> 16) & 1)) & -65536).view(np.float32)


def to_bfloat16_f64(x):
    bits = np.float64(x).view(np.int64)
    rounded = np.int64((bits + 17592186044415 + ((bits >> 45) & 1)) & -35184372088832).view(np.float64)
    small = np.copysign((abs(x) + 6.203854594147708e-25) - 6.203854594147708e-25, x)
    near = small if abs(x) < 1.1754943508222875e-38 else rounded
    return x if x != x else np.copysign(math.inf, x) if abs(near) > 3.3895313892515355e+38 else near
