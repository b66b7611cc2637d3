"""Factorizations and solutions of linear systems, as loops over rows and columns."""

import numpy as np

from benchmarks.contest.case import Case, gradient_of
from benchmarks.contest.lazily import jax, jnp, lax, scan


def positive(rng, n):
    root = rng.normal(size=(n, n))
    return root @ root.T / n + 2 * np.eye(n),


def dominant(rng, n):
    """Exchanges of rows are never called for."""
    return rng.uniform(-1, 1, (n, n)) + 2 * n * np.eye(n),


def cholesky(a):
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[j, :j]
            a[i, j] /= a[j, j]
        a[i, i] -= a[i, :i] @ a[i, :i]
        a[i, i] = np.sqrt(a[i, i])
    return a


def cholesky_jax(a):
    """Of the lower triangle alone, which the program looks at."""
    factor = lax.linalg.cholesky(jnp.tril(a) + jnp.tril(a, -1).T, symmetrize_input=False)
    return jnp.tril(factor) + jnp.triu(a, 1)


def lu(a):
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def lu_jax(a):
    return lax.linalg.lu(a)[0]


def ludcmp(a, b):
    a = lu(a)
    n = a.shape[0]
    x = np.zeros_like(b)
    y = np.zeros_like(b)
    for i in range(n):
        y[i] = b[i] - a[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - a[i, i + 1:] @ x[i + 1:]) / a[i, i]
    return x


def ludcmp_jax(a, b):
    return jnp.linalg.solve(a, b)


def ludcmp_arguments(rng, n):
    return *dominant(rng, n), rng.normal(size=n)


def trisolv(lower, b):
    x = np.zeros_like(b)
    for i in range(x.shape[0]):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return x


def trisolv_jax(lower, b):
    return jax.scipy.linalg.solve_triangular(lower, b, lower=True)


def trisolv_arguments(rng, n):
    return rng.uniform(-1, 1, (n, n)) / n + 2 * np.eye(n), rng.normal(size=n)


def durbin(r):
    """The Yule-Walker equations of a Toeplitz matrix."""
    y = np.zeros_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def durbin_jax(r):
    n = r.shape[0]

    def turned(x, k):
        """The first k numbers backwards, then zeros."""
        return lax.dynamic_slice(jnp.concatenate([x[::-1], jnp.zeros_like(x)]), (n - k,), (n,))

    def step(carry, k):
        y, alpha, beta = carry
        beta = beta * (1.0 - alpha * alpha)
        alpha = -(r[k] + turned(r, k) @ y) / beta
        return ((y + alpha * turned(y, k)).at[k].set(alpha), alpha, beta), None
    start = jnp.zeros_like(r).at[0].set(-r[0]), -r[0], 1.0
    return scan(step, start, jnp.arange(1, n))[0][0]


def durbin_arguments(rng, n):
    """Correlations that decay: else the equations are badly conditioned."""
    return 0.5 ** np.arange(1, n + 1) + 0.01 * rng.normal(size=n) * 0.9 ** np.arange(n),


def gramschmidt(a):
    a = a.copy()
    n = a.shape[1]
    q = np.zeros_like(a)
    r = np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


def gramschmidt_jax(a):
    """By reflections, with the signs that the process has."""
    q, r = jnp.linalg.qr(a)
    signs = jnp.sign(jnp.diagonal(r))
    return q * signs, r * signs[:, None]


def gramschmidt_steps_jax(a):
    def step(a, k):
        column = a[:, k]
        size = jnp.sqrt(column @ column)
        q = column / size
        row = jnp.where(jnp.arange(a.shape[1]) > k, q @ a, 0.0)
        return a - jnp.outer(q, row), (q, row.at[k].set(size))
    _, (q, r) = scan(step, a, jnp.arange(a.shape[1]))
    return q.T, r


def columns(rng, n, m):
    return rng.normal(size=(n, m)) + 2 * np.eye(n, m),


CHOLESKY = Case("cholesky", cholesky, positive, (200,), (5,), (cholesky_jax,))
LU = Case("lu", lu, dominant, (150,), (5,), (lu_jax,))
LUDCMP = Case("ludcmp", ludcmp, ludcmp_arguments, (150,), (5,), (ludcmp_jax,))
TRISOLV = Case("trisolv", trisolv, trisolv_arguments, (800,), (5,), (trisolv_jax,))
DURBIN = Case("durbin", durbin, durbin_arguments, (800,), (6,), (durbin_jax,))
GRAMSCHMIDT = Case("gramschmidt", gramschmidt, columns, (120, 100), (6, 4), (gramschmidt_jax, gramschmidt_steps_jax))

CASES = [
    CHOLESKY, gradient_of(CHOLESKY, 0), LU, gradient_of(LU, 0), LUDCMP, gradient_of(LUDCMP, 0, 1),
    TRISOLV, gradient_of(TRISOLV, 0, 1), DURBIN, gradient_of(DURBIN, 0), GRAMSCHMIDT, gradient_of(GRAMSCHMIDT, 0),
]
