"""`with`: objects that say by methods what they do on the way in and out, and functions that yield in between."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext

import numpy as np

from .program import Program, fixed

THREE = np.array([0.6, 1.3, -0.4])


class Scope:
    """Values in effect between entering and leaving, the innermost first."""

    def __init__(self, values):
        self.values = values

    def __call__(self, value):
        return Entered(self.values, value)


class Entered:

    def __init__(self, values, value):
        self.values, self.value = values, value

    def __enter__(self):
        self.values.append(self.value)
        return self.values

    def __exit__(self, *_):
        self.values.pop()


def innermost_value(x):
    values = [1.0]
    scope = Scope(values)
    total = 0.0
    for i in range(len(x)):
        with scope(x[i]):
            total += values[-1] ** 2
            with scope(total * x[0]) as inner:
                total += inner[-1] * inner[-2]
        total *= values[-1] * 0.9
    return total


@contextmanager
def replaced(items, place, value):
    before = items[place]
    items[place] = value
    try:
        yield before
    finally:
        items[place] = before


def with_one_item_replaced(x):
    items = x * 1.0
    with replaced(items, 1, x[0] * x[2]) as before, nullcontext(2.0) as factor:
        inside = np.sum(items**2) * before * factor
    return inside + np.prod(items)


def leaving_early(x, level):
    items = x**2
    for i in range(len(x)):
        with replaced(items, 0, x[i]) as first:
            if items[0] < level:
                return np.sum(items) * first
    return items[0] * 3.0


PROGRAMS = [
    Program(innermost_value, fixed(THREE)),
    Program(with_one_item_replaced, fixed(THREE)),
    Program(leaving_early, fixed(THREE, 0.0)),
    Program(leaving_early, fixed(THREE, -1.0), name="not_leaving_early"),
]
