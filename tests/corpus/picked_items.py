"""Items of lists at indices that the program computes: tables, counters, whatever stands in a list."""

import numpy as np

from .program import Program, fixed, positive

VECTOR = np.array([0.7, -1.3, 0.45, 1.9, -0.2, 0.3])


def row_of_many(x):
    rows = [np.sin(x), np.cos(x), x]
    k = np.argmax([r.sum() for r in rows])
    return rows[k] @ x + rows[int(abs(x[0])) % 3][0]


def sums_by_kind(x):
    sums = [0.0, 0.0, 0.0]
    for v in x:
        sums[int(abs(v) * 2) % 3] += v**2
    return sums[0] + 2 * sums[1] + 3 * sums[2]


def spline_of_lists(ys, xq):
    n = len(ys)
    c, d = [0.0] * n, [0.0] * n
    for i in range(1, n - 1):
        w = 4 - c[i - 1]
        c[i] = 1 / w
        d[i] = (6 * (ys[i + 1] - 2 * ys[i] + ys[i - 1]) - d[i - 1]) / w
    bends = [0.0] * n
    for i in range(n - 2, 0, -1):
        bends[i] = d[i] - c[i] * bends[i + 1]
    total = 0.0
    for x in xq:
        k = min(max(int(x), 0), n - 2)
        t = x - k
        total += (1 - t) * ys[k] + t * ys[k + 1]
        total += ((1 - t) ** 3 - (1 - t)) * bends[k] / 6 + (t**3 - t) * bends[k + 1] / 6
    return total


def weights_of_a_tuple(x):
    table = (1.0, 2.5, -0.5, 3.0)
    return sum(v * table[int(abs(v)) % 4] for v in x)


def states_that_follow(x):
    following = [1, 2, 0]
    total, state = 0.0, 0
    for v in x:
        state = following[state] if v > 0 else state
        total += v * (state + 1)
    return total


def parents(x):
    parent = [0, 1, 2, 3, 4]
    total = 0.0
    for i in range(4):
        if x[i] > x[i + 1]:
            root = parent[i]
            parent[i + 1] = root
            total += x[i] * (root + 1)
    return total


def written_and_read(x):
    cells = [0.0] * 4
    for v in x:
        cells[int(abs(v)) % 4] = v * 2
        cells[0] += 1.0
    return cells[int(abs(x[1]))] / cells[0] + sum(cells) + cells[-1]


def states_of_a_while(x):
    following = [1, 2, 0]
    state, total, y = 0, 0.0, abs(x[0])
    while y < 20.0:
        y = y * 1.5 + state
        total += y * (state + 1)
        state = following[state]
    return total


def written_in_a_while(x):
    weights = [x[0], x[1], 2.0 * x[2]]
    i, total = 0, 1.0
    while total < 50.0:
        total = total + abs(weights[i % 3]) * total
        weights[i % 3] = total * 0.1
        i += 1
    return total + weights[0]


FACTORS = [1, 1, 0.95, 0.9]
KNOTS, HEIGHTS = [0, 1, 2.5, 4], [1, 3, 0.95, 0.9]


def floats_among_integers(x):
    y, k = abs(x[0]), 0
    while y < 30.0:
        y = y + FACTORS[k % 4] * abs(x[1])
        k += 1
    return y * FACTORS[k % 4]


def between_knots(x, xs, ys):
    for j in range(len(xs) - 1):
        if xs[j] <= x < xs[j + 1]:
            return ys[j] + (ys[j + 1] - ys[j]) * (x - xs[j]) / (xs[j + 1] - xs[j])
    return ys[-1]


def interpolated_among_integers(x):
    return sum([between_knots(abs(v), KNOTS, HEIGHTS) for v in x])


def greatest_of_some(x):
    """The greatest number with its place, of as many as there are; and one of numbers and of what is behind them."""
    best, place = max(((v, k) for k, v in enumerate(x) if v < 1.5), default=(0.5, -1))
    few = [v * v for v in x if v > -0.7]
    return best * place + max(0.1, *few) + min(x[0], x[1], *few) + min((abs(v), v) for v in x if v != 0)[1]


PROGRAMS = [
    Program(greatest_of_some, fixed(VECTOR)),
    Program(row_of_many, fixed(VECTOR)),
    Program(sums_by_kind, fixed(VECTOR)),
    Program(spline_of_lists, positive((6,), then=(np.array([0.3, 1.7, 4.9]),))),
    Program(weights_of_a_tuple, fixed(VECTOR)),
    Program(states_that_follow, fixed(VECTOR)),
    Program(parents, fixed(VECTOR)),
    Program(written_and_read, fixed(VECTOR)),
    Program(states_of_a_while, fixed(VECTOR)),
    Program(written_in_a_while, fixed(VECTOR)),
    Program(floats_among_integers, fixed(VECTOR)),
    Program(interpolated_among_integers, fixed(VECTOR)),
]
