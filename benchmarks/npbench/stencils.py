"""Heat, electromagnetic waves, and the diffusion and vertical advection of weather models."""

import numpy as np

from benchmarks.contest.case import Case, gradient_of
from benchmarks.contest.lazily import jnp, lax, scan


def warmed(a):
    """A step's change of the interior."""
    inner = a[1:-1, 1:-1, 1:-1]
    return (0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * inner + a[:-2, 1:-1, 1:-1])
            + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * inner + a[1:-1, :-2, 1:-1])
            + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * inner + a[1:-1, 1:-1, :-2]) + inner)


def heat_3d(a, b, steps):
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        b[1:-1, 1:-1, 1:-1] = warmed(a)
        a[1:-1, 1:-1, 1:-1] = warmed(b)
    return a, b


def heat_3d_jax(a, b, steps):
    def step(both, _):
        a, b = both
        b = b.at[1:-1, 1:-1, 1:-1].set(warmed(a))
        return (a.at[1:-1, 1:-1, 1:-1].set(warmed(b)), b), None
    return scan(step, (a, b), None, length=steps)[0]


def heat_3d_arguments(rng, n, steps):
    return rng.normal(size=(n, n, n)), rng.normal(size=(n, n, n)), steps


def fdtd_2d(ex, ey, hz, source):
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for t in range(source.shape[0]):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return ex, ey, hz


def fdtd_2d_jax(ex, ey, hz, source):
    def step(fields, now):
        ex, ey, hz = fields
        ey = ey.at[0, :].set(now).at[1:, :].add(-0.5 * (hz[1:, :] - hz[:-1, :]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        hz = hz.at[:-1, :-1].add(-0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]))
        return (ex, ey, hz), None
    return scan(step, (ex, ey, hz), source)[0]


def fdtd_2d_joined_jax(ex, ey, hz, source):
    """Arrays put together in place of updates."""
    def step(fields, now):
        ex, ey, hz = fields
        ey = jnp.concatenate([jnp.full((1, ey.shape[1]), now), ey[1:] - 0.5 * (hz[1:] - hz[:-1])])
        ex = jnp.concatenate([ex[:, :1], ex[:, 1:] - 0.5 * (hz[:, 1:] - hz[:, :-1])], axis=1)
        curl = ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]
        return (ex, ey, hz - 0.7 * jnp.pad(curl, ((0, 1), (0, 1)))), None
    return scan(step, (ex, ey, hz), source)[0]


def fdtd_2d_arguments(rng, n, m, steps):
    return *(rng.normal(size=(n, m)) for _ in range(3)), np.arange(steps) * 0.1


def hdiff(field, coefficient):
    inner = field[1:-1, 1:-1, :]
    laplacian = 4.0 * inner - (field[2:, 1:-1, :] + field[:-2, 1:-1, :] + field[1:-1, 2:, :] + field[1:-1, :-2, :])
    across = laplacian[1:, 1:-1, :] - laplacian[:-1, 1:-1, :]
    across = np.where(across * (field[2:-1, 2:-2, :] - field[1:-2, 2:-2, :]) > 0, 0, across)
    along = laplacian[1:-1, 1:, :] - laplacian[1:-1, :-1, :]
    along = np.where(along * (field[2:-2, 2:-1, :] - field[2:-2, 1:-2, :]) > 0, 0, along)
    return field[2:-2, 2:-2, :] - coefficient * (
        across[1:, :, :] - across[:-1, :, :] + along[:, 1:, :] - along[:, :-1, :])


def hdiff_jax(field, coefficient):
    inner = field[1:-1, 1:-1, :]
    laplacian = 4.0 * inner - (field[2:, 1:-1, :] + field[:-2, 1:-1, :] + field[1:-1, 2:, :] + field[1:-1, :-2, :])
    across = laplacian[1:, 1:-1, :] - laplacian[:-1, 1:-1, :]
    across = jnp.where(across * (field[2:-1, 2:-2, :] - field[1:-2, 2:-2, :]) > 0, 0, across)
    along = laplacian[1:-1, 1:, :] - laplacian[1:-1, :-1, :]
    along = jnp.where(along * (field[2:-2, 2:-1, :] - field[2:-2, 1:-2, :]) > 0, 0, along)
    return field[2:-2, 2:-2, :] - coefficient * (
        across[1:, :, :] - across[:-1, :, :] + along[:, 1:, :] - along[:, :-1, :])


def hdiff_arguments(rng, n, m, k):
    return rng.normal(size=(n + 4, m + 4, k)), rng.normal(size=(n, m, k))


def vadv(below, middle, above, right):
    """Tridiagonal systems along the last axis, one for each column of air."""
    levels = right.shape[2]
    upper = np.empty_like(right)
    solved = np.empty_like(right)
    result = np.empty_like(right)
    upper[:, :, 0] = above[:, :, 0] / middle[:, :, 0]
    solved[:, :, 0] = right[:, :, 0] / middle[:, :, 0]
    for k in range(1, levels):
        divided = 1.0 / (middle[:, :, k] - below[:, :, k] * upper[:, :, k - 1])
        upper[:, :, k] = above[:, :, k] * divided
        solved[:, :, k] = (right[:, :, k] - below[:, :, k] * solved[:, :, k - 1]) * divided
    result[:, :, levels - 1] = solved[:, :, levels - 1]
    for k in range(levels - 2, -1, -1):
        result[:, :, k] = solved[:, :, k] - upper[:, :, k] * result[:, :, k + 1]
    return result


def vadv_jax(below, middle, above, right):
    def down(before, level):
        upper, solved = before
        below, middle, above, right = level
        divided = 1.0 / (middle - below * upper)
        then = above * divided, (right - below * solved) * divided
        return then, then

    def up(after, level):
        upper, solved = level
        then = solved - upper * after
        return then, then
    levels = tuple(jnp.moveaxis(each, 2, 0) for each in (below, middle, above, right))
    nothing = jnp.zeros_like(levels[0][0])
    _, swept = scan(down, (nothing, nothing), levels)
    return jnp.moveaxis(scan(up, nothing, swept, reverse=True)[1], 0, 2)


def vadv_library_jax(below, middle, above, right):
    first = jnp.arange(below.shape[2]) == 0
    last = first[::-1]
    return lax.linalg.tridiagonal_solve(jnp.where(first, 0, below), middle, jnp.where(last, 0, above),
                                        right[..., None])[..., 0]


def vadv_arguments(rng, n, m, k):
    off = [rng.uniform(-0.4, 0.4, (n, m, k)) for _ in range(2)]
    return off[0], 2 + rng.uniform(size=(n, m, k)), off[1], rng.normal(size=(n, m, k))


HEAT = Case("heat_3d", heat_3d, heat_3d_arguments, (60, 20), (5, 2), (heat_3d_jax,))
FDTD = Case("fdtd_2d", fdtd_2d, fdtd_2d_arguments, (200, 220, 50), (5, 6, 3), (fdtd_2d_jax, fdtd_2d_joined_jax))
HDIFF = Case("hdiff", hdiff, hdiff_arguments, (128, 128, 60), (4, 5, 3), (hdiff_jax,))
VADV = Case("vadv", vadv, vadv_arguments, (64, 64, 80), (2, 3, 4), (vadv_jax, vadv_library_jax))

CASES = [
    HEAT, gradient_of(HEAT, 0, 1), FDTD, gradient_of(FDTD, 0, 1, 2, 3), HDIFF, gradient_of(HDIFF, 0, 1),
    VADV, gradient_of(VADV, 0, 1, 2, 3),
]
