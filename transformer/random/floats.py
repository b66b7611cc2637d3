"""Floating numbers by one formula of uniform ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..drawing import FLOATS, are_known, take_dtype, take_shape
from ..ops.identity import stop_gradient
from ..ops.inverse_error import erf_inv
from ..taking import taking_arrays
from .keys import counted, joined, of_parameters, take_key


@taking_arrays
def uniform(key: Any, shape: Any = (), dtype: Any = np.float64, minval: Any = 0.0, maxval: Any = 1.0) -> Any:
    """Uniform numbers from `minval` to below `maxval`. As `jax.random.uniform`.

    The bounds are numbers or arrays that broadcast to the shape, and have derivatives.

    >>> uniform(np.array([0, 42], np.uint32), (2,), np.float32)
    array([0.4887..., 0.6797... ], dtype=float32)
    """
    words = take_key("uniform", key)
    found = take_dtype("uniform", dtype, FLOATS)
    sizes = take_shape("uniform", shape)
    return scaled(fraction(words, sizes, found), minval, maxval, found)


def fraction(words: Any, sizes: Any, dtype: Any) -> Any:
    """Multiples of 2**-23, or of 2**-52, from 0 to below 1."""
    bits = counted(words, sizes)
    if dtype == np.float32:
        u = (joined(bits) >> 9).astype(np.float32) * np.float32(1.1920929e-07)
    else:
        u = (bits >> 12).astype(np.float64) * 2.220446049250313e-16
    return u


def centred(words: Any, sizes: Any, dtype: Any) -> Any:
    """Numbers between -1 and 1 without both."""
    bits = counted(words, sizes)
    if dtype == np.float32:
        u = (joined(bits) >> 9).astype(np.float32) * np.float32(2.3841858e-07) - np.float32(0.99999994)
    else:
        u = (bits >> 12).astype(np.float64) * 4.440892098500626e-16 - 0.9999999999999999
    return u


def scaled(u: Any, minval: Any, maxval: Any, dtype: Any) -> Any:
    """`minval + u * (maxval - minval)`; in single precision rounded once, as XLA fuses it."""
    if are_known(minval, maxval) and minval == 0 and maxval == 1:
        return u
    low, high = np.asarray(minval).astype(dtype), np.asarray(maxval).astype(dtype)
    if dtype == np.float32:
        wide = u.astype(np.float64) * (high - low).astype(np.float64) + low.astype(np.float64)
        return np.maximum(low, wide.astype(np.float32))
    return np.maximum(low, u * (high - low) + low)


@taking_arrays
def normal(key: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Standard normal numbers, float32 or float64. As `jax.random.normal`, to 2 units in the last place, rarely 3.

    >>> normal(np.array([0, 42], np.uint32), (2,), np.float32)
    array([-0.0283...,  0.4671...], dtype=float32)
    """
    words = take_key("normal", key)
    found = take_dtype("normal", dtype, FLOATS)
    return normal_of(centred(words, take_shape("normal", shape), found))


def normal_of(u: Any) -> Any:
    """Normal numbers of those between -1 and 1."""
    return np.float32(1.4142135) * erf_inv(u) if u.dtype == np.float32 else 1.4142135623730951 * erf_inv(u)


@taking_arrays
def truncated_normal(key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Standard normal numbers between two bounds, which have derivatives. As `jax.random.truncated_normal`.

    >>> truncated_normal(np.array([0, 42], np.uint32), -1.0, 1.0)
    np.float64(-0.1257...)
    """
    from scipy import special

    words = take_key("truncated_normal", key)
    found = take_dtype("truncated_normal", dtype, FLOATS)
    sizes = of_parameters("truncated_normal", shape, lower, upper)
    low, high = np.asarray(lower).astype(found), np.asarray(upper).astype(found)
    root = found.type(1.4142135623730951)
    u = scaled(fraction(words, sizes, found), special.erf(low / root), special.erf(high / root), found)
    least = np.nextafter(stop_gradient(low), found.type(np.inf))
    most = np.nextafter(stop_gradient(high), found.type(-np.inf))
    return np.clip(normal_of(u), least, most)


@taking_arrays
def exponential(key: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Numbers of the exponential distribution with mean 1. As `jax.random.exponential`.

    >>> exponential(np.array([0, 42], np.uint32), (2,))
    array([0.5563..., 0.0151...])
    """
    words = take_key("exponential", key)
    found = take_dtype("exponential", dtype, FLOATS)
    return -np.log1p(-fraction(words, take_shape("exponential", shape), found))


@taking_arrays
def laplace(key: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Numbers of the Laplace distribution, whose density is `exp(-abs(x)) / 2`. As `jax.random.laplace`.

    >>> laplace(np.array([0, 42], np.uint32), (2,))
    array([0.1584..., 3.5058...])
    """
    words = take_key("laplace", key)
    found = take_dtype("laplace", dtype, FLOATS)
    u = centred(words, take_shape("laplace", shape), found)
    return np.sign(u) * np.log1p(-np.abs(u))


@taking_arrays
def gumbel(key: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Numbers of the Gumbel distribution, whose distribution function is `exp(-exp(-x))`. As `jax.random.gumbel`.

    >>> gumbel(np.array([0, 42], np.uint32), (2,))
    array([ 0.1606..., -1.4348... ])
    """
    words = take_key("gumbel", key)
    found = take_dtype("gumbel", dtype, FLOATS)
    return gumbels(words, take_shape("gumbel", shape), found)


def gumbels(words: Any, sizes: Any, dtype: Any) -> Any:
    """The smallest number of the dtype stands for 0, which has no logarithm."""
    tiny = np.float32(1.1754944e-38) if dtype == np.float32 else 2.2250738585072014e-308
    return -np.log(-np.log(fraction(words, sizes, dtype) + tiny))
