"""Random bits that count: Threefry-2x32, a function of a key and a number.

    random.bits(key, (n,))    is    threefry2x32(key[0], key[1], np.arange(n)), its two words joined by xor

J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011). The words are
those of `jax.random`. All else that is random is written with this op, in `transformer.random`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.types import ArrayType
from .elementwise import Elementwise, broadcast
from .loops import joined


def threefry2x32(first, second, count):
    """The two words that belong to a count, as one number of 64 bits; the key is two words, too."""
    keys = first, second, first ^ second ^ np.uint32(0x1BD11BDA)
    with np.errstate(over="ignore"):
        x, y = np.uint32(count >> 32) + first, np.uint32(count & 0xFFFFFFFF) + second
        for k in range(5):
            for turn in (17, 29, 16, 24) if k % 2 else (13, 15, 26, 6):
                x = x + y
                y = (y << turn | y >> 32 - turn) ^ x
            x, y = x + keys[(k + 1) % 3], y + keys[(k + 2) % 3] + np.uint32(k + 1)
    return np.uint64(x) << 32 | y


def random_words(first: Any, second: Any, count: Any) -> Any:
    """The same, for the right types only."""
    check_types(np.result_type(first), np.result_type(second), np.result_type(count))
    return threefry2x32(first, second, count)


def check_types(first: Any, second: Any, count: Any) -> None:
    if (first, second, count) != (np.uint32, np.uint32, np.uint64):
        raise TypeError("a key is two words of 32 bits, and a count has 64")


@joined
def threefry_of_number(first, second, count):
    """The words of one count: rounds are written out, and sums wrap around, which numba's would not."""
    first, second = np.uint32(first), np.uint32(second)
    third = np.uint32(first ^ second ^ 0x1BD11BDA)
    x, y = np.uint32(np.uint32(count >> np.uint64(32)) + first), np.uint32(np.uint32(count) + second)
    x, y = mixed(x, y, 13, 15, 26, 6)
    x, y = mixed(np.uint32(x + second), np.uint32(y + third + 1), 17, 29, 16, 24)
    x, y = mixed(np.uint32(x + third), np.uint32(y + first + 2), 13, 15, 26, 6)
    x, y = mixed(np.uint32(x + first), np.uint32(y + second + 3), 17, 29, 16, 24)
    x, y = mixed(np.uint32(x + second), np.uint32(y + third + 4), 13, 15, 26, 6)
    x, y = np.uint32(x + third), np.uint32(y + first + 5)
    return np.uint64(x) << np.uint64(32) | np.uint64(y)


@joined
def mixed(x, y, first, second, third, fourth):
    """Four rounds."""
    x = np.uint32(x + y)
    y = np.uint32(turned(y, first) ^ x)
    x = np.uint32(x + y)
    y = np.uint32(turned(y, second) ^ x)
    x = np.uint32(x + y)
    y = np.uint32(turned(y, third) ^ x)
    x = np.uint32(x + y)
    return x, np.uint32(turned(y, fourth) ^ x)


@joined
def turned(y, places):
    return np.uint32(y << places | y >> (32 - places))


class Threefry2x32(Elementwise):
    calls = (random_words,)
    helper = True
    operands = "first", "second", "count"
    derivative = None, "random bits are integers"
    loop = {"u": threefry_of_number}

    def types(first: ArrayType, second: ArrayType, count: ArrayType) -> ArrayType:
        check_types(first.dtype, second.dtype, count.dtype)
        return ArrayType(np.dtype(np.uint64), broadcast(first.sizes, second.sizes, count.sizes))

    def domain(rng: np.random.Generator) -> Any:
        words = rng.integers(0, 2**32, (2, 3), np.uint32)
        counts = rng.integers(0, 2**63, (2, 3), np.uint64)
        return [((words[0, 0], words[1, 0], counts), {}), ((words[0], words[1], counts[1]), {}),
                ((words[0, :, None], words[1, :, None], counts[0]), {}), ((words[0, 0], words[1, 0], counts[0, 0]), {})]
