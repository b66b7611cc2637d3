"""Rows that a loop reads and does not overwrite before it does, beside those that it does overwrite."""

import numpy as np

from .program import Program, fixed

MATRIX = np.array([[3.1, 0.4, -0.6, 0.2], [0.3, 2.7, 0.5, -0.4], [-0.2, 0.6, 2.9, 0.1], [0.5, -0.3, 0.4, 3.3]])
VECTOR = np.array([1.3, -0.4, 0.9, 2.2])


def gauss_jordan(a, b):
    a, b = a.copy(), b.copy()
    n = len(b)
    for i in range(n):
        for j in range(n):
            if j != i:
                f = a[j, i] / a[i, i]
                a[j, i:] -= f * a[i, i:]
                b[j] -= f * b[i]
    return np.sum((b / np.diag(a)) ** 2)


def inverse_beside(a):
    """The row of the pivot is written before the loop over the others, and read in it."""
    n = len(a)
    a, inverse = a.copy(), np.eye(n)
    for i in range(n):
        pivot = a[i, i]
        a[i] /= pivot
        inverse[i] = inverse[i] / pivot
        for j in range(n):
            if i != j:
                f = a[j, i]
                a[j] = a[j] - f * a[i]
                inverse[j] = inverse[j] - f * inverse[i]
    return np.sum(inverse * np.arange(n * n).reshape(n, n))


def also_its_own_row(a):
    """Row i changes in the iteration j == i, and is read after that, too."""
    a = a.copy()
    for i in range(len(a)):
        for j in range(len(a)):
            a[j] = a[j] * a[i, 0] - 0.3 * a[i]
    return np.sum(np.sin(a))


def the_row_above_its_own(a):
    """What is written is a row beside the one that the branch leaves out."""
    a = a.copy()
    n = len(a)
    for i in range(1, n):
        for j in range(1, n):
            if j != i:
                a[j - 1] -= 0.2 * a[i - 1] * a[j] + 0.1 * a[i]
    return np.sum(a**2)


def by_a_test_of_others(a, x):
    """The branch says nothing of the rows."""
    a, x = a.copy(), x.copy()
    for i in range(len(a)):
        for j in range(len(a)):
            if x[j] != x[i]:
                a[j] -= 0.3 * a[i] * a[j]
        x[i] *= 1.5
    return np.sum(a**3)


def beyond_its_end(x, n):
    """There is no x[n], and nobody reads it where the branch is not taken."""
    x = x.copy()
    for i in range(len(x)):
        for j in range(i):
            if n < len(x):
                x[j] = x[j] * x[n] + x[i]
            else:
                x[j] = x[j] * x[i]
    return np.sum(x**2)


def relaxed_until_small(x):
    """The last element is read in a loop with a condition, which writes to the others."""
    x = x.copy()
    while abs(x[0]) > 0.1:
        for j in range(len(x) - 1):
            x[j] = 0.4 * x[j] + 0.01 * x[-1] ** 2 * x[j + 1]
        x[-1] *= 0.9
    return np.sum(np.cos(x))


def largest_first(a):
    """Which row is read is computed in the loop around."""
    a = a.copy()
    for _ in range(3):
        k = np.argmax(a[:, 0])
        for j in range(len(a)):
            if j != k:
                a[j] -= 0.2 * a[k] * a[j]
        a[k] = 0.5 * a[k]
    return np.sum(a * a)


def with_pivots(a, b):
    """Rows change places where they are different ones."""
    a, b = a.copy(), b.copy()
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            b[[k, p]] = b[[p, k]]
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
            b[i] -= f * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1:] @ x[i + 1:]) / a[i, i]
    return np.sum(x**2)


def counted_from_the_end(x, places):
    """Both are the same in one iteration; one counts from the end in another, and may be the other one."""
    x = x.copy()
    for k in range(len(places)):
        p = places[k]
        if p != k:
            x[[k, p]] = x[[p, k]] * np.array([2.0, 3.0])
        x[[k, p]] = x[[p, k]] + 0.5 * x[[k, p]] ** 2
    return np.sum(x**2)


PROGRAMS = [
    Program(gauss_jordan, fixed(MATRIX, VECTOR), wrt=(0, 1)),
    Program(inverse_beside, fixed(MATRIX)),
    Program(also_its_own_row, fixed(MATRIX)),
    Program(the_row_above_its_own, fixed(MATRIX)),
    Program(by_a_test_of_others, fixed(MATRIX, np.array([1.0, 2.0, 1.0, 1.5]))),
    Program(beyond_its_end, fixed(VECTOR, 4)),
    Program(beyond_its_end, fixed(VECTOR, 2), name="before_its_end"),
    Program(relaxed_until_small, fixed(VECTOR)),
    Program(largest_first, fixed(MATRIX)),
    Program(with_pivots, fixed(MATRIX[[2, 0, 3, 1]], VECTOR), wrt=(0, 1)),
    Program(counted_from_the_end, fixed(VECTOR, np.array([2, 1, -2, 0]))),
]
