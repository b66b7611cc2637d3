"""Functions of `math` on sequences, and what makes lists of arrays."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np


def fsum(seq):
    return float(sum(float(x) for x in seq))


def dist(p, q):
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return math.sqrt(sum((as_float(a) - as_float(b)) ** 2 for a, b in zip(p, q)))


def hypot(*coordinates):
    return math.sqrt(sum(as_float(x) * as_float(x) for x in coordinates))


def as_float(number):
    """A number as `math` takes it: of narrower ones squares would be rounded, or wrap around."""
    return number if isinstance(number, float) else float(number)


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


def power_modulo(base, exponent, modulus):
    """``pow(base, exponent, modulus)``, by squares."""
    if modulus == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    size = abs(modulus)
    square = base % size
    if exponent < 0:
        square = inverse_modulo(square, size)
    rest = abs(exponent)
    power = 1 % size
    while rest > 0:
        if rest % 2 == 1:
            power = power * square % size
        rest = rest // 2
        if rest > 0:
            square = square * square % size
    return power % modulus


def inverse_modulo(number, modulus):
    """What gives 1 with a number, by the algorithm of Euclid."""
    divisor, rest = modulus, number
    factor, next_factor = 0, 1
    while rest != 0:
        quotient = divisor // rest
        divisor, rest = rest, divisor - quotient * rest
        factor, next_factor = next_factor, factor - quotient * next_factor
    if divisor != 1:
        raise ValueError("base is not invertible for the given modulus")
    return factor % modulus


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


def index(a, /):
    if not isinstance(a, (int, np.integer)):
        raise TypeError(f"'{type(a).__name__}' object cannot be interpreted as an integer")
    return int(a)


def factorial(n, /):
    n = index(n)
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    result = 1
    for k in range(2, n + 1):
        result *= k
    return result


def perm(n, k=None, /):
    if k is None:
        return factorial(n)
    n, k = index(n), index(k)
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    result = 1
    for j in range(k):
        result *= n - j
    return result


def comb(n, k, /):
    n, k = index(n), index(k)
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    result = 1 if k <= n else 0
    for j in range(min(k, n - k)):
        result = result * (n - j) // (j + 1)
    return result


def gcd(*integers):
    result = 0
    for n in integers:
        result, rest = abs(index(n)), result
        while rest:
            result, rest = rest, result % rest
    return result


def lcm(*integers):
    result = 1
    for n in integers:
        n = index(n)
        result = abs(result * n) // gcd(result, n) if n != 0 and result != 0 else 0
    return result


def isqrt(n, /):
    n = index(n)
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = int(math.sqrt(n))
    while root * root > n:                       # the square root is off next to a square
        root -= 1
    while (root + 1) * (root + 1) <= n:
        root += 1
    return root


OF_NUMBERS: dict[str, Any] = {"bit_length": bit_length, "bit_count": bit_count, "is_integer": is_integer}
METHODS: dict[str, Any] = {"tolist": tolist, **OF_NUMBERS}
CALLS: dict[Any, Any] = {math.fsum: fsum, math.dist: dist, math.modf: modf, math.frexp: frexp,
                         np.fromiter: fromiter}
OF_COMPUTED: dict[Any, Any] = {operator.index: index, math.factorial: factorial, math.perm: perm, math.comb: comb,
                               math.gcd: gcd, math.lcm: lcm, math.isqrt: isqrt}    # of numbers that are not known
