"""Functions of whole numbers: common divisors and multiples, bits that are set, powers of two to scale by."""

from __future__ import annotations

import numpy as np

from .elementwise import FLAT, Elementwise
from .of_scipy import no_order

OF_NUMPY = None, "NumPy computes it"


class Gcd(Elementwise):
    calls = (np.gcd,)
    loop = OF_NUMPY
    where = "integer"
    derivative = FLAT


class Lcm(Elementwise):
    calls = (np.lcm,)
    loop = OF_NUMPY
    where = "integer"
    derivative = FLAT


class BitwiseCount(Elementwise):
    name = "bitwise_count"
    calls = (np.bitwise_count,)
    loop = OF_NUMPY
    where = "integer"
    derivative = FLAT


class Ldexp(Elementwise):
    """`x * 2**k`"""

    calls = (np.ldexp,)
    loop = OF_NUMPY
    where = "real", "order"
    partials = (lambda t, x, k, y: np.ldexp(t, k), no_order)
