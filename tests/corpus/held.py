"""Writes to what is held in lists of lists, objects and other views."""

import numpy as np

from .program import Program, apart, fixed, normal

VECTOR = np.array([0.3, -1.2, 2.1, 0.7, -0.45])
MATRIX = np.array([[1.1, -0.4, 0.7, 0.25], [0.2, 1.9, -0.8, 1.3], [0.6, -0.35, 0.9, -1.7]])


class P:

    def __init__(self, v):
        self.v = v


def list_mul_nested(x):
    g = [[0.0] * 3 for _ in range(2)]
    for i in range(2):
        for j in range(3):
            g[i][j] = x[i] * x[j]
    return g[1][2] * g[0][1]


def list_dp2(x):
    n = len(x)
    d = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            d[i][j] = x[i] * x[j] + (d[i - 1][j] if i > 0 else 0.0)
    return d[n - 1][n - 1]


def objs(x):
    l = [P(v) for v in x]
    for k in range(5):
        l[k].v = l[k].v ** 2
    return l[0].v * l[3].v


def dicts(x):
    l = [{'v': v} for v in x]
    for d in l:
        d['v'] = d['v'] ** 2
    return l[0]['v'] * l[3]['v']


def row_append(x):
    l = [[v] for v in x]
    for k in range(5):
        l[k].append(x[k] ** 2)
    return l[0][1] * l[3][1]


def adj(x):
    adj = [[] for _ in range(4)]
    for a, b in [(0, 1), (1, 2), (0, 3)]:
        adj[a].append(b)
    t = 0.0
    for a in range(4):
        for b in adj[a]:
            t += x[a] * x[b] ** 2
    return t


def rows_rec(x):
    l = [[v * k for k in range(3)] for v in x]
    l[1].append(x[0])
    l[1][0] = x[0]
    return sum(l[1]) ** 2


def last_write(x):
    l = []
    for v in x:
        l.append([v, v])
        l[-1][0] = v ** 2
    return l[0][0] * l[3][0]


def einsum_diag_write(s):
    y = s.copy()
    np.einsum('ii->i', y)[:] = s[0] ** 2
    return np.sum(y ** 2)


def einsum_t_write(m):
    y = m.copy()
    np.einsum('ij->ji', y)[1:] *= m[0, 0]
    return np.sum(y ** 2)


def einsum_d3(m):
    y = np.zeros((4, 3, 4))
    np.einsum('iji->ji', y)[:] += m
    return np.sum(y ** 3)


def einsum_read(m):
    y = m.copy()
    t = np.einsum('ij->ji', y)
    y[0] = 1.0
    return np.sum(t ** 2)


def pop_dyn(x):
    l = [v ** 2 for v in x]
    a = l.pop()
    b = l.pop(0)
    l.insert(0, a * b)
    return sum(l) ** 2


def list_item_dyn(x):
    l = [v ** 2 for v in x]
    l[1] = l[0] * l[2]
    for i in range(1, len(x)):
        l[i] = l[i - 1] * x[i]
    return sum(l) ** 2


def del_dyn(x):
    l = [v ** 2 for v in x]
    del l[1]
    return sum(l) ** 2


def sort_dyn(x):
    l = [v ** 2 for v in x]
    l.reverse()
    return sum((v * k for k, v in enumerate(l))) ** 2


def overlap_in_other_steps(x):
    """The tangent of a part is written to another part of the same array: NumPy would overwrite it as it reads."""
    y = x * 1
    np.add(y[:3], 1, out=y[::2])
    y[::2] = y[:3] + 1
    return np.sum(y**2 * np.arange(5))


def overlap_read_before_written(x):
    """NumPy copies what runs the other way, and goes from the side on which nothing is overwritten too early."""
    y = x * 1
    y[:] = y[::-1]
    y[1::3] = y[:-1:3]
    y[: (len(y) + 1) // 2] = y[::2]
    y[1:] = y[:-1]
    for k in range(3):
        y[1:3] = y[::-1][:2]
        y[k:][::-1] = y[k:]
    return np.sum(y**2 * np.arange(len(y)))


def rows_written_to_rows(a):
    y = a * 1
    y[0, ::2] = y[1, :2]
    y[1][::-1] = y[1]
    y[::-1, 1] = y[:, 1]
    return np.sum(y**2 * np.arange(4))


def mirrored_rows(s):
    y = s * 1
    y[:, 1] = y[1]
    for k in range(3):
        y[k] = y[:, k] * 2
        y[:, k] = y[k, :]
    return np.sum(y**2 * np.arange(3))


PROGRAMS = [
    Program(overlap_in_other_steps, fixed(VECTOR)),
    Program(overlap_read_before_written, normal(("n",))),
    Program(rows_written_to_rows, normal((4, 4))),
    Program(mirrored_rows, apart((3, 3))),
    Program(list_mul_nested, apart(("n",))),
    Program(list_dp2, apart(("n",))),
    Program(objs, fixed(VECTOR)),
    Program(dicts, apart(("n",))),
    Program(row_append, fixed(VECTOR)),
    Program(adj, apart(("n",))),
    Program(rows_rec, apart(("n",))),
    Program(last_write, apart(("n",))),
    Program(einsum_diag_write, apart(("n", "n"))),
    Program(einsum_t_write, apart(("n", "m"))),
    Program(einsum_d3, fixed(MATRIX)),
    Program(einsum_read, apart(("n", "m"))),
    Program(pop_dyn, apart(("n",))),
    Program(list_item_dyn, apart(("n",))),
    Program(del_dyn, apart(("n",))),
    Program(sort_dyn, apart(("n",))),
]
