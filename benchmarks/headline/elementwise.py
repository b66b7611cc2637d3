"""Elementwise programs, reductions along an axis, and a transposed operand."""

import functools

import numpy as np

from benchmarks.contest.case import Case
from benchmarks.contest.lazily import jax, jnp

from .by_hand import by_hand, exp_f32, summing


def selu(x):
    return 1.05 * np.where(x > 0, x, 1.67 * np.exp(x) - 1.67)


def selu_loss(x, w):
    return np.sum(selu(x) * w)


def selu_jax(x):
    return 1.05 * jnp.where(x > 0, x, 1.67 * jnp.exp(x) - 1.67)


def selu_loss_jax(x, w):
    return jnp.sum(selu_jax(x) * w)


@by_hand
def selu_loop(x, result):
    for i in range(x.size):
        v = x[i]
        low = np.float32(1.67) * exp_f32(v) - np.float32(1.67)
        result[i] = np.float32(1.05) * (v if v > 0 else low)


def selu_by_hand(x):
    result = np.empty_like(x)
    selu_loop(x, result)
    return result


@by_hand
def selu_gradient_loop(x, w, result):
    for i in range(x.size):
        slope = np.float32(1.67) * exp_f32(x[i])
        result[i] = np.float32(1.05) * w[i] * (np.float32(1.0) if x[i] > 0 else slope)


def selu_gradient_by_hand(x, w):
    result = np.empty_like(x)
    selu_gradient_loop(x, w, result)
    return result


def expression(x):
    return (x + x * x + 3) * (x * x + x * x.T)


TILE = 64


@by_hand
def expression_loop(x, result):
    n = x.shape[0]
    three = x.dtype.type(3)
    for top in range(0, n, TILE):
        for left in range(0, n, TILE):
            tile, mirrored = x[top:top + TILE, left:left + TILE], x[left:left + TILE, top:top + TILE]
            written = result[top:top + TILE, left:left + TILE]
            for i in range(tile.shape[0]):
                for j in range(tile.shape[1]):
                    v = tile[i, j]
                    written[i, j] = (v + v * v + three) * (v * v + v * mirrored[j, i])


def expression_by_hand(x):
    result = np.empty_like(x)
    expression_loop(x, result)
    return result


def standardized(x):
    return (x - np.mean(x, axis=0)) / np.std(x, axis=0)


def standardized_jax(x):
    return (x - jnp.mean(x, axis=0)) / jnp.std(x, axis=0)


def standardized_squares_jax(x):
    """The variance from deviations that are computed once."""
    apart = x - jnp.mean(x, axis=0)
    return apart * jax.lax.rsqrt(jnp.mean(apart * apart, axis=0))


@by_hand
def standardized_loop(x, mean, scale, result):
    rows, columns = x.shape
    count = x.dtype.type(rows)
    mean[:] = 0
    scale[:] = 0
    for i in range(rows):
        for j in range(columns):
            mean[j] += x[i, j]
    for j in range(columns):
        mean[j] /= count
    for i in range(rows):
        for j in range(columns):
            apart = x[i, j] - mean[j]
            scale[j] += apart * apart
    for j in range(columns):
        scale[j] = x.dtype.type(1) / np.sqrt(scale[j] / count)
    for i in range(rows):
        for j in range(columns):
            result[i, j] = (x[i, j] - mean[j]) * scale[j]


def standardized_by_hand(x):
    result, mean, scale = np.empty_like(x), np.empty(x.shape[1], x.dtype), np.empty(x.shape[1], x.dtype)
    standardized_loop(x, mean, scale, result)
    return result


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def softmax_jax(x):
    return jax.nn.softmax(x, axis=1)


LANES = 16


@summing
def softmax_loop(x, lanes, result):
    rows, columns = x.shape
    for i in range(rows):
        lanes[:] = x[i, 0]
        for block in range(columns // LANES):                   # maxima are not vectorised by themselves
            part = x[i, block * LANES:(block + 1) * LANES]
            for k in range(LANES):
                lanes[k] = max(lanes[k], part[k])
        top = max(lanes.max(), x[i, columns - columns % LANES:].max()) if columns % LANES else lanes.max()
        total = np.float32(0)
        for j in range(columns):
            e = exp_f32(x[i, j] - top)
            result[i, j] = e
            total += e
        scale = np.float32(1) / total
        for j in range(columns):
            result[i, j] *= scale


def softmax_by_hand(x):
    result = np.empty_like(x)
    softmax_loop(x, np.empty(LANES, x.dtype), result)
    return result


def arrays(rng, *shape, count=1, dtype="f4"):
    return tuple(rng.normal(size=shape).astype(dtype) for _ in range(count))


CASES = [
    Case("selu, 1e6 f32", selu, arrays, (1_000_000,), (33,), (selu_jax,), hand=selu_by_hand),
    Case("gradient of selu, 1e6 f32", selu_loss, functools.partial(arrays, count=2), (1_000_000,), (33,),
         (selu_loss_jax,), "grad", hand=selu_gradient_by_hand),
    Case("(x+x*x+3)*(x*x+x*x.T), 3000 x 3000 f32", expression, arrays, (3000, 3000), (9, 9), (expression,),
         hand=expression_by_hand),
    Case("(X-mean)/std, 10000 x 100 f64", standardized, functools.partial(arrays, dtype="f8"), (10_000, 100), (20, 3),
         (standardized_jax, standardized_squares_jax), hand=standardized_by_hand),
    Case("(X-mean)/std, 10000 x 100 f32", standardized, arrays, (10_000, 100), (20, 3),
         (standardized_jax, standardized_squares_jax), hand=standardized_by_hand),
    Case("softmax of rows, 1000 x 1000 f32", softmax, arrays, (1000, 1000), (5, 7), (softmax_jax,),
         hand=softmax_by_hand),
]
