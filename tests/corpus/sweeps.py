"""Recurrences along the rows of arrays, stencils of stencils, and what is done where a mask holds."""

import numpy as np

from .program import Program, fixed, normal, positive


def sweep_with_two_writes(u, v):
    """The second write rests on the first, and on the column before, which both have written."""
    a, b = np.zeros_like(u), u * v
    for k in range(1, u.shape[1]):
        b[:, k] = 0.5 * b[:, k - 1] * v[:, k] - u[:, k - 1]
        b[:, k] = 0.5 * b[:, k - 1] * b[:, k] - b[:, k - 1]
    for k in range(1, u.shape[1]):
        a[:, k] += 0.5 * a[:, k - 1] * u[:, k] - u[:, k - 1]
        a[:, k] += 0.5 * a[:, k - 1] * v[:, k] - u[:, k - 1]
    return np.sum(a * b) + np.sum(np.sin(b))


def columns_of_equations(below, middle, above, right):
    n = right.shape[-1]
    upper, solved, x = np.empty_like(right), np.empty_like(right), np.empty_like(right)
    upper[..., 0], solved[..., 0] = above[..., 0] / middle[..., 0], right[..., 0] / middle[..., 0]
    for k in range(1, n):
        ratio = 1 / (5 + middle[..., k] - below[..., k] * upper[..., k - 1])
        upper[..., k] = above[..., k] * ratio
        solved[..., k] = (right[..., k] - below[..., k] * solved[..., k - 1]) * ratio
    x[..., -1] = solved[..., -1]
    for k in range(n - 2, -1, -1):
        x[..., k] = solved[..., k] - upper[..., k] * x[..., k + 1]
    return np.sum(x * x)


def sweep_over_neighbours(u, v):
    """Rows are read that other rows have written in the iteration before: none goes by itself."""
    a = u * v
    for k in range(1, u.shape[1]):
        a[1:, k] = 0.5 * a[:-1, k - 1] + np.sin(u[1:, k])
        a[0, k] += a[1, k]
    return np.sum(a * a * v)


def sweep_that_scales(u, v):
    """All of an array is used between iterations."""
    a = u.copy()
    for k in range(a.shape[1] - 1):
        a[:, k + 1] += 0.3 * a[:, k] * v[:, k]
        a = a * 0.9
    return np.sum(a * a)


def stencils_of_stencils(u, c):
    n, m = u.shape
    slope = np.sin(u[1:] * u[:-1]) * c
    flow = np.where(slope[1:] - slope[:-1] > 0, 0.0, np.tanh(slope[1:] * slope[:-1]))
    around = np.exp(-flow[:, 2:] - flow[:, :-2]) * np.sqrt(1 + flow[:, 1:-1] ** 2)
    return np.sum((around[2:] - around[:-2] + u[2:n - 2, 1:m - 1]) ** 2)


def stencil_written_back(u, c, steps):
    for _ in range(steps):
        slope = np.sin(u[1:] * u[:-1]) * c
        u[1:-1] += 0.1 * np.tanh(slope[1:] - slope[:-1])
    return np.sum(u**2)


def stays_inside(z, c, steps):
    counts = np.zeros(z.shape, np.int64)
    for k in range(steps):
        inside = np.abs(z) < 2
        counts[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    return np.sum(z * c) + np.sum(counts)


def written_where_positive(x, y):
    """What is selected before a mask's array changes is written behind that."""
    positive = x > 0
    old, x = x[positive], x * 0.5
    y[positive] += np.sqrt(old * old + 1) / (1 + old)
    x[positive] = old + x[positive] * y[positive]
    return np.sum(x * y)


def averaged_where_positive(x, y):
    """The elements selected are also counted together."""
    positive = x > 0
    chosen = y[positive] * 2
    x[positive] = chosen - np.mean(chosen)
    return np.sum(x * y)


def halved_before_the_row_above(c, y):
    """A row takes what is below it as it was, not as the next round of the loop leaves it."""
    n, m = c.shape
    for i in range(n - 1):
        for j in range(m):
            s = c[i, j]
            while s > 1:
                s = s / 2
            c[i, j] = s
        for j in range(m):
            y[i, j] = y[i, j] * c[i + 1, j]
    return np.sum(y) + np.sum(c * c)


def handed_from_row_to_row(c, y):
    """The first loop over a row takes what the second has left in the row above."""
    n, m = c.shape
    for i in range(1, n):
        for j in range(m):
            s = y[i - 1, j]
            while s > 1:
                s = s / 2
            c[i, j] = c[i, j] * s
        for j in range(m):
            y[i, j] = c[i, j] * 3 + 1
    return np.sum(y) + np.sum(c * c)


def window_sums(x):
    """Of windows of two by two, by the running totals of both axes."""
    totals = np.cumsum(np.cumsum(x * x, axis=0), axis=1)
    return np.sum((totals[2:, 2:] - totals[:-2, 2:] - totals[2:, :-2] + totals[:-2, :-2]) ** 2)


def sum_of_running_totals(x):
    """Rows of totals go from one row to the next while all is added up."""
    return np.sum(np.cumsum(np.sin(x), axis=0) ** 2) + np.sum(np.max(np.cumprod(x, axis=0), axis=1))


PLANE = np.array([[0.3, -0.7, 1.4], [-1.2, 0.9, 0.2], [0.5, -0.1, -1.7]])
LONG_ROWS = np.sin(1.7 * np.arange(72.0)).reshape(4, 18) + 0.1

PROGRAMS = [
    Program(halved_before_the_row_above, fixed(4.1 * PLANE, PLANE.T + 0.1), (0, 1), order=1, tags=("loops",)),
    Program(handed_from_row_to_row, fixed(PLANE, 3 * PLANE.T + 0.15), (0, 1), order=1, tags=("loops",)),
    Program(window_sums, fixed(LONG_ROWS), order=1, tags=("loops",)),
    Program(window_sums, normal(("m", "n")), order=1, name="window_sums_of_short_rows", tags=("loops",)),
    Program(sum_of_running_totals, fixed(LONG_ROWS), order=1, tags=("loops",)),
    Program(sum_of_running_totals, fixed(PLANE), order=1, name="sum_of_running_totals_of_short_rows", tags=("loops",)),
    Program(sweep_with_two_writes, normal(("m", "n"), ("m", "n")), (0, 1), order=1, tags=("loops",)),
    Program(columns_of_equations, positive((2, "m", "n"), (2, "m", "n"), (2, "m", "n"), (2, "m", "n")), (0, 1, 2, 3),
            order=1, tags=("loops",)),
    Program(sweep_over_neighbours, normal(("m", "n"), ("m", "n")), (0, 1), order=1, tags=("loops",)),
    Program(sweep_that_scales, normal(("m", "n"), ("m", "n")), (0, 1), order=1, tags=("loops",)),
    Program(stencils_of_stencils, normal((8, 20), None), (0, 1), order=1, tags=("loops",)),
    Program(stencil_written_back, normal((5, 16), None, then=(2,)), (0, 1), order=1, tags=("loops",)),
    Program(stays_inside, fixed(PLANE, 0.7 * PLANE.T + 0.1, 3), (0, 1), order=1, tags=("loops",)),
    Program(written_where_positive, fixed(PLANE, PLANE.T + 0.2), (0, 1), tags=("loops",)),
    Program(averaged_where_positive, fixed(PLANE, PLANE.T + 0.2), (0, 1), tags=("loops",)),
]
