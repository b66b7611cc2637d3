"""Programs whose generated batched forms are kept beside this file, each `<name>.py`.

`CASES` has for each what is transformed, how it is written without transformations, and arguments.
"""

import numpy as np

from transformer import grad, hessian, hvp, jacrev, pmean, value_and_grad, vmap


def distance(a, b):
    return np.sqrt(np.sum((a - b) ** 2))


def logistic(w, x, y):
    p = 1 / (1 + np.exp(-(x @ w)))
    return -(y * np.log(p) + (1 - y) * np.log(1 - p))


def mlp(params, x, y):
    hidden = np.tanh(params["w1"] @ x + params["b1"])  # one hidden layer
    return np.sum((params["w2"] @ hidden + params["b2"] - y) ** 2)


def normalized(x):
    mean = pmean(x, "batch")
    variance = pmean((x - mean) ** 2, "batch")
    return (x - mean) / np.sqrt(variance + 1e-5)


def escape(c, limit):
    z = 0j
    n = 0
    while abs(z) < 2 and n < limit:
        z = z * z + c
        n += 1
    return n


def cube_root(a):
    x = a
    while abs(x**3 - a) > 1e-12:
        x = x - (x**3 - a) / (3 * x * x)
    return x


def recurrence(x, decay):
    f = np.zeros(len(x))
    f[0] = x[0]
    for i in range(1, len(x)):
        f[i] = x[i] + decay * f[i - 1]
    return f


def kalman_step(x, P, F, Q, H, R, z):
    x = F @ x
    P = F @ P @ F.T + Q
    S = H @ P @ H.T + R
    K = np.linalg.solve(S, H @ P).T
    return x + K @ (z - H @ x), P - K @ H @ P


def masked_sum(x):
    return np.sum(x[x > 0] ** 2)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def layer(W, x):
    return np.tanh(W @ x)


def huber(r, delta):
    if abs(r) <= delta:
        loss = 0.5 * r * r
    else:
        loss = delta * (abs(r) - 0.5 * delta)
    return loss


def picked(table, k, shift):
    row = table[k] + shift
    row[0] = row[k]
    return row


def warped(a, b):
    n, m = len(a), len(b)
    cost = np.full((n + 1, m + 1), 1e9)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost[i, j] = (a[i - 1] - b[j - 1]) ** 2 + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[n, m]


def fit(w, x, y):
    errors = np.tanh(x @ w) - y
    return np.mean(errors**2), {"worst": np.max(np.abs(errors)), "errors": errors}


def shortest(lengths, ends, n):
    """From node 0 to node n - 1."""
    best = np.full(n, 1e9)
    best[0] = 0.0
    for _ in range(n - 1):
        for k in range(len(ends)):
            i, j = ends[k]
            if best[i] + lengths[k] < best[j]:
                best[j] = best[i] + lengths[k]
    return best[n - 1]


def volatility(params, returns):
    omega, alpha, beta = params
    variance = np.var(returns)
    total = 0.0
    for r in returns:
        total += np.log(variance) + r * r / variance
        variance = omega + alpha * r * r + beta * variance
    return 0.5 * total


def _loop(function, *in_axes):
    """The function for all lanes, one after the other."""

    def looped(*args):
        count = next(len(_first(a)) for a, axis in zip(args, in_axes) if axis == 0)
        results = [function(*(_lane(a, k) if axis == 0 else a for a, axis in zip(args, in_axes)))
                   for k in range(count)]
        if isinstance(results[0], tuple):
            return tuple(np.stack(part) for part in zip(*results))
        if isinstance(results[0], dict):
            return {key: np.stack([result[key] for result in results]) for key in results[0]}
        return np.stack(results)

    return looped


def _first(argument):
    return next(iter(argument.values())) if isinstance(argument, dict) else argument


def _lane(argument, k):
    return {key: leaf[k] for key, leaf in argument.items()} if isinstance(argument, dict) else argument[k].copy()


def _params(rng):
    return {"w1": rng.normal(size=(4, 3)), "b1": rng.normal(size=4), "w2": rng.normal(size=(2, 4)),
            "b2": rng.normal(size=2)}


def _spd(rng, count, n):
    roots = rng.normal(size=(count, n, n))
    return roots @ roots.transpose(0, 2, 1) + np.eye(n)


def _kalman(rng):
    return (rng.normal(size=(5, 3)), _spd(rng, 5, 3), rng.normal(size=(3, 3)), _spd(rng, 1, 3)[0],
            rng.normal(size=(2, 3)), _spd(rng, 1, 2)[0], rng.normal(size=(5, 2)))


def _graph(rng):
    return rng.uniform(1.0, 2.0, size=(3, 6)), np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]]), 4


KALMAN = (0, 0, None, None, None, None, 0)

CASES = {
    "distances": (
        vmap(vmap(distance, in_axes=(None, 0)), in_axes=(0, None)),
        _loop(_loop(distance, None, 0), 0, None),
        lambda rng: (rng.normal(size=(4, 3)), rng.normal(size=(5, 3)))),
    "logistic_per_sample": (
        vmap(grad(logistic), in_axes=(None, 0, 0)),
        _loop(grad(logistic), None, 0, 0),
        lambda rng: (rng.normal(size=3), rng.normal(size=(5, 3)), rng.integers(0, 2, 5) * 1.0)),
    "mlp_per_sample": (
        vmap(grad(mlp), in_axes=(None, 0, 0)),
        _loop(grad(mlp), None, 0, 0),
        lambda rng: (_params(rng), rng.normal(size=(5, 3)), rng.normal(size=(5, 2)))),
    "mlp_ensemble": (
        vmap(mlp, in_axes=(0, None, None)),
        _loop(mlp, 0, None, None),
        lambda rng: ({key: np.stack([leaf, 2 * leaf, -leaf]) for key, leaf in _params(rng).items()},
                     rng.normal(size=3), rng.normal(size=2))),
    "batch_norm": (
        vmap(normalized, axis_name="batch"),
        lambda x: (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5),
        lambda rng: (rng.normal(size=(5, 3)),)),
    "escape": (
        vmap(escape, in_axes=(0, None)),
        _loop(escape, 0, None),
        lambda rng: (rng.normal(size=6) + 1j * rng.normal(size=6), 20)),
    "cube_root": (
        vmap(cube_root), _loop(cube_root, 0), lambda rng: (rng.uniform(0.5, 20.0, size=5),)),
    "cube_root_grad": (
        vmap(grad(cube_root)), lambda a: a ** (-2 / 3) / 3, lambda rng: (rng.uniform(0.5, 20.0, size=5),)),
    "recurrence": (
        vmap(recurrence, in_axes=(0, None)),
        _loop(recurrence, 0, None),
        lambda rng: (rng.normal(size=(4, 6)), 0.9)),
    "kalman_step": (
        vmap(kalman_step, in_axes=KALMAN), _loop(kalman_step, *KALMAN), _kalman),
    "masked_sum": (
        vmap(masked_sum), lambda x: np.sum(np.where(x > 0, x, 0) ** 2, axis=1),
        lambda rng: (rng.normal(size=(5, 4)),)),
    "masked_sum_grad": (
        vmap(grad(masked_sum)), lambda x: 2 * np.maximum(x, 0), lambda rng: (rng.normal(size=(5, 4)),)),
    "warped_grad": (
        vmap(grad(warped), in_axes=(0, None)), _loop(grad(warped), 0, None),
        lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=3))),
    "rosenbrock_hessian": (
        hessian(rosenbrock),
        lambda x: np.stack([_difference(rosenbrock, x, e) for e in np.eye(len(x))]),
        lambda rng: (rng.normal(size=4),)),
    "layer_jacrev": (
        jacrev(layer, argnums=1),
        lambda W, x: (1 - np.tanh(W @ x) ** 2)[:, None] * W,
        lambda rng: (rng.normal(size=(2, 3)), rng.normal(size=3))),
    "mlp_hvp": (
        hvp(mlp),
        lambda params, x, y, dparams: _along(lambda p: grad(mlp)(p, x, y), params, dparams),
        lambda rng: (_params(rng), rng.normal(size=3), rng.normal(size=2), _params(rng))),
    "fit_value_and_grad": (
        value_and_grad(fit, has_aux=True),
        lambda w, x, y: (fit(w, x, y), 2 * x.T @ ((np.tanh(x @ w) - y) / np.cosh(x @ w) ** 2) / len(y)),
        lambda rng: (rng.normal(size=3), rng.normal(size=(5, 3)), rng.normal(size=5))),
    "shortest": (
        vmap(shortest, in_axes=(0, None, None)), _loop(shortest, 0, None, None), _graph),
    "shortest_grad": (
        vmap(grad(shortest), in_axes=(0, None, None)), _loop(grad(shortest), 0, None, None), _graph),
    "volatility_grad": (
        vmap(grad(volatility), in_axes=(0, None)), _loop(grad(volatility), 0, None),
        lambda rng: (rng.uniform(0.1, 0.4, size=(4, 3)), rng.normal(size=6))),
    "huber": (
        vmap(huber, in_axes=(0, None)), _loop(huber, 0, None), lambda rng: (rng.normal(size=7), 0.8)),
    "picked": (
        vmap(picked, in_axes=(None, 0, 0)), _loop(picked, None, 0, 0),
        lambda rng: (rng.normal(size=(4, 4)), np.array([3, 0, 2]), rng.normal(size=3))),
}


def _along(slope, params, direction, step=1e-5):
    """The derivative of a gradient with respect to a dictionary along a direction, by differences."""
    ahead, behind = (slope({key: leaf + sign * step * direction[key] for key, leaf in params.items()})
                     for sign in (1, -1))
    return {key: (ahead[key] - behind[key]) / (2 * step) for key in params}


def _difference(function, x, direction, step=1e-5):
    """The derivative of the gradient along a direction, by differences of gradients."""
    slope = grad(function)
    return (slope(x + step * direction) - slope(x - step * direction)) / (2 * step)
