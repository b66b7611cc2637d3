"""The inverse of the error function, with the digits of XLA: see `ops/inverse_error.py`, which has the coefficients."""

import math

import numpy as np

from ...ops.inverse_error import (
    ERF_INV_FAR,
    ERF_INV_FAR_F32,
    ERF_INV_FARTHEST,
    ERF_INV_NEAR,
    ERF_INV_NEAR_F32,
    LOG_ABOVE,
    LOG_BELOW,
)
from ...ops.scalars import product
from .polynomial import polynomial


def erf_inv_f32(x):
    """In double precision, but for the square."""
    y = central_erf_inv_f64(np.float64(product(x, x)))
    return x * math.inf if abs(x) == 1.0 else np.float32(np.float64(x) * y)


def central_erf_inv_f64(square):
    w = -math.log(1.0 - square)
    near, far = w - 2.5, np.sqrt(w) - 3.0
    return polynomial(near, *ERF_INV_NEAR_F32) if w < 5.0 else polynomial(far, *ERF_INV_FAR_F32)


def erf_inv_f64(x):
    z = -product(x, x)
    fraction = polynomial(z, *LOG_ABOVE) / polynomial(z, *LOG_BELOW)
    small = z + (product(z * (z * z), fraction) - 0.5 * (z * z))
    w = -(small if z > -0.4142135623730951 else math.log(1.0 + z))
    root = np.sqrt(w)
    near, far, farthest = w - 3.125, root - 3.25, root - 5.0
    tail = polynomial(far, *ERF_INV_FAR) if w < 16.0 else polynomial(farthest, *ERF_INV_FARTHEST)
    y = polynomial(near, *ERF_INV_NEAR) if w < 6.25 else tail
    return x * (math.inf if abs(x) == 1.0 else y)
