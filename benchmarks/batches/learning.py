"""Gradients of single samples, ensembles of networks, and learning to learn."""

import numpy as np

from benchmarks.contest.case import Case
from benchmarks.contest.lazily import jax, jnp
from transformer import grad, value_and_grad, vmap


def logistic(w, x, y):
    z = np.dot(x, w)
    return np.log(1 + np.exp(-y * z))


def logistic_jax(w, x, y):
    return jnp.log1p(jnp.exp(-y * jnp.dot(x, w)))


def sample_gradients(w, x, y):
    return vmap(grad(logistic), in_axes=(None, 0, 0))(w, x, y)


def sample_gradients_jax(w, x, y):
    return jax.vmap(jax.grad(logistic_jax), in_axes=(None, 0, 0))(w, x, y)


def labelled(rng, n, d):
    return rng.normal(size=d), rng.normal(size=(n, d)), np.sign(rng.normal(size=n))


def network(params, x, y):
    w1, b1, w2, b2 = params
    hidden = np.tanh(x @ w1 + b1)
    scores = hidden @ w2 + b2
    top = np.max(scores)
    return top + np.log(np.sum(np.exp(scores - top))) - np.dot(scores, y)


def network_jax(params, x, y):
    w1, b1, w2, b2 = params
    scores = jnp.tanh(x @ w1 + b1) @ w2 + b2
    return -jnp.dot(jax.nn.log_softmax(scores), y)


def network_gradients(params, x, y):
    return vmap(grad(network), in_axes=(None, 0, 0))(params, x, y)


def network_gradients_jax(params, x, y):
    return jax.vmap(jax.grad(network_jax), in_axes=(None, 0, 0))(params, x, y)


def weights(rng, inputs, hidden, classes):
    drawn = (rng.normal(0, inputs**-0.5, (inputs, hidden)), 0.1 * rng.normal(size=hidden),
             rng.normal(0, hidden**-0.5, (hidden, classes)), 0.1 * rng.normal(size=classes))
    return tuple(each.astype("f4") for each in drawn)


def samples(rng, n, inputs, hidden, classes):
    x, y = rng.normal(size=(n, inputs)), np.eye(classes)[rng.integers(0, classes, n)]
    return weights(rng, inputs, hidden, classes), x.astype("f4"), y.astype("f4")


def batch_loss(params, x, y):
    return np.mean(vmap(network, in_axes=(None, 0, 0))(params, x, y))


def batch_loss_jax(params, x, y):
    return jnp.mean(jax.vmap(network_jax, in_axes=(None, 0, 0))(params, x, y))


def ensemble(params, x, y):
    return vmap(value_and_grad(batch_loss), in_axes=(0, None, None))(params, x, y)


def ensemble_jax(params, x, y):
    return jax.vmap(jax.value_and_grad(batch_loss_jax), in_axes=(0, None, None))(params, x, y)


def ensemble_arguments(rng, members, n, inputs, hidden, classes):
    drawn = [weights(rng, inputs, hidden, classes) for _ in range(members)]
    _, x, y = samples(rng, n, inputs, hidden, classes)
    return tuple(np.stack(parts) for parts in zip(*drawn)), x, y


def curve(params, x):
    w1, b1, w2, b2, w3, b3 = params
    hidden = np.tanh(x[:, None] * w1 + b1)
    hidden = np.tanh(hidden @ w2 + b2)
    return hidden @ w3 + b3


def curve_jax(params, x):
    w1, b1, w2, b2, w3, b3 = params
    hidden = jnp.tanh(jnp.tanh(x[:, None] * w1 + b1) @ w2 + b2)
    return hidden @ w3 + b3


def fit(params, x, y):
    return np.mean((curve(params, x) - y) ** 2)


def fit_jax(params, x, y):
    return jnp.mean((curve_jax(params, x) - y) ** 2)


def adapted(params, x, y, x_new, y_new):
    for _ in range(5):
        slopes = grad(fit)(params, x, y)
        params = tuple(p - 0.01 * d for p, d in zip(params, slopes))
    return fit(params, x_new, y_new)


def adapted_jax(params, x, y, x_new, y_new):
    for _ in range(5):
        slopes = jax.grad(fit_jax)(params, x, y)
        params = jax.tree.map(lambda p, d: p - 0.01 * d, params, slopes)
    return fit_jax(params, x_new, y_new)


def meta(params, x, y, x_new, y_new):
    return np.mean(vmap(adapted, in_axes=(None, 0, 0, 0, 0))(params, x, y, x_new, y_new))


def meta_jax(params, x, y, x_new, y_new):
    return jnp.mean(jax.vmap(adapted_jax, in_axes=(None, 0, 0, 0, 0))(params, x, y, x_new, y_new))


def waves(rng, tasks, points, hidden):
    height, phase = rng.uniform(0.5, 2, (tasks, 1)), rng.uniform(0, 3, (tasks, 1))
    params = (rng.normal(size=hidden), 0.1 * rng.normal(size=hidden), rng.normal(0, hidden**-0.5, (hidden, hidden)),
              0.1 * rng.normal(size=hidden), rng.normal(0, hidden**-0.5, hidden), 0.1)
    x, x_new = rng.uniform(-3, 3, (2, tasks, points))
    return params, x, height * np.sin(x + phase), x_new, height * np.sin(x_new + phase)


CASES = [
    Case("gradients of samples, logistic regression 5000 x 200", sample_gradients, labelled, (5000, 200), (5, 3),
         (sample_gradients_jax,)),
    Case("gradients of samples, MLP 128 x 64-128-10 f32", network_gradients, samples, (128, 64, 128, 10), (3, 4, 5, 2),
         (network_gradients_jax,)),
    Case("32 MLPs of 64-32-10, value and gradient on 64 samples f32", ensemble, ensemble_arguments,
         (32, 64, 64, 32, 10), (3, 4, 3, 2, 2), (ensemble_jax,)),
    Case("MAML: gradient through 5 gradient steps, 25 tasks of 10 points", meta, waves, (25, 10, 40), (2, 3, 4),
         (meta_jax,), "grad"),
]
