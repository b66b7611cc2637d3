"""Loops that go over whole arrays again and again, each place for itself."""

import numpy as np

from benchmarks.contest.lazily import jax

from .ported import Case, gradient_of


def polynomial(x, c):
    y = np.zeros_like(x)
    for k in range(len(c)):
        y = y * x + c[k]
    return y


def polynomial_jax(x, c):
    return jax.lax.scan(lambda y, c_k: (y * x + c_k, None), 0.0 * x, c)[0]


def roots(a):
    x = np.ones_like(a)
    for _ in range(20):
        x = 0.5 * (x + a / x)
    return x


def roots_jax(a):
    return jax.lax.scan(lambda x, _: (0.5 * (x + a / x), None), 0.0 * a + 1.0, length=20)[0]


def lorenz(x, y, z, dt, steps):
    for _ in range(steps):
        x, y, z = x + dt * 10 * (y - x), y + dt * (x * (28 - z) - y), z + dt * (x * y - 8 / 3 * z)
    return x + y + z


def lorenz_jax(x, y, z, dt, steps):
    def step(state, _):
        x, y, z = state
        return (x + dt * 10 * (y - x), y + dt * (x * (28 - z) - y), z + dt * (x * y - 8 / 3 * z)), None
    return sum(jax.lax.scan(step, (x, y, z), length=steps)[0])


def places_and_coefficients(rng, n, m):
    return rng.normal(size=n), rng.normal(size=m)


def positive(rng, n):
    return (rng.uniform(0.5, 1.5, n),)


def states(rng, n, steps):
    return (*(rng.normal(size=n) for _ in range(3)), 0.001, steps)


PROGRAMS = [
    Case("polynomial at 1e6 places", polynomial, places_and_coefficients, (1_000_000, 8), (6, 3), (polynomial_jax,)),
    Case("roots of 2e5 numbers", roots, positive, (200_000,), (5,), (roots_jax,)),
    Case("20,000 Lorenz systems, 50 steps", lorenz, states, (20_000, 50), (5, 4), (lorenz_jax,)),
]
CASES = [case for each in PROGRAMS for case in (each, gradient_of(each, 0))]
