"""Programs whose loops are kept in this folder, as they are printed, and looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import erf

from transformer import grad, value_and_grad


def selu(x):
    return 1.05 * np.where(x > 0, x, 1.67 * np.exp(x) - 1.67)


def standardized(X):
    return (X - X.mean(0)) / X.std(0)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def polynomial_of_transpose(x):
    return (x + x * x + 3) * (x * x + x * x.T)


def logistic(w, X, y):
    return np.mean(np.log1p(np.exp(-y * (X @ w))))


def black_scholes(S, K, T, r, v):
    d1 = (np.log(S / K) + (r + 0.5 * v * v) * T) / (v * np.sqrt(T))
    d2 = d1 - v * np.sqrt(T)
    return np.sum(S * 0.5 * (1 + erf(d1 / np.sqrt(2))) - K * np.exp(-r * T) * 0.5 * (1 + erf(d2 / np.sqrt(2))))


def mlp(W1, b1, W2, b2, X, Y):
    h = np.maximum(X @ W1 + b1, 0)
    z = h @ W2 + b2
    z = z - z.max(axis=1, keepdims=True)
    return -np.mean(np.sum(Y * (z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))), axis=1))


def heat(u, c):
    for _ in range(10):
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def jacobi(A, B):
    for _ in range(5):
        B[1:-1] = 0.3 * (A[1:-1] + A[:-2] + A[2:])
        A[1:-1] = 0.3 * (B[1:-1] + B[:-2] + B[2:])
    return np.sum(A * A)


def lorenz(p):
    x = np.ones(3)
    for _ in range(100):
        slope = np.array([p[0] * (x[1] - x[0]), x[0] * (p[1] - x[2]) - x[1], x[0] * x[1] - p[2] * x[2]])
        x = x + 0.01 * slope
    return np.sum(x)


def attraction(position, mass):
    d = position[None, :, :] - position[:, None, :]
    squared = np.sum(d * d, axis=-1) + 0.01
    return np.sum(mass[None, :, None] * d * (squared**-1.5)[:, :, None], axis=1)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def recurrence(x):
    f = np.zeros_like(x)
    f[0] = x[0]
    for i in range(1, len(x)):
        f[i] = x[i] + 0.1 * np.sin(f[i - 1])
    return np.sum(f * x)


def rank_update(c, a, alpha, beta):
    """Of the lower triangle of c."""
    c = c.copy()
    for i in range(a.shape[0]):
        c[i, :i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, :i + 1] += alpha * a[i, k] * a[:i + 1, k]
    return c


def triangular_product(a, b):
    b = b.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1:, i], b[i + 1:, j])
    return np.sum(b * b)


def convolution(x, weights):
    size = weights.shape[0]
    y = np.empty((x.shape[0], x.shape[1] - size + 1, weights.shape[2]))
    for i in range(y.shape[1]):
        y[:, i] = np.sum(x[:, i:i + size, :, np.newaxis] * weights[np.newaxis], axis=(1, 2))
    return y


def convolution_loss(x, weights):
    return np.sum(convolution(x, weights) ** 2)


def padded(x):
    y = np.zeros((x.shape[0] + 2, x.shape[1] + 2, x.shape[2]))
    y[1:-1, 1:-1] = x
    return np.maximum(y - 0.5, 0)


def forest(w, low, high):
    if high - low == 1:
        return np.tanh(w[low])
    middle = (low + high) // 2
    return np.sin(forest(w, low, middle)) * forest(w, middle, high) + w[low]


def whole_forest(w):
    return forest(w, 0, w.shape[0])


def filtered_and_pooled(x, w):
    size = w.shape[0]
    count = x.shape[0] - size + 1
    y = np.empty(count)
    for i in range(count):
        y[i] = np.tanh(x[i:i + size] @ w)
    half = count // 2
    pooled = np.empty(half)
    for i in range(half):
        pooled[i] = np.max(y[2 * i:2 * i + 2])
    count = half - size + 1
    total = 0.0
    for i in range(count):
        total += (pooled[i:i + size] @ w) ** 2
    return total


def next_higher(heights):
    out, stack = np.full(len(heights), -1), []
    for i in range(len(heights)):
        while stack and heights[stack[-1]] < heights[i]:
            out[stack.pop()] = i
        stack.append(i)
    return out


def _positive(rng: np.random.Generator, n: int = 7) -> Any:
    return rng.uniform(0.5, 1.5, n)


Draw = Callable[[np.random.Generator], tuple[Any, ...]]
KEPT: dict[str, tuple[Any, Any, Draw]] = {
    "selu": (selu, selu, lambda rng: (rng.normal(size=9).astype("f4"),)),
    "standardized": (standardized, standardized, lambda rng: (rng.normal(size=(8, 6)),)),
    "softmax": (softmax, softmax, lambda rng: (rng.normal(size=(6, 7)),)),
    "polynomial_of_transpose": (polynomial_of_transpose, polynomial_of_transpose,
                                lambda rng: (rng.normal(size=(6, 6)),)),
    "logistic_grad": (grad(logistic), logistic, lambda rng: (rng.normal(size=6), rng.normal(size=(9, 6)),
                                                             np.sign(rng.normal(size=9)))),
    "black_scholes_value_and_grad": (value_and_grad(black_scholes, argnums=(0, 1, 4)), black_scholes,
                                     lambda rng: (*(_positive(rng) for _ in range(3)), 0.05, _positive(rng))),
    "mlp_grad": (grad(mlp, argnums=(0, 1, 2, 3)), mlp,
                 lambda rng: (*(rng.normal(size=s) for s in ((8, 6), 6, (6, 5), 5, (9, 8))),
                              np.eye(5)[rng.integers(0, 5, 9)])),
    "heat": (heat, heat, lambda rng: (rng.normal(size=9), 0.1)),
    "heat_grad": (grad(heat, argnums=(0, 1)), heat, lambda rng: (rng.normal(size=9), 0.1)),
    "jacobi_grad": (grad(jacobi), jacobi, lambda rng: (rng.normal(size=9), rng.normal(size=9))),
    "lorenz_grad": (grad(lorenz), lorenz, lambda rng: (np.array([10.0, 28.0, 2.5]),)),
    "attraction": (attraction, attraction, lambda rng: (rng.normal(size=(8, 3)), _positive(rng, 8))),
    "rosenbrock_grad": (grad(rosenbrock), rosenbrock, lambda rng: (rng.normal(size=9),)),
    "recurrence_grad": (grad(recurrence), recurrence, lambda rng: (rng.normal(size=9),)),
    "rank_update": (rank_update, rank_update, lambda rng: (rng.normal(size=(40, 40)), rng.normal(size=(40, 24)),
                                                           1.5, 1.2)),
    "convolution": (convolution, convolution, lambda rng: (rng.normal(size=(7, 11, 6)), rng.normal(size=(3, 6, 9)))),
    "convolution_grad": (grad(convolution_loss, (0, 1)), convolution_loss,
                         lambda rng: (rng.normal(size=(7, 11, 6)), rng.normal(size=(3, 6, 9)))),
    "forest_grad": (grad(whole_forest), whole_forest, lambda rng: (rng.normal(size=7),)),
    "filtered_and_pooled_grad": (grad(filtered_and_pooled, (0, 1)), filtered_and_pooled,
                                 lambda rng: (rng.normal(size=23), rng.normal(size=5))),
    "padded": (padded, padded, lambda rng: (rng.normal(size=(7, 8, 9)),)),
    "next_higher": (next_higher, next_higher, lambda rng: (rng.normal(size=80),)),
    "triangular_product_grad": (grad(triangular_product, (0, 1)), triangular_product,
                                lambda rng: (rng.normal(size=(40, 40)), rng.normal(size=(40, 24)))),
}
