"""Arrays that every iteration leaves longer or shorter by the same number: triangular schemes, rows that grow."""

import numpy as np

from .program import Program, fixed

VECTOR = np.array([1.3, -0.4, 0.9, 2.2, -1.7])
NODES = np.array([-1.2, -0.3, 0.4, 0.9, 1.8])
POINTS = np.array([[0.1, 0.4], [1.2, -0.7], [0.3, 0.9], [-0.5, 1.1]])


def point_of_curve(points, t):
    """De Casteljau's algorithm."""
    for _ in range(len(points) - 1):
        points = (1 - t) * points[:-1] + t * points[1:]
    return np.sum(points[0] ** 2)


def divided_differences(x, y):
    """Newton's coefficients of the polynomial through points, weighted."""
    total, differences = y[0], y
    for k in range(1, len(x)):
        differences = (differences[1:] - differences[:-1]) / (x[k:] - x[:-k])
        total += k * differences[0] ** 2
    return total


def romberg(a, b, levels):
    width = b - a
    row = np.array([width * (np.sin(a) + np.sin(b)) / 2])
    for k in range(1, levels):
        width = width / 2
        middles = a + width * np.arange(1, 2**k, 2)
        better = [row[0] / 2 + width * np.sum(np.sin(middles))]
        for j in range(1, k + 1):
            better.append((4**j * better[j - 1] - row[j - 1]) / (4**j - 1))
        row = np.array(better)
    return row[-1]


def squared_differences(x):
    """Aitken's method: two elements fewer in each iteration."""
    sums = np.cumsum(x)
    for _ in range((len(sums) - 1) // 2):
        first = sums[1:-1] - sums[:-2]
        second = sums[2:] - sums[1:-1]
        sums = sums[:-2] - first**2 / (second - first + 5.0)
    return sums[-1]


def coefficients_of_roots(roots):
    coefficients = np.array([1.0])
    for root in roots:
        coefficients = np.append(coefficients, 0.0) - root * np.append(0.0, coefficients)
    return np.sum(coefficients * np.arange(len(coefficients)))


def levinson(r):
    a, error = np.array([1.0]), 2.0
    for k in range(len(r) - 1):
        reflection = np.sum(a * r[: k + 1]) / error
        a = np.concatenate((a, [0.0])) - reflection * np.concatenate(([0.0], a[::-1]))
        error = error * (1 - 0.1 * reflection**2)
    return np.sum(a) * error


def shrinking_matrices(x):
    """The logarithm of a determinant by complements of Schur."""
    rest, total = np.outer(x, x) + 3 * np.eye(len(x)), 0.0
    for _ in range(len(x) - 1):
        total += np.log(rest[0, 0])
        rest = rest[1:, 1:] - np.outer(rest[1:, 0], rest[0, 1:]) / rest[0, 0]
    return total + np.log(rest[0, 0])


def growing_in_nested_loops(x):
    """In the loop inside one more each time, in the loop around as many as there were iterations inside."""
    found = x[:1]
    for i in range(len(x)):
        for j in range(i):
            found = np.append(found, x[j] * found[-1])
        found = np.append(found[1:], x[i])
    return np.sum(found**2)


def one_longer_one_shorter(x):
    falling, rising = x, x[:1]
    for _ in range(len(x) - 1):
        falling = falling[1:] * 1.1
        rising = np.append(rising, falling[0] * rising[-1])
    return np.sum(rising) + falling[0]


def shorter_by_a_branch(x):
    """Not by the same number: the size depends on values."""
    rest = x
    for k in range(len(x) - 1):
        if x[k] > 0:
            rest = rest[1:] * 2
    return np.sum(rest**2)


def shorter_than_nothing(x):
    """After five iterations nothing is left to be cut."""
    rest, total = x, 0.0
    for k in range(8):
        total += k * np.sum(rest**2)
        rest = rest[1:] * 1.5
    return total


def multiplied_out(x):
    """Polynomials of one or two coefficients: the size does not grow in the last iteration."""
    product = np.ones(1)
    for k in range(len(x)):
        product = np.convolve(product, x[k : k + 2])
    return np.sum(product * np.arange(len(product)))


def written_while_it_shrinks(x):
    y = x * 1.0
    for k in range(len(x) - 1):
        y = y[1:] + y[:-1]
        y[0] *= x[k]
        y[-1] += 1.0
    return y[0]


PROGRAMS = [
    Program(point_of_curve, fixed(POINTS, 0.3), wrt=(0, 1)),
    Program(point_of_curve, fixed(POINTS[:1], 0.3), name="point_of_a_point"),
    Program(divided_differences, fixed(NODES, np.sin(NODES)), wrt=(0, 1)),
    Program(romberg, fixed(0.0, 1.5, 4), wrt=(0, 1)),
    Program(squared_differences, fixed(VECTOR)),
    Program(coefficients_of_roots, fixed(VECTOR)),
    Program(levinson, fixed(VECTOR)),
    Program(shrinking_matrices, fixed(VECTOR)),
    Program(growing_in_nested_loops, fixed(VECTOR)),
    Program(one_longer_one_shorter, fixed(VECTOR)),
    Program(shorter_by_a_branch, fixed(VECTOR)),
    Program(shorter_than_nothing, fixed(VECTOR)),
    Program(multiplied_out, fixed(VECTOR)),
    Program(written_while_it_shrinks, fixed(VECTOR)),
]
