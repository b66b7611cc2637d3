"""Ranges and slices whose step the program computes: sums over trees, wavelets, multiples of numbers."""

import numpy as np

from .program import Program, normal


def summed_by_a_tree(x):
    y = x.copy()
    step = 1
    while step < len(y):
        for i in range(0, len(y) - step, 2 * step):
            y[i] += np.tanh(y[i + step])
        step *= 2
    return y[0]


def wavelet_in_place(x):
    y = x.copy()
    step = 1
    while 2 * step <= len(y):
        left, right = y[:: 2 * step].copy(), y[step :: 2 * step].copy()
        y[:: 2 * step] = (left + right) / 2
        y[step :: 2 * step] = left - right
        step *= 2
    return np.sum(np.sin(y) * np.arange(len(y)))


def neighbours_at_distances(x, distances):
    total = 0.0
    for d in distances:
        for k in range(d, len(x), d):
            total += np.sin(x[k]) * x[k - d]
        for k in range(len(x) - 1, 0, -d):
            total += x[k] ** 2 * k
    return total


def slices_of_a_matrix(x, steps):
    """Forwards and backwards, read, written, and kept under a name."""
    total, y = 0.0, x.copy()
    for s in steps:
        total += np.sum(y[::s] ** 2) + np.sum(y[:, 2::s]) + 2 * np.sum(y[1:3:s, None]) + np.sum(y[..., :-1:s])
        y[:, 1::s] *= 1.5
        y[::s] += 0.25
        kept = y[::s]
        kept[0] = 3.0 * kept[0]
        total += y[0, 0]
        y[-2::s, :] = 0.5
        total += np.sum(np.sin(kept))
        y[:, ::s] = y[:, ::s] + y[:, ::s] ** 2
    return total + np.sum(y)


def as_steps(program_example, *steps):
    """The same arguments, and an array of steps."""
    return lambda rng: (*program_example(rng), np.array(steps))


LOOPS = ("loops",)                     # are compiled with their gradients

PROGRAMS = [
    Program(summed_by_a_tree, normal((11,)), tags=LOOPS),
    Program(wavelet_in_place, normal((8,)), tags=LOOPS),
    Program(neighbours_at_distances, as_steps(normal((9,)), 1, 2, 4), tags=LOOPS),
    Program(slices_of_a_matrix, as_steps(normal((4, 7)), 1, 2, -1, -3), tags=LOOPS),
]
