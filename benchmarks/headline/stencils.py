"""Gradients of stencils that are written in place, as slices or element by element."""

import numpy as np

from benchmarks.contest.case import Case
from benchmarks.contest.lazily import jnp, lax, scan

from .by_hand import by_hand, summing


def heat(u, c, w, steps):
    for _ in range(steps):
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * w)


def heat_jax(u, c, w, steps):
    def step(u, _):
        return u.at[1:-1].add(c * (u[2:] - 2 * u[1:-1] + u[:-2])), None
    return jnp.sum(scan(step, u, None, length=steps)[0] * w)


def heat_interior_jax(u, c, w, steps):
    """Only the interior is carried; the ends stay what they are."""
    left, right = u[:1], u[-1:]

    def step(inner, _):
        around = jnp.concatenate([left, inner, right])
        return inner + c * (around[2:] - 2 * inner + around[:-2]), None
    inner, _ = scan(step, u[1:-1], None, length=steps)
    return jnp.sum(jnp.concatenate([left, inner, right]) * w)


@summing
def heat_loop(u, c, w, states, du):
    """States are kept, of which the coefficient's gradient has need."""
    steps, n = states.shape[0] - 1, u.size
    states[0] = u
    for t in range(steps):
        before, then = states[t], states[t + 1]
        then[0], then[n - 1] = before[0], before[n - 1]
        for i in range(n - 2):
            then[i + 1] = before[i + 1] + c * (before[i + 2] - 2 * before[i + 1] + before[i])
    du[0], back = w, 0.0
    for t in range(steps):
        before, now, then = states[steps - 1 - t], du[t % 2], du[1 - t % 2]
        for i in range(n - 2):
            back += now[i + 1] * (before[i + 2] - 2 * before[i + 1] + before[i])
        for i in range(n - 4):
            then[i + 2] = now[i + 2] + c * (now[i + 3] - 2 * now[i + 2] + now[i + 1])
        then[1] = now[1] + c * (now[2] - 2 * now[1])
        then[n - 2] = now[n - 2] + c * (now[n - 3] - 2 * now[n - 2])
        then[0] = now[0] + c * now[1]
        then[n - 1] = now[n - 1] + c * now[n - 2]
    return back


def heat_by_hand(u, c, w, steps):
    du = np.empty((2, u.size))
    back = heat_loop(u, c, w, np.empty((steps + 1, u.size)), du)
    return du[steps % 2].copy(), back


def line(rng, n, steps):
    return rng.normal(size=n), 0.2, rng.normal(size=n), steps


def jacobi_line(a, b, w, steps):
    for _ in range(steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])
    return np.sum(a * w)


def jacobi_line_jax(a, b, w, steps):
    def half(into, of):
        return into.at[1:-1].set(0.33333 * (of[:-2] + of[1:-1] + of[2:]))

    def step(both, _):
        a, b = both
        b = half(b, a)
        return (half(a, b), b), None
    return jnp.sum(scan(step, (a, b), None, length=steps)[0][0] * w)


@by_hand
def jacobi_line_loop(da, db, work, steps):
    """Two half steps back, each of which moves the interior of one to the other."""
    n, c = da.size, 0.33333
    for k in range(2 * steps):
        of, into = (da, db) if k % 2 == 0 else (db, da)
        work[0], work[n - 1] = 0.0, 0.0
        for i in range(n - 2):
            work[i + 1] = of[i + 1]
            of[i + 1] = 0.0
        for i in range(n - 2):
            into[i + 1] += c * (work[i] + work[i + 1] + work[i + 2])
        into[0] += c * work[1]
        into[n - 1] += c * work[n - 2]


def jacobi_line_by_hand(a, b, w, steps):
    da, db = w.copy(), np.zeros_like(b)
    jacobi_line_loop(da, db, np.empty_like(a), steps)
    return da, db


def two_lines(rng, n, steps):
    return rng.normal(size=n), rng.normal(size=n), rng.normal(size=n), steps


def jacobi_plane(a, b, w, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return np.sum(a * w)


def jacobi_plane_jax(a, b, w, steps):
    def half(into, of):
        return into.at[1:-1, 1:-1].set(
            0.2 * (of[1:-1, 1:-1] + of[1:-1, :-2] + of[1:-1, 2:] + of[2:, 1:-1] + of[:-2, 1:-1]))

    def step(both, _):
        a, b = both
        b = half(b, a)
        return (half(a, b), b), None
    return jnp.sum(scan(step, (a, b), None, length=steps)[0][0] * w)


@by_hand
def jacobi_plane_loop(da, db, work, steps):
    n, m, c = da.shape[0], da.shape[1], 0.2
    work[:] = 0.0
    for k in range(2 * steps):
        of, into = (da, db) if k % 2 == 0 else (db, da)
        for i in range(1, n - 1):
            for j in range(m - 2):
                work[i, j + 1] = of[i, j + 1]
                of[i, j + 1] = 0.0
        for i in range(1, n - 1):
            for j in range(m - 2):
                into[i, j + 1] += c * (work[i, j + 1] + work[i, j] + work[i, j + 2] + work[i - 1, j + 1]
                                       + work[i + 1, j + 1])
            into[i, 0] += c * work[i, 1]
            into[i, m - 1] += c * work[i, m - 2]
        for j in range(m):
            into[0, j] += c * work[1, j]
            into[n - 1, j] += c * work[n - 2, j]


def jacobi_plane_by_hand(a, b, w, steps):
    da, db = w.copy(), np.zeros_like(b)
    jacobi_plane_loop(da, db, np.empty_like(a), steps)
    return da, db


def three_planes(rng, n, steps):
    return rng.normal(size=(n, n)), rng.normal(size=(n, n)), rng.normal(size=(n, n)), steps


def seidel(a, w, steps):
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j] + a[i, j + 1]
                           + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]) / 9.0
    return np.sum(a * w)


def seidel_jax(a, w, steps, along_row=None):
    """Rows by a scan; what is left of a row, in which each place depends on the one before, by another."""
    along_row = along_row or row_by_scan

    def row(above, both):
        now, below = both
        known = above[:-2] + above[1:-1] + above[2:] + now[1:-1] + now[2:] + below[:-2] + below[1:-1] + below[2:]
        then = jnp.concatenate([now[:1], along_row(now[0], known), now[-1:]])
        return then, then

    def sweep(a, _):
        _, inner = scan(row, a[0], (a[1:-1], a[2:]))
        return jnp.concatenate([a[:1], inner, a[-1:]]), None
    return jnp.sum(scan(sweep, a, None, length=steps)[0] * w)


def row_by_scan(first, known):
    def place(left, known):
        then = (left + known) / 9.0
        return then, then
    return scan(place, first, known, unroll=8)[1]


def row_in_parallel(first, known):
    def joined(one, other):
        return one[0] * other[0], other[0] * one[1] + other[1]
    factors, sums = lax.associative_scan(joined, (jnp.full_like(known, 1 / 9), known / 9))
    return factors * first + sums


def seidel_parallel_jax(a, w, steps):
    return seidel_jax(a, w, steps, row_in_parallel)


@by_hand
def seidel_loop(da, steps):
    n, m = da.shape
    for _ in range(steps):
        for i in range(n - 2, 0, -1):
            for j in range(m - 2, 0, -1):
                d = da[i, j] / 9.0
                da[i, j] = d
                da[i - 1, j - 1] += d
                da[i - 1, j] += d
                da[i - 1, j + 1] += d
                da[i, j - 1] += d
                da[i, j + 1] += d
                da[i + 1, j - 1] += d
                da[i + 1, j] += d
                da[i + 1, j + 1] += d


def seidel_by_hand(a, w, steps):
    da = w.copy()
    seidel_loop(da, steps)
    return da


def two_planes(rng, n, steps):
    return rng.normal(size=(n, n)), rng.normal(size=(n, n)), steps


CASES = [
    Case("gradient of heat, 10000 x 200 steps", heat, line, (10_000, 200), (8, 3), (heat_jax, heat_interior_jax),
         "grad", (0, 1), hand=heat_by_hand),
    Case("gradient of jacobi_1d, 10000 x 200 steps", jacobi_line, two_lines, (10_000, 200), (8, 3), (jacobi_line_jax,),
         "grad", (0, 1), hand=jacobi_line_by_hand),
    Case("gradient of jacobi_2d, 300 x 300 x 20 steps", jacobi_plane, three_planes, (300, 20), (6, 2),
         (jacobi_plane_jax,), "grad", (0, 1), hand=jacobi_plane_by_hand),
    Case("gradient of seidel_2d, 200 x 200 x 20 steps", seidel, two_planes, (200, 20), (6, 2),
         (seidel_jax, seidel_parallel_jax), "grad", hand=seidel_by_hand),
]
