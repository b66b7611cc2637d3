"""Functions that numba compiles, which are read as what they were made of."""

from __future__ import annotations

import math

import numba
import numpy as np

from .program import Program, normal


@numba.njit
def activation(x):
    return math.tanh(x) * 2.0


@numba.njit
def compiled_helper(x, w):
    total = 0.0
    for i in numba.prange(x.shape[0]):
        total += activation(x[i] * w[i])
    return total


@numba.vectorize
def scaled_sine(x, y):
    return x * y + math.sin(x)


def compiled_ufunc(x, y):
    return np.sum(scaled_sine(x, y) * scaled_sine(x, 2.0))


PROGRAMS = [
    Program(compiled_helper, normal(("n",), ("n",)), (0, 1)),
    Program(compiled_ufunc, normal(("n",), ("n",)), (0, 1)),
]
