"""Systems that are stepped: Lorenz' by Runge and Kutta, and the logistic map."""

import numpy as np

import transformer
from benchmarks.contest.case import Case
from benchmarks.contest.lazily import jax, jnp, lax, scan

from .by_hand import by_hand


def lorenz(parameters, weights, steps):
    sigma, rho, beta = parameters
    h = 0.001
    x = np.array([1.0, 1.0, 1.0])

    def slope(x):
        return np.array([sigma * (x[1] - x[0]), x[0] * (rho - x[2]) - x[1], x[0] * x[1] - beta * x[2]])

    for _ in range(steps):
        k1 = slope(x)
        k2 = slope(x + h / 2 * k1)
        k3 = slope(x + h / 2 * k2)
        k4 = slope(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(weights * x)


def lorenz_jax(parameters, weights, steps, unroll=1):
    sigma, rho, beta = parameters
    h = 0.001

    def slope(x):
        return jnp.array([sigma * (x[1] - x[0]), x[0] * (rho - x[2]) - x[1], x[0] * x[1] - beta * x[2]])

    def step(x, _):
        k1 = slope(x)
        k2 = slope(x + h / 2 * k1)
        k3 = slope(x + h / 2 * k2)
        k4 = slope(x + h * k3)
        return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None
    x, _ = scan(step, jnp.ones(3), None, length=steps, unroll=unroll)
    return jnp.sum(weights * x)


def lorenz_scalars_jax(parameters, weights, steps, unroll=1):
    """The state as three numbers."""
    sigma, rho, beta = parameters
    h = 0.001

    def slope(x, y, z):
        return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

    def moved(state, k, by):
        return tuple(s + by * d for s, d in zip(state, k))

    def step(state, _):
        k1 = slope(*state)
        k2 = slope(*moved(state, k1, h / 2))
        k3 = slope(*moved(state, k2, h / 2))
        k4 = slope(*moved(state, k3, h))
        return tuple(s + h / 6 * (a + 2 * b + 2 * c + d) for s, a, b, c, d in zip(state, k1, k2, k3, k4)), None
    (x, y, z), _ = scan(step, (1.0, 1.0, 1.0), None, length=steps, unroll=unroll)
    return weights[0] * x + weights[1] * y + weights[2] * z


def lorenz_unrolled_jax(parameters, weights, steps):
    return lorenz_scalars_jax(parameters, weights, steps, unroll=4)


@by_hand
def slope_at(x, y, z, sigma, rho, beta):
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


@by_hand
def lorenz_by_hand(parameters, weights, steps):
    sigma, rho, beta = parameters[0], parameters[1], parameters[2]
    h, x, y, z = 0.001, 1.0, 1.0, 1.0
    for _ in range(steps):
        a1, b1, c1 = slope_at(x, y, z, sigma, rho, beta)
        a2, b2, c2 = slope_at(x + h / 2 * a1, y + h / 2 * b1, z + h / 2 * c1, sigma, rho, beta)
        a3, b3, c3 = slope_at(x + h / 2 * a2, y + h / 2 * b2, z + h / 2 * c2, sigma, rho, beta)
        a4, b4, c4 = slope_at(x + h * a3, y + h * b3, z + h * c3, sigma, rho, beta)
        x += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        y += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
        z += h / 6 * (c1 + 2 * c2 + 2 * c3 + c4)
    return weights[0] * x + weights[1] * y + weights[2] * z


@by_hand
def slope_back(x, y, z, sigma, rho, beta, da, db, dc):
    """Cotangents of a state, and of the parameters, for those of its slope."""
    return (db * (rho - z) + dc * y - sigma * da, sigma * da - db + dc * x, -db * x - beta * dc, da * (y - x), db * x,
            -dc * z)


@by_hand
def lorenz_gradient_loop(parameters, weights, steps, states, result):
    sigma, rho, beta = parameters[0], parameters[1], parameters[2]
    h, x, y, z = 0.001, 1.0, 1.0, 1.0
    for t in range(steps):
        states[t, 0], states[t, 1], states[t, 2] = x, y, z
        a1, b1, c1 = slope_at(x, y, z, sigma, rho, beta)
        a2, b2, c2 = slope_at(x + h / 2 * a1, y + h / 2 * b1, z + h / 2 * c1, sigma, rho, beta)
        a3, b3, c3 = slope_at(x + h / 2 * a2, y + h / 2 * b2, z + h / 2 * c2, sigma, rho, beta)
        a4, b4, c4 = slope_at(x + h * a3, y + h * b3, z + h * c3, sigma, rho, beta)
        x += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        y += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
        z += h / 6 * (c1 + 2 * c2 + 2 * c3 + c4)
    p, q, r = weights[0], weights[1], weights[2]            # cotangents of the state
    ds, dr, db = 0.0, 0.0, 0.0
    for t in range(steps - 1, -1, -1):
        x, y, z = states[t, 0], states[t, 1], states[t, 2]
        a1, b1, c1 = slope_at(x, y, z, sigma, rho, beta)
        x2, y2, z2 = x + h / 2 * a1, y + h / 2 * b1, z + h / 2 * c1
        a2, b2, c2 = slope_at(x2, y2, z2, sigma, rho, beta)
        x3, y3, z3 = x + h / 2 * a2, y + h / 2 * b2, z + h / 2 * c2
        a3, b3, c3 = slope_at(x3, y3, z3, sigma, rho, beta)
        x4, y4, z4 = x + h * a3, y + h * b3, z + h * c3
        p4, q4, r4, s4, u4, v4 = slope_back(x4, y4, z4, sigma, rho, beta, h / 6 * p, h / 6 * q, h / 6 * r)
        p3, q3, r3, s3, u3, v3 = slope_back(x3, y3, z3, sigma, rho, beta, h / 3 * p + h * p4, h / 3 * q + h * q4,
                                            h / 3 * r + h * r4)
        p2, q2, r2, s2, u2, v2 = slope_back(x2, y2, z2, sigma, rho, beta, h / 3 * p + h / 2 * p3,
                                            h / 3 * q + h / 2 * q3, h / 3 * r + h / 2 * r3)
        p1, q1, r1, s1, u1, v1 = slope_back(x, y, z, sigma, rho, beta, h / 6 * p + h / 2 * p2,
                                            h / 6 * q + h / 2 * q2, h / 6 * r + h / 2 * r2)
        p += p1 + p2 + p3 + p4
        q += q1 + q2 + q3 + q4
        r += r1 + r2 + r3 + r4
        ds += s1 + s2 + s3 + s4
        dr += u1 + u2 + u3 + u4
        db += v1 + v2 + v3 + v4
    result[0], result[1], result[2] = ds, dr, db


def lorenz_gradient_by_hand(parameters, weights, steps):
    result = np.empty(3)
    lorenz_gradient_loop(parameters, weights, steps, np.empty((steps, 3)), result)
    return result


def lorenz_arguments(rng, steps):
    return np.array([10.0, 28.0, 8 / 3]), rng.normal(size=3), steps


def logistic_map(x, r, steps):
    for _ in range(steps):
        x = r * x * (1 - x)
    return x


def logistic_map_along(x, r, steps, dx, dr):
    return transformer.jvp(lambda x, r: logistic_map(x, r, steps), (x, r), (dx, dr))


def logistic_map_jax(x, r, steps):
    return lax.fori_loop(0, steps, lambda _, x: r * x * (1 - x), x)


def logistic_map_unrolled_jax(x, r, steps):
    return scan(lambda x, _: (r * x * (1 - x), None), x, None, length=steps, unroll=8)[0]


def along_jax(x, r, steps, dx, dr):
    return jax.jvp(lambda x, r: logistic_map_jax(x, r, steps), (x, r), (dx, dr))


def along_unrolled_jax(x, r, steps, dx, dr):
    return jax.jvp(lambda x, r: logistic_map_unrolled_jax(x, r, steps), (x, r), (dx, dr))


@by_hand
def logistic_map_by_hand(x, r, steps):
    for _ in range(steps):
        x = r * x * (1 - x)
    return x


@by_hand
def logistic_gradient_loop(x, r, steps, states):
    for t in range(steps):
        states[t] = x
        x = r * x * (1 - x)
    dx, dr = 1.0, 0.0
    for t in range(steps - 1, -1, -1):
        x = states[t]
        dr += dx * x * (1 - x)
        dx *= r * (1 - 2 * x)
    return dx, dr


def logistic_gradient_by_hand(x, r, steps):
    return logistic_gradient_loop(x, r, steps, np.empty(steps))


@by_hand
def along_by_hand(x, r, steps, dx, dr):
    for _ in range(steps):
        dx = dr * x * (1 - x) + r * (1 - 2 * x) * dx
        x = r * x * (1 - x)
    return x, dx


def map_arguments(rng, steps):
    """In the range where the map settles on a cycle: elsewhere every rounding error grows."""
    return 0.3, 3.5, steps


def map_and_tangents(rng, steps):
    return *map_arguments(rng, steps), rng.normal(), rng.normal()


MAPS = logistic_map_jax, logistic_map_unrolled_jax
SYSTEMS = lorenz_jax, lorenz_scalars_jax, lorenz_unrolled_jax      # the last takes a minute to compile as a gradient

CASES = [
    Case("Lorenz, 10000 Runge-Kutta steps", lorenz, lorenz_arguments, (10_000,), (7,), SYSTEMS, hand=lorenz_by_hand,
         tolerance=1e-6),
    Case("gradient of Lorenz, 10000 steps", lorenz, lorenz_arguments, (10_000,), (7,), SYSTEMS[:2], "grad",
         hand=lorenz_gradient_by_hand, tolerance=1e-6),
    Case("logistic map, 10000 steps", logistic_map, map_arguments, (10_000,), (7,), MAPS, hand=logistic_map_by_hand),
    Case("gradient of the logistic map", logistic_map, map_arguments, (10_000,), (7,), MAPS, "grad", (0, 1),
         hand=logistic_gradient_by_hand, tolerance=1e-6),
    Case("jvp of the logistic map", logistic_map_along, map_and_tangents, (10_000,), (7,),
         (along_jax, along_unrolled_jax), hand=along_by_hand, tolerance=1e-6),
]
