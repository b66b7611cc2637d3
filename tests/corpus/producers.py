"""Generators, and ways out of `try` and `with`."""

import numpy as np

from .program import Program, apart, normal, positive


def stages(x):
    y = x
    for k in range(3):
        y = np.sin(y) * (k + 1)
        yield y


def sum_of_stages(x):
    total = 0.0
    for stage in stages(x):
        total = total + np.sum(stage**2)
    return total


def collected_stages(x):
    later = [np.sum(stage) for stage in stages(x)]
    return np.sum(np.array(list(stages(x))) ** 2) + sum(later) * max(np.sum(stage) for stage in stages(x))


def numbered_stages(x):
    total = 0.0
    for k, stage in enumerate(stages(x)):
        total = total + k * np.sum(stage**3)
    return total


def first_large_stage(x):
    for stage in stages(x):
        if np.sum(stage) > 0.5:
            return np.sum(stage**3)
    return np.sum(x)


def grown(y):
    while y < 20:
        y = y * 1.7
        yield y, y**2


def uncounted(x):
    total = 0.0
    for once, twice in grown(np.sum(x)):
        total = total + once * twice
    return total


def differences(x):
    for i in range(len(x)):
        for j in range(i):
            yield x[i] - x[j]


def sum_over_pairs(x):
    skipped = 0.0
    for difference in differences(x):
        if difference > 0:
            continue
        skipped += difference**3
    return skipped + sum(np.cos(difference) for difference in differences(x))


def one_after_the_other(x):
    yield x[0]
    yield from stages(x)
    yield from x


def delegated(x):
    total = 0.0
    for item in one_after_the_other(x):
        total = total + np.sum(np.asarray(item) ** 2)
    return total


def rows(A):
    for k in range(A.shape[0]):
        yield A[k]


def rows_written(A):
    A = A.copy()
    for row in rows(A):
        row *= 2 + row[0]
    return np.sum(A**3)


def powers_in_place(x):
    y = x.copy()
    for _ in range(3):
        y *= x
        yield y


def consumed_before_the_next(x):
    return sum(np.sum(y) for y in powers_in_place(x))


class Squares:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        for value in self.x:
            yield value**2


def iterated_object(x):
    return np.prod([np.sin(value) for value in Squares(x)])


def returned_from_try(x):
    try:
        y = 2 * x
        if np.sum(y) > 0:
            return np.sum(y**2)
        y = 3 * y
    finally:
        x = x + 1
    return np.sum(y * x)


def left_by_try(x):
    total = 0.0
    for value in x:
        try:
            if value > 1:
                break
            if value < -0.5:
                continue
            total = total + value**2
        finally:
            total = total * 1.1
    return total


def returned_from_with(x):
    with np.errstate(all="ignore"):
        if np.sum(x) > 0:
            return np.sum(np.log(np.abs(x)))
        return np.sum(x**3)


def put_together(x):
    """Matrices of a list along each of their axes, vectors and numbers as columns and layers."""
    blocks = [row.reshape(2, 2) for row in stages(x)]
    sides = np.hstack(blocks)[0] * np.concatenate(blocks, axis=-1)[1] + np.column_stack(blocks)[1]
    layers = np.dstack(blocks)[0, 1] + np.dstack([block[0] for block in blocks])[0, 0]
    layers = layers * np.column_stack([block[1, 1] for block in blocks])
    return sides @ np.cos(np.arange(6)) + np.sum(layers**2) + np.vstack(blocks)[3, 1] + np.concatenate(blocks, None)[9]


PROGRAMS = [
    Program(sum_of_stages, normal(("n",))),
    Program(collected_stages, normal(("n",))),
    Program(numbered_stages, normal(("n",))),
    Program(first_large_stage, normal(("n",))),
    Program(uncounted, positive(("n",))),
    Program(sum_over_pairs, apart(("n",))),
    Program(delegated, normal(("n",))),
    Program(rows_written, normal(("n", 3))),
    Program(consumed_before_the_next, normal(("n",))),
    Program(iterated_object, normal(("n",))),
    Program(returned_from_try, normal(("n",))),
    Program(left_by_try, apart(("n",))),
    Program(returned_from_with, normal(("n",))),
    Program(put_together, normal((4,))),
]
