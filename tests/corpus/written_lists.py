"""Lists of numbers, and of lists of numbers, whose items are written at places that the program computes."""

from __future__ import annotations

import numpy as np

from .program import Program, fixed

RNG = np.random.default_rng(11)
ENDS = RNG.integers(0, 5, 9), RNG.integers(0, 5, 9)
WEIGHTS = RNG.random(9) + 0.1
SQUARE = RNG.random((4, 4)) + 0.1
SIX = np.array([0.7, -0.4, 1.1, 0.3, -0.8, 1.9])


def joined_sets(weights, ones, others, n):
    """The least weight that joins all (Kruskal), with sizes of the sets."""
    parent, size, total = list(range(n)), [1] * n, 0.0

    def top(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for k in np.argsort(weights):
        i, j = top(ones[k]), top(others[k])
        if i != j:
            parent[i] = j
            size[j] += size[i]
            total += weights[k] * size[j]
    return total


def fullest_bag(values, weights, room):
    best = [0.0] * (room + 1)
    for i in range(len(values)):
        for c in range(room, weights[i] - 1, -1):
            best[c] = max(best[c], best[c - weights[i]] + values[i])
    return best[room]


def means_of_buckets(x, k):
    counts, sums, total = [0] * k, [0] * k, 0.0
    for v in x:
        c = int(abs(v) * k) % k
        counts[c] += 1
        sums[c] += v * v
    for c in range(k):
        if counts[c] > 0:
            total += sums[c] / counts[c]
    return total


def nearest_first(w):
    """Distances from the first place (Dijkstra)."""
    n = len(w)
    dist, done = [float("inf")] * n, [False] * n
    dist[0] = 0.0
    for _ in range(n):
        best = -1
        for i in range(n):
            if not done[i] and (best < 0 or dist[i] < dist[best]):
                best = i
        done[best] = True
        for j in range(n):
            if not done[j] and dist[best] + w[best, j] < dist[j]:
                dist[j] = dist[best] + w[best, j]
    return sum(dist)


def accounts(amounts, source, rate):
    """A list whose length the source says, in a loop of any length."""
    balance = [10.0] * 3
    for k in range(len(amounts)):
        balance[source[k]] -= amounts[k] * (1 + rate)
        balance[source[k] - 1] += amounts[k]
    return sum(b * b for b in balance)


def lists_that_change_places(x, n):
    before, now = [0.0] * (n + 1), [1.0] * (n + 1)
    for v in x:
        for j in range(1, n + 1):
            now[j] = before[j - 1] * v + 0.5 * now[j - 1]
        before, now = now, before
    return before[n]


def states_in_a_list(x, w):
    states = [np.zeros(len(w))] * (len(x) + 1)
    for i in range(len(x)):
        states[i + 1] = np.tanh(states[i] @ w + x[i])
    return np.sum(states[-1]) + states[1][0]


def edits(a, b, rate):
    table = [[0.0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        table[i][0] = table[i - 1][0] + 1.0
    for j in range(1, len(b) + 1):
        table[0][j] = table[0][j - 1] + 1.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = rate * abs(a[i - 1] - b[j - 1])
            table[i][j] = min(table[i - 1][j] + 1.0, table[i][j - 1] + 1.0, table[i - 1][j - 1] + cost)
    return table[-1][-1]


def determinant_by_rows(a):
    n = len(a)
    rows, det = [[a[i, j] for j in range(n)] for i in range(n)], 1.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(rows[i][k]) > abs(rows[p][k]):
                p = i
        if p != k:
            rows[k], rows[p] = rows[p], rows[k]
            det = -det
        det *= rows[k][k]
        for i in range(k + 1, n):
            ratio = rows[i][k] / rows[k][k]
            for j in range(k, n):
                rows[i][j] -= ratio * rows[k][j]
    return det


def rows_by_name(x, n):
    """A row that has a name is the item; so is one that a loop takes."""
    table = [[0] * n for _ in range(n)]
    for i in range(n):
        row = table[i]
        for j in range(n):
            row[j] = x[j] * (i + 1)
    first = table[0]
    for row in table:
        row[1] *= row[0]
        first[0] += table[-1][1]
    return sum(sum(row) for row in table) * first[0]


def spreading(x, count):
    """A table in place of another one, from step to step."""
    n = len(x)
    now = [[x[i] * x[j] for j in range(n)] for i in range(n)]
    for _ in range(count):
        new = [[0.0] * n for _ in range(n)]
        for i in range(n):
            for j in range(n):
                new[i][j] = 0.5 * now[i][j] + 0.1 * now[i - 1][j] * now[i][(j + 1) % n]
        now = new
    return sum(max(row) for row in now)


def deep_table(x, n):
    table = [[[0.0] * 2 for _ in range(n)] for _ in range(n)]
    for i in range(n):
        for j in range(n):
            table[i][j][0] = x[i]
            table[i][j][1] = x[j] * table[i][j - 1][0]
    return table[1][2][1] * table[2][1][0]


PROGRAMS = [
    Program(joined_sets, fixed(WEIGHTS, *ENDS, 5), order=1),
    Program(fullest_bag, fixed(WEIGHTS[:4], np.array([2, 1, 3, 2]), 5), order=1),
    Program(means_of_buckets, fixed(SIX, 3)),
    Program(nearest_first, fixed(SQUARE), order=1),
    Program(accounts, fixed(SIX, np.array([0, 1, 2, 1, 0, 2]), 0.1), wrt=(0, 2)),
    Program(lists_that_change_places, fixed(SIX[:3], 2)),
    Program(states_in_a_list, fixed(SIX.reshape(3, 2), SQUARE[:2, :2]), wrt=(0, 1)),
    Program(edits, fixed(SIX[:3], SIX[2:5], 0.9), wrt=(0, 1, 2)),
    Program(determinant_by_rows, fixed(SQUARE)),
    Program(rows_by_name, fixed(SIX[:3], 3)),
    Program(spreading, fixed(SIX[:3], 2)),
    Program(deep_table, fixed(SIX[:3], 3)),
]
