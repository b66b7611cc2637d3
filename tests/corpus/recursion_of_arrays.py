"""Recursion over arrays as people write it: trees of intervals, blocks of matrices, decision trees, in-place scans."""

import numpy as np

from .program import Program, apart, fixed, normal


# A sum over a tree of intervals, with loops at its leaves.
def cell(x, q, lo, hi, at):
    if hi - lo <= 2:
        total = 0.0
        for k in range(lo, hi):
            total += q[k] / (1.0 + (x[k] - at) ** 2)
        return total
    mid = (lo + hi) // 2
    return cell(x, q, lo, mid, at) + cell(x, q, mid, hi, at)


def potential(x, q):
    total = 0.0
    for i in range(len(x)):
        total += q[i] * cell(x, q, 0, len(x), x[i])
    return total


# The steps of a loop in each call are kept.
def smooth(u, n):
    if n == 0:
        return u
    for _ in range(n):
        u = u + 0.1 * np.sin(u)
    return smooth(u * 0.9, n - 1)


def smooth_loss(u):
    return (smooth(u, 3) ** 2).sum()


# Products of blocks, put into their places.
def blocks(a, b):
    n = a.shape[0]
    if n <= 2:
        return a @ b
    h = n // 2
    c = np.zeros((n, n))
    c[:h, :h] = blocks(a[:h, :h], b[:h, :h]) + blocks(a[:h, h:], b[h:, :h])
    c[:h, h:] = blocks(a[:h, :h], b[:h, h:]) + blocks(a[:h, h:], b[h:, h:])
    c[h:, :h] = blocks(a[h:, :h], b[:h, :h]) + blocks(a[h:, h:], b[h:, :h])
    c[h:, h:] = blocks(a[h:, :h], b[:h, h:]) + blocks(a[h:, h:], b[h:, h:])
    return c


def strassen(a, b):
    return np.sum(np.tanh(blocks(a, b)))


def horner32(c, x, k):
    if k == len(c) - 1:
        return c[k]
    return c[k] + x * horner32(c, x, k + 1)


def poly32(c, x):
    return horner32(c, x, 0)


# A decision tree with soft branches, whose shape is in arrays of integers.
def soft(node, x, w, leaf, left, right):
    if left[node] < 0:
        return leaf[node]
    p = 1 / (1 + np.exp(-(w[node] @ x)))
    return p * soft(left[node], x, w, leaf, left, right) + (1 - p) * soft(right[node], x, w, leaf, left, right)
LEFT = np.array([1, 3, 5, -1, -1, -1, -1])
RIGHT = np.array([2, 4, 6, -1, -1, -1, -1])


def soft_tree(w, leaf, x):
    return soft(0, x, w, leaf, LEFT, RIGHT)


# The depth depends on what is integrated.
def quad(p, a, b, depth):
    m = 0.5 * (a + b)
    fa, fb, fm = (np.exp(-p[0] * t) * np.sin(p[1] * t) for t in (a, b, m))
    s1 = 0.5 * (b - a) * (fa + fb)
    s2 = 0.25 * (b - a) * (fa + 2 * fm + fb)
    if depth == 0 or abs(s1 - s2) < 1e-3:
        return s2
    return quad(p, a, m, depth - 1) + quad(p, m, b, depth - 1)


def integral(p):
    return quad(p, 0.0, 3.0, 8)


# Each call writes to its part of one array.
def scan(x, lo, hi, acc):
    if hi - lo == 1:
        x[lo] = acc + x[lo] * x[lo]
        return x[lo]
    mid = (lo + hi) // 2
    left = scan(x, lo, mid, acc)
    return scan(x, mid, hi, left)


def prefix(x):
    y = x.copy()
    last = scan(y, 0, len(y), 0.0)
    return (y * np.arange(len(y))).sum() + last


# Smaller arrays on the way down.
def haar(x):
    n = len(x)
    if n == 1:
        return x
    s = (x[0::2] + x[1::2]) / np.sqrt(2)
    d = (x[0::2] - x[1::2]) / np.sqrt(2)
    return np.concatenate([haar(s), d])


def haar_loss(x):
    return (np.abs(haar(x)) ** 1.5).sum()


# Functions that call each other.
def up(x, n):
    if n == 0:
        return x.sum()
    return down(x * 1.1, n - 1) + x[0]


def down(x, n):
    if n == 0:
        return (x * x).sum()
    return up(np.sin(x), n - 1) * x[-1]


def mutual(x):
    return up(x, 4)


# A name that only one path binds.
def maybe(x, n):
    if n > 0:
        y = maybe(x, n - 1)
    if n > 0:
        return y * x
    return x


# A set as the bits of a number.
def permanent(a, row, used, n):
    if row == n:
        return 1.0
    total = 0.0
    for j in range(n):
        if not (used >> j) & 1:
            total += a[row, j] * permanent(a, row + 1, used | (1 << j), n)
    return total


def perm(a):
    return permanent(a, 0, 0, a.shape[0])


# Complex numbers.
def zpow(z, n):
    if n == 0:
        return 1.0 + 0j
    h = zpow(z, n // 2)
    return h * h * (z if n % 2 else 1.0)


def zloss(x, y):
    w = zpow(x + 1j * y, 5)
    return w.real ** 2 + w.imag


# Halves of what is sorted anew.
def median_tree(x):
    if len(x) <= 1:
        return x.sum()
    x = np.sort(x)
    m = len(x) // 2
    return x[m] * 0.5 + median_tree(x[:m]) * median_tree(x[m:])


# Two results.
def stats(x, lo, hi):
    if hi - lo == 1:
        return x[lo], x[lo] ** 2
    m = (lo + hi) // 2
    s, q = stats(x, lo, m)
    t, r = stats(x, m, hi)
    return s + t, q + r


def var(x):
    s, q = stats(x, 0, len(x))
    n = len(x)
    return q / n - (s / n) ** 2


# One array as two arguments.
def twice(a, b, k):
    if k == 0:
        return a[0] * b[1]
    return a[k] + b[k] * twice(a, b, k - 1)


def same(w):
    return twice(w, w, len(w) - 1)


# Arguments that change places on the way down.
def swapped(a, b, k):
    if k == 0:
        return a[0] * b[1]
    return a[k] + np.sin(b[k]) * swapped(b, a, k - 1)


def swap(a, b):
    return swapped(a, b, len(a) - 1)


# An array that is handed down, and one made of it.
def news(w, k):
    if k == 0:
        return w[0] * w[1]
    return w[k] * news(w, k - 1) + (news(w * 1.5, 0) if k == 2 else w[1])


def newsy(w):
    return news(w, len(w) - 1)


# Calls in a while loop, whose number nobody knows before.
def rounds(x, n):
    if n == 0:
        return x
    k = 0
    while k < n:
        x = np.tanh(rounds(x, k) + x)
        k += 1
    return x


def whiles(x):
    return rounds(x, 3)


# Tables whose sizes are products: of these, calls are not told the factors.
def table_twice_as_long(x, n):
    known = np.zeros((2 * n + 2, n * n))

    def value(k):
        if k < 2:
            return x * k + np.sum(known[1:-1])
        if known[k, k] == 0.0:
            known[k, k] = np.sin(value(k - 1)) + value(k - 2) + np.sum(known[1:-1] ** 2)
        return known[k, k]

    return value(2 * n)


def table_of_products(x, n, m):
    known = np.zeros((n * m, n + m))

    def value(i, j):
        if i < 1 or j < 1:
            return x * i + 1.0 + j
        if known[i, j] == 0.0:
            known[i, j] = np.sin(value(i - 1, j)) + value(i, j - 1)
        return known[i, j]

    return value(n - 1, m - 1)


PROGRAMS = [
    Program(potential, normal((7,), (7,)), (0, 1), name="potential_of_intervals"),
    Program(smooth_loss, normal((5,)), name="loops_in_calls"),
    Program(strassen, normal((4, 4), (4, 4)), (0, 1), name="product_of_blocks"),
    Program(poly32, lambda rng: (rng.normal(size=5).astype("f4"), np.float32(0.7)), (0, 1), name="recursive_horner_f32",
            tags=("f32",)),
    Program(soft_tree, normal((7, 3), (7,), (3,)), (0, 1, 2)),
    Program(integral, fixed(np.array([0.3, 2.0])), name="integral_by_halves"),
    Program(prefix, normal(("n",)), name="scan_in_place"),
    Program(haar_loss, normal((8,)), name="haar"),
    Program(mutual, normal(("n",)), name="up_and_down"),
    Program(maybe, fixed(1.3, 4), name="bound_on_the_way"),
    Program(perm, normal((3, 3)), name="permanent"),
    Program(zloss, fixed(0.7, 0.4), (0, 1), name="complex_power"),
    Program(median_tree, apart((7,)), name="sorted_halves"),
    Program(var, normal(("n",)), name="moments_of_halves"),
    Program(same, normal((5,)), name="one_array_twice"),
    Program(swap, normal((5,), (5,)), (0, 1), name="changing_places"),
    Program(newsy, normal((5,)), name="handed_down_and_new"),
    Program(whiles, fixed(0.4), name="called_in_uncounted_loops"),
    Program(table_twice_as_long, fixed(0.07, 3)),
    Program(table_of_products, fixed(0.7, 3, 4)),
]
