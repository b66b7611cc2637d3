"""What a reverse sweep may get wrong: values read before a call writes over them, windows of arrays whose
lengths have nothing in common but their value, blocks whose records are one."""

import numpy as np

from transformer import checkpoint, checkpoint_loop

from .program import Program, normal


def written_by_the_value_added(x):
    """`y[i] += f(y)` adds to what `y[i]` was before the call."""
    def halved(y, i):
        y[i] = 0.5 * y[i - 1] ** 2
        return np.sin(y[i]) * y[0]

    y = x.copy()
    for i in range(1, len(x)):
        y[i] += halved(y, i)
        y[i - 1] -= halved(y, i - 1)
    return np.sum(y**2)


def view_written_by_the_value_added(x):
    """A slice is a view: `y[:2] *= f(y)` multiplies what the call leaves there; `y[[0, 1]]` was copied before."""
    def stirred(y, i):
        y[i] = 0.5 * y[i + 1] ** 2
        y[i + 1] *= y[i]
        return np.sin(y[i]) * y[:2]

    y = x.copy()
    y[:2] *= stirred(y, 0)
    y[:2] += stirred(y, 1)
    y[np.array([0, 1])] *= stirred(y, 0)
    y[y > -1.0] -= stirred(y, 0)[0]
    return np.sum(y**2)


def windows_of_two(u, v):
    total = 0.0
    u = u.copy()
    for i in range(len(u)):
        total += np.sum(u[i:] * v[i:])
        u[i:] = np.sin(v[i:]) * u[i]
        u[i:i + 2] = v[i:i + 2] ** 2 * u[i:i + 2]
    return total + np.sum(u)


def records_of_blocks_that_are_one(u, w):
    q = u[0]
    t = 0.0
    u, w = u.copy(), w.copy()
    with checkpoint_loop(blocks=2):
        for i in range(len(u) - 1):
            w[i, i] = np.sin(u[i]) * w[i, -1]
            u[0] += w[i, i] ** 2
            t = w[i, i] * u[0]
    return np.sum(u * u) + t * q


def branch_in_loop_recorded_once(u, v, w):
    """What a loop in a branch records is needed twice after it."""
    u, v, w = u.copy(), v.copy(), w.copy()
    for j in range(len(u)):
        if j > 0 and j < len(u) - 1:
            for _ in range(len(u)):
                old = v[j]
                u[j] = w[j, j] * u[j]
                v[j] = old + w[j, j] * u[0]
        w[j, 1] = w[j, 1] * u[j]
    return np.sum(v)


PLACES = np.array([0, 0, 1])


def places_written_twice(x, s):
    """What was written is not what the array has: the last value of several stays."""
    y = np.zeros(5)
    total = 0.0
    if s > 0:
        v = np.exp(x)
        y[PLACES] = v
        total = np.sum(v * v)
    return np.sum(y**2) + total


def places_written_twice_in_loop(x, s):
    y = np.zeros((4, 5))
    total = 0.0
    for k in range(4):
        v = np.exp(x * s)
        y[k, PLACES] = v
        total = total + np.sum(v * v) * (k + 1)
    return np.sum(y**2) + total


def parts_of_a_quotient(x):
    """A sum over as many elements as a mask selects is no mean, whatever it is divided by."""
    y = x * 1.0
    y[x > -5.0] = x[0] / 4
    y[x > 5.0] = x[1] / 2
    return np.sum(y**2)


@checkpoint
def scattered_and_added(x):
    y = np.zeros(5)
    y[PLACES] = 2 * x[:3]
    return np.sin(y + x**2) * x


def places_written_twice_and_computed_again(x):
    """The reverse sweep has these lines, too, and means the same by them: of several values the last one stays."""
    return np.sum(scattered_and_added(scattered_and_added(x)))


PROGRAMS = [
    Program(places_written_twice, normal((3,), then=(1.0,))),
    Program(parts_of_a_quotient, normal(("n",))),
    Program(places_written_twice_and_computed_again, normal((5,))),
    Program(places_written_twice_in_loop, normal((3,), then=(0.7,))),
    Program(written_by_the_value_added, normal(("n",))),
    Program(view_written_by_the_value_added, normal(("n",))),
    Program(windows_of_two, normal(("n",), ("n",)), (0, 1)),
    Program(records_of_blocks_that_are_one, normal(("n",), ("n", "n")), (0, 1)),
    Program(branch_in_loop_recorded_once, normal(("n",), ("n",), ("n", "n")), (0, 1, 2)),
]
