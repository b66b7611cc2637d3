"""Elementwise programs and reductions over all elements."""

import numpy as np

from benchmarks.contest.case import Case, gradient_of
from benchmarks.contest.lazily import jax, jnp


def compute(first, second, a, b, c):
    return np.clip(first, 2, 10) * a + second * b + c


def compute_jax(first, second, a, b, c):
    return jnp.clip(first, 2, 10) * a + second * b + c


def integers(rng, n, m):
    return rng.integers(0, 1000, (n, m)), rng.integers(0, 1000, (n, m)), 4, 3, 9


def clipping(x, low, high):
    """Beyond the bounds there is the square root of the excess."""
    inside = np.clip(x, low, high)
    return inside + np.sign(x - inside) * np.sqrt(np.abs(x - inside) + 1e-3)


def clipping_jax(x, low, high):
    inside = jnp.clip(x, low, high)
    return inside + jnp.sign(x - inside) * jnp.sqrt(jnp.abs(x - inside) + 1e-3)


def bounded(rng, n, m):
    return rng.normal(size=(n, m)), -0.5, 0.8


def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def go_fast_jax(a):
    return a + jnp.sum(jnp.tanh(jnp.diagonal(a)))


def square(rng, n):
    return rng.normal(size=(n, n)),


def arc_distance(theta1, phi1, theta2, phi2):
    haversine = (np.sin((theta2 - theta1) / 2) ** 2
                 + np.cos(theta1) * np.cos(theta2) * np.sin((phi2 - phi1) / 2) ** 2)
    return 2 * np.arctan2(np.sqrt(haversine), np.sqrt(1 - haversine))


def arc_distance_jax(theta1, phi1, theta2, phi2):
    haversine = (jnp.sin((theta2 - theta1) / 2) ** 2
                 + jnp.cos(theta1) * jnp.cos(theta2) * jnp.sin((phi2 - phi1) / 2) ** 2)
    return 2 * jnp.arctan2(jnp.sqrt(haversine), jnp.sqrt(1 - haversine))


def angles(rng, n):
    return tuple(rng.uniform(0.1, 1.4, n) for _ in range(4))


def azimint(data, radius, bins):
    """Means over rings of one width."""
    outermost = radius.max()
    result = np.zeros(bins)
    for i in range(bins):
        inner = outermost * i / bins
        outer = outermost * (i + 1) / bins
        ring = np.logical_and(inner <= radius, radius < outer)
        result[i] = np.sum(np.where(ring, data, 0.0)) / np.sum(ring)
    return result


def azimint_jax(data, radius, bins):
    """Each element adds to its ring."""
    edges = jnp.max(radius) * jnp.arange(bins + 1) / bins
    ring = jnp.searchsorted(edges, radius, side="right", method="compare_all") - 1
    sums = jax.ops.segment_sum(data, ring, bins)                     # the outermost element is in no ring
    return sums / jax.ops.segment_sum(jnp.ones_like(data), ring, bins)


def azimint_masks_jax(data, radius, bins):
    edges = jnp.max(radius) * jnp.arange(bins + 1) / bins

    def mean(inner, outer):
        ring = (inner <= radius) & (radius < outer)
        return jnp.sum(jnp.where(ring, data, 0.0)) / jnp.sum(ring)
    return jax.lax.map(lambda both: mean(*both), (edges[:-1], edges[1:]))


def scattered(rng, n, bins):
    return rng.normal(size=n), rng.uniform(size=n), bins


CLIPPING = Case("clipping", clipping, bounded, (1000, 1000), (5, 4), (clipping_jax,))
GO_FAST = Case("go_fast", go_fast, square, (1500,), (5,), (go_fast_jax,))
ARCS = Case("arc_distance", arc_distance, angles, (300_000,), (7,), (arc_distance_jax,))
AZIMINT = Case("azimint", azimint, scattered, (100_000, 50), (60, 3), (azimint_jax, azimint_masks_jax))

CASES = [
    Case("compute", compute, integers, (1000, 1000), (4, 5), (compute_jax,)), CLIPPING, gradient_of(CLIPPING, 0),
    GO_FAST, gradient_of(GO_FAST, 0), ARCS, gradient_of(ARCS, 0, 1, 2, 3), AZIMINT, gradient_of(AZIMINT, 0),
]
