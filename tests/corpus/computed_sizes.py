"""Sizes that only the running program can compare: of recursions, masks, windows and branches."""

import math

import numpy as np

from .program import Program, apart, fixed, normal, positive


def fft(x):
    n = len(x)
    if n == 1:
        return x
    even = fft(x[::2])
    odd = fft(x[1::2])
    turned = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + turned, even - turned])


def power_spectrum(x):
    return np.sum(np.abs(fft(x.astype(complex))) ** 2 * np.arange(len(x)))


def haar(x):
    n = len(x)
    if n == 1:
        return x
    smooth, detail = (x[::2] + x[1::2]) / 2, (x[::2] - x[1::2]) / 2
    return np.concatenate([haar(smooth), detail])


def haar_energy(x):
    return np.sum(haar(x) ** 3)


def folded(x):
    """A tail call on half of the array: what comes back has one element always."""
    n = len(x)
    if n == 1:
        return x
    return folded(x[: n // 2] * x[n // 2 :] + x[: n // 2])


def folded_value(x):
    return folded(x)[0]


def karatsuba(a, b):
    n = len(a)
    if n == 1:
        return a * b
    h = n // 2
    low, high = karatsuba(a[:h], b[:h]), karatsuba(a[h:], b[h:])
    middle = karatsuba(a[:h] + a[h:], b[:h] + b[h:]) - low - high
    out = np.zeros(2 * n - 1)
    out[: 2 * h - 1] += low
    out[h : h + len(middle)] += middle
    out[2 * h :] += high
    return out


def squared_product(a, b):
    return np.sum(karatsuba(a, b) ** 2)


def strassen(A, B):
    n = A.shape[0]
    if n == 1:
        return A * B
    h = n // 2
    a, b, c, d = A[:h, :h], A[:h, h:], A[h:, :h], A[h:, h:]
    e, f, g, k = B[:h, :h], B[:h, h:], B[h:, :h], B[h:, h:]
    p1, p2, p3, p4 = strassen(a, f - k), strassen(a + b, k), strassen(c + d, e), strassen(d, g - e)
    p5, p6, p7 = strassen(a + d, e + k), strassen(b - d, g + k), strassen(a - c, e + f)
    C = np.empty((n, n))
    C[:h, :h] = p5 + p4 - p2 + p6
    C[:h, h:] = p1 + p2
    C[h:, :h] = p3 + p4
    C[h:, h:] = p1 + p5 - p3 - p7
    return C


def strassen_norm(A, B):
    return np.sum(strassen(A, B) ** 2)


def sizes_by_ratios(x, w):
    """How often a window fits by `int` of a float, halves by `ceil` and `floor`."""
    rows, columns = (int((n - k) / 1 + 1) for n, k in zip(x.shape, w.shape))
    shifted = [x[i:i + rows, j:j + columns].ravel() for i in range(w.shape[0]) for j in range(w.shape[1])]
    y = (w.ravel() @ np.stack(shifted)).reshape(rows, columns)
    half, upper = int(rows / 2), math.ceil(columns / 2)
    first, last = y[:half, :upper], y[-half:, math.floor(columns / 2):]
    fewer = int(np.floor((2 - rows) / 3)), int((2 - rows) / 3), math.ceil(0.5 + len(x) / 2)
    return np.sum(first * last) + y[0, 0] * fewer[0] + y[-1, 0] * fewer[1] + y[0, -1] * fewer[2]


def shaped_by_counts(x, k):
    """New shapes by numbers that the program computes, which it tests."""
    places = np.flatnonzero(x > 0)
    if len(places) % 2:
        places = np.append(places, len(x))
    total = 0.0
    for first, last in places.reshape(len(places) // 2, 2):
        total = total + np.sum(x[first:last] ** 2)
    for n in k:
        total = total + np.max(x[:len(x) - len(x) % n].reshape(-1, n).sum(axis=1)) * x.reshape(len(x), 1)[n, 0]
    return total


def blockwise(A, B):
    n = A.shape[0]
    if n <= 2:
        return A @ B
    h = n // 2
    left = [blockwise(A[:h, :h], B[:h, :h]), blockwise(A[h:, :h], B[:h, :h])]
    right = [blockwise(A[:h, :h], B[:h, h:]), blockwise(A[h:, :h], B[:h, h:])]
    left = np.vstack(left) + np.vstack([blockwise(A[:h, h:], B[h:, :h]), blockwise(A[h:, h:], B[h:, :h])])
    right = np.vstack(right) + np.vstack([blockwise(A[:h, h:], B[h:, h:]), blockwise(A[h:, h:], B[h:, h:])])
    return np.hstack([left, right])


def blockwise_norm(A, B):
    return np.sum(blockwise(A, B) ** 2)


def cosine_transform(x):
    n = len(x)
    if n == 1:
        return x.copy()
    h = n // 2
    front, back = x[:h], x[h:][::-1]
    even = cosine_transform(front + back)
    odd = cosine_transform((front - back) / (2 * np.cos((np.arange(h) + 0.5) * np.pi / n)))
    out = np.empty(n)
    out[::2] = even
    odd[:-1] += odd[1:]
    out[1::2] = odd
    return out


def weighted_cosines(x):
    return np.sum(cosine_transform(x) ** 2 * np.arange(len(x)))


def first_parts(x):
    """Each call gives one element, as a slice that may be cut short."""

    def go(y):
        return y[:1] if len(y) < 2 else go(y[: len(y) // 2]) + np.sin(go(y[len(y) // 2 :]))

    return np.sum(go(x) ** 2)


def two_masks(x, y):
    """The masks select equally many."""
    return np.sum(x[x > 0] * y[y < 0.3])


def moving_windows(x, w):
    low, high, total = 0, len(w), 0.0
    while high <= len(x):
        total = total + np.sum(x[low:high] * w) ** 2
        low += 1
        high += 1
    return total


def ragged_windows(x):
    low, total = 0, 0.0
    while low < len(x) - 1:
        high = min(low + 3, len(x))
        total = total + np.sum(x[low:high] ** 2 * np.arange(high - low))
        low += 2
    return total


def bisected(x):
    y = x.copy()
    low, high = 0, len(x)
    while high - low > 1:
        middle = (low + high) // 2
        if np.sum(y[low:middle]) > np.sum(y[middle:high]):
            y[low:middle] *= 0.5
            high = middle
        else:
            y[middle:high] *= 0.7
            low = middle
    return np.sum(y**2)


def larger_part(x):
    k = int(np.argmax(x))
    head, tail = x[:k], x[k:]
    part = head if np.sum(head) > np.sum(tail) else tail
    return np.sum(part**2)


def selected_on_one_side(x, c):
    if c > 0:
        part = x[x > 0]
    else:
        part = x[x < 0.5]
    return np.sum(part**3)


def cut_on_one_side(x):
    y = x[1:] if x[0] > 0 else x
    z = x if x[0] > 0 else x[1:]
    return np.sum(y * y) * np.sum(z)


def bound_on_one_side(x):
    total = np.sum(x)
    if total > -100:
        part = x[x > 0]
    result = 2 * total
    if total > -100:
        result = result + np.sum(part**2)
    return result


def product_of_nothing(x):
    """A mask that selects nothing: the second derivative is over as many elements."""
    positive = x[x > 0]
    return np.prod(positive) * np.sum(x) + np.cumprod(x[x > 100] * 2).sum()


def others_of_each_row(m):
    """All but the diagonal, row by row; that rows are equally long is tested when it runs."""
    n = m / np.linalg.norm(m, axis=1, keepdims=True)
    alike = n @ n.T
    others = alike[~np.eye(len(m), dtype=bool)].reshape(len(m), -1)
    return np.sum(np.log(np.exp(others).sum(axis=1)) - np.diag(alike))


def chosen_in_pairs(x):
    return np.sum(x[x > 0].reshape(-1, 2).prod(axis=1)) + np.sum(x[x < 0].reshape(2, 2)[1])


def row_without_itself(x):
    """A mask takes as many places as the values are only by what the program knows."""
    n = len(x)
    apart = (x[:, None] - x) ** 2
    weight = np.zeros((n, n))
    for i in range(n):
        e = np.exp(-np.delete(apart[i], i))
        weight[i, np.arange(n) != i] = e / e.sum()
    weight[weight > 0.5] += x[:np.count_nonzero(weight > 0.5)]
    return np.sum(weight ** 2 * x)


def pooled(y, w):
    """Isotonic regression: neighbours in the wrong order are pooled, and each gets the mean of its pool."""
    n = len(y)
    mean, weight, count = y.copy(), w.copy(), np.ones(n, dtype=int)
    last = -1
    for i in range(n):
        last += 1
        mean[last], weight[last], count[last] = y[i], w[i], 1
        while last > 0 and mean[last - 1] > mean[last]:
            both = weight[last - 1] + weight[last]
            mean[last - 1] = (weight[last - 1] * mean[last - 1] + weight[last] * mean[last]) / both
            weight[last - 1] = both
            count[last - 1] += count[last]
            last -= 1
    fit = np.repeat(mean[:last + 1], count[:last + 1])
    return np.sum(w * (fit - y) ** 2) + np.sum(fit ** 3)


def columns_repeated(x, counts):
    return np.sum(np.sin(x.repeat(counts, axis=1)) * np.arange(counts.sum())) + np.sum(np.repeat(x, counts[:1]) ** 2)


def pool_example(rng, size: int = 6):
    return rng.standard_normal(size), rng.uniform(0.5, 1.5, size)


def pairs_side_by_side(x):
    """Diagonals, differences and parts whose numbers are those of rows."""
    half = len(x) // 2
    square = x @ x.T
    beside = np.concatenate([np.diag(square, half), np.diag(square, -half)])
    steps = np.diff(np.tril(square, half - 1), half, axis=0)
    first, *rest = np.split(np.linalg.matrix_power(square, half), half)
    return np.sum(beside ** 2) + np.trace(steps, half) + np.sum(first * len(rest)) + np.round(np.sum(x), half)


def unpacked(x, places):
    """How many items there are is known when the program runs, which tests it."""
    k = int(places[1])
    low, high = x[k:k + 2]
    (first, second), third = x[x > 0.4], x[0]
    return low * high ** 2 + first * third - second ** 3


def by_compressed_rows(data, columns, ends):
    """Entries of a sparse matrix come to their rows."""
    n = len(ends) - 1
    rows = np.repeat(np.arange(n), np.diff(ends))
    dense, totals = np.zeros((n, n)), np.zeros(n)
    np.add.at(dense, (rows, columns), data)
    np.add.at(totals, rows, data)
    return np.sum((dense @ totals) ** 2)


PROGRAMS = [
    Program(by_compressed_rows, normal((5,), then=(np.array([0, 2, 1, 0, 1]), np.array([0, 2, 2, 5])))),
    Program(unpacked, fixed(np.array([0.5, -0.3, 0.2, 1.7]), np.array([3.0, 1.0]))),
    Program(pairs_side_by_side, normal((4, 3))),
    Program(row_without_itself, apart((5,))),
    Program(sizes_by_ratios, normal((6, 5), (3, 2)), (0, 1)),
    Program(shaped_by_counts, normal((9,), then=(np.array([2, 3]),))),
    Program(pooled, pool_example, (0, 1)),
    Program(columns_repeated, normal((2, 3), then=(np.array([2, 0, 1], np.int32),))),
    Program(others_of_each_row, normal((3, 4))),
    Program(chosen_in_pairs, fixed(np.array([1.0, -0.5, 2.0, 0.3, -1.5, 0.7, -2.0, -0.1]))),
    Program(power_spectrum, normal((8,))),
    Program(haar_energy, normal((8,))),
    Program(folded_value, positive((8,))),
    Program(squared_product, normal((4,), (4,)), (0, 1)),
    Program(strassen_norm, normal((2, 2), (2, 2)), (0, 1)),
    Program(blockwise_norm, normal((4, 4), (4, 4)), (0, 1)),
    Program(weighted_cosines, normal((8,))),
    Program(first_parts, normal(("n",))),
    Program(two_masks, fixed(np.array([1.0, 2.0, -1.0, 0.5]), np.array([0.1, 0.2, 0.6, -1.0])), (0, 1)),
    Program(moving_windows, normal(("n",), (3,)), (0, 1)),
    Program(ragged_windows, normal(("n",))),
    Program(bisected, normal(("n",))),
    Program(larger_part, apart(("n",))),
    Program(selected_on_one_side, apart(("n",), None), (0, 1)),
    Program(cut_on_one_side, apart(("n",))),
    Program(product_of_nothing, fixed(np.array([-1.0, -0.3, -2.0]))),
    Program(product_of_nothing, fixed(np.array([-1.0, 0.3, 2.0])), name="product_of_some"),
    Program(bound_on_one_side, apart(("n",))),
]
