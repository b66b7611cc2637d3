"""Bodies that attract each other, as a broadcasting source."""

import functools

import numpy as np

from benchmarks.contest.case import Case
from benchmarks.contest.lazily import jax, jnp

from .by_hand import summing


def accelerations(places, masses):
    apart = places[None, :, :] - places[:, None, :]
    squares = np.sum(apart**2, axis=-1) + 0.01
    return np.sum(masses[None, :, None] * apart * (squares**-1.5)[:, :, None], axis=1)


def accelerations_jax(places, masses):
    apart = places[None, :, :] - places[:, None, :]
    squares = jnp.sum(apart**2, axis=-1) + 0.01
    return jnp.sum(masses[None, :, None] * apart * (squares**-1.5)[:, :, None], axis=1)


def accelerations_by_component_jax(places, masses):
    """Components apart, and a reciprocal root in place of the power."""
    dx, dy, dz = (places[None, :, k] - places[:, None, k] for k in range(3))
    inverse = jax.lax.rsqrt(dx * dx + dy * dy + dz * dz + 0.01)
    pull = masses * inverse * inverse * inverse
    return jnp.stack([jnp.sum(pull * d, axis=1) for d in (dx, dy, dz)], axis=1)


def accelerations_by_product_jax(places, masses):
    """The sum over bodies as a matrix product."""
    dx, dy, dz = (places[None, :, k] - places[:, None, k] for k in range(3))
    inverse = jax.lax.rsqrt(dx * dx + dy * dy + dz * dz + 0.01)
    pull = masses * inverse * inverse * inverse
    return pull @ places - jnp.sum(pull, axis=1, keepdims=True) * places


@summing
def accelerations_loop(x, y, z, masses, result):
    n = x.size
    zero, one, soft = x.dtype.type(0), x.dtype.type(1), x.dtype.type(0.01)
    for i in range(n):
        ax, ay, az = zero, zero, zero
        for j in range(n):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            square = dx * dx + dy * dy + dz * dz + soft
            pull = masses[j] * (one / (square * np.sqrt(square)))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        result[i, 0], result[i, 1], result[i, 2] = ax, ay, az


def accelerations_by_hand(places, masses):
    result = np.empty_like(places)
    accelerations_loop(*np.ascontiguousarray(places.T), masses, result)
    return result


def bodies(rng, n, dtype):
    return rng.normal(size=(n, 3)).astype(dtype), rng.uniform(0.5, 1.5, n).astype(dtype)


CASES = [Case(f"N-body, 1000 {name}", accelerations, functools.partial(bodies, dtype=dtype), (1000,), (6,),
              (accelerations_jax, accelerations_by_component_jax, accelerations_by_product_jax),
              hand=accelerations_by_hand)
         for name, dtype in (("f32", "f4"), ("f64", "f8"))]
