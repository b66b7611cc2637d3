"""Programs at the border of Python's numbers, NumPy's numbers and arrays without axes."""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from .program import Program, apart, fixed, positive


def truths_of_python(x):
    high, low = x > 1, x > 0.5
    return (high + low) * x + (high - low) * x * x + -low * x**3 + ~low * x


def truths_of_numpy(x):
    high, low = x > 1, x > 0.5
    return (high + low) * x + ~low * x * x


def truths_added_in_a_loop(x):
    s = 0.0
    for k in range(4):
        c = (x > k) + (x > 0.5)
        s = s * c + x * x * c
    return s


def truths_recorded(x):
    s, k = x, 0
    while k < 4:
        c = (s > 1) + (s > 0.2)
        s = s * 0.7 + c * math.sin(s)
        k += 1
    return s


def truths_summed(x):
    return sum(x > 0) * x[0] + sum(v > 0 for v in x) * x[1] + sum([x[0] > 0, x[1] > 0, True]) * x[2]


def truths_asked(x):
    return (any(x > 0) + all(x > 0) + True) * x[0] + bool(x[1] > 0) * x[1] + (x[0] in (1, 2)) * x[2]


def narrow_integers(x, i, u):
    return x[0] * np.sum(i) + x[1] * sum(i) + x[2] * np.cumsum(i)[-1] + np.sum(x * (u - 2)) + np.sum(x * (i + 100))


def negative_powers(x):
    y, k = x, 0
    while k < 4:
        h = 2**-k
        y = y * h + math.sin(y) * h
        k += 1
    return y


def extremes_with_python_numbers(x):
    return max(x[0], 0.3) * 1.1 + min(x[1], 0.1) * x[0] + (x[2] if x[0] > 0 else 0.3) * x[1]


def changed_under_two_names(x):
    y = x
    y += 1
    y *= x
    return x * y


def elements_as_arrays(a):
    first = a[0, ...]
    first += a[1] * 2
    last = a[..., -1]
    last[...] = first * last
    number = a[1]
    number += 100.0
    return np.sum(a * a) + number


def sequences_repeated(x, n):
    """An integer repeats, Python's and NumPy's alike; an array is multiplied."""
    pair = [x[0], x[1] * x[2]]
    return np.sum(np.array(pair * n) ** 2) + np.sum(np.array(n * tuple(pair)) * np.arange(2 * n))


def sequence_times_array(x, a):
    return np.sum((x[0], x[1]) * a) + np.sum([x[1] ** 2, 1.0] + a)


def in_reversed_bits(x):
    """Places as those of a fast Fourier transform, by the bits of Python's integers."""
    size = 1
    while size < len(x):
        size <<= 1
    y = np.zeros(size)
    y[:len(x)] = x ** 2
    bits = size.bit_length() - 1
    for i in range(size):
        j, rest = 0, i
        for _ in range(bits):
            j, rest = j << 1 | rest & 1, rest >> 1
        if j > i:
            y[i], y[j] = y[j], y[i]
    return np.sum(y * np.arange(size)) + len(x).bit_length() * x[0] + (size / 2).is_integer() * size.bit_count() * x[1]


class Phase(IntEnum):
    COLD = 0
    HOT = 2


def thermostat(x):
    """A member of an `IntEnum` is a number where it is carried, and where an array is made of it."""
    phase = Phase.COLD
    total = 0.0
    for v in x:
        if phase == Phase.COLD and v > 0:
            phase = Phase.HOT
        elif phase == Phase.HOT and v < -0.5:
            phase = Phase.COLD
        total += v**2 * (1 + phase)
    return total * np.full(2, Phase.HOT).sum() + np.array([Phase.COLD, Phase.HOT]) @ x[:2]


def narrow_numbers_within_lengths(x, i, j):
    """Bounds that are sizes leave the dtype of what they bound."""
    low, high = np.clip(i, 0, len(x) - 1), np.clip(j, len(x) - 2, len(x) + 300)
    return x[low] ** 2 * low.itemsize + x[high - 250] ** 3 * high.itemsize


def places_in_few_bits(x, k, j, n):
    """Places count from the end of more than their dtype holds; what is computed in it wraps around."""
    y = np.tile(x, 100) * np.arange(300)
    z = np.zeros(n)
    z[:3] = x * x
    total = y[k] @ x + z[n - 1] + z[j[0] - j[0]]
    for i in range(3):
        total += y[k[i] - 1] ** 2 * z[i]
    return total + y[np.clip(k, -100, 50) * np.int8(5)] @ x + y[np.clip(k, 0, 100) + np.int8(100)] @ x + y[
        np.minimum(j, 2) - np.uint8(1)] @ x


def places_without_a_sign(x, j):
    """Of arrays, NumPy takes the largest for negative places."""
    return x[np.minimum(j, 2) - np.uint64(1)] @ x + x[-np.minimum(j, 2)] @ x


def integers_divided_by_themselves(x, i):
    """What NumPy divides by 0 is 0, where integers are."""
    with np.errstate(divide="ignore"):
        shares = np.zeros(3, int)
        for k in range(3):
            shares[k] = np.floor_divide(np.int64(k), np.int64(k))
        return np.sum(x ** 2 * (i // i)) + np.sum(x * shares) + x[0] * np.floor_divide(i[0], i[0])


def axes_inserted(x):
    total, y = np.array(x[0]), np.zeros(())
    total += x[1]
    y[()] = total
    y[...] += x[2]
    row = y[None]
    row[0] *= x[0]
    return float(total) + y * row[0]


PROGRAMS = [
    Program(axes_inserted, apart((3,))),
    Program(integers_divided_by_themselves, apart((3,), then=(np.array([0, 2, -1]),))),
    Program(narrow_numbers_within_lengths, apart((3,), then=(np.int8(9), np.uint8(251)))),
    Program(places_in_few_bits, apart((3,), then=(np.array([-1, 100, 0], np.int8), np.array([0, 2, 1], np.uint8),
                                                  np.uint8(3)))),
    Program(places_without_a_sign, apart((3,), then=(np.array([0, 2, 1], np.uint64),))),
    Program(thermostat, fixed(np.array([1.2, -0.7, 0.4, 2.1]))),
    Program(in_reversed_bits, apart(("n",))),
    Program(truths_of_python, positive(None)),
    Program(truths_of_numpy, positive(())),
    Program(truths_added_in_a_loop, fixed(1.3)),
    Program(truths_recorded, fixed(1.3)),
    Program(truths_summed, apart((3,))),
    Program(truths_asked, apart((3,))),
    Program(narrow_integers, apart((3,), then=(np.array([10, 20, 3], np.int8), np.array([1, 2, 3], np.uint8)))),
    Program(negative_powers, fixed(1.3)),
    Program(extremes_with_python_numbers, apart((3,))),
    Program(changed_under_two_names, fixed(np.array(1.3))),
    Program(elements_as_arrays, apart((4,))),
    Program(sequences_repeated, apart((3,), then=(np.int64(2),))),
    Program(sequences_repeated, apart((3,), then=(3,)), name="sequences_repeated_by_python_number"),
    Program(sequence_times_array, apart((3,), then=(np.array(2),))),
]
