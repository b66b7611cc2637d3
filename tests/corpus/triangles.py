"""Loops over parts of an array that become longer or shorter, of which a derivative keeps what they were."""

import numpy as np

from .program import Program, normal, positive


def tails_of_rows(a):
    total = 0.0
    for k in range(a.shape[0]):
        r = np.exp(a[k, k:])
        total += np.sum(r * r) * a[k, k]
    return total


def gram_schmidt_by_blocks(a):
    m = a.shape[1]
    q, r, a = np.zeros_like(a), np.zeros((m, m)), a.copy()
    for k in range(m):
        r[k, k] = np.sqrt(a[:, k] @ a[:, k])
        q[:, k] = a[:, k] / r[k, k]
        r[k, k + 1:] = q[:, k] @ a[:, k + 1:]
        a[:, k + 1:] -= np.outer(q[:, k], r[k, k + 1:])
    return np.sum(np.sin(q)) + np.sum(r * r)


def triangular_product(a, b):
    b = b.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += a[i + 1:, i] @ b[i + 1:, j]
    return np.sum(b * b)


def longer_heads(x):
    total = 0.0
    for i in range(1, len(x)):
        y = np.sin(x[:i])
        z = y * x[i]
        total += np.sum(z * z * y)
    return total


def shorter_heads(x):
    k, total = len(x), 0.0
    while k > 1:
        y = np.exp(0.3 * x[:k])
        total += np.sum(y * y * x[k - 1])
        k -= 1
    return total


def triangles_of_rows(a):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(i + 1):
            v = np.cos(a[i, :j + 1])
            total += np.sum(v * v * a[j, 0])
    return total


def factor_of_columns(a):
    """A Cholesky factor, column by column."""
    a = a @ a.T + 5.0 * np.eye(a.shape[0])
    for j in range(a.shape[0]):
        a[j, j] = np.sqrt(a[j, j])
        a[j + 1:, j] /= a[j, j]
        for k in range(j + 1, a.shape[0]):
            a[k:, k] -= a[k:, j] * a[k, j]
    return np.sum(np.log(np.diag(a))) + np.sum(np.tril(a) ** 2)


def rows_handed_down(a):
    """Of which each is zeroed before its old value is used, in the last iteration by nobody."""
    b, n = a * 1.0, a.shape[0]
    for i in range(n - 1):
        r = b[i] * 2.0
        b[i] = 0.0
        for k in range(n - i - 2):
            b[i + 1] += r * b[i + 1 + k, 0]
    return np.sum(b * b)


def halves(x):
    """Whose length is not known by the number of the iteration."""
    total = 0.0
    while len(x) > 1:
        x = np.sin(x[: len(x) // 2]) * 1.5
        total += np.sum(x * x)
    return total


LOOPS = ("loops",)                     # are compiled with their gradients

PROGRAMS = [
    Program(tails_of_rows, normal(("n", "n")), tags=LOOPS),
    Program(gram_schmidt_by_blocks, normal((6, 4)), tags=LOOPS),
    Program(triangular_product, normal((5, 5), (5, 6)), wrt=(0, 1), tags=LOOPS),
    Program(longer_heads, normal(("n",)), tags=LOOPS),
    Program(shorter_heads, normal(("n",)), tags=LOOPS),
    Program(triangles_of_rows, normal(("n", "n")), tags=LOOPS),
    Program(factor_of_columns, positive((5, 5)), tags=LOOPS),
    Program(rows_handed_down, normal((5, 4))),
    Program(halves, normal((9,)), tags=LOOPS),
]
