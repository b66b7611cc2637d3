"""The binomial distribution, how often something with probability `p` happens in `n` trials, and the multinomial one.

Small means are counted by geometric numbers (L. Devroye, Non-Uniform Random Variate Generation, X.4), large ones drawn
by rejection: W. Hörmann, "The generation of binomial random variates" (1993).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..drawing import FLOATS, take_dtype, take_shape
from ..ops.identity import stop_gradient
from ..taking import taking_arrays
from .floats import uniform
from .keys import of_parameters, split, take_key

LARGE = 10
# What Stirling's formula lacks of the logarithm of k!, for k from 0 to 9.
LACKING = (0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
           0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287)


@taking_arrays
def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """How often something with probability `p` happens in `n` trials, as floating-point numbers; nan where there is no
    such distribution. It computes in the dtype of `p`, as `jax.random.binomial`. That takes, of counts from 10 on, what
    Stirling's formula lacks of 9!, so that about one number in a thousand differs where `n * p` is above 10.

    >>> binomial(np.array([0, 42], np.uint32), 10, 0.3, (5,))
    array([2., 1., 5., 3., 7.])
    """
    take_key("binomial", key)
    found = take_dtype("binomial", dtype, FLOATS)
    return counts_of(key, n, p, of_parameters("binomial", shape, n, p)).astype(found)


@taking_arrays
def multinomial(key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None, unroll: Any = 1) -> Any:
    """How often each of several things happens in `n` trials: their probabilities `p` are along the last axis, which
    `shape` has as well. As `jax.random.multinomial`; `unroll` changes nothing.

    >>> multinomial(np.array([0, 42], np.uint32), 10, np.array([0.2, 0.3, 0.5]))
    array([1., 2., 7.])
    """
    take_key("multinomial", key)
    chances = _inexact(stop_gradient(np.asarray(p)))
    sizes = chances.shape if shape is None else take_shape("multinomial", shape)
    found = take_dtype("multinomial", chances.dtype if dtype is None else dtype, FLOATS)
    chances = np.moveaxis(np.broadcast_to(chances, sizes), -1, 0)
    left = np.cumsum(chances[::-1], axis=0)[::-1]
    shares = np.clip(chances / np.where(left == 0, 1, left), 0, 1)
    keys = split(key, len(shares))
    open = np.broadcast_to(stop_gradient(np.asarray(n)).astype(chances.dtype), sizes[:-1])
    counts = np.zeros_like(shares)
    for k in range(len(shares)):
        drawn = counts_of(keys[k], open, shares[k], sizes[:-1])
        counts[k] = drawn
        open = open - drawn
    return np.moveaxis(counts, 0, -1).astype(found)


def counts_of(key: Any, n: Any, p: Any, sizes: Any) -> Any:
    """Binomial numbers in the dtype of `p`: of the less likely side of each trial, so that few are to be counted."""
    chance = np.broadcast_to(_inexact(stop_gradient(np.asarray(p))), sizes)
    trials = np.broadcast_to(stop_gradient(np.asarray(n)).astype(chance.dtype), sizes)
    q = np.where(chance < 0.5, chance, 1 - chance)
    no_trials = np.isnan(trials) | (trials < 0)
    no_chance = np.isnan(q) | (q < 0)
    q = np.where(no_chance, chance.dtype.type(0.01), q)
    is_small = no_trials | (trials * q <= LARGE)
    whole = np.floor(trials)
    few = _by_counting(key, np.where(is_small, whole, chance.dtype.type(0)), q, sizes)
    is_other = is_small | np.isinf(trials)
    many = _by_rejection(key, np.where(is_other, chance.dtype.type(1e4), whole),
                         np.where(is_other, chance.dtype.type(0.5), q), sizes)
    drawn = np.where(no_chance | no_trials, np.nan, np.where(is_small, few, many)).astype(chance.dtype)
    is_endless = np.isinf(trials) & ~(no_chance | no_trials)
    drawn = np.where(is_endless, chance.dtype.type(np.inf), drawn)
    stays = (chance < 0.5) | no_trials | np.isnan(q) | np.isinf(trials)
    return np.where(stays, drawn, np.where(stays, 0, whole) - drawn)


def _inexact(x: Any) -> Any:
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def _by_counting(key: Any, n: Any, p: Any, sizes: Any) -> Any:
    """One less than how many waiting times, each a geometric number, end after more than `n` trials."""
    rate = np.log1p(-np.maximum(p, p.dtype.type(1e-30)))            # no trial succeeds, also where p is 0
    count = np.zeros(sizes, p.dtype)
    passed = np.zeros(sizes, p.dtype)
    while np.any(passed <= n):
        keys = split(key)
        key = keys[1]
        count = np.where(passed <= n, count + 1, count)
        passed = passed + np.ceil(np.log(uniform(keys[0], sizes, p.dtype)) / rate)
    return count - 1


def _by_rejection(key: Any, n: Any, p: Any, sizes: Any) -> Any:
    """A number drawn from a hat above the distribution, again and again until it is accepted."""
    number = p.dtype.type
    deviation = np.sqrt(n * p * (1 - p))
    b = number(1.15) + number(2.53) * deviation
    a = number(-0.0873) + number(0.0248) * b + number(0.01) * p
    sure = number(0.92) - number(4.2) / b
    odds = p / (1 - p)
    height = (number(2.83) + number(5.1) / b) * deviation
    peak = np.floor((n + 1) * p)
    drawn = np.full(sizes, number(-1))
    accepted = np.zeros(sizes, bool)
    while not np.all(accepted):
        keys = split(key, 3)
        key = keys[0]
        u = uniform(keys[1], sizes, p.dtype) - number(0.5)
        v = uniform(keys[2], sizes, p.dtype)
        apart = number(0.5) - np.abs(u)
        k = np.floor((2 * a / apart + b) * u + (n * p + number(0.5)))
        outside = (k < 0) | (k > n)
        inside = np.where(outside, peak, k)                 # logarithms of what is taken anyway are not wanted
        above = np.log(v * height / (a / (apart * apart) + b))
        below = ((peak + number(0.5)) * np.log((peak + 1) / (odds * (n - peak + 1)))
                 + (n + 1) * np.log((n - peak + 1) / (n - inside + 1))
                 + (inside + number(0.5)) * np.log(odds * (n - inside + 1) / (inside + 1))
                 + _lacking(peak) + _lacking(n - peak) - _lacking(inside) - _lacking(n - inside))
        accept = (apart >= number(0.07)) & (v <= sure) | ~outside & (above <= below)
        drawn = np.where(accept, k, drawn)
        accepted = accepted | accept
    return drawn


def _lacking(k: Any) -> Any:
    """What Stirling's formula lacks of the logarithm of k!."""
    number = k.dtype.type
    few = np.where((k >= 0) & (k <= 9), k, 0).astype(np.int64)
    next = np.maximum(k, 0) + 1
    square = next * next
    series = (number(1 / 12) - (number(1 / 360) - number(1 / 1260) / square) / square) / next
    return np.where(k <= 9, np.array(LACKING, k.dtype)[few], series)
