"""The gamma distribution, and what is made of it. Derivatives with respect to the parameters are implicit ones.

Numbers are drawn by rejection: G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables" (2000), each
with a key of its own, all of them together until the last one is accepted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..custom import custom_jvp
from ..drawing import FLOATS, take_dtype, take_shape
from ..ops.random_bits import random_words
from ..taking import taking_arrays
from .floats import normal_of
from .gamma_slopes import slope
from .keys import counted, joined, of_parameters, take_key, words_of


@taking_arrays
def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers of the gamma distribution with parameter `a` and scale 1; it has a derivative. As `jax.random.gamma`.

    S. Figurnov, S. Mohamed, A. Mnih, "Implicit reparameterization gradients" (2018).

    >>> gamma(np.array([0, 42], np.uint32), 2.0, (3,))
    array([2.2980..., 1.4213..., 4.9667...])
    """
    return np.exp(loggamma(key, a, shape, dtype))


@taking_arrays
def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Logarithms of numbers of the gamma distribution, which are finite also where these are 0 for small `a`.

    >>> loggamma(np.array([0, 42], np.uint32), 0.001) < -100
    np.True_
    """
    words = take_key("gamma", key)
    found = take_dtype("gamma", dtype, FLOATS)
    sizes = of_parameters("gamma", shape, a)
    keys = counted(words, sizes)
    return log_gamma_sample(np.broadcast_to(np.asarray(a).astype(found), sizes), keys)


@taking_arrays
def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers of the beta distribution. As `jax.random.beta`.

    >>> beta(np.array([0, 42], np.uint32), 2.0, 3.0, (3,))
    array([0.3524..., 0.4080..., 0.0417...])
    """
    words = take_key("beta", key)
    found = take_dtype("beta", dtype, FLOATS)
    sizes = of_parameters("beta", shape, a, b)
    first, second = keys_of(words)
    x = log_gamma_sample(np.broadcast_to(np.asarray(a).astype(found), sizes), counted(first, sizes))
    y = log_gamma_sample(np.broadcast_to(np.asarray(b).astype(found), sizes), counted(second, sizes))
    return 1 / (1 + np.exp(y - x))


@taking_arrays
def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Vectors of the Dirichlet distribution with parameters `alpha` of shape (..., n). As `jax.random.dirichlet`.

    >>> np.sum(dirichlet(np.array([0, 42], np.uint32), np.array([1.0, 2.0, 3.0])))
    np.float64(1.0)
    """
    words = take_key("dirichlet", key)
    found = take_dtype("dirichlet", dtype, FLOATS)
    weights = np.asarray(alpha).astype(found)
    if weights.ndim == 0:
        raise ValueError("random.dirichlet expects parameters with at least one axis")
    sizes = (weights.shape[:-1] if shape is None else take_shape("dirichlet", shape)) + (weights.shape[-1],)
    logs = log_gamma_sample(np.broadcast_to(weights, sizes), counted(words, sizes))
    shares = np.exp(logs - np.max(logs, axis=-1, keepdims=True))
    return shares / np.sum(shares, axis=-1, keepdims=True)


def keys_of(words: Any) -> Any:
    """Two keys of one."""
    keys = counted(words, (2,))
    return words_of(keys[0]), words_of(keys[1])


def next_key(keys: Any, count: int) -> Any:
    """Key number `count` of those into which keys, numbers of 64 bits, split."""
    first, second = words_of(keys)
    return random_words(first, second, np.uint64(count))


@custom_jvp
def log_gamma_sample(a: Any, keys: Any) -> Any:
    """One number for each key."""
    raised = np.where(a >= 1, a, a + 1)
    d = raised - a.dtype.type(1 / 3)
    c = a.dtype.type(1 / 3) / np.sqrt(d)
    v = accepted(next_key(keys, 0), c, d)
    log = np.log1p(-number_of(next_key(keys, 1), a.dtype))
    return np.log(d) + np.log(v) + np.where((a >= 1) | (log == 0), a.dtype.type(0), log / a)


@log_gamma_sample.defjvp
def _slope_of_log(primals: Any, tangents: Any) -> Any:
    """The distribution function of a number at itself is constant: its two derivatives cancel."""
    (a, keys), (da, _) = primals, tangents
    y = log_gamma_sample(a, keys)
    x = np.maximum(np.exp(y), np.finfo(a.dtype).tiny)
    return y, da * slope(a, x) / x


def accepted(keys: Any, c: Any, d: Any) -> Any:
    """The third powers that are accepted, as all of them are in the end."""
    v = np.ones_like(c)
    open = v > 0
    while np.any(open):
        x, found = positive(next_key(keys, 1), c)
        u = number_of(next_key(keys, 2), c.dtype)
        cube = found * found * found
        square = x * x
        v = np.where(open, cube, v)
        open = open & (u >= 1 - c.dtype.type(0.0331) * (square * square))
        open = open & (np.log(u) >= square * c.dtype.type(0.5) + d * (1 - v + np.log(v)))
        keys = next_key(keys, 0)
    return v


def positive(keys: Any, c: Any) -> Any:
    """Normal numbers x with positive `1 + c x`, and that."""
    x = np.zeros_like(c)
    v = x - 1
    while np.any(v <= 0):
        drawn = normal_number_of(next_key(keys, 1), c.dtype)
        x = np.where(v <= 0, drawn, x)
        v = np.where(v <= 0, 1 + drawn * c, v)
        keys = next_key(keys, 0)
    return x, v


def number_of(keys: Any, dtype: Any) -> Any:
    """A uniform number for each key."""
    bits = next_key(keys, 0)
    if dtype == np.float32:
        return (joined(bits) >> 9).astype(np.float32) * np.float32(1.1920929e-07)
    return (bits >> 12).astype(np.float64) * 2.220446049250313e-16


def normal_number_of(keys: Any, dtype: Any) -> Any:
    """A normal number for each key."""
    bits = next_key(keys, 0)
    if dtype == np.float32:
        return normal_of((joined(bits) >> 9).astype(np.float32) * np.float32(2.3841858e-07) - np.float32(0.99999994))
    return normal_of((bits >> 12).astype(np.float64) * 4.440892098500626e-16 - 0.9999999999999999)
