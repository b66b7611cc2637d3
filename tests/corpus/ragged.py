"""Loops in loops that run as often as numbers say, and hand on what the derivative needs."""

from __future__ import annotations

import numpy as np

from .program import Program, fixed


def line_searches(x, targets):
    """Descent with steps that are halved until they help."""
    for target in targets:
        slope = 2.0 * (x - target)
        step = 0.9 + 0.3 * np.sin(np.sum(x))
        while np.sum((x - step * slope - target) ** 2) > 0.5 * np.sum((x - target) ** 2):
            step = step * (0.6 + 0.01 * np.cos(step))
        x = x - step * slope
    return np.sum(np.sin(x))


def sifted_down(x):
    """The heap of a sort, with values that change where they move."""
    a = x * 1.0
    for start in range(len(a) // 2 - 1, -1, -1):
        root = start
        while 2 * root + 1 < len(a):
            child = 2 * root + 1
            if child + 1 < len(a) and a[child] < a[child + 1]:
                child += 1
            if a[root] >= a[child]:
                break
            a[root], a[child] = a[child] * np.cos(a[root]), a[root] * a[root]
            root = child
    return np.sum(a * np.arange(1.0, len(a) + 1))


def whiles_in_whiles(x):
    t, total = x, 0.0
    while t < 9.0:
        u = 0.5
        while u < t:
            v = 0.1 * u
            while v < u:
                v = v * 1.7 + 0.05 * t * np.sin(v)
            u = u + 0.4 * v * v
            total = total + u * v
        t = t + 1.5 + 0.2 * np.sin(u) * x
    return total


def searches_in_branches(x):
    t = 0.7
    for limit in x:
        if limit > 1.0:
            while t < limit:
                t = t + 0.3 * np.sin(t) ** 2 * limit + 0.1
        else:
            for _ in range(int(10 * limit)):
                t = t * (1.0 - 0.1 * limit * np.cos(t))
    return t


LIMITS = np.array([0.33, 2.04, 3.11, 0.05, 0.52, 4.07])

def sparse_rows(data, columns, begins, x):
    """The first row begins behind the end, and so does what it multiplies."""
    y = np.zeros(begins.size - 1)
    for i in range(begins.size - 1):
        total = 0.0
        for k in range(begins[i], begins[i + 1]):
            total += data[k] * np.sin(x[columns[k]])
        y[i] = total
    return np.sum(y ** 2)


PROGRAMS = [
    Program(sparse_rows, fixed(np.linspace(0.4, 1.3, 6), np.array([0, 2, 1, -1, 2, 0]), np.array([-2, 1, 1, 4, 6]),
                               np.array([0.3, -0.7, 1.1])), (0, 3)),
    Program(line_searches, fixed(np.array([1.3, -0.4]), np.array([[0.2, 0.5], [1.1, -0.3], [0.4, 0.9]])), (0, 1)),
    Program(sifted_down, fixed(np.array([0.5, 1.2, 0.9, 1.4, 0.3, 1.7, 1.1, 0.8]))),
    Program(whiles_in_whiles, fixed(1.2)),
    Program(searches_in_branches, fixed(LIMITS)),
]
