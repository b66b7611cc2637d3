"""Matrix products: alone, in a network, and in logistic regression."""

import functools

import numpy as np

from benchmarks.contest.case import Case
from benchmarks.contest.lazily import jax, jnp

from .by_hand import by_hand, exp, exp_f32


def product(a, b):
    return a @ b


def matrices(rng, n):
    return rng.normal(size=(n, n)).astype("f4"), rng.normal(size=(n, n)).astype("f4")


def network(w1, b1, w2, b2, x, y):
    hidden = np.maximum(x @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    scores = scores - np.max(scores, axis=1, keepdims=True)
    return -np.mean(np.sum(y * (scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))), axis=1))


def network_jax(w1, b1, w2, b2, x, y):
    hidden = jax.nn.relu(x @ w1 + b1)
    scores = jax.nn.log_softmax(hidden @ w2 + b2, axis=1)
    return -jnp.mean(jnp.sum(y * scores, axis=1))


def network_arguments(rng, batch, inputs, hidden, classes):
    drawn = (rng.normal(0, inputs**-0.5, (inputs, hidden)), 0.1 * rng.normal(size=hidden),
             rng.normal(0, hidden**-0.5, (hidden, classes)), 0.1 * rng.normal(size=classes),
             rng.normal(size=(batch, inputs)), np.eye(classes)[rng.integers(0, classes, batch)])
    return tuple(each.astype("f4") for each in drawn)


@by_hand
def rectify(hidden, bias):
    for i in range(hidden.shape[0]):
        for j in range(hidden.shape[1]):
            hidden[i, j] = max(hidden[i, j] + bias[j], np.float32(0))


@by_hand
def keep_positive(gradient, hidden, by_bias):
    for i in range(hidden.shape[0]):
        for j in range(hidden.shape[1]):
            kept = gradient[i, j] if hidden[i, j] > 0 else np.float32(0)
            gradient[i, j] = kept
            by_bias[j] += kept


@by_hand
def cross_entropy(scores, bias, y, by_bias):
    """The loss; the scores become its gradient for them."""
    rows, classes = scores.shape
    loss = np.float32(0)
    for i in range(rows):
        top = np.float32(-np.inf)
        for j in range(classes):
            scores[i, j] += bias[j]
            top = max(top, scores[i, j])
        total = np.float32(0)
        for j in range(classes):
            total += exp_f32(scores[i, j] - top)
        height, labels = top + np.log(total), np.float32(0)
        for j in range(classes):
            loss -= y[i, j] * (scores[i, j] - height)
            labels += y[i, j]
        for j in range(classes):
            scores[i, j] = (exp_f32(scores[i, j] - height) * labels - y[i, j]) / np.float32(rows)
            by_bias[j] += scores[i, j]
    return loss / np.float32(rows)


def network_by_hand(w1, b1, w2, b2, x, y):
    hidden = x @ w1
    rectify(hidden, b1)
    scores = hidden @ w2
    by_b1, by_b2 = np.zeros_like(b1), np.zeros_like(b2)
    loss = cross_entropy(scores, b2, y, by_b2)
    by_hidden = scores @ w2.T
    keep_positive(by_hidden, hidden, by_b1)
    return loss, (x.T @ by_hidden, by_b1, hidden.T @ scores, by_b2)


def regression(w, x, y):
    return np.mean(np.log1p(np.exp(-y * (x @ w))))


def regression_jax(w, x, y):
    return jnp.mean(jnp.log1p(jnp.exp(-y * (x @ w))))


def regression_softplus_jax(w, x, y):
    return jnp.mean(jax.nn.softplus(-y * (x @ w)))


@by_hand
def slopes_f64(margins, y):
    total = 0.0
    for i in range(y.size):
        e = exp(-y[i] * margins[i])
        margins[i] = -y[i] * e / (1 + e)
        total += np.log1p(e)
    return total


@by_hand
def slopes_f32(margins, y):
    total = np.float32(0)
    for i in range(y.size):
        e = exp_f32(-y[i] * margins[i])
        margins[i] = -y[i] * e / (np.float32(1) + e)
        total += np.log1p(e)
    return total


BLOCK = 256                             # rows that stay in the cache between their two products


def regression_by_hand(w, x, y):
    slopes = slopes_f64 if w.dtype == np.float64 else slopes_f32
    total, gradient = 0.0, np.zeros_like(w)
    for start in range(0, len(y), BLOCK):
        rows = x[start:start + BLOCK]
        margins = rows @ w
        total += slopes(margins, y[start:start + BLOCK])
        gradient += margins @ rows
    return w.dtype.type(total / len(y)), gradient / w.dtype.type(len(y))


def regression_arguments(rng, rows, columns, dtype):
    drawn = 0.1 * rng.normal(size=columns), rng.normal(size=(rows, columns)), np.sign(rng.normal(size=rows))
    return tuple(each.astype(dtype) for each in drawn)


CASES = [
    Case("matrix product, 1000 x 1000 f32", product, matrices, (1000,), (8,), (product,), hand=np.dot),
    Case("MLP value and gradient, 128 x 784-512-10 f32", network, network_arguments, (128, 784, 512, 10), (5, 7, 6, 3),
         (network_jax,), "value_and_grad", (0, 1, 2, 3), hand=network_by_hand),
    *(Case(f"logistic regression value and gradient, 5000 x 200 {name}", regression,
           functools.partial(regression_arguments, dtype=dtype), (5000, 200), (13, 4),
           (regression_jax, regression_softplus_jax), "value_and_grad", hand=regression_by_hand)
      for name, dtype in (("f32", "f4"), ("f64", "f8"))),
]
