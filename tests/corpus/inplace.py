"""Algorithms that work in place: recurrences, elimination, stencils, tables."""

import numpy as np

from .program import Program, apart, normal, positive


def recurrence(x):
    f = np.zeros(len(x))
    f[0] = x[0]
    for i in range(1, len(x)):
        f[i] = x[i] + f[i - 1] ** 2
    return np.sum(f)


def recurrence_downwards(x):
    f = np.empty_like(x)
    f[-1] = x[-1]
    for i in range(len(x) - 2, -1, -1):
        f[i] = np.sin(f[i + 1]) * x[i]
    return np.sum(f**2)


def recurrence_of_two(x):
    f = np.ones(len(x) + 2)
    for i in range(len(x)):
        f[i + 2] = f[i + 1] * x[i] + f[i] ** 2
    return f[-1] + f[-2] * f[2]


def prefix_sums(x):
    for_sum = x.copy()
    for i in range(1, len(x)):
        for_sum[i] += for_sum[i - 1]
    return np.sum(for_sum**3)


def prefix_products_with_powers(x):
    p = np.ones(len(x) + 1)
    for i in range(len(x)):
        p[i + 1] = p[i] * x[i]
        p[i] **= 2
    return np.sum(p * np.arange(len(p)))


def cholesky_in_place(root):
    a = root @ root.T + np.eye(len(root))
    n = len(a)
    for j in range(n):
        for k in range(j):
            a[j, j] -= a[j, k] ** 2
        a[j, j] = np.sqrt(a[j, j])
        for i in range(j + 1, n):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
    return np.sum(np.tril(a) ** 3) + np.log(a[n - 1, n - 1])


def forward_substitution(factor, b):
    x = b.copy()
    for i in range(len(b)):
        for j in range(i):
            x[i] -= factor[i, j] * x[j]
        x[i] /= 2 + factor[i, i] ** 2
    return np.sum(x**2)


def gauss_seidel(u, f):
    u = u.copy()
    for _ in range(2):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1]) - f[i] * u[i] ** 2
    return np.sum(u**2)


def gauss_seidel_plane(u, omega):
    u = u.copy()
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
            u[i, j] += omega * (new - u[i, j])
    return np.sum(u**3)


def stencil_plane(u, c, steps):
    u = u.copy()
    for _ in range(steps):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] += c * (around - 4 * u[1:-1, 1:-1])
    return np.sum(np.sin(u))


def stencil_by_elements(u):
    v = np.zeros_like(u)
    for i in range(1, len(u) - 1):
        v[i] = u[i - 1] * u[i] - u[i + 1] ** 2
    v[0] = v[1]
    v[-1] = v[-2] * u[0]
    return np.sum(v**2)


def ping_pong(x, n):
    a = x.copy()
    b = np.zeros_like(x)
    for _ in range(n):
        b[1:] = a[:-1] * a[1:]
        b[0] = np.sin(a[0])
        a, b = b, a
    return np.sum(a**2) + np.sum(b)


def fill_local_table(x, n):
    table = np.zeros((n, len(x)))
    for i in range(n):
        for j in range(len(x)):
            table[i, j] = x[j] ** (i + 1) + (table[i - 1, j] if i > 0 else 0.0)
    return np.sum(np.tanh(table))


def rows_filled_in_loop(m):
    out = np.zeros_like(m)
    for i in range(len(m)):
        out[i] = m[i] / np.sum(m[i] ** 2)
        out[i, 0] = out[i - 1, 1]
    return np.sum(out * np.arange(m.size).reshape(m.shape))


def writes_in_branches(x):
    y = x.copy()
    for i in range(1, len(y)):
        if y[i] > y[i - 1]:
            y[i] = y[i] * y[i - 1]
        else:
            y[i - 1] += y[i] ** 2
    return np.sum(y**2)


def data_dependent_write(x, weights):
    bins = np.zeros(3)
    for i in range(len(x)):
        k = int(np.floor(x[i]))
        bins[k] += weights[i] * x[i]
    return np.sum(bins**3)


def sort_by_swaps(x):
    """Bubble sort: elements change places, and their cotangents change back."""
    y = x.copy()
    for i in range(len(y)):
        for j in range(len(y) - 1 - i):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    return np.sum(y**2 * np.arange(len(y)))


def dynamic_programming(costs):
    """Cheapest path through a table, each cell from the better of two neighbours."""
    n, m = costs.shape
    best = costs.copy()
    for i in range(n):
        for j in range(m):
            if i > 0 and j > 0:
                best[i, j] += min(best[i - 1, j], best[i, j - 1])
            elif i > 0:
                best[i, j] += best[i - 1, j]
            elif j > 0:
                best[i, j] += best[i, j - 1]
    return best[n - 1, m - 1] ** 2


def soft_time_warp(a, b):
    cost = (a[:, None] - b[None, :]) ** 2
    r = np.full((len(a) + 1, len(b) + 1), 100.0)
    r[0, 0] = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            near = np.exp(-r[i - 1, j - 1]) + np.exp(-r[i - 1, j]) + np.exp(-r[i, j - 1])
            r[i, j] = cost[i - 1, j - 1] - np.log(near)
    return r[-1, -1]


def buffer_reused(x, n):
    """One buffer is filled anew in each round; nothing may leak from round to round."""
    buffer = np.zeros(3)
    total = 0.0
    for k in range(n):
        buffer[:] = 0.0
        buffer[k % 3] = x[0] * (k + 1)
        buffer += x**2
        total += np.prod(buffer)
    return total


BINS = np.array([0.3, 1.6, 2.2, 0.8, 1.1])

PROGRAMS = [
    Program(recurrence, normal(("n",))),
    Program(recurrence_downwards, normal(("n",))),
    Program(recurrence_of_two, normal(("n",))),
    Program(prefix_sums, normal(("n",))),
    Program(prefix_products_with_powers, positive(("n",))),
    Program(cholesky_in_place, normal(("m", "m"))),
    Program(forward_substitution, normal(("n", "n"), ("n",)), (0, 1)),
    Program(gauss_seidel, normal(("n",), ("n",)), (0, 1)),
    Program(gauss_seidel_plane, normal((4, "n"), None), (0, 1)),
    Program(stencil_plane, normal((4, "n"), None, then=(2,)), (0, 1)),
    Program(stencil_by_elements, normal(("n",))),
    Program(ping_pong, normal(("n",), then=(3,)), (0,)),
    Program(fill_local_table, normal((3,), then=(3,))),
    Program(rows_filled_in_loop, normal((3, "n"))),
    Program(writes_in_branches, apart((5,))),
    Program(data_dependent_write, lambda rng: (rng.permutation(BINS), rng.random(5)), (0, 1)),
    Program(sort_by_swaps, apart((5,))),
    Program(dynamic_programming, apart((3, 3))),
    Program(soft_time_warp, normal(("n",), (3,)), (0, 1)),
    Program(buffer_reused, normal((3,), then=(4,))),
]
