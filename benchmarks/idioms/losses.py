"""Activations and losses of small networks, rows of few classes."""

import numpy as np

from .ported import both


def softmax(z):
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def cross_entropy(z, labels):
    top = np.max(z, axis=1, keepdims=True)
    log_sums = np.log(np.sum(np.exp(z - top), axis=1)) + top[:, 0]
    return np.mean(log_sums - z[np.arange(z.shape[0]), labels])


def layer_norm(x, scale, shift):
    mean, variance = np.mean(x, axis=-1, keepdims=True), np.var(x, axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * scale + shift


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def hinge(x, y, w):
    return np.mean(np.maximum(0.0, 1.0 - y * (x @ w)))


def huber(x, y):
    d = np.abs(x - y)
    return np.mean(np.where(d < 1, 0.5 * d * d, d - 0.5))


def scores(q, k):
    return np.einsum("bhid,bhjd->bhij", q, k)


def bilinear(x, a):
    return np.einsum("ni,ij,nj->n", x, a, x)


def logits(rng, n, m):
    return (rng.normal(size=(n, m)),)


def labelled(rng, n, m):
    return rng.normal(size=(n, m)), rng.integers(0, m, n)


def normed(rng, n, m):
    return rng.normal(size=(n, m)), rng.normal(size=m), rng.normal(size=m)


def classified(rng, n, m):
    return rng.normal(size=(n, m)), np.sign(rng.normal(size=n)), rng.normal(size=m)


def vectors(rng, *sizes):
    return tuple(rng.normal(size=n) for n in sizes)


def heads(rng, n, d):
    return rng.normal(size=(4, 8, n, d)), rng.normal(size=(4, 8, n, d))


def rows_and_matrix(rng, n, m):
    return rng.normal(size=(n, m)), rng.normal(size=(m, m))


CASES = [
    *both("softmax of ten classes", softmax, logits, (20_000, 10), (3, 4), 0),
    *both("cross entropy of ten classes", cross_entropy, labelled, (20_000, 10), (3, 4), 0),
    *both("layer norm of rows of 16", layer_norm, normed, (20_000, 16), (3, 4), 0),
    *both("gelu, 2e5 f64", gelu, vectors, (200_000,), (9,), 0),
    *both("hinge loss, 8 features", hinge, classified, (50_000, 8), (4, 3), 0),
    *both("Huber loss, 2e5 f64", huber, vectors, (200_000, 200_000), (9, 9), 0),
    *both("scores of attention", scores, heads, (64, 32), (3, 2), 0),
    *both("bilinear forms", bilinear, rows_and_matrix, (2_000, 20), (3, 4), 0),
]
