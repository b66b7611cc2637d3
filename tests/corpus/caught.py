"""Exceptions that a program raises in a `try` which catches them."""

from __future__ import annotations

import math

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


class TooLarge(ValueError):
    def __init__(self, place, value):
        super().__init__(f"too large at {place}")
        self.place, self.value = place, value


def bounded(place, value):
    if value > 1.2:
        raise TooLarge(place, value)
    return value**2


def raised_in_calls(x):
    total = 0.0
    for k in range(6):
        try:
            total += bounded(k, float(x[k - 1])) * math.sqrt(x[k]) / float(x[k] > 0.5)
        except TooLarge as error:
            total += error.place * error.value + len(str(error))
        except ZeroDivisionError:
            total *= x[1]
        except (ValueError, IndexError) as error:
            total -= len(error.args) * x[0]
        else:
            total += 0.1
    return total


def factor_with_jitter(a):
    jitter = 0.0
    for k in range(5):
        try:
            factor = np.linalg.cholesky(a @ a.T - 0.5 * np.eye(len(a)) + jitter * np.eye(len(a)))
        except np.linalg.LinAlgError:
            jitter = 10.0 ** (k - 2)
            continue
        break
    return np.sum(np.log(np.diag(factor))) + jitter


def solved_if_regular(a):
    total = 0.0
    for shift in (0.0, 1.0):
        try:
            total += np.linalg.solve(a[:2, :2] * shift, a[2, :2])[0]
        except np.linalg.LinAlgError:
            total += a[0, 1]
    return total


def first_above(xs, limit):
    for k in range(len(xs)):
        if xs[k] > limit:
            return k
    raise LookupError(f"none above {limit}")


def area(kind, radius):
    if kind == "circle":
        return 3.0 * radius**2
    if kind == "square":
        return radius**2
    raise ValueError(f"unknown kind {kind!r}")


def unknown_kinds(x):
    total = 0.0
    for kind, radius in zip(("circle", "blob", "square"), x):
        try:
            total += area(kind, radius)
        except ValueError as error:
            total -= len(str(error)) * radius
    return total


def parts_of(x):
    total = 0.0
    for step in (0.0, 0.7):
        try:
            whole, rest = divmod(x, step)
            total += whole * rest
        except ZeroDivisionError:
            total += x**2
    return total


def arrays_or_numbers(x):
    """Written for arrays and numbers: what numbers do not take is caught, behind a `try` that raises something else."""
    try:
        r = np.asarray(x)
        if (r > 100).any():
            raise ValueError("too large")
    except NameError:
        r = x
    d = 2 * r
    try:
        d[d < 0] = 0.5
    except TypeError:
        if d < 0:
            d = d + 3
    try:
        d[d > 1] = 0.7
    except TypeError:
        d = d**2
    return d * r


def searched_twice(x):
    total = 0.0
    for limit in (0.8, 5.0):
        try:
            total += x[first_above(x, limit)] ** 2
        except LookupError:
            total *= x[1]
    return total


def caught_further_out(x):
    """What a handler raises, and what only the outer `try` catches."""
    total = 0.0
    for i in range(len(x)):
        try:
            total += 1.0
            try:
                total += math.log(x[i])
                total += x[i + 1]
            except ValueError:
                total += x[i] + 1.0 / math.floor(x[i] + 1.5)
                continue
            total *= 1.1
        except IndexError:
            total *= 2
        except ZeroDivisionError as error:
            total -= x[i] * len(str(error))
        else:
            total += 0.1
    return total


def named_if_it_may_be(x):
    total = np.sum(x)
    try:
        total.name = "total"
        total = 0.0 * total
    except AttributeError:
        total = total * x[0]
    return total


def taken_until_empty(x):
    kept, total = [], 0.0
    for value in x:
        if value > 0.0:
            kept.append(value * x[0])
    while True:
        try:
            value = kept.pop()
        except IndexError:
            break
        total = total * 2.0 + value
    return total


PROGRAMS = [
    Program(taken_until_empty, fixed(np.array([0.7, -1.2, 1.4]))),
    Program(taken_until_empty, fixed(np.array([-0.7, -1.2, -1.4])), name="taken_of_nothing"),
    Program(root_found_by_exception, lambda rng: (2.0 + rng.random(),)),
    Program(rows_left_out, fixed(np.array([0.7, -1.2, 1.4, 0.9, 0.3]))),
    Program(objects_that_are_raised, fixed(np.array([0.7, -1.2, 1.4, 0.9, 0.3]))),
    Program(first_pair, fixed(np.array([0.7, 1.2, -0.4, 0.9]))),
    Program(first_pair, normal((1,)), name="no_pair"),
    Program(raised_in_calls, fixed(np.array([0.7, 1.4, -0.3, 0.2, 0.9]))),
    Program(factor_with_jitter, fixed(np.array([[0.7, 0.2, 0.1], [0.3, 0.9, -0.4], [1.1, 0.1, 0.3]]))),
    Program(solved_if_regular, fixed(np.array([[0.7, 0.2, 0.1], [0.3, 0.9, -0.4], [1.1, 0.1, 0.3]]))),
    Program(searched_twice, fixed(np.array([0.7, 1.4, -0.3]))),
    Program(arrays_or_numbers, fixed(0.7)),
    Program(unknown_kinds, fixed(np.array([-0.7, 1.4, 2.5]))),
    Program(parts_of, fixed(2.5)),
    Program(named_if_it_may_be, fixed(np.array([0.4, -0.3]))),
    Program(caught_further_out, fixed(np.array([0.4, -0.3, -1.3, 1.7]))),
]
