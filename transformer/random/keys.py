"""Keys, and bits: what all other numbers are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..drawing import UNSIGNED, check_key, take_dtype, take_shape
from ..ops.random_bits import random_words
from ..taking import taking_arrays

LOWER = 0xFFFFFFFF


@taking_arrays
def key(seed: Any) -> Any:
    """A key, uint32 of shape (2,), from an integer: its upper and lower 32 bits, as `jax.random.PRNGKey`.

    Raises `TypeError` unless the seed is one integer, and `OverflowError` if it has more than 64 bits.

    >>> key(42)
    array([ 0, 42], dtype=uint32)
    >>> key(-1)
    array([4294967295, 4294967295], dtype=uint32)
    """
    number = np.asarray(seed)
    if number.ndim or number.dtype.kind not in "iu":
        raise TypeError(f"random.key expects an integer, got {number.dtype} of shape {number.shape}")
    wide = number.astype(np.uint64)
    upper = wide >> 32 if number.dtype.itemsize == 8 else wide >> 63 >> 1
    return np.stack([upper, wide & LOWER]).astype(np.uint32)


PRNGKey = key


@taking_arrays
def split(key: Any, num: Any = 2) -> Any:
    """Makes new keys from a key, which should not be used any more: uint32 of shape (num, 2), or (*num, 2). As
    `jax.random.split`.

    >>> first, second = split(np.array([0, 42], np.uint32))
    >>> first
    array([1832780943,  270669613], dtype=uint32)
    """
    words = counted(take_key("split", key), take_shape("split", num))
    return np.stack([words >> 32, words & LOWER], axis=-1).astype(np.uint32)


@taking_arrays
def fold_in(key: Any, data: Any) -> Any:
    """Makes a new key from a key and an integer below 2**32, such as the number of a step. As `jax.random.fold_in`.

    >>> fold_in(np.array([0, 42], np.uint32), 7)
    array([2547012911, 1371500959], dtype=uint32)
    """
    first, second = take_key("fold_in", key)
    number = np.asarray(data)
    if number.ndim or number.dtype.kind not in "iu":
        raise TypeError(f"random.fold_in expects an integer, got {number.dtype} of shape {number.shape}")
    words = random_words(first, second, number.astype(np.uint64) & LOWER)
    return np.stack([words >> 32, words & LOWER]).astype(np.uint32)


@taking_arrays
def bits(key: Any, shape: Any = (), dtype: Any = np.uint32) -> Any:
    """Random bits as unsigned integers of 8 to 64 bits. As `jax.random.bits`.

    >>> bits(np.array([0, 42], np.uint32), (2,))
    array([2098992034, 2919706841], dtype=uint32)
    """
    pair = take_key("bits", key)
    found = take_dtype("bits", dtype, UNSIGNED)
    words = counted(pair, take_shape("bits", shape))
    return words if found == np.uint64 else joined(words).astype(found)


@taking_arrays
def key_data(keys: Any) -> Any:
    """The words of a key, or of an array of keys: here, a key is its words. As `jax.random.key_data`.

    >>> key_data(key(42))
    array([ 0, 42], dtype=uint32)
    """
    return _words("key_data", keys)


@taking_arrays
def wrap_key_data(key_bits_array: Any, *, impl: Any = None) -> Any:
    """The key of these words, or an array of keys. As `jax.random.wrap_key_data`; `impl` may be ``"threefry2x32"``.

    >>> wrap_key_data(np.array([0, 42], np.uint32))
    array([ 0, 42], dtype=uint32)
    """
    if impl not in (None, "threefry2x32"):
        raise ValueError(f"random.wrap_key_data: keys are of 'threefry2x32', not of {impl!r}")
    return _words("wrap_key_data", key_bits_array)


@taking_arrays
def clone(key: Any) -> Any:
    """The same key, for those who mean to use it again. As `jax.random.clone`."""
    return _words("clone", key)


def _words(name: str, keys: Any) -> Any:
    if keys.dtype != np.uint32 or keys.ndim == 0 or keys.shape[-1] != 2:
        raise TypeError(f"random.{name} takes keys, which are uint32 of shape (..., 2), got {keys.dtype}")
    return keys.copy()


def take_key(name: str, key: Any) -> Any:
    """The two words of a key. Raises `TypeError` for anything else."""
    check_key(name, key)
    return key[0], key[1]


def of_parameters(name: str, shape: Any, *parameters: Any) -> Any:
    """The shape of the result: that of the parameters, or one to which they broadcast."""
    own = np.broadcast_shapes(*[np.shape(parameter) for parameter in parameters])
    if shape is None:
        return own
    sizes = take_shape(name, shape)
    if np.broadcast_shapes(sizes, own) != sizes:
        raise ValueError(f"random.{name}: parameters of shape {own} do not broadcast to shape {sizes}")
    return sizes


def counted(pair: Any, shape: Any) -> Any:
    """The words that belong to the elements of an array of this shape, as numbers of 64 bits; the key is a pair."""
    first, second = pair
    size = 1
    for length in shape:
        size = size * length
    if len(shape) == 0:
        words = random_words(first, second, np.uint64(0))
    elif len(shape) == 1:
        words = random_words(first, second, np.arange(size, dtype=np.uint64))
    else:
        words = random_words(first, second, np.arange(size, dtype=np.uint64).reshape(shape))
    return words


def words_of(number: Any) -> Any:
    """The two words in numbers of 64 bits."""
    return (number >> 32).astype(np.uint32), (number & LOWER).astype(np.uint32)


def joined(words: Any) -> Any:
    """32 bits of 64."""
    return (words >> 32 ^ words).astype(np.uint32)
