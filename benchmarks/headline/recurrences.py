"""Gradients of Rosenbrock's function, and of arrays that are filled from what they have already."""

import numpy as np

from benchmarks.contest.case import Case
from benchmarks.contest.lazily import jnp, scan

from .by_hand import by_hand


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_jax(x):
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@by_hand
def rosenbrock_loop(x, result):
    n = x.size
    result[0] = 0.0
    for i in range(n - 1):
        result[i + 1] = 200 * (x[i + 1] - x[i] * x[i])
    for i in range(n - 1):
        result[i] += -400 * x[i] * (x[i + 1] - x[i] * x[i]) - 2 * (1 - x[i])


def rosenbrock_by_hand(x):
    result = np.empty_like(x)
    rosenbrock_loop(x, result)
    return result


def one_array(rng, n):
    return rng.normal(size=n),


def followed(x, w):
    f = np.zeros(len(x))
    f[0] = x[0]
    for i in range(1, len(x)):
        f[i] = x[i] + 0.1 * np.sin(f[i - 1])
    return np.sum(f * w)


def followed_jax(x, w, unroll=1):
    def step(before, now):
        then = now + 0.1 * jnp.sin(before)
        return then, then
    _, f = scan(step, x[0], x[1:], unroll=unroll)
    return x[0] * w[0] + jnp.sum(f * w[1:])


def followed_unrolled_jax(x, w):
    return followed_jax(x, w, unroll=8)


@by_hand
def followed_loop(x, w, f, dx):
    n = x.size
    f[0] = x[0]
    for i in range(1, n):
        f[i] = x[i] + 0.1 * np.sin(f[i - 1])
    df = 0.0
    for i in range(n - 1, 0, -1):
        df += w[i]
        dx[i] = df
        df = 0.1 * np.cos(f[i - 1]) * df
    dx[0] = df + w[0]


def followed_by_hand(x, w):
    result, f = np.empty_like(x), np.empty_like(x)
    followed_loop(x, w, f, result)
    return result, f


def two_arrays(rng, n):
    return rng.normal(size=n), rng.normal(size=n)


def delayed(growth, w):
    """Hutchinson's: what grows is held back by what there was before."""
    p = np.zeros(len(growth))
    p[0] = 0.3
    p[1] = 0.4
    for i in range(2, len(growth)):
        p[i] = growth[i] * p[i - 1] * (1 - p[i - 2])
    return np.sum(p * w)


def delayed_jax(growth, w, unroll=1):
    def step(before, rate):
        p1, p2 = before
        then = rate * p1 * (1 - p2)
        return (then, p1), then
    _, p = scan(step, (0.4, 0.3), growth[2:], unroll=unroll)
    return 0.3 * w[0] + 0.4 * w[1] + jnp.sum(p * w[2:])


def delayed_unrolled_jax(growth, w):
    return delayed_jax(growth, w, unroll=8)


@by_hand
def delayed_loop(growth, w, p, result):
    n = growth.size
    p[0], p[1] = 0.3, 0.4
    for i in range(2, n):
        p[i] = growth[i] * p[i - 1] * (1 - p[i - 2])
    d, d1 = w[n - 1], w[n - 2]                      # of p[i] and p[i - 1]
    for i in range(n - 1, 1, -1):
        result[i] = d * p[i - 1] * (1 - p[i - 2])
        d, d1 = d1 + d * growth[i] * (1 - p[i - 2]), w[i - 2] - d * growth[i] * p[i - 1]
    result[0], result[1] = 0.0, 0.0


def delayed_by_hand(growth, w):
    result = np.empty_like(growth)
    delayed_loop(growth, w, np.empty_like(growth), result)
    return result


def rates(rng, n):
    return rng.uniform(1.4, 1.9, n), rng.normal(size=n)


CASES = [
    Case("gradient of Rosenbrock, n = 10", rosenbrock, one_array, (10,), (10,), (rosenbrock_jax,), "grad",
         hand=rosenbrock_by_hand),
    Case("gradient of Rosenbrock, n = 1000", rosenbrock, one_array, (1000,), (7,), (rosenbrock_jax,), "grad",
         hand=rosenbrock_by_hand),
    Case("gradient of f[i] = x[i] + g(f[i-1]), 1e5", followed, two_arrays, (100_000,), (6,),
         (followed_jax, followed_unrolled_jax), "grad", (0, 1), hand=followed_by_hand),
    Case("gradient of P[i] = f(P[i-1], P[i-2]), 1e5", delayed, rates, (100_000,), (6,),
         (delayed_jax, delayed_unrolled_jax), "grad", hand=delayed_by_hand),
]
