"""Programs whose kernels are kept in this folder, as they are printed, and looked at. All compute in float32 but
`relaxed`; some are given numbers of 16 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from scipy.special import erf

from transformer import grad, value_and_grad, vmap


def selu(x):
    return 1.05 * np.where(x > 0, x, 1.67 * np.exp(x) - 1.67)


def total_selu(x):
    return np.sum(selu(x))


def polynomial_of_transpose(x):
    return (x + x * x + 3) * (x * x + x * x.T)


def standardized(X):
    return (X - X.mean(0)) / X.std(0)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def mlp(W1, b1, W2, b2, X, Y):
    h = np.maximum(X @ W1 + b1, 0)
    z = h @ W2 + b2
    z = z - z.max(axis=1, keepdims=True)
    return -np.mean(np.sum(Y * (z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))), axis=1))


def attention(q, k, v):
    return softmax(q @ k.T * 0.25) @ v


def layer(x, w, b):
    return np.mean(np.tanh(x @ w + b) ** 2)


def heat(u, c):
    for _ in range(10):
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def black_scholes(S, K, T, r, v):
    d1 = (np.log(S / K) + (r + 0.5 * v * v) * T) / (v * np.sqrt(T))
    d2 = d1 - v * np.sqrt(T)
    return np.sum(S * 0.5 * (1 + erf(d1 * 2**-0.5)) - K * np.exp(-r * T) * 0.5 * (1 + erf(d2 * 2**-0.5)))


def escape(re, im):
    """Iterations until a point leaves the circle of radius 2, at most 20."""
    x, y, count = re, im, 0
    while count < 20 and x * x + y * y < 4:
        x, y, count = x * x - y * y + re, 2 * x * y + im, count + 1
    return count


def looked_up(table, position):
    """Between the numbers of a table, at positions that are computed."""
    scaled = np.clip(position, 0, 1) * (len(table) - 1.001)
    k = scaled.astype(int)
    part = scaled - np.floor(scaled)
    return np.sum((table[k] * (1 - part) + table[k + 1] * part) ** 2)


def counted(total, places, weight):
    for k in range(len(places)):
        total[places[k]] += weight[k]


def relaxed(A, b, x):
    r = np.tanh(b - A @ x)
    step = np.linalg.solve(A, r)
    return x + step / (1 + np.sum(step * step))


def _singles(*arrays: Any) -> tuple[Any, ...]:
    return tuple(np.asarray(array, "f4")[()] for array in arrays)


def _options(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    S, K, T, v = (rng.uniform(0.5, 1.5, n) for _ in range(4))
    return _singles(S, K, T, 0.05, v)


def _layers(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    arrays = (rng.normal(size=shape) for shape in ((n, 6), 6, (6, 5), 5, (n + 1, n)))
    return _singles(*arrays, np.eye(5)[rng.integers(0, 5, n + 1)])


def _normal(*shapes: Any) -> Draw:
    """Draws of arrays of the shapes that a size gives."""
    return lambda rng, n: _singles(*(rng.normal(size=shape(n)) for shape in shapes))


def _in(dtype: Any, *shapes: Any) -> Draw:
    return lambda rng, n: tuple(rng.normal(size=shape(n)).astype(dtype) for shape in shapes)


def _system(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return rng.normal(size=(n, n)) + 4 * np.eye(n), rng.normal(size=n), rng.normal(size=n)


def _lookups(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return _singles(rng.normal(size=n), rng.uniform(0, 1, n + 3))


def _places(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return np.zeros(n, "f4"), rng.integers(-n, n, n + 3), *_singles(rng.normal(size=n + 3))


Draw = Callable[[np.random.Generator, int], tuple[Any, ...]]
KEPT: dict[str, tuple[Any, Any, Draw]] = {
    "selu": (selu, selu, _normal(lambda n: n)),
    "selu_grad": (grad(total_selu), total_selu, _normal(lambda n: n)),
    "polynomial_of_transpose": (polynomial_of_transpose, polynomial_of_transpose, _normal(lambda n: (n, n))),
    "standardized": (standardized, standardized, _normal(lambda n: (n, n + 3))),
    "softmax": (softmax, softmax, _normal(lambda n: (n, n + 2))),
    "mlp_value_and_grad": (value_and_grad(mlp, argnums=(0, 1, 2, 3)), mlp, _layers),
    "heat": (heat, heat, lambda rng, n: _singles(rng.normal(size=n), 0.1)),
    "heat_grad": (grad(heat, argnums=(0, 1)), heat, lambda rng, n: _singles(rng.normal(size=n), 0.1)),
    "black_scholes_greeks": (value_and_grad(black_scholes, argnums=(0, 1, 4)), black_scholes, _options),
    "mandelbrot": (vmap(escape), escape, lambda rng, n: _singles(rng.uniform(-2, 1, n), rng.uniform(-1, 1, n))),
    "looked_up_grad": (value_and_grad(looked_up, argnums=(0, 1)), looked_up, _lookups),
    "softmax_float16": (softmax, softmax, _in(np.float16, lambda n: (n, n + 2))),
    "attention_float16": (attention, attention, _in(np.float16, *[lambda n: (n, 16)] * 3)),
    "layer_bfloat16": (value_and_grad(layer, argnums=(1, 2)), layer,
                       _in(ml_dtypes.bfloat16, lambda n: (n, 16), lambda n: (16, n + 20), lambda n: n + 20)),
    "counted": (counted, counted, _places),
    "relaxed": (relaxed, relaxed, _system),
}
