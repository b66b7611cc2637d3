"""Exceptions that a program raises in a `try` which catches them."""

from __future__ import annotations

import numpy as np

from .program import Program, fixed, normal


class Converged(Exception):
    pass


def root_found_by_exception(a):
    x = a
    try:
        for _ in range(50):
            step = (x * x - a) / (2 * x)
            if abs(step) < 1e-10:
                raise Converged
            x = x - step
    except Converged:
        x = x * 1.5
    else:
        x = -1.0
    return x


def rows_left_out(x):
    total = x[0]
    for row in x:
        try:
            if row < -0.5:
                raise ValueError(f"too small: {row}")
            total = total + np.sin(row)
            if total > 2.0:
                raise OverflowError
        except ValueError:
            continue
        except ArithmeticError as error:
            total = total * (0.5 + len(str(error)))
        finally:
            total = total * 1.1
        total = total + row**2
    return total


def small(value):
    return ValueError(value)


def objects_that_are_raised(x):
    large, total = OverflowError("large"), 0.0
    for value in x:
        try:
            if value > 1.0:
                raise large
            if value < -0.5:
                raise small(value)
            total = total + value**2
        except ValueError:
            total = total * value
        except OverflowError:
            total = total + 3 * value
    return total


def first_pair(x):
    try:
        for i in range(len(x)):
            for j in range(i):
                if x[i] * x[j] < 0:
                    raise Converged(i, j)
        pair = np.sum(x)
    except Converged:
        return x[i] ** 2 * x[j]
    return pair * 2


PROGRAMS = [
    Program(root_found_by_exception, lambda rng: (2.0 + rng.random(),)),
    Program(rows_left_out, fixed(np.array([0.7, -1.2, 1.4, 0.9, 0.3]))),
    Program(objects_that_are_raised, fixed(np.array([0.7, -1.2, 1.4, 0.9, 0.3]))),
    Program(first_pair, fixed(np.array([0.7, 1.2, -0.4, 0.9]))),
    Program(first_pair, normal((1,)), name="no_pair"),
]
