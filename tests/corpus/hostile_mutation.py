"""Writing in loops whose slices grow and shrink, through aliases, views, lists and objects."""

import numpy as np

from .program import Program, normal


def window_times_window(x):
    """What an iteration keeps has another length than what its neighbour keeps."""
    y = x * 1.0
    for i in range(len(x)):
        y[i:] = x[:len(x) - i] * y[i:]
    return np.sum(y)


def window_added(x):
    y = x * 1.0
    for i in range(len(x)):
        y[i:] += x[:len(x) - i] * y[i]
    return np.sum(y)


def window_carried(x):
    total = 1.0
    for i in range(len(x)):
        total = np.sum(np.sin(x[i:])) * total
    return total


def convolution_in_place(x):
    total = 0.0
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i:] += x[i] * x[:len(x) - i]
        total += y[i] * y[i]
    return total


def triangle_of_windows(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1):
            part = x[j:i + 1] * x[i]
            total += np.sum(part * part) * total + part[0]
    return total


def prefix_view_scaled(x):
    y = np.zeros(len(x))
    for k in range(len(x)):
        head = y[:k + 1]
        head += x[k]
        head[-1] *= 2
    return np.sum(y**2)


def elimination_in_place(a):
    a = a + 3 * np.eye(len(a))
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1:] -= a[i, k] * a[k, k + 1:]
    product = 1.0
    for k in range(n):
        product *= a[k, k]
    return product


def buffers_exchanged(x, n):
    now, after = x.copy(), np.zeros_like(x)
    for _ in range(n):
        after[1:-1] = now[:-2] * now[2:]
        after[0] = now[0]
        after[-1] = now[-1] ** 2
        now, after = after, now
    return np.sum(now**2) + np.sum(after)


def rows_written_through_transpose(x):
    y = x.copy()
    y.T[0] = y.T[-1] * 2
    for column in y.T:
        column *= np.sum(column)
    for row in y:
        row[:] = row * np.sum(row)
    return np.sum(y * x)


def insertion_sort(x):
    y = x.copy()
    for i in range(1, len(y)):
        key = y[i]
        j = i - 1
        while j >= 0 and y[j] > key:
            y[j + 1] = y[j]
            j -= 1
        y[j + 1] = key
    return np.sum(y * y * np.arange(len(y)))


def rows_swapped_without_copy(a):
    """Both rows become the second: what is exchanged are views."""
    a = a.copy()
    a[0], a[1] = a[1], a[0]
    return np.sum(a**2 * np.arange(a.size).reshape(a.shape))


def alias_of_newest(x):
    before = np.zeros(len(x))
    total = 0.0
    for k in range(3):
        now = x * (k + 1) + before
        total += np.sum(now * before)
        before = now
        before[0] = total
    return total + np.sum(now)


def snapshots_in_list(x):
    states = []
    h = np.zeros(3)
    for v in x:
        h[0] += v
        h[1] = h[0] * h[2] + 1
        h[2] = h[1]
        states.append(h.copy())
    return np.sum(np.array(states) ** 2)


PROGRAMS = [
    Program(window_times_window, normal(("n",))),
    Program(window_added, normal(("n",))),
    Program(window_carried, normal(("n",))),
    Program(convolution_in_place, normal(("n",))),
    Program(triangle_of_windows, normal(("n",))),
    Program(prefix_view_scaled, normal(("n",))),
    Program(elimination_in_place, normal(("n", "n"))),
    Program(buffers_exchanged, normal((5,), then=(3,))),
    Program(buffers_exchanged, normal((5,), then=(0,)), name="buffers_exchanged_never"),
    Program(rows_written_through_transpose, normal(("n", 3))),
    Program(insertion_sort, normal(("n",))),
    Program(rows_swapped_without_copy, normal((4, 3))),
    Program(alias_of_newest, normal(("n",))),
    Program(snapshots_in_list, normal(("n",))),
]
