"""Bodies, fractals, filters of images, sparse matrices, scattering."""

import numpy as np

from benchmarks.contest.case import Case, gradient_of
from benchmarks.contest.lazily import jax, jnp, lax, scan


def pulls(places, masses):
    x, y, z = places[:, 0:1], places[:, 1:2], places[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inverse = (dx**2 + dy**2 + dz**2 + 0.01) ** -1.5
    return np.hstack(((dx * inverse) @ masses, (dy * inverse) @ masses, (dz * inverse) @ masses))


def nbody(places, speeds, masses, steps):
    pull = pulls(places, masses)
    for _ in range(steps):
        speeds = speeds + 0.005 * pull
        places = places + 0.01 * speeds
        pull = pulls(places, masses)
        speeds = speeds + 0.005 * pull
    return places, speeds


def pulls_jax(places, masses):
    dx, dy, dz = (places[None, :, k] - places[:, None, k] for k in range(3))
    inverse = lax.rsqrt(dx * dx + dy * dy + dz * dz + 0.01)
    pull = inverse * inverse * inverse * masses[:, 0]
    return jnp.stack([jnp.sum(pull * d, axis=1) for d in (dx, dy, dz)], axis=1)


def pulls_by_product_jax(places, masses):
    dx, dy, dz = (places[None, :, k] - places[:, None, k] for k in range(3))
    inverse = lax.rsqrt(dx * dx + dy * dy + dz * dz + 0.01)
    pull = inverse * inverse * inverse * masses[:, 0]
    return pull @ places - jnp.sum(pull, axis=1, keepdims=True) * places


def nbody_jax(places, speeds, masses, steps, pulls=pulls_jax):
    def step(state, _):
        places, speeds, pull = state
        speeds = speeds + 0.005 * pull
        places = places + 0.01 * speeds
        pull = pulls(places, masses)
        return (places, speeds + 0.005 * pull, pull), None
    (places, speeds, _), _ = scan(step, (places, speeds, pulls(places, masses)), None, length=steps)
    return places, speeds


def nbody_by_product_jax(places, speeds, masses, steps):
    return nbody_jax(places, speeds, masses, steps, pulls_by_product_jax)


def bodies(rng, n, steps):
    return rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), rng.uniform(0.5, 1.5, (n, 1)) / n, steps


def mandelbrot(real, imaginary, steps):
    c = real + imaginary[:, None] * 1j
    counts = np.zeros(c.shape, np.int64)
    z = np.zeros(c.shape, np.complex128)
    for n in range(steps):
        inside = np.abs(z) < 2.0
        counts[inside] = n
        z[inside] = z[inside] ** 2 + c[inside]
    counts[counts == steps - 1] = 0
    return z, counts


def mandelbrot_jax(real, imaginary, steps):
    c = real + imaginary[:, None] * 1j

    def step(n, state):
        z, counts = state
        inside = jnp.abs(z) < 2.0
        return jnp.where(inside, z * z + c, z), jnp.where(inside, n, counts)
    z, counts = lax.fori_loop(0, steps, step, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int64)))
    return z, jnp.where(counts == steps - 1, 0, counts)


def mandelbrot_real_jax(real, imaginary, steps):
    """In real arithmetic, without the square root."""
    x0, y0 = jnp.broadcast_arrays(real, imaginary[:, None])

    def step(n, state):
        x, y, counts = state
        inside = x * x + y * y < 4.0
        x, y = jnp.where(inside, x * x - y * y + x0, x), jnp.where(inside, 2 * x * y + y0, y)
        return x, y, jnp.where(inside, n, counts)
    start = jnp.zeros_like(x0), jnp.zeros_like(x0), jnp.zeros(x0.shape, jnp.int64)
    x, y, counts = lax.fori_loop(0, steps, step, start)
    return lax.complex(x, y), jnp.where(counts == steps - 1, 0, counts)


def plane(rng, n, m, steps):
    return np.linspace(-1.75, 0.25, n), np.linspace(-1.0, 1.0, m), steps


def coefficients(alpha):
    decay = np.exp(-alpha)
    k = (1.0 - decay) * (1.0 - decay) / (1.0 + alpha * np.exp(-alpha) * 2.0 - np.exp(2.0 * -alpha))
    return k, k * decay * (alpha - 1.0), k * decay * (alpha + 1.0), -k * decay * decay, 2.0**-alpha, -decay * decay


def deriche(alpha, image):
    a1, a2, a3, a4, b1, b2 = coefficients(alpha)
    y1 = np.empty_like(image)
    y1[:, 0] = a1 * image[:, 0]
    y1[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * y1[:, 0]
    for j in range(2, image.shape[1]):
        y1[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * y1[:, j - 1] + b2 * y1[:, j - 2]
    y2 = np.empty_like(image)
    y2[:, -1] = 0.0
    y2[:, -2] = a3 * image[:, -1]
    for j in range(image.shape[1] - 3, -1, -1):
        y2[:, j] = a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * y2[:, j + 1] + b2 * y2[:, j + 2]
    across = y1 + y2
    y1[0, :] = a1 * across[0, :]
    y1[1, :] = a1 * across[1, :] + a2 * across[0, :] + b1 * y1[0, :]
    for i in range(2, image.shape[0]):
        y1[i, :] = a1 * across[i, :] + a2 * across[i - 1, :] + b1 * y1[i - 1, :] + b2 * y1[i - 2, :]
    y2[-1, :] = 0.0
    y2[-2, :] = a3 * across[-1, :]
    for i in range(image.shape[0] - 3, -1, -1):
        y2[i, :] = a3 * across[i + 1, :] + a4 * across[i + 2, :] + b1 * y2[i + 1, :] + b2 * y2[i + 2, :]
    return y1 + y2


def filtered_jax(rows, direct, b1, b2, reverse):
    """A recursive filter along the first axis; before the first row there is nothing."""
    def step(before, row):
        then = row + b1 * before[0] + b2 * before[1]
        return (then, before[0]), then
    nothing = jnp.zeros_like(rows[0])
    return scan(step, (nothing, nothing), direct, reverse=reverse)[1]


def both_ways_jax(rows, a1, a2, a3, a4, b1, b2):
    shifted = jnp.pad(rows, ((2, 2), (0, 0)))
    down = filtered_jax(rows, a1 * rows + a2 * shifted[1:-3], b1, b2, False)
    return down + filtered_jax(rows, a3 * shifted[3:-1] + a4 * shifted[4:], b1, b2, True)


def deriche_jax(alpha, image):
    decay = jnp.exp(-alpha)
    k = (1.0 - decay) * (1.0 - decay) / (1.0 + alpha * decay * 2.0 - decay * decay)
    all_six = k, k * decay * (alpha - 1), k * decay * (alpha + 1), -k * decay * decay, 2.0**-alpha, -decay * decay
    return both_ways_jax(both_ways_jax(image.T, *all_six).T, *all_six)


def image(rng, n, m):
    return 0.25, rng.uniform(size=(n, m))


def spmv(starts, columns, values, x):
    y = np.empty(starts.size - 1, values.dtype)
    for i in range(starts.size - 1):
        taken = columns[starts[i]:starts[i + 1]]
        y[i] = values[starts[i]:starts[i + 1]] @ x[taken]
    return y


def spmv_jax(starts, columns, values, x):
    rows = jnp.repeat(jnp.arange(starts.size - 1), jnp.diff(starts), total_repeat_length=values.size)
    return jax.ops.segment_sum(values * x[columns], rows, starts.size - 1, indices_are_sorted=True)


def spmv_sums_jax(starts, columns, values, x):
    """Rows as differences of running sums."""
    sums = jnp.concatenate([jnp.zeros(1), jnp.cumsum(values * x[columns])])
    return sums[starts[1:]] - sums[starts[:-1]]


def sparse(rng, n, m, per_row):
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 2 * per_row, n))])
    columns = np.concatenate([np.sort(rng.choice(m, count, replace=False)) for count in np.diff(starts)])
    return starts, columns, rng.normal(size=columns.size), rng.normal(size=m)


def scattering(neighbours, dh, g, d):
    """Self-energies of electrons that are scattered by phonons."""
    sigma = np.zeros_like(g)
    for k in range(g.shape[0]):
        for e in range(g.shape[1]):
            for q in range(d.shape[0]):
                for w in range(min(d.shape[1], e + 1)):
                    for i in range(d.shape[-2]):
                        for j in range(d.shape[-1]):
                            for a in range(neighbours.shape[0]):
                                for b in range(neighbours.shape[1]):
                                    moved = g[k, e - w, neighbours[a, b]] @ dh[a, b, i]
                                    held = dh[a, b, j] * d[q, w, a, b, i, j]
                                    sigma[k, e, a] += moved @ held
    return sigma


def scattering_jax(neighbours, dh, g, d):
    near = g[:, :, neighbours]                                          # k, e, a, b, orbitals
    held = jnp.einsum("abjxy,qwabij->wabixy", dh, d)
    moved = jnp.einsum("keabxy,abiyz->keabixz", near, dh)
    parts = [jnp.pad(jnp.einsum("keabixy,abiyz->keaxz", moved[:, :moved.shape[1] - w], held[w]),
                     ((0, 0), (w, 0), (0, 0), (0, 0), (0, 0))) for w in range(d.shape[1])]
    return sum(parts)


def scattering_arguments(rng, momenta, energies, frequencies, atoms, near, orbitals):
    return (rng.integers(0, atoms, (atoms, near)), rng.normal(size=(atoms, near, 3, orbitals, orbitals)),
            rng.normal(size=(momenta, energies, atoms, orbitals, orbitals)),
            rng.normal(size=(momenta, frequencies, atoms, near, 3, 3)))


NBODY = Case("nbody", nbody, bodies, (100, 30), (4, 3), (nbody_jax, nbody_by_product_jax))
MANDELBROT = Case("mandelbrot", mandelbrot, plane, (250, 250, 60), (7, 5, 9), (mandelbrot_jax, mandelbrot_real_jax),
                  tolerance=1e-5)
DERICHE = Case("deriche", deriche, image, (400, 300), (6, 5), (deriche_jax,))
SPMV = Case("spmv", spmv, sparse, (4000, 4000, 16), (5, 9, 2), (spmv_jax, spmv_sums_jax))
SCATTERING = Case("scattering", scattering, scattering_arguments, (2, 4, 2, 6, 2, 4), (1, 2, 2, 2, 2, 3),
                  (scattering_jax,))

CASES = [
    NBODY, gradient_of(NBODY, 0, 1, 2), MANDELBROT, DERICHE, gradient_of(DERICHE, 1), SPMV, gradient_of(SPMV, 2, 3),
    SCATTERING, gradient_of(SCATTERING, 1, 2, 3),
]
