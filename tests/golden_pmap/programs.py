"""Programs whose pmap is kept as text: name -> (function, axes of the arguments, axes of the results, arguments)."""

from typing import Any

import numpy as np

from transformer import all_gather, axis_index, grad, pmax, pmean, ppermute, psum, value_and_grad

DEVICES = 4


def loss(params, x, y):
    hidden = np.tanh(x @ params["w1"] + params["b1"])
    return np.mean((hidden @ params["w2"] - y) ** 2)


def step(params, x, y, rate):
    value, gradient = value_and_grad(loss)(params, x, y)
    gradient = pmean(gradient, "batch")
    return {name: params[name] - rate * gradient[name] for name in params}, pmean(value, "batch")


def several_steps(w, x, y, steps):
    """A loop around a collective stays in the driver."""
    losses = []
    for _ in range(steps):
        error = x @ w - y
        w = w - 0.1 * psum(x.T @ error, "batch")
        losses.append(pmean(np.mean(error * error), "batch"))
    return w, np.array(losses)


def normalised(x):
    mean = pmean(np.mean(x), "batch")
    centred = x - mean
    return centred / np.sqrt(pmean(np.mean(centred * centred), "batch") + 1e-5)


def clipped(gradient, limit):
    """A branch around a collective, on what is the same everywhere."""
    norm = np.sqrt(psum(np.sum(gradient * gradient), "batch"))
    if norm > limit:
        largest = pmax(np.max(np.abs(gradient)), "batch")
        gradient = gradient / np.maximum(norm, largest) * limit
    return gradient


def heat(u, c, steps):
    """Each device has a part of a ring, and sees the ends of its neighbours."""
    right = [(k, (k + 1) % DEVICES) for k in range(DEVICES)]
    left = [pair[::-1] for pair in right]
    for _ in range(steps):
        before, after = ppermute(u[-1:], "ring", right), ppermute(u[:1], "ring", left)
        wide = np.concatenate((before, u, after))
        u = u + c * (wide[2:] - 2 * u + wide[:-2])
    return u


def attention(q, k, v):
    """Rows are shared out; keys and values are gathered."""
    scores = q @ all_gather(k, "rows").reshape(-1, q.shape[1]).T / np.sqrt(q.shape[1])
    weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    weights = weights / np.sum(weights, axis=1, keepdims=True)
    return weights @ all_gather(v, "rows").reshape(-1, v.shape[1]) + 0.0 * axis_index("rows")


def ring_loss(u, c):
    return np.sum(heat(u, c, 3) ** 2)


rng = np.random.default_rng(0)
PARAMS = {"w1": rng.normal(size=(3, 5)), "b1": np.zeros(5), "w2": rng.normal(size=5)}
X, Y = rng.normal(size=(DEVICES, 6, 3)), rng.normal(size=(DEVICES, 6))

CASES: dict[str, tuple[Any, str, Any, Any, tuple[Any, ...]]] = {
    "step": (step, "batch", (None, 0, 0, None), 0, (PARAMS, X, Y, 0.1)),
    "several_steps": (several_steps, "batch", (None, 0, 0, None), 0, (np.zeros(3), X / 10, Y, 3)),
    "normalised": (normalised, "batch", 0, 0, (Y,)),
    "normalised_on_several": (normalised, "batch", 0, 0, (np.concatenate([Y, Y + 1]),)),
    "clipped": (clipped, "batch", (0, None), 0, (Y, 1.5)),
    "heat": (heat, "ring", (0, None, None), 0, (Y, 0.2, 4)),
    "ring_loss_grad": (grad(ring_loss), "ring", (0, None), 0, (Y, 0.2)),
    "attention": (attention, "rows", 0, 0, (X, X + 1, X - 1)),
}
