"""Steps of training, of a network with one hidden layer and of a small transformer, by gradient descent.

Programs use `np` and nothing else of this module, so that they run with JAX's in place of NumPy's, too.
"""

import numpy as np

from benchmarks.contest.lazily import jax, jnp
from benchmarks.programs import with_numpy
from transformer import value_and_grad

RATE = 0.01


def network(params, x, y):
    w1, b1, w2, b2 = params
    hidden = np.maximum(x @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    scores = scores - np.max(scores, axis=1, keepdims=True)
    return -np.mean(np.sum(y * (scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))), axis=1))


def network_step(params, x, y):
    value, slopes = value_and_grad(network)(params, x, y)
    return value, tuple(p - RATE * d for p, d in zip(params, slopes))


def network_step_jax(params, x, y):
    value, slopes = jax.value_and_grad(with_numpy(network, jnp))(params, x, y)
    return value, tuple(p - RATE * d for p, d in zip(params, slopes))


def network_arguments(rng, batch, inputs, hidden, classes):
    params = (rng.normal(0, inputs**-0.5, (inputs, hidden)), 0.1 * rng.normal(size=hidden),
              rng.normal(0, hidden**-0.5, (hidden, classes)), 0.1 * rng.normal(size=classes))
    x, y = rng.normal(size=(batch, inputs)), np.eye(classes)[rng.integers(0, classes, batch)]
    return tuple(each.astype("f4") for each in params), x.astype("f4"), y.astype("f4")


def text_loss(params, text, heads):
    """Cross-entropy of the next character: attention with `heads` heads and a network, in every layer."""
    table, places, scales, inner, up, down, head = params
    seen, wanted = text[:, :-1], text[:, 1:]
    n, length = seen.shape
    width = table.shape[1]
    later = np.triu(np.ones((length, length), bool), 1)
    x = table[seen] + places
    for k in range(up.shape[0]):
        h = (x - np.mean(x, axis=-1, keepdims=True)) / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5) * scales[k, 0]
        query, key, value = (np.transpose((h @ inner[k, part]).reshape(n, length, heads, width // heads), (0, 2, 1, 3))
                             for part in range(3))
        scores = query @ np.swapaxes(key, 2, 3) / (width // heads) ** 0.5
        scores = np.where(later, -1e9, scores)
        weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        weights = weights / np.sum(weights, axis=-1, keepdims=True)
        x = x + np.transpose(weights @ value, (0, 2, 1, 3)).reshape(n, length, width) @ inner[k, 3]
        h = (x - np.mean(x, axis=-1, keepdims=True)) / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5) * scales[k, 1]
        x = x + np.tanh(h @ up[k]) @ down[k]
    scores = x @ head
    scores = scores - np.max(scores, axis=-1, keepdims=True)
    total = np.log(np.sum(np.exp(scores), axis=-1))
    right = np.take_along_axis(scores, wanted[:, :, np.newaxis], axis=-1)[:, :, 0]
    return np.mean(total - right)


def text_step(params, text, heads):
    value, slopes = value_and_grad(text_loss)(params, text, heads)
    return value, tuple(p - RATE * d for p, d in zip(params, slopes))


def text_step_jax(params, text, heads):
    value, slopes = jax.value_and_grad(with_numpy(text_loss, jnp))(params, text, heads)
    return value, tuple(p - RATE * d for p, d in zip(params, slopes))


def text_arguments(rng, batch, length, layers, width, characters, heads, dtype="f4"):
    params = (0.1 * rng.normal(size=(characters, width)), 0.1 * rng.normal(size=(length, width)),
              rng.uniform(0.5, 1.5, (layers, 2, width)), rng.normal(0, width**-0.5, (layers, 4, width, width)),
              rng.normal(0, width**-0.5, (layers, width, 4 * width)),
              rng.normal(0, (4 * width) ** -0.5, (layers, 4 * width, width)),
              rng.normal(0, width**-0.5, (width, characters)))
    return tuple(each.astype(dtype) for each in params), rng.integers(0, characters, (batch, length + 1)), heads
