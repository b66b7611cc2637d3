"""Loops that go over whole arrays again and again, in which every element keeps to itself, or does so nearly."""

import numpy as np

from .program import Program, normal


def steps_of_all_points(x, v):
    for _ in range(3):
        v = 0.9 * v - 0.2 * np.sin(x)
        x = x + 0.1 * v
    return np.sum(x * x + v)


def column_before_steps(x, v):
    """The array is used by its rows, and in one piece."""
    y = x.copy()
    y[:, 1] = np.cos(v)
    for _ in range(2):
        y += 0.3 * x
        y[:] = np.tanh(y * x)
        y = y - np.exp(-y * y)
    return np.sum(y * y)


def rate_that_falls(x, rate):
    y = x.copy()
    for _ in range(4):
        y *= 1.0 - rate * np.cos(y)
        rate = 0.5 * rate + 0.1
    return np.sum(y ** 2)


def as_many_rows_as_numbers(x):
    """Numbers of three rows, and rows: there are as many, but others of them."""
    m = x.shape[0]
    y = np.ones((3 * m, 3))
    for _ in range(2):
        y[:m] = 1.5 * y[:m] + x[0]
    for _ in range(2):
        y[:, 0] *= y[:, 0]
    return np.sum(y ** 2) * x[1]


def one_row_twice(x):
    """The same array by its only row, and as a whole."""
    y = np.zeros((1, x.shape[0]))
    for k in range(3):
        y[0] += np.sin(x) * k
    for _ in range(2):
        y = np.tanh(0.5 * y)
    return np.sum(y * x)


def steps_in_steps(x):
    y, z = x.copy(), np.ones_like(x)
    for i in range(3):
        for j in range(i):
            y = np.sin(y) + 0.1 * j
        z = z * y
    return np.sum(z)


def neighbour_behind_steps(x):
    y = x.copy()
    for _ in range(3):
        y = np.sin(y) + 0.5
    z = np.zeros_like(x)
    for _ in range(2):
        z[1:] = 0.5 * z[1:] + y[:-1]
    return np.sum(z * z)


def first_one_in_steps(x):
    y = x.copy()
    for _ in range(3):
        y = 0.5 * y + np.sin(y[0])
    return np.sum(y * x)


def until_small(x, step):
    y = x.copy()
    while step > 0.2:
        y = y * step + 0.1 * np.cos(y)
        step = 0.6 * step
    return np.sum(y ** 2)


def paths_with_payments(z, rate, spread):
    """Sums over all places, in each step and behind all, that no place needs; and a power that may not fit."""
    s, paid = np.ones(z.shape[1]), 0.0
    for k in range(z.shape[0]):
        s = s * np.exp(rate - 0.5 * spread**2 + spread * z[k])
        paid = 0.9 * paid + k * np.mean(s)
    return np.mean(np.maximum(s - 1.0, 0.0)) + rate * paid


def every_other_step(x, c):
    total = 0.0
    for k in range(4):
        if k % 2 == 0:
            x = x + c * np.cos(x)
        else:
            x = x - c * x
        total += k * np.sum(x * x)
    return total


def shares_of_all(x):
    """Each step needs the sum that the one before has left."""
    total = 1.0
    for _ in range(3):
        x = np.exp(0.1 * x) / total
        total = np.sum(x)
    return total * x[0]


def paths_below_a_barrier(z, drift, width):
    """The numbers of a step are a column, those of a path a row."""
    s, alive = np.ones(len(z)), np.ones(len(z), dtype=bool)
    for t in range(z.shape[1]):
        s = s * np.exp(drift + width * z[:, t])
        alive = alive & (s < 1.5)
    return np.mean(np.where(alive, np.maximum(s - 1.0, 0.0), 0.0))


PROGRAMS = [
    Program(steps_of_all_points, normal((5, 3), (5, 3)), wrt=(0, 1), tags=("loops",)),
    Program(column_before_steps, normal((5, 3), (5,)), wrt=(0, 1), tags=("loops",)),
    Program(rate_that_falls, normal((7,), then=(0.4,)), wrt=(0, 1)),
    Program(as_many_rows_as_numbers, normal((4,)), tags=("loops",)),
    Program(one_row_twice, normal((5,)), tags=("loops",)),
    Program(steps_in_steps, normal((5, 2))),
    Program(neighbour_behind_steps, normal((7,))),
    Program(first_one_in_steps, normal((7,))),
    Program(until_small, normal((7,), then=(0.9,)), wrt=(0, 1)),
    Program(paths_with_payments, normal((3, 7), then=(0.1, 0.3)), wrt=(0, 1, 2)),
    Program(every_other_step, normal((7,), then=(0.2,)), wrt=(0, 1)),
    Program(shares_of_all, normal((7,))),
    Program(paths_below_a_barrier, normal((11, 5), then=(0.01, 0.2)), wrt=(0, 1, 2), order=1),
]
