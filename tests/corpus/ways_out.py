"""What a program has done by the time an exception is caught, and does on the way out: it stays done."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np

from .program import Program, fixed

THREE = np.array([0.5, -0.3, 1.2])


@contextmanager
def scaled(values, by):
    values *= by
    try:
        yield values
    finally:
        values /= by


class Doubled:
    """Doubles numbers on the way out, and adds to them where a key was missing."""

    def __init__(self, values):
        self.values = values

    def __enter__(self):
        self.values += 1.0
        return self

    def __exit__(self, kind, error, trace):
        self.values *= 2.0
        if kind is KeyError:
            self.values += len(str(error))


def finally_before_except(x):
    total = 0.0
    try:
        try:
            total += {"a": x[1]}["zz"]
        finally:
            total += x[0]
    except KeyError as error:
        total += len(str(error)) * len("%s" % error)
    return total * x[0]


def behind_an_else(x):
    total = x[0]
    try:
        try:
            total *= x[1]
        except KeyError:
            total = 0.0
        else:
            total *= {"a": 2.0}["zz"]
        finally:
            total *= x[2]
    except LookupError:
        total += x[1]
    return total * total


def managers_left(x):
    y = x.copy()
    try:
        with scaled(y, x[2]), Doubled(y):
            y[0] += y[1] * {}["zz"]
    except KeyError:
        y += 1.0
    return y @ x


def found_in_calls(x):
    total = 0.0

    def found(key):
        nonlocal total
        total += x[0]
        try:
            return {"a": x[2]}[key]
        finally:
            total *= x[1]

    try:
        total = found("a") + total + found("b")
    except KeyError:
        total += x[2]
    finally:
        total *= x[0]
    return total


def iterations_before(x):
    total = 0.0
    try:
        for k in range(3):
            try:
                total += {0: x[0], 1: x[1]}[k]
            finally:
                total *= 2.0
    except KeyError:
        total += 10.0 * x[0]
    return total


def half_of_a_statement(x):
    y, pair = x.copy(), [x[0], x[1]]

    def place():
        y[0] += 1.0
        return 7

    try:
        y[1] = x[place()]
    except IndexError:
        y[1] *= 2.0
    try:
        pair[0], pair[5] = pair[1] * 2.0, pair[0]
    except IndexError:
        pair.append(x[2])
    return y @ x + sum(value * k for k, value in enumerate(pair, 1))


def on_a_path(x):
    total = 0.0

    def missing():
        nonlocal total
        total += x[0]
        return {}["zz"]

    try:
        if x[0] > 0.0:
            missing()
        total += 10.0
    except KeyError:
        total *= 2.0
    return total * x[1]


def raised_once_more(x):
    total = x[0]
    try:
        try:
            total += {"a": x[1]}["b"]
        except KeyError:
            total *= x[2]
            raise
    except KeyError as error:
        total += x[1] * len(error.args[0])
    try:
        first, second = [total]
    except ValueError as error:
        first, second = x[1], len(str(error))
    return total * first * second


def finally_in_loops(x):
    total, y = 0.0, x.copy()
    for k in range(3):
        try:
            try:
                if x[k] < 0.0:
                    raise ValueError("negative")
                total += x[k] / (y[0] - 0.5)
            except ZeroDivisionError:
                total += [x[2]][k]
            finally:
                total *= 1.5
                y[0] += k
        except ValueError as error:
            total -= 0.1 * len(str(error))
        except IndexError:
            total = 0.0
    return total + y @ x


def out_of_two_loops(x):
    total, table, y = 0.0, {0: x[0], 1: x[1]}, x.copy()
    try:
        for i in range(2):
            for k in range(3):
                try:
                    y[k] += i + 1
                    total += table[k] * (i + 1)
                finally:
                    total += 0.5
    except KeyError:
        total *= 2.0
    return total + y @ x


PROGRAMS = [
    Program(finally_before_except, fixed(THREE)),
    Program(behind_an_else, fixed(THREE)),
    Program(managers_left, fixed(THREE)),
    Program(found_in_calls, fixed(THREE)),
    Program(iterations_before, fixed(THREE)),
    Program(half_of_a_statement, fixed(THREE)),
    Program(on_a_path, fixed(THREE)),
    Program(raised_once_more, fixed(THREE)),
    Program(finally_in_loops, fixed(THREE + np.array([0.2, 0.0, 0.0]))),
    Program(out_of_two_loops, fixed(THREE)),
]
