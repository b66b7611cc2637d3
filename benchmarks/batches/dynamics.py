"""Loops that end elsewhere in each lane."""

import numpy as np

from benchmarks.contest.case import Case
from benchmarks.contest.lazily import jax, jnp
from transformer import vmap


def escape(c_re, c_im, limit):
    re, im, count = 0.0, 0.0, 0
    while re * re + im * im <= 4.0 and count < limit:
        re, im = re * re - im * im + c_re, 2.0 * re * im + c_im
        count += 1
    return count


def escape_jax(c_re, c_im, limit):
    def step(state):
        re, im, count = state
        return re * re - im * im + c_re, 2.0 * re * im + c_im, count + 1

    def inside(state):
        re, im, count = state
        return (re * re + im * im <= 4.0) & (count < limit)
    return jax.lax.while_loop(inside, step, (0.0, 0.0, 0))[2]


def mandelbrot(re, im, limit):
    return vmap(vmap(escape, in_axes=(0, None, None)), in_axes=(None, 0, None))(re, im, limit)


def mandelbrot_jax(re, im, limit):
    return jax.vmap(jax.vmap(escape_jax, in_axes=(0, None, None)), in_axes=(None, 0, None))(re, im, limit)


def plane(rng, n, limit):
    return np.linspace(-2.0, 0.5, n), np.linspace(-1.25, 1.25, n), limit


def decay(stiffness, end, tolerance):
    """y' = -k (y - cos t) by Heun's method with steps of the size that the error allows."""
    t, y, h = 0.0, 0.0, 0.01
    while t < end:
        h = min(h, end - t)
        first = -stiffness * (y - np.cos(t))
        second = -stiffness * (y + h * first - np.cos(t + h))
        error = abs(0.5 * h * (second - first)) + 1e-15
        if error <= tolerance:
            t = t + h
            y = y + 0.5 * h * (first + second)
        h = h * min(2.0, max(0.2, 0.9 * np.sqrt(tolerance / error)))
    return y


def decay_jax(stiffness, end, tolerance):
    def step(state):
        t, y, h = state
        h = jnp.minimum(h, end - t)
        first = -stiffness * (y - jnp.cos(t))
        second = -stiffness * (y + h * first - jnp.cos(t + h))
        error = jnp.abs(0.5 * h * (second - first)) + 1e-15
        taken = error <= tolerance
        grown = h * jnp.minimum(2.0, jnp.maximum(0.2, 0.9 * jnp.sqrt(tolerance / error)))
        return jnp.where(taken, t + h, t), jnp.where(taken, y + 0.5 * h * (first + second), y), grown
    return jax.lax.while_loop(lambda state: state[0] < end, step, (0.0, 0.0, 0.01))[1]


def decays(stiffness, end, tolerance):
    return vmap(decay, in_axes=(0, None, None))(stiffness, end, tolerance)


def decays_jax(stiffness, end, tolerance):
    return jax.vmap(decay_jax, in_axes=(0, None, None))(stiffness, end, tolerance)


def springs(rng, n):
    return np.exp(rng.uniform(np.log(1.0), np.log(400.0), n)), 3.0, 1e-4


CASES = [
    Case("Mandelbrot 400 x 400, a while loop for each point", mandelbrot, plane, (400, 200), (5, 20),
         (mandelbrot_jax,)),
    Case("1000 adaptive ODE solvers, 1 to 20 times as many steps", decays, springs, (1000,), (4,), (decays_jax,)),
]
