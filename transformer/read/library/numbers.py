"""Functions of `math` on sequences, and what makes lists of arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def fsum(seq):
    return float(sum(float(x) for x in seq))


def dist(p, q):
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(p, q)))


def hypot(*coordinates):
    return math.sqrt(sum(x * x for x in coordinates))


def modf(x):
    fraction = math.copysign(0.0, x) if math.isinf(x) else math.fmod(x, 1.0)
    return fraction, float(np.trunc(x))


def frexp(x):
    if x == 0 or not math.isfinite(x):
        return float(x), 0
    exponent = math.floor(math.log2(abs(x))) + 1
    fraction = math.ldexp(x, -exponent)
    if abs(fraction) >= 1:                       # the logarithm is off next to a power of 2
        return fraction / 2, exponent + 1
    if abs(fraction) < 0.5:
        return fraction * 2, exponent - 1
    return fraction, exponent


def tolist(a):
    if a.ndim == 0:
        return a.item()
    return [item.item() for item in a] if a.ndim == 1 else [tolist(row) for row in a]


def fromiter(iter, dtype, count=-1, *, like=None):
    return np.array([item for item in iter], dtype=dtype)


def bit_length(n):
    length, rest = 0, abs(n)
    while rest > 0:
        rest >>= 1
        length += 1
    return length


def bit_count(n):
    return int(np.bitwise_count(n))


def is_integer(x):
    return bool(x % 1 == 0)


OF_NUMBERS: dict[str, Any] = {"bit_length": bit_length, "bit_count": bit_count, "is_integer": is_integer}
METHODS: dict[str, Any] = {"tolist": tolist, **OF_NUMBERS}
CALLS: dict[Any, Any] = {math.fsum: fsum, math.dist: dist, math.modf: modf, math.frexp: frexp,
                         np.fromiter: fromiter}
