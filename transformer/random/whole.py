"""Integers and truth values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..drawing import FLOATS, WHOLE, are_known, take_dtype
from ..taking import taking_arrays
from .floats import fraction
from .keys import counted, joined, of_parameters, take_key, words_of


@taking_arrays
def bernoulli(key: Any, p: Any = 0.5, shape: Any = None) -> Any:
    """Booleans that are true with probability `p`, a float or an array of them. As `jax.random.bernoulli`.

    >>> bernoulli(np.array([0, 42], np.uint32), 0.5, (4,))
    array([ True,  True, False, False])
    """
    words = take_key("bernoulli", key)
    found = take_dtype("bernoulli", np.float64 if isinstance(p, float) else np.asarray(p).dtype, FLOATS)
    return fraction(words, of_parameters("bernoulli", shape, p), found) < p


@taking_arrays
def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = np.int64) -> Any:
    """Integers from `minval` to below `maxval`, which are integers or arrays of them. As `jax.random.randint`.

    If there are none in between, the result is `minval`.

    >>> randint(np.array([0, 42], np.uint32), (5,), 0, 10)
    array([5, 8, 3, 1, 5])
    """
    words = take_key("randint", key)
    found = take_dtype("randint", dtype, WHOLE)
    sizes = of_parameters("randint", shape, minval, maxval)
    least, span = bounds(minval, maxval, found)
    if len(sizes) == 0:
        return (least + within(words, (1,), span, found))[0].astype(found)      # arrays wrap around without a word
    return (least + within(words, sizes, span, found)).astype(found)


def bounds(minval: Any, maxval: Any, dtype: Any) -> Any:
    """The least integer, and how many there are, as integers without a sign: both wrap around."""
    info, wide = np.iinfo(dtype), unsigned(dtype)
    if are_known(minval, maxval):
        whole = 2 ** (8 * np.dtype(wide).itemsize)
        least = min(max(minval, int(info.min)), int(info.max))
        end = min(max(maxval, int(info.min)), int(info.max) + 1)
        return wide(least % whole), wide((end - least if end > least else 1) % whole)
    low, high = np.asarray(minval), np.asarray(maxval)
    if dtype.itemsize < 8:
        low, high = np.clip(low, info.min, info.max), np.clip(high, info.min, int(info.max) + 1)
        return low.astype(wide), np.where(high > low, high - low, 1).astype(wide)
    if low.ndim == 0:
        low = low.reshape(1)
    return low.astype(wide), np.where(high > low, high.astype(wide) - low.astype(wide), wide(1))


def unsigned(dtype: Any) -> Any:
    """What is computed with: at least 32 bits."""
    return np.uint64 if dtype.itemsize == 8 else np.uint32


def within(words: Any, sizes: Any, span: Any, dtype: Any) -> Any:
    """Integers below `span`: the remainder of twice as many bits as they have; 0 stands for all that there are."""
    upper, lower = two(words, sizes, dtype.itemsize == 8)
    divisor = np.where(span == 0, unsigned(dtype)(1), span)
    half = unsigned(dtype)(2 ** (4 * np.dtype(unsigned(dtype)).itemsize))
    root = np.where(divisor > half, unsigned(dtype)(0), half % divisor)
    factor = root * root % divisor
    return np.where(span == 0, lower, (upper % divisor * factor + lower % divisor) % divisor)


def saturated(number: Any, dtype: Any) -> Any:
    """Whole floating numbers as integers; what is too large is the greatest one, as in JAX."""
    most = np.iinfo(dtype).max
    too_large = number >= float(most)
    return np.where(too_large, most, np.where(too_large, 0, number).astype(dtype))


def two(words: Any, sizes: Any, wide: bool) -> Any:
    """Bits of two keys: twice as many as a number has, so that what a remainder prefers does not show."""
    keys = counted(words, (2,))
    first, second = keys[0], keys[1]
    upper, lower = counted(words_of(first), sizes), counted(words_of(second), sizes)
    return (upper, lower) if wide else (joined(upper), joined(lower))
