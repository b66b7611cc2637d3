"""Functions of whole numbers: common divisors and multiples, the number of bits that are set."""

from __future__ import annotations

import numpy as np

from .elementwise import FLAT, Elementwise

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
