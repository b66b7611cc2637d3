"""Likelihoods and losses of statistics and machine learning, as people write them."""

import numpy as np
from scipy.special import digamma, expit, gammaln, logsumexp

from .program import Program, normal, positive


def logistic_regression(w, b, x, y):
    p = 1 / (1 + np.exp(-(x @ w + b)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def stable_logistic(w, x, y):
    margin = (2 * y - 1) * (x @ w)
    return np.sum(np.logaddexp(0.0, -margin)) + 0.5 * np.dot(w, w)


def mlp(params, x, y):
    """A two-layer network on a dict of parameters."""
    hidden = np.tanh(x @ params["w1"] + params["b1"])
    out = hidden @ params["w2"] + params["b2"]
    return np.mean((out - y) ** 2)


def deep_mlp(layers, x, y):
    for w, b in layers[:-1]:
        x = np.maximum(x @ w + b, 0)
    w, b = layers[-1]
    return np.sum((x @ w + b - y) ** 2) / len(y)


def softmax_cross_entropy(w, x, labels):
    logits = x @ w
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(labels)), labels])


def focal_loss(w, x, y, gamma):
    p = expit(x @ w)
    p_true = np.where(y == 1, p, 1 - p)
    return -np.sum((1 - p_true) ** gamma * np.log(p_true))


def kalman_step(mean, cov, y, a, h, q, r):
    mean = a @ mean
    cov = a @ cov @ a.T + q
    s = h @ cov @ h.T + r
    gain = cov @ h.T @ np.linalg.inv(s)
    innovation = y - h @ mean
    mean = mean + gain @ innovation
    cov = (np.eye(len(mean)) - gain @ h) @ cov
    return np.sum(mean**2) + np.trace(cov)


def kalman_filter(ys, a, h, log_q, log_r):
    """Negative log-likelihood of a linear Gaussian state-space model."""
    d = a.shape[0]
    k = h.shape[0]
    q = np.exp(log_q) * np.eye(d)
    r = np.exp(log_r) * np.eye(k)
    mean = np.zeros(d)
    cov = np.eye(d)
    nll = 0.0
    for y in ys:
        mean = a @ mean
        cov = a @ cov @ a.T + q
        s = h @ cov @ h.T + r
        innovation = y - h @ mean
        sign, logdet = np.linalg.slogdet(s)
        nll += 0.5 * (innovation @ np.linalg.solve(s, innovation) + logdet + k * np.log(2 * np.pi))
        gain = np.linalg.solve(s, h @ cov).T
        mean = mean + gain @ innovation
        cov = cov - gain @ s @ gain.T
    return nll


def likelihood_of_layers(F, zs):
    """An inverse that the derivative of a determinant asks for again, and layers that each iteration makes anew."""
    n = zs.shape[1]
    layer = zs[0]
    total = 0.0
    for z in zs:
        S = F @ F.T + np.outer(z, z) + np.eye(n)
        total -= np.log(np.linalg.det(S)) + layer @ np.linalg.inv(S) @ layer
        below = layer
        layer = np.zeros(n)
        for j in range(n):
            layer[j] = np.tanh(below[j] * z[j] + below[j - 1])
    return total - 0.5 * np.sum(np.log(2 * np.pi * layer ** 2))


def rnn(w, u, b, xs):
    h = np.zeros(w.shape[0])
    for x in xs:
        h = np.tanh(w @ h + u @ x + b)
    return np.sum(h**2)


def rnn_outputs(w, u, v, xs, targets):
    """Every step is scored, so every hidden state gets a cotangent of its own."""
    h = np.zeros(w.shape[0])
    loss = 0.0
    for t in range(len(xs)):
        h = np.tanh(w @ h + u @ xs[t])
        loss = loss + np.sum((v @ h - targets[t]) ** 2)
    return loss / len(xs)


def lstm(params, xs):
    hidden_size = params["wh"].shape[0]
    h = np.zeros(hidden_size)
    c = np.zeros(hidden_size)
    for x in xs:
        gates = x @ params["wx"] + h @ params["wh"] + params["b"]
        i, f, o, g = np.split(gates, 4)
        c = expit(f) * c + expit(i) * np.tanh(g)
        h = expit(o) * np.tanh(c)
    return np.sum(h * c)


def gru(wz, wr, wh, xs):
    h = np.zeros(wz.shape[0])
    for x in xs:
        both = np.concatenate([h, x])
        z = expit(wz @ both)
        r = expit(wr @ both)
        candidate = np.tanh(wh @ np.concatenate([r * h, x]))
        h = (1 - z) * h + z * candidate
    return h @ h


def attention(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.sum((weights @ v) ** 2)


def multi_head_attention(x, wq, wk, wv, heads):
    n, d = x.shape
    q = (x @ wq).reshape(n, heads, d // heads).transpose(1, 0, 2)
    k = (x @ wk).reshape(n, heads, d // heads).transpose(1, 0, 2)
    v = (x @ wv).reshape(n, heads, d // heads).transpose(1, 0, 2)
    scores = np.einsum("hid,hjd->hij", q, k) / np.sqrt(d // heads)
    causal = np.tril(np.ones((n, n), dtype=bool))
    scores = np.where(causal, scores, -1e9)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    out = (weights @ v).transpose(1, 0, 2).reshape(n, d)
    return np.sum(np.sin(out))


def batch_norm(x, gamma, beta):
    mean = x.mean(axis=0)
    var = x.var(axis=0)
    normalised = (x - mean) / np.sqrt(var + 1e-5)
    return np.sum(np.tanh(gamma * normalised + beta) ** 2)


def layer_norm(x, gain):
    centred = x - np.mean(x, axis=-1, keepdims=True)
    return np.sum((gain * centred / (np.std(x, axis=-1, keepdims=True) + 1e-3)) ** 3)


def gp_log_likelihood(log_params, x, y):
    amplitude, length, noise = np.exp(log_params)
    distance = (x[:, None] - x[None, :]) ** 2
    k = amplitude * np.exp(-0.5 * distance / length**2) + (noise + 0.1) * np.eye(len(x))
    chol = np.linalg.cholesky(k)
    alpha = np.linalg.solve(chol, y)
    return -0.5 * alpha @ alpha - np.sum(np.log(np.diag(chol))) - 0.5 * len(x) * np.log(2 * np.pi)


def mixture_log_likelihood(logits, means, log_scales, x):
    log_weights = logits - logsumexp(logits)
    z = (x[:, None] - means) / np.exp(log_scales)
    log_normal = -0.5 * z**2 - log_scales - 0.5 * np.log(2 * np.pi)
    return np.sum(logsumexp(log_weights + log_normal, axis=1))


def poisson_regression(w, x, counts):
    rate = np.exp(x @ w)
    return np.sum(rate - counts * np.log(rate) + gammaln(counts + 1))


def gamma_likelihood(shape, scale, x):
    return np.sum((shape - 1) * np.log(x) - x / scale - shape * np.log(scale) - gammaln(shape))


def dirichlet_entropy(alpha):
    total = alpha.sum()
    log_b = gammaln(alpha).sum() - gammaln(total)
    return log_b + (total - len(alpha)) * digamma(total) - np.sum((alpha - 1) * digamma(alpha))


def forward_algorithm(log_pi, log_a, log_b, observed):
    """Log-likelihood of a hidden Markov model."""
    alpha = log_pi + log_b[:, observed[0]]
    for symbol in observed[1:]:
        alpha = logsumexp(alpha[:, None] + log_a, axis=0) + log_b[:, symbol]
    return logsumexp(alpha)


def left_to_right(log_a, log_b):
    """Log-likelihood of a hidden Markov model that never goes back and begins in its first state."""
    blocked = np.tril(np.full((3, 3), -np.inf), -1)
    alpha = np.array([0.0, -np.inf, -np.inf])
    for row in log_b:
        alpha = logsumexp(alpha[:, None] + np.triu(log_a) + blocked, axis=0) + row
    return np.logaddexp.reduce(alpha)


def matrix_factorisation(u, v, ratings, seen):
    error = np.where(seen, ratings - u @ v.T, 0.0)
    return np.sum(error**2) + 0.1 * (np.sum(u**2) + np.sum(v**2))


def ridge_solve(x, y, log_lam):
    lam = np.exp(log_lam)
    w = np.linalg.solve(x.T @ x + lam * np.eye(x.shape[1]), x.T @ y)
    return np.sum((x @ w - y) ** 2) + lam * w @ w


def power_iteration(x, steps):
    """Largest variance along one direction, by repeated multiplication."""
    cov = x.T @ x / len(x)
    v = np.ones(x.shape[1])
    for _ in range(steps):
        v = cov @ v
        v = v / np.linalg.norm(v)
    return v @ cov @ v


def word_vectors(table, centres, contexts):
    """Rows of the table are looked up repeatedly, so their cotangents must add up."""
    scores = np.sum(table[centres] * table[contexts], axis=1)
    return -np.sum(np.log(expit(scores)))


def cosine_contrastive(a, b, temperature):
    a = a / np.linalg.norm(a, axis=1, keepdims=True)
    b = b / np.linalg.norm(b, axis=1, keepdims=True)
    sim = a @ b.T / temperature
    return -np.mean(np.diag(sim) - np.log(np.exp(sim).sum(axis=1)))


def soft_kmeans(centres, x):
    distance = ((x[:, None, :] - centres[None]) ** 2).sum(-1)
    weight = np.exp(-distance)
    weight = weight / weight.sum(axis=1, keepdims=True)
    return (weight * distance).sum() / len(x)


def huber(w, x, y, delta=1.0):
    r = y - x @ w
    small = np.abs(r) <= delta
    return np.where(small, 0.5 * r**2, delta * (np.abs(r) - 0.5 * delta)).sum()


def vae_elbo(enc, dec, x, noise):
    hidden = x @ enc
    half = hidden.shape[1] // 2
    mu, log_var = hidden[:, :half], hidden[:, half:]
    z = mu + np.exp(0.5 * log_var) * noise
    kl = -0.5 * np.sum(1 + log_var - mu**2 - np.exp(log_var))
    return np.sum((np.tanh(z @ dec) - x) ** 2) + kl


def newton_logistic(w, x, y, steps=2):
    """A few steps of iteratively reweighted least squares, then the loss where they end."""
    for _ in range(steps):
        p = expit(x @ w)
        hessian = x.T @ ((p * (1 - p))[:, None] * x) + np.eye(len(w))
        w = w - np.linalg.solve(hessian, x.T @ (p - y) + w)
    return np.sum(np.log1p(np.exp(x @ w)) - y * (x @ w))


def _labels(rng):
    return rng.standard_normal((3, 4)), rng.standard_normal((5, 3)), rng.integers(0, 4, 5)


def _binary(rng, size=4):
    x = rng.standard_normal((size + 1, size))
    return rng.standard_normal(size), x, rng.integers(0, 2, size + 1).astype(float)


def _logistic(rng, size=4):
    w, x, y = _binary(rng, size)
    return w, float(rng.standard_normal()), x, y


def _mlp(rng, size=4):
    params = {
        "w1": rng.standard_normal((3, size)),
        "b1": rng.standard_normal(size),
        "w2": rng.standard_normal((size, 2)),
        "b2": rng.standard_normal(2),
    }
    return params, rng.standard_normal((5, 3)), rng.standard_normal((5, 2))


def _layers(rng):
    sizes = (3, 5, 4, 2)
    layers = [
        (rng.standard_normal((m, n)), rng.standard_normal(n)) for m, n in zip(sizes, sizes[1:])
    ]
    return layers, rng.standard_normal((3, 3)), rng.standard_normal((3, 2))


def _covariance(rng, n):
    root = rng.standard_normal((n, n))
    return root @ root.T + np.eye(n)


def _kalman_step(rng):
    mean, y = rng.standard_normal(3), rng.standard_normal(2)
    a, h = rng.standard_normal((3, 3)), rng.standard_normal((2, 3))
    return mean, _covariance(rng, 3), y, a, h, _covariance(rng, 3), _covariance(rng, 2)


def _kalman_filter(rng, size=4):
    ys = rng.standard_normal((size, 2))
    return ys, 0.5 * rng.standard_normal((3, 3)), rng.standard_normal((2, 3)), 0.1, -0.3


def _lstm(rng, size=4):
    params = {
        "wx": rng.standard_normal((3, 8)),
        "wh": rng.standard_normal((2, 8)),
        "b": rng.standard_normal(8),
    }
    return params, rng.standard_normal((size, 3))


def _poisson(rng):
    return 0.3 * rng.standard_normal(3), rng.standard_normal((5, 3)), rng.integers(0, 6, 5)


def _markov(rng, size=4):
    observed = rng.integers(0, 3, size)
    return (
        rng.standard_normal(2),
        rng.standard_normal((2, 2)),
        rng.standard_normal((2, 3)),
        observed,
    )


def _ratings(rng):
    u, v, ratings = rng.standard_normal((4, 2)), rng.standard_normal((5, 2)), rng.random((4, 5))
    return u, v, ratings, rng.random((4, 5)) < 0.6


def _words(rng):
    return rng.standard_normal((5, 3)), np.array([0, 2, 2, 4, 0]), np.array([1, 0, 2, 0, 3])



def kmeans(centres, x):
    """Centres that rest on labels alone after the first step: the distances move with the last ones."""
    for _ in range(2):
        label = np.argmin(np.sum((x[:, None] - centres) ** 2, axis=2), axis=1)
        new = np.zeros_like(centres)
        for k in range(len(centres)):
            chosen = label == k
            new[k] = np.sum(x[chosen], axis=0) / np.maximum(np.sum(chosen), 1)
        centres = new
    return np.sum(np.min(np.sum((x[:, None, :] - centres[None, :, :]) ** 2, axis=2), axis=1))


PROGRAMS = [
    Program(logistic_regression, _logistic, (0, 1)),
    Program(stable_logistic, _binary, (0,)),
    Program(mlp, _mlp),
    Program(deep_mlp, _layers, (0, 1)),
    Program(softmax_cross_entropy, _labels, (0, 1)),
    Program(focal_loss, lambda rng: (*_binary(rng), 2.0), (0, 3)),
    Program(kalman_step, _kalman_step, (0, 1, 3, 4)),
    Program(kalman_filter, _kalman_filter, (0, 1, 2, 3, 4)),
    Program(likelihood_of_layers, normal((2, 2), ("n", 2)), (0, 1)),
    Program(rnn, normal((3, 3), (3, 2), (3,), ("n", 2)), (0, 1, 2)),
    Program(rnn_outputs, normal((3, 3), (3, 2), (2, 3), ("n", 2), ("n", 2)), (0, 1, 2, 3)),
    Program(lstm, _lstm, (0, 1)),
    Program(gru, normal((3, 5), (3, 5), (3, 5), ("n", 2)), (0, 1, 2)),
    Program(attention, normal(("n", 3), (5, 3), (5, 2)), (0, 1, 2)),
    Program(multi_head_attention, normal((3, 4), *[(4, 4)] * 3, then=(2,)), (0, 1, 2, 3)),
    Program(batch_norm, normal((5, 3), (3,), (3,)), (0, 1, 2)),
    Program(layer_norm, normal((3, "n"), ("n",)), (0, 1)),
    Program(gp_log_likelihood, normal((3,), ("n",), ("n",)), (0, 1, 2)),
    Program(mixture_log_likelihood, normal((3,), (3,), (3,), ("n",)), (0, 1, 2, 3)),
    Program(poisson_regression, _poisson),
    Program(gamma_likelihood, positive(None, None, ("n",)), (0, 1, 2)),
    Program(dirichlet_entropy, positive(("n",))),
    Program(forward_algorithm, _markov, (0, 1, 2)),
    Program(left_to_right, normal((3, 3), (2, 3)), (0, 1)),
    Program(matrix_factorisation, _ratings, (0, 1)),
    Program(ridge_solve, normal((5, 3), (5,), None), (0, 1, 2)),
    Program(power_iteration, normal((5, "n"), then=(3,))),
    Program(word_vectors, _words),
    Program(cosine_contrastive, normal((3, 4), (3, 4), then=(0.5,)), (0, 1, 2)),
    Program(kmeans, lambda rng: (np.array([[-2.0, 0.1], [2.0, -0.2]]),
                                 np.array([[-2.1, 0.3], [1.8, 0.4], [2.5, -0.6], [-1.4, 0.2]])), (0, 1)),
    Program(soft_kmeans, normal((2, 2), ("n", 2)), (0, 1)),
    Program(huber, lambda rng: _binary(rng)),
    Program(vae_elbo, normal((3, 4), (2, 3), (4, 3), (4, 2)), (0, 1)),
    Program(newton_logistic, _binary, (0, 1)),
]
