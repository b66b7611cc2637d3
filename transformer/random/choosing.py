"""Elements in another order, and some of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..drawing import FLOATS, take_dtype, take_shape
from ..taking import taking_arrays
from .floats import fraction, gumbels
from .keys import bits, split, take_key
from .whole import randint


@taking_arrays
def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Any:
    """Permutes an array along an axis, or `arange(x)` for an int. As `jax.random.permutation`.

    With `independent`, each row along the axis is permuted on its own.

    >>> permutation(np.array([0, 42], np.uint32), 5)
    array([4, 2, 3, 0, 1])
    """
    take_key("permutation", key)
    if np.ndim(x) == 0:
        return shuffled(key, np.arange(x))
    if independent and x.ndim > 1:
        return shuffled_apart(key, x, axis)
    if x.ndim == 1:
        return shuffled(key, x)
    return np.take(x, shuffled(key, np.arange(x.shape[axis])), axis=axis)


def rounds(size: Any) -> Any:
    """How often elements are sorted by 32 random bits, until two of them have met the same bits with little chance."""
    return 0 + (size > 1) + (size > 1625) + (size > 2642245)


def shuffled(key: Any, x: Any) -> Any:
    """A vector, sorted by random bits; the places behind the bits keep equal ones in their order."""
    places = np.arange(x.shape[0], dtype=np.uint64)
    for _ in range(rounds(x.shape[0])):
        key, subkey = split(key)
        found = np.sort(bits(subkey, x.shape).astype(np.uint64) << 32 | places) & 0xFFFFFFFF
        x = x[found.astype(np.int64)]
    return x


def shuffled_apart(key: Any, x: Any, axis: int) -> Any:
    for _ in range(rounds(x.size)):
        key, subkey = split(key)
        x = np.take_along_axis(x, np.argsort(bits(subkey, x.shape), axis=axis, kind="stable"), axis=axis)
    return x


@taking_arrays
def choice(key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0) -> Any:
    """Chooses elements of an array along an axis, or of `arange(a)` for an int. As `jax.random.choice`.

    With `replace`, an element may be chosen again; `p` has the probabilities.

    >>> choice(np.array([0, 42], np.uint32), np.array([10, 20, 30]), (4,))
    array([10, 20, 10, 20])
    """
    take_key("choice", key)
    sizes = take_shape("choice", shape)
    count = a if np.ndim(a) == 0 else a.shape[axis]
    draws = 1
    for length in sizes:
        draws = draws * length
    if not replace and draws > count:
        raise ValueError(f"random.choice of {draws} out of {count} elements without replacement")
    if p is not None and np.shape(p) != (count,):
        raise ValueError(f"random.choice expects probabilities of shape ({count},), got {np.shape(p)}")
    places = chosen(key, count, sizes, draws, replace, p)
    return places if np.ndim(a) == 0 else np.take(a, places, axis=axis)


def chosen(key: Any, count: Any, sizes: Any, draws: Any, replace: bool, p: Any) -> Any:
    """The places of elements that are chosen."""
    words = take_key("choice", key)
    if p is None:
        return randint(key, sizes, 0, count) if replace else shuffled(key, np.arange(count))[:draws].reshape(sizes)
    chances = np.asarray(p)
    dtype = take_dtype("choice", chances.dtype, FLOATS)
    if replace:
        ends = np.cumsum(chances)
        return np.searchsorted(ends, ends[-1] * (1 - fraction(words, sizes, dtype)))
    order = np.argsort(-(gumbels(words, (count,), dtype) + np.log(chances)), kind="stable")
    return order[:draws].reshape(sizes)


@taking_arrays
def categorical(key: Any, logits: Any, axis: int = -1, shape: Any = None) -> Any:
    """Draws indices of categories. `logits` has the unnormalised log probabilities along an axis. As
    `jax.random.categorical`.

    The shape is that of the other axes, or one that ends with it.

    >>> categorical(np.array([0, 42], np.uint32), np.log(np.array([0.2, 0.3, 0.5])), shape=(4,))
    array([2, 2, 1, 1])
    """
    words = take_key("categorical", key)
    scores = np.asarray(logits)
    dtype = take_dtype("categorical", scores.dtype, FLOATS)
    along = axis - scores.ndim if axis >= 0 else axis
    rest = scores.shape[:along] + (() if along == -1 else scores.shape[along + 1:])
    sizes = rest if shape is None else take_shape("categorical", shape)
    front = sizes[:len(sizes) - len(rest)]
    if sizes[len(front):] != rest:
        raise ValueError(f"random.categorical: logits of shape {scores.shape} do not broadcast to shape {sizes}")
    return np.argmax(gumbels(words, front + scores.shape, dtype) + scores, axis=along)
