"""Branches that leave different kinds of things in a name: texts, functions, objects, other shapes and dtypes."""

import numpy as np

from .program import Program, fixed

HIGH, LOW = np.array([0.4, 0.7, -1.3]), np.array([-0.4, -0.7, 2.3])


def chosen_text(x):
    """The text is decided two `if`s further in than it is used."""
    if x[0] > 0:
        if x[1] > 0:
            name = "a"
        else:
            name = "b"
        y = 2.0
    else:
        name = "c"
        y = 3.0
    z = y * x[2]
    if name in ("a", "c"):
        z = z ** 2
    return z + {"a": 1.0, "b": 5.0, "c": 7.0}[name] * x[0]


def several_texts(x):
    a = "p" if x[0] > 0 else "q"
    b = "p" if x[1] > 0 else "q"
    c = "p" if x[2] > 0 else "q"
    total = x[0]
    if a == b:
        total = total + x[1] ** 2
    if b == c:
        total = total + x[2] ** 3
    return total * x[0] if a == c else total


def region(t):
    if t < 0:
        kind = "ice"
    elif t < 0.5:
        kind = "mixed"
    elif t < 1.5:
        kind = "water"
    else:
        kind = "steam"
    slope = {"ice": 2.0, "mixed": 0.0, "water": 4.0, "steam": 3.0}[kind]
    if kind == "mixed":
        return t ** 3
    return slope * t ** 2


def without_else(t):
    if t < 0:
        kind = "ice"
    elif t < 2:
        kind = "water"
    y = t * t
    return y if kind == "ice" else 2 * y


def functions_in_loop(x):
    total = 0.0
    for v in x:
        if v > 2:
            f = np.sin
        elif v < -1:
            f = "stop"
        else:
            f = None
        if f == "stop":
            break
        if f is None:
            continue
        total += f(v) * v
    return total + x[0] ** 2


class Line:
    def __init__(self, slope):
        self.slope = slope

    def at(self, x):
        return self.slope * x


class Parabola(Line):
    def at(self, x):
        return self.slope * x * x


def classes(x):
    curve = Line(x[0]) if x[0] > x[1] else Parabola(x[1])
    if x[2] > 0:
        curve.slope = "unknown"
    return curve.at(x[2]) if curve.slope != "unknown" else x[2] ** 2


def shapes_and_dtypes(x):
    axis = np.array([1, 0, 0]) if x[0] > 0 else x / np.sqrt(np.sum(x ** 2))
    rows = x[:, None] if x[1] > 0 else x
    return np.sum(rows * axis) + np.sum(axis * x)


def list_or_array(x):
    positive = x[x > 0]
    if len(positive) < 2:
        line = [0.5, 1.0]
    else:
        line = np.array([np.sum(positive), 2.0])
    return line[0] * 3 * x[1] + line[1] * x[0]


def written_behind(x):
    y = x.copy()
    if x[0] > 0:
        how = "add"
        y[0] = 5.0
    else:
        how = "times"
    y[1] += 2 * x[1]
    if how == "add":
        y += x
    else:
        y *= x
    return np.sum(y ** 2)


def table_or_mask_by_one_flag(x):
    """What is read for each of them meets the branch of its own side alone."""
    is_large = x[0] > 0.2
    if is_large:
        found = np.outer(x, x) / 2
    else:
        found = x > 0.5
    total = np.sum(x)
    if is_large:
        total += np.sum(found @ found)
    else:
        total += np.sum(x[found] ** 2)
    return total


PROGRAMS = [
    Program(table_or_mask_by_one_flag, fixed(np.array([0.4, 0.7, -0.3]))),
    Program(table_or_mask_by_one_flag, fixed(np.array([0.1, 0.7, -0.3])), name="mask_or_table_by_one_flag"),
    *(Program(function, fixed(HIGH)) for function in (chosen_text, several_texts, list_or_array, written_behind)),
    *(Program(function, fixed(LOW), name=f"{function.__name__}_low")
      for function in (functions_in_loop, classes, shapes_and_dtypes)),
    Program(region, fixed(0.2)),
    Program(without_else, fixed(1.2)),
    Program(region, fixed(1.1), name="region_of_water"),
]
