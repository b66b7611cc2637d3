"""Products of matrices and vectors."""

import numpy as np

from benchmarks.contest.case import Case, gradient_of
from benchmarks.contest.lazily import jnp


def drawn(rng, *shapes):
    return tuple(rng.normal(size=shape) for shape in shapes)


def gemm(alpha, beta, c, a, b):
    return alpha * a @ b + beta * c


def gemm_arguments(rng, n, m, k):
    return 1.5, 1.2, *drawn(rng, (n, m), (n, k), (k, m))


def two_products(alpha, beta, a, b, c, d):
    return alpha * a @ b @ c + beta * d


def two_products_arguments(rng, n, m, k, o):
    return 1.5, 1.2, *drawn(rng, (n, k), (k, m), (m, o), (n, o))


def three_products(a, b, c, d):
    return a @ b @ (c @ d)


def three_products_arguments(rng, n, m, k, o, p):
    return drawn(rng, (n, k), (k, m), (m, o), (o, p))


def atax(a, x):
    return (a @ x) @ a


def atax_arguments(rng, n, m):
    return drawn(rng, (n, m), m)


def bicg(a, p, r):
    return r @ a, a @ p


def bicg_arguments(rng, n, m):
    return drawn(rng, (n, m), m, n)


def mvt(x1, x2, y1, y2, a):
    return x1 + a @ y1, x2 + y2 @ a


def mvt_arguments(rng, n):
    return drawn(rng, n, n, n, n, (n, n))


def gemver(alpha, beta, a, u1, v1, u2, v2, x, y, z):
    a = a + np.outer(u1, v1) + np.outer(u2, v2)
    x = x + beta * y @ a + z
    return a, x, alpha * a @ x


def gemver_jax(alpha, beta, a, u1, v1, u2, v2, x, y, z):
    a = a + jnp.outer(u1, v1) + jnp.outer(u2, v2)
    x = x + beta * y @ a + z
    return a, x, alpha * a @ x


def gemver_arguments(rng, n):
    return 1.5, 1.2, *drawn(rng, (n, n), n, n, n, n, n, n, n)


def gesummv(alpha, beta, a, b, x):
    return alpha * a @ x + beta * b @ x


def gesummv_arguments(rng, n):
    return 1.5, 1.2, *drawn(rng, (n, n), (n, n), n)


def syrk(alpha, beta, c, a):
    c = c.copy()
    for i in range(a.shape[0]):
        c[i, :i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, :i + 1] += alpha * a[i, k] * a[:i + 1, k]
    return c


def syrk_jax(alpha, beta, c, a):
    return jnp.tril(alpha * a @ a.T + beta * c) + jnp.triu(c, 1)


def syrk_arguments(rng, n, m):
    return 1.5, 1.2, *drawn(rng, (n, n), (n, m))


def syr2k(alpha, beta, c, a, b):
    c = c.copy()
    for i in range(a.shape[0]):
        c[i, :i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, :i + 1] += a[:i + 1, k] * alpha * b[i, k] + b[:i + 1, k] * alpha * a[i, k]
    return c


def syr2k_jax(alpha, beta, c, a, b):
    half = alpha * a @ b.T
    return jnp.tril(half + half.T + beta * c) + jnp.triu(c, 1)


def syr2k_arguments(rng, n, m):
    return 1.5, 1.2, *drawn(rng, (n, n), (n, m), (n, m))


def trmm(alpha, a, b):
    """From the left by the transpose of a triangle with ones on its diagonal."""
    b = b.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1:, i], b[i + 1:, j])
    return b * alpha


def trmm_jax(alpha, a, b):
    return alpha * (b + jnp.tril(a, -1).T @ b)


def trmm_arguments(rng, n, m):
    return 1.5, *drawn(rng, (n, n), (n, m))


def doitgen(a, c):
    r, q, p = a.shape
    return np.reshape(np.reshape(a, (r, q, 1, p)) @ c, (r, q, p))


def doitgen_jax(a, c):
    return jnp.einsum("rqp,ps->rqs", a, c)


def doitgen_arguments(rng, r, q, p):
    return drawn(rng, (r, q, p), (p, p))


def covariance(data):
    n, m = data.shape
    data = data - np.mean(data, axis=0)
    result = np.zeros((m, m))
    for i in range(m):
        result[i:, i] = result[i, i:] = data[:, i] @ data[:, i:] / (n - 1.0)
    return result


def covariance_jax(data):
    apart = data - jnp.mean(data, axis=0)
    return apart.T @ apart / (data.shape[0] - 1.0)


def correlation(data):
    n, m = data.shape
    spread = np.std(data, axis=0)
    spread[spread <= 0.1] = 1.0
    data = (data - np.mean(data, axis=0)) / (np.sqrt(n) * spread)
    result = np.eye(m)
    for i in range(m - 1):
        result[i + 1:, i] = result[i, i + 1:] = data[:, i] @ data[:, i + 1:]
    return result


def correlation_jax(data):
    n, m = data.shape
    spread = jnp.std(data, axis=0)
    data = (data - jnp.mean(data, axis=0)) / (jnp.sqrt(n) * jnp.where(spread <= 0.1, 1.0, spread))
    return jnp.where(jnp.eye(m, dtype=bool), 1.0, data.T @ data)


def samples(rng, n, m):
    return drawn(rng, (n, m))


GEMM = Case("gemm", gemm, gemm_arguments, (300, 320, 340), (3, 4, 5), (gemm,))
TWO = Case("2mm", two_products, two_products_arguments, (250, 260, 270, 280), (3, 4, 5, 2), (two_products,))
THREE = Case("3mm", three_products, three_products_arguments, (250, 260, 270, 280, 290), (3, 4, 5, 2, 6),
             (three_products,))
ATAX = Case("atax", atax, atax_arguments, (1200, 1100), (5, 4), (atax,))
BICG = Case("bicg", bicg, bicg_arguments, (1200, 1100), (5, 4), (bicg,))
MVT = Case("mvt", mvt, mvt_arguments, (1200,), (5,), (mvt,))
GEMVER = Case("gemver", gemver, gemver_arguments, (1000,), (5,), (gemver_jax,))
GESUMMV = Case("gesummv", gesummv, gesummv_arguments, (1000,), (5,), (gesummv,))
SYRK = Case("syrk", syrk, syrk_arguments, (200, 150), (5, 4), (syrk_jax,))
SYR2K = Case("syr2k", syr2k, syr2k_arguments, (200, 150), (5, 4), (syr2k_jax,))
TRMM = Case("trmm", trmm, trmm_arguments, (150, 200), (5, 4), (trmm_jax,))
DOITGEN = Case("doitgen", doitgen, doitgen_arguments, (60, 60, 128), (3, 4, 5), (doitgen_jax,))
COVARIANCE = Case("covariance", covariance, samples, (500, 400), (7, 4), (covariance_jax,))
CORRELATION = Case("correlation", correlation, samples, (500, 400), (7, 4), (correlation_jax,))

CASES = [
    GEMM, gradient_of(GEMM, 2, 3, 4), TWO, gradient_of(TWO, 2, 3, 4, 5), THREE, gradient_of(THREE, 0, 1, 2, 3),
    ATAX, gradient_of(ATAX, 0, 1), BICG, gradient_of(BICG, 0, 1, 2), MVT, gradient_of(MVT, 2, 3, 4),
    GEMVER, gradient_of(GEMVER, 2, 3, 4, 7, 8), GESUMMV, gradient_of(GESUMMV, 2, 3, 4), SYRK, gradient_of(SYRK, 2, 3),
    SYR2K, gradient_of(SYR2K, 2, 3, 4), TRMM, gradient_of(TRMM, 1, 2), DOITGEN, gradient_of(DOITGEN, 0, 1),
    COVARIANCE, gradient_of(COVARIANCE, 0), CORRELATION, gradient_of(CORRELATION, 0),
]
