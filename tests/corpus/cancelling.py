"""Shifts and scales that results do not depend on, and some that look as if they cancelled and do not."""

import numpy as np

from .program import Program, fixed, normal


def shares_of_rows_added(x, y):
    """Both exponentials have the factor of their row, and so has their sum with the product of one."""
    top = np.maximum(np.max(x, axis=1), np.max(y, axis=1))[:, None]
    a, b = np.exp(x - top), np.exp(y - top)
    total = np.sum(a, axis=-1) + np.einsum("ij,j->i", b, np.arange(y.shape[1]) + 1.0)
    return np.sum(np.log(a[:, 0] / total) ** 2) + np.sum(b / total[:, np.newaxis])


def shares_of_columns(x):
    """Shifted by rows, divided by the sums of columns: the shift stays."""
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum((e / np.sum(e, axis=0)) ** 2)


def shares_turned(x):
    """The rows of a square are divided by the sums of its columns."""
    square = x @ x.T
    e = np.exp(0.1 * (square - np.max(square, axis=1, keepdims=True)))
    return np.sum((e.T / np.sum(e, axis=1, keepdims=True)) ** 2)


def shares_of_powers(x):
    """The factor of the square is not that of the sum."""
    e = np.exp(x - np.max(x))
    return np.sum(e ** 2 / np.sum(e)) + np.log(np.sum(e ** 2) / np.sum(e) ** 2)


def losses_in_a_loop(w, x):
    """The shift cancels in each iteration; in the last line it does not."""
    loss, tops = 0.0, 0.0
    for row in x:
        scores = w * row
        top = np.max(scores)
        loss += top + np.log(np.sum(np.exp(scores - top)))
        tops += top
    return loss * tops


def greatest_again(x, y):
    """What is computed again in the reverse sweep is compared with what was computed before it."""
    top = -np.inf
    for i in range(len(x)):
        top = max(top, x[i] / y[i] - 1 / y[i])
    total = 0.0
    for i in range(len(x)):
        quotient = x[i] / y[i] - 1 / y[i]
        if quotient == top:
            total = total * 0.5 + quotient * x[i] * y[i]
        else:
            total = total + quotient * quotient * total
    return total


def means_in_a_branch(x, c):
    """The variance has the mean that a branch has computed, too: behind it, that is not there."""
    y = 0.0
    if c > 0:
        mean = np.mean(x, axis=1)
        y = np.sum(mean ** 2)
    return np.sum(np.var(x, axis=1) ** 2) + y


PROGRAMS = [
    Program(means_in_a_branch, lambda rng: (rng.normal(size=(3, 4)), 1.0)),
    Program(means_in_a_branch, lambda rng: (rng.normal(size=(3, 4)), -1.0), name="means_in_no_branch"),
    Program(greatest_again, fixed(np.array([0.3, 1.7, 0.9]), np.array([0.7, 1.3, 2.1])), (0, 1)),
    Program(shares_of_rows_added, normal(("n", "m"), ("n", "m")), (0, 1)),
    Program(shares_of_columns, normal(("n", "m"))),
    Program(shares_turned, normal(("n", "m"))),
    Program(shares_of_powers, normal(("n",))),
    Program(losses_in_a_loop, normal(("m",), ("n", "m")), (0, 1)),
]
