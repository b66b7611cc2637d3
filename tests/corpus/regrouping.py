"""Axes that are merged and split by reshapes, between other things."""

import numpy as np

from .program import Program, normal


def weighed(y):
    """A number in which every element of an array has a weight of its own."""
    return np.sum(np.sin(y) * np.arange(1, y.size + 1).reshape(y.shape))


def heads_merged(x):
    n, h, l, w = x.shape
    return weighed(np.tanh(x.transpose(0, 2, 1, 3).reshape(n, l, h * w) * 2))


def heads_merged_and_used_twice(x):
    n, h, l, w = x.shape
    y = x.transpose(0, 2, 1, 3).reshape(n, l, h * w)
    return weighed(np.sum(y * np.arange(h * w), axis=-1) + y.max(axis=-1))


def all_axes_merged(x):
    return weighed(np.exp(x.transpose(1, 2, 0)).reshape(-1))


def merged_and_split_elsewhere(x):
    a, b, c = x.shape
    return weighed(np.tanh(x.transpose(0, 2, 1).reshape(a * c, b)).reshape(a, c * b))


def merged_axes_added_up(x):
    a, b, c = x.shape
    squares = (x.transpose(1, 0, 2).reshape(b * a, c) ** 2).sum(axis=0)
    return weighed(0.1 * squares * x.transpose(2, 0, 1).reshape(c, a * b).sum(axis=1))


def merged_in_a_loop(x):
    n, h, w = x.shape
    total = np.zeros(n * w)
    for k in range(h):
        total = total + x[:, k].reshape(-1) * (k + 1)
    return weighed(total[::-1].reshape(w, n))


def attention_of_heads(x, w, v):
    n, d = x.shape
    parts = [(x @ w[k]).reshape(n, 2, d // 2).transpose(1, 0, 2) for k in range(3)]
    scores = parts[0] @ parts[1].swapaxes(1, 2)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = (e / e.sum(axis=-1, keepdims=True)) @ parts[2]
    return np.sum((mixed.transpose(1, 0, 2).reshape(n, d) @ v) ** 2)


def layers_of_attention(x, w):
    """What the gradient keeps of a layer are stacks of matrices."""
    n, l, d = x.shape
    for k in range(w.shape[0]):
        q, key, v = ((x @ w[k, part]).reshape(n, l, 2, d // 2).transpose(0, 2, 1, 3) for part in range(3))
        scores = q @ key.swapaxes(2, 3) / (d // 2) ** 0.5
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (e / e.sum(axis=-1, keepdims=True)) @ v
        x = x + mixed.transpose(0, 2, 1, 3).reshape(n, l, d) @ w[k, 3]
    return np.sum(x * x)


def quotients_and_remainders(x):
    """Written out: places in rows of four."""
    n = x.shape[0] * 4
    return weighed(np.array([x[k // 4, k % 4] * k for k in range(n)]))


def quotients_of_quotients(x):
    y = np.zeros(x.size)
    for k in range(x.size):
        y[k] = x[k // (x.shape[1] * x.shape[2]), k // x.shape[2] % x.shape[1], k % x.shape[2]] * (k + 1)
    return weighed(y)


def rows_written_one_after_the_other(x):
    """Slices whose bounds are products of a size and of the position."""
    n, d = x.shape
    y = np.zeros(n * d)
    for k in range(n):
        y[k * d:(k + 1) * d] = x[k] * (k + 1)
    return weighed(y)


def rows_read_from_behind(x):
    n, d = x.shape
    flat, total = x.reshape(-1), 0.0
    for k in range(n):
        total = total + np.sum(flat[(n - 1 - k) * d:(n - k) * d] * x[k]) * (k + 1)
    return total


def products_side_by_side(a, b):
    n, m, d = a.shape
    y = np.zeros((m, n * d))
    for k in range(n):
        y[:, k * d:(k + 1) * d] = a[k] @ b[k]
    return weighed(y)


def blocks_of_a_matrix(x):
    n, d = x.shape
    y = np.zeros((n * d, n * d))
    for i in range(n):
        for j in range(n):
            y[i * d:(i + 1) * d, j * d:(j + 1) * d] = np.outer(x[i], x[j])
    return weighed(y)


def parts_cut_off(x):
    """The last slice is shorter."""
    n, d = x.shape
    y = np.zeros(n * d - 1)
    for k in range(n):
        y[k * d:(k + 1) * d] = x[k, 0]
    return weighed(y)


PROGRAMS = [
    Program(heads_merged, normal((2, 3, "n", 2))),
    Program(heads_merged, normal((1, 2, 3, 40)), name="heads_merged_long"),
    Program(heads_merged_and_used_twice, normal((2, 3, "n", 2))),
    Program(all_axes_merged, normal(("n", 2, 3))),
    Program(merged_and_split_elsewhere, normal(("n", 2, 3))),
    Program(merged_axes_added_up, normal(("n", 2, 3))),
    Program(merged_in_a_loop, normal(("n", 2, 3))),
    Program(attention_of_heads, normal(("n", 4), (3, 4, 4), (4, 2))),
    Program(layers_of_attention, normal((2, 3, 4), (2, 4, 4, 4))),
    Program(layers_of_attention, normal((3, 5, 36), (2, 4, 36, 36)), name="layers_of_wide_attention"),
    Program(quotients_and_remainders, normal(("n", 4))),
    Program(quotients_of_quotients, normal(("n", 3, 2))),
    Program(rows_written_one_after_the_other, normal(("n", 4))),
    Program(rows_read_from_behind, normal(("n", 4))),
    Program(products_side_by_side, normal((2, "n", 3), (2, 3, 3)), wrt=(0, 1)),
    Program(blocks_of_a_matrix, normal(("n", 2))),
    Program(parts_cut_off, normal(("n", 4))),
]
