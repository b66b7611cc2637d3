"""The Poisson distribution: how often something happens that happens `lam` times in the mean.

Small means are drawn by products of uniform numbers (D. E. Knuth, The Art of Computer Programming, vol. 2, 3.4.1),
large ones by rejection: W. Hörmann, "The transformed rejection method for generating Poisson random variables" (1993).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from ..drawing import WHOLE, take_dtype
from ..ops.identity import stop_gradient
from ..taking import taking_arrays
from .floats import uniform
from .keys import of_parameters, split, take_key
from .whole import saturated

LARGE = 10


@taking_arrays
def poisson(key: Any, lam: Any, shape: Any = None, dtype: Any = np.int64) -> Any:
    """Integers of the Poisson distribution with the mean `lam`, in single precision as `jax.random.poisson`.

    >>> poisson(np.array([0, 42], np.uint32), 3.0, (5,))
    array([6, 2, 2, 1, 5])
    """
    take_key("poisson", key)
    found = take_dtype("poisson", dtype, WHOLE)
    sizes = of_parameters("poisson", shape, lam)
    mean = np.broadcast_to(stop_gradient(np.asarray(lam)).astype(np.float32), sizes)
    is_small = np.isnan(mean) | (mean < LARGE)
    few = _by_products(key, np.where(is_small, mean, np.float32(0)), sizes)
    many = _by_rejection(key, np.where(is_small, np.float32(1e5), mean), sizes)
    return saturated(np.where(mean == 0, 0.0, np.where(is_small, few, many)), found)


def _by_products(key: Any, mean: Any, sizes: Any) -> Any:
    """One less than how many uniform numbers have a product below `exp(-mean)`."""
    count = np.zeros(sizes, np.int64)
    product = np.zeros(sizes, np.float32)                           # its logarithm
    while np.any(product > -mean):
        keys = split(key)
        key = keys[0]
        count = np.where(product > -mean, count + 1, count)
        product = product + np.log(uniform(keys[1], sizes, np.float32))
    return count - 1


def _by_rejection(key: Any, mean: Any, sizes: Any) -> Any:
    """A number drawn from a hat above the distribution, again and again until it is accepted."""
    b = np.float32(0.931) + np.float32(2.53) * np.sqrt(mean)
    a = np.float32(-0.059) + np.float32(0.02483) * b
    share = np.float32(1.1239) + np.float32(1.1328) / (b - np.float32(3.4))
    sure = np.float32(0.9277) - np.float32(3.6224) / (b - np.float32(2))
    drawn = np.full(sizes, np.float32(-1))
    accepted = np.zeros(sizes, bool)
    while not np.all(accepted):
        keys = split(key, 3)
        key = keys[0]
        u = uniform(keys[1], sizes, np.float32) - np.float32(0.5)
        v = uniform(keys[2], sizes, np.float32)
        apart = np.float32(0.5) - np.abs(u)
        k = np.floor((2 * a / apart + b) * u + mean + np.float32(0.43))
        above = np.log(v * share / (a / (apart * apart) + b))
        below = -mean + k * np.log(mean) - scipy.special.gammaln(k + 1)
        outside = (k < 0) | ((apart < np.float32(0.013)) & (v > apart))
        accept = (apart >= np.float32(0.07)) & (v <= sure) | ~outside & (above <= below)
        drawn = np.where(accept, k, drawn)
        accepted = accepted | accept
    return drawn
