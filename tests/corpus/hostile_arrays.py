"""Ops in combinations that nobody tries: axes, masks of unknown size, integers as bounds, dtypes."""

import numpy as np

from .program import Program, fixed, normal, positive

# Options that stand behind others that are left out.


def diagonal_of_last_axes(x):
    d = np.diagonal(x, axis1=-2, axis2=-1)
    return np.sum(np.log(1 + d**2)) + np.sum(np.diagonal(x, axis1=0, axis2=2) ** 3)


def trace_of_last_axes(x):
    return np.sum(np.trace(x, axis1=1, axis2=2) ** 3) + np.sum(np.trace(x, axis1=2) ** 2)


def cholesky_of_many(x):
    a = x @ np.swapaxes(x, -1, -2) + 2 * np.eye(x.shape[-1])
    factor = np.linalg.cholesky(a)
    return np.sum(np.log(np.diagonal(factor, axis1=-2, axis2=-1))) + np.sum(factor**3)


# The unit matrix meets several matrices.


def scaled_diagonals(x, c):
    return np.sum(np.exp(c) * x * np.eye(x.shape[-1]))


# Numbers of repeats, bounds and steps.


def repeated_unevenly(x):
    along = np.repeat(x, [2, 0, 3], axis=-1)
    return np.sum(along**2 * np.arange(5)) + np.sum(np.repeat(x[0], [1, 0, 2]) ** 3)


def slice_step_argument(x, start, step):
    y = x.copy()
    y[::step] *= x[0]
    return np.sum(x[start::step] ** 2) + np.sum(np.cumsum(y[::-step]) ** 2)


def numpy_integers_as_bounds(x, k):
    return np.sum(x[:k] ** 2) * k + np.sum(x[k:] ** 3) + np.sum(x[::k])


def numpy_integer_range(x):
    total = 0.0
    for i in range(COUNT):
        total = total + x[i] ** (i + 1)
    return total


COUNT = np.int64(3)


def index_object(x):
    y = x.copy()
    y[np.s_[1:, ::2]] *= 2
    np.add.at(y, np.s_[0, [0, 0]], x[1, 1])
    return np.sum(y**2 * x)


# Masks: how many elements they take is not known before the program runs.


def mask_with_list(x):
    y = x.copy()
    m = x[:, 0] > 0
    y[m, [-1]] = np.sum(x) * 0.1
    return np.sum(y**2) + np.sum(x[m, [-1]] ** 2)


def mask_neighbours(x):
    v = x[x > -0.5]
    return np.sum(v[1:] * v[:-1]) + np.sum((v[2:] - v[:-2]) ** 2)


def mask_twice_in_loop(x):
    y = x.copy()
    for _ in range(2):
        y[x[:, 0] > 0] = np.tanh(y[x[:, 0] > 0]) * 0.9
    return np.sum(y**2)


def mask_in_branch(x):
    y = x.copy()
    if x[0, 0] < 100:
        m = y[:, 0] > 0
        y[m] = np.tanh(y[m]) * 0.9
    return np.sum(y**2)


# Complex numbers in between.


def complex_triangle(x):
    a = x + 1j * x.T
    return np.sum(np.abs(np.tril(a)) ** 3) + np.sum(np.abs(a @ a))


def complex_factor(x):
    h = x + 1j * x.T
    h = h @ np.conj(h.T) + 2 * np.eye(x.shape[0])
    return np.sum(np.abs(np.linalg.cholesky(h)) ** 3)


# Items that a generator yields.


def sum_of_generators(x):
    pairs = sum(x[i] * x[i + 1] for i in range(len(x) - 1))
    return pairs + sum(sum(a * b for b in x[:2]) for a in x)


PROGRAMS = [
    Program(diagonal_of_last_axes, normal((2, 3, 3))),
    Program(trace_of_last_axes, normal((3, 3, 3))),
    Program(cholesky_of_many, normal((2, 3, 3))),
    Program(scaled_diagonals, normal((2, 3, 3), None), wrt=(0, 1)),
    Program(repeated_unevenly, normal((2, 3))),
    Program(slice_step_argument, normal(("n",), then=(1, 2))),
    Program(slice_step_argument, normal((7,), then=(0, 3)), name="slice_step_argument_3"),
    Program(numpy_integers_as_bounds, normal(("n",), then=(np.int64(2),))),
    Program(numpy_integer_range, normal((4,))),
    Program(index_object, normal((3, 4))),
    Program(mask_with_list, normal((4, 3))),
    Program(mask_neighbours, positive((5,))),
    Program(mask_twice_in_loop, normal((4, 3))),
    Program(mask_in_branch, normal((4, 3))),
    Program(complex_triangle, fixed(np.array([[0.3, -1.2, 0.5], [0.8, 1.1, -0.7], [-0.4, 0.9, 1.6]]))),
    Program(complex_factor, normal((3, 3))),
    Program(sum_of_generators, normal(("n",))),
]
