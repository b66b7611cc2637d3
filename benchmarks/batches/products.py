"""Products of vectors, and a Hessian."""

import numpy as np

from benchmarks.contest.case import Case
from benchmarks.contest.lazily import jax, jnp
from transformer import hessian, vmap


def dots(x, y):
    return vmap(np.dot)(x, y)


def dots_jax(x, y):
    return jax.vmap(jnp.dot)(x, y)


def dots_jax_einsum(x, y):
    return jnp.einsum("nk,nk->n", x, y)


def pairs(rng, n, k):
    return rng.normal(size=(n, k)).astype("f4"), rng.normal(size=(n, k)).astype("f4")


def table(x, y):
    return vmap(vmap(np.dot, in_axes=(None, 0)), in_axes=(0, None))(x, y)


def table_jax(x, y):
    return jax.vmap(jax.vmap(jnp.dot, in_axes=(None, 0)), in_axes=(0, None))(x, y)


def squares(rng, n):
    return rng.normal(size=(n, n)).astype("f4"), rng.normal(size=(n, n)).astype("f4")


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_jax(x):
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def curvature(x):
    return hessian(rosenbrock)(x)


def curvature_jax(x):
    return jax.hessian(rosenbrock_jax)(x)


def point(rng, n):
    return (rng.normal(size=n),)


CASES = [
    Case("vmap of dot, 10000 x 256 f32", dots, pairs, (10000, 256), (5, 3), (dots_jax, dots_jax_einsum)),
    Case("vmap of vmap of dot, 1000 x 1000 f32", table, squares, (1000,), (4,), (table_jax,)),
    Case("Hessian of Rosenbrock, 50 variables", curvature, point, (50,), (5,), (curvature_jax,)),
]
