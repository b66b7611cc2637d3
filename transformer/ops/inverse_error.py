"""The inverse of the error function between -1 and 1, as `jax.lax.erf_inv` rounds it: what normal numbers are made by.

    random.normal(key, (n,))    is    np.sqrt(2) * erf_inv_f64(u)    for uniform u

M. Giles, "Approximating the erfinv function" (GPU Computing Gems, 2010): polynomials of `w = -log(1 - x**2)`, and of
its root where that is large. `scipy.special.erfinv` is more accurate in the tails, where rounding `x**2` costs digits;
here it is the same digits that count. Compiled, with products and sums fused as XLA does it, nearly all of them are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.types import ArrayType
from .elementwise import ROOT_PI, Elementwise
from .scalars_special import error_inverse

PRECISIONS = np.dtype(np.float32), np.dtype(np.float64)

# Coefficients, the constant first.
ERF_INV_NEAR_F32 = (1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06,
                    -3.5233877e-06, 3.43273939e-07, 2.81022636e-08)
ERF_INV_FAR_F32 = (2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844, 0.00134934322,
                   0.000100950558, -0.000200214257)
ERF_INV_NEAR = (1.6536545626831027, 0.24015818242558962, -0.006033670871430149, -0.000740702534166267,
                0.00018673420803405714, -1.3882523362786469e-05, -1.3654692000834679e-06, 4.2347877827932404e-07,
                -2.9070369957882005e-08, -4.112633980346984e-09, 1.0512122733215323e-09, -5.415412054294628e-11,
                -1.2975133253453532e-11, 2.6335093153082323e-12, -8.151934197605472e-14, -4.054566272975207e-14,
                6.637638134358324e-15, 2.0972767875968562e-17, -1.333171662854621e-16, 1.1157877678025181e-17,
                1.28584807152564e-18, -1.6850591381820166e-19, -3.64441206401782e-21)
ERF_INV_FAR = (3.0838856104922208, 1.0052589676941592, 0.005370914553590064, -0.003751208507569241,
               0.002491442096107851, -0.0016882755560235047, 0.0009532893797373805, -0.0003550375203628475,
               2.4031110387097894e-05, 6.828485145957318e-05, -4.7318229009055734e-05, 1.2475304481671779e-05,
               2.9234449089955446e-06, -4.013867526981546e-06, 1.5027403968909828e-06, 1.8239629214389228e-08,
               -2.7517406297064545e-07, 9.075656193888539e-08, 2.2137376921775787e-09)
ERF_INV_FARTHEST = (4.849906401408584, 1.0103004648645344, -0.00013871931833623122, -0.00021503011930044477,
                    7.599527703001776e-05, -1.968177810553167e-05, 4.526062597223154e-06, -9.9298272942317e-07,
                    2.2900482228026655e-07, -6.771199775845234e-08, 2.914795345090108e-08, -1.496002662714924e-08,
                    7.61570120807834e-09, -3.789465440126737e-09, 1.5076572693500548e-09, -2.555641816996525e-10,
                    -2.7109920616438573e-11)
# log(1 + z) = z - z**2 / 2 + z**3 LOG_ABOVE(z) / LOG_BELOW(z), for |z| < 0.41: from Cephes, as XLA has it.
LOG_ABOVE = (20.039553499201283, 57.11296359058554, 60.94966798098779, 29.911919328553072, 6.578732594206104,
             0.49854102823193375, 4.52700008624452e-05)
LOG_BELOW = (60.11866049760384, 216.42788614495947, 309.09872225312057, 221.76239823732857, 83.04756596796722,
             15.062909083469192, 1.0)


def erf_inv_f32(x):
    """The inverse of the error function in single precision, by Giles."""
    polyval = np.polynomial.polynomial.polyval
    with np.errstate(divide="ignore", invalid="ignore"):
        w = -np.log(1 - np.float64(x * x))
        y = np.where(w < 5, polyval(w - 2.5, ERF_INV_NEAR_F32), polyval(np.sqrt(w) - 3, ERF_INV_FAR_F32))
        return np.float32(x * np.where(np.abs(x) == 1, np.inf, y))


def erf_inv_f64(x):
    """The inverse of the error function in double precision, by Giles."""
    polyval = np.polynomial.polynomial.polyval
    with np.errstate(divide="ignore", invalid="ignore"):
        z = -x * x
        log = z + (z * (z * z) * (polyval(z, LOG_ABOVE) / polyval(z, LOG_BELOW)) - 0.5 * (z * z))
        w = -np.where(z > -0.4142135623730951, log, np.log(1 + z))
        root = np.sqrt(w)
        tail = np.where(w < 16, polyval(root - 3.25, ERF_INV_FAR), polyval(root - 5, ERF_INV_FARTHEST))
        y = np.where(w < 6.25, polyval(w - 3.125, ERF_INV_NEAR), tail)
        return x * np.where(np.abs(x) == 1, np.inf, y)


def erf_inv(x: Any) -> Any:
    """The inverse of the error function of float32 or float64."""
    if not hasattr(x, "dtype") or x.dtype not in PRECISIONS:
        raise TypeError(f"the inverse of the error function takes float32 and float64 here, got {x!r}")
    return erf_inv_f32(x) if x.dtype == np.float32 else erf_inv_f64(x)


def of_number(x):
    """For a number of another precision; `lower/vecmath/inverse_error` has those of these two."""
    return error_inverse(x)


class ErfInv(Elementwise):
    name = "erf_inv"
    calls = (erf_inv,)
    helper = True
    loop = {"f": of_number}
    where = "unit"
    partials = (lambda t, x, y: t * ROOT_PI * np.exp(y * y) / 2,)

    def types(x: ArrayType) -> ArrayType:
        if x.weak or x.dtype not in PRECISIONS:
            raise TypeError(f"the inverse of the error function takes float32 and float64 here, got {x}")
        return ArrayType(x.dtype, x.sizes)
