"""Reading parts of arrays: slices, steps, None, ellipsis, integer arrays, masks."""

import numpy as np

from .program import Program, apart, fixed, normal


def elements(x):
    return x[0] * x[1] ** 2 + np.sin(x[-1]) * x[-2] + x[len(x) - 3] * x[0]


def elements_of_matrix(m):
    return m[0, 1] * m[1, -1] + m[1][2] ** 2 * m[-1, -1] + m[0][0] * m[(1, 0)]


def slices(x):
    return (
        np.sum(x[1:] * x[:-1])
        + np.sum(np.sin(x[2:4]))
        + np.sum(x[-3:] ** 2)
        + np.sum(x[:] ** 3) * x[:2].sum()
    )


def steps(x):
    return np.sum(x[::2] ** 2 * np.arange(3)) + np.sum(np.sin(x[1::3])) + np.sum(x[:5:2] * x[1::2])


def negative_steps(x):
    back = x[::-1]
    return (
        np.sum(back * x**2)
        + np.sum(x[4:0:-2] ** 3)
        + np.sum(np.sin(x[-2::-3]))
        + back[0] * back[1:][0]
    )


def computed_bounds(x, k):
    n = len(x)
    half = n // 2
    return (
        np.sum(x[k:] ** 2) * np.sum(x[:half])
        + np.sum(x[n - k :] * np.arange(k))
        + x[half] * x[n - 1 - k]
    )


def slices_of_matrix(m):
    inner = m[1:-1, 1:-1]
    cross = m[:-2, 1:-1] + m[2:, 1:-1] + m[1:-1, :-2] + m[1:-1, 2:]
    return np.sum(inner * cross) + np.sum(m[::2, ::-1] ** 3) + np.sum(m[0] * m[-1])


def rows_and_columns(m):
    return np.sum(m[:, 0] * m[:, 1] ** 2) + np.sum(np.sin(m[1])) + np.sum(m[1:, 2] * m[:-1, -1])


def new_axes(x, y):
    return (
        np.sum(np.sin(x[:, None] * y))
        + np.sum(x[None, :, None] ** 2 * y[np.newaxis, None, :2])
        + x[None][0, 1]
    )


def ellipsis(cube):
    last = cube[..., 0] * cube[..., -1]
    return (
        np.sum(np.sin(last))
        + np.sum(cube[0, ...] ** 2)
        + np.sum(cube[1, ..., 2] ** 3)
        + np.sum(cube[..., None])
    )


def mixed_basic(cube):
    return (
        np.sum(cube[0, :, 1:] ** 2)
        + np.sum(cube[:, -1] * cube[:, 0])
        + np.sum(np.sin(cube[1, 1:, ::-2]))
    )


def empty_slices(x):
    return np.sum(x[2:2]) + np.sum(x[5:] ** 2) + np.sum(x**2) + np.prod(x[:0]) * x[0]


def chained(m):
    return np.sum(m[1:][:, :2][0] ** 2) + m[::2][1][::-1][0] * m.T[2][1]


def integer_array(x):
    chosen = x[np.array([3, 0, 2])]
    return np.sum(chosen * np.array([1.0, 2.0, 3.0])) ** 2 + np.sum(np.sin(x[[1, -1]]))


def repeated_integers(x):
    """Reads of one element more than once must add up in its cotangent."""
    chosen = x[np.array([0, 2, 2, 0, 2])]
    return np.sum(np.sin(chosen) * np.arange(1, 6)) + np.sum(chosen[np.array([1, 1])] ** 3)


def index_argument(x, order):
    return np.sum(np.cumsum(x[order]) ** 2) + np.sum(x[order[::-1]] * x)


def two_integer_arrays(m, rows, columns):
    return (
        np.sum(m[rows, columns] ** 2 * np.arange(4))
        + np.sum(np.sin(m[rows, 1]))
        + np.sum(m[0, columns] ** 3)
    )


def integer_arrays_broadcast(m):
    rows = np.array([[0], [2]])
    columns = np.array([1, 3, 1])
    return np.sum(m[rows, columns] ** 2 * np.arange(6).reshape(2, 3))


def rows_by_integers(m, picked):
    return (
        np.sum(m[picked] * np.sin(m[picked[::-1]]))
        + np.sum(m[:, picked] ** 2)
        + np.sum(m[1:, [0, 0]])
    )


def integers_around_slice(cube):
    """Integer arrays split by a slice: the joint axis moves to the front."""
    part = cube[np.array([0, 1, 1]), :, np.array([2, 0, 0])]
    return np.sum(part**2 * np.arange(3)[:, None]) + np.sum(np.sin(cube[:, np.array([0, 2]), 1]))


def masks(x):
    return np.sum(x[x > 0] ** 2) - np.sum(np.exp(x[x < 0])) + x[x > 0].sum() * x[0]


def mask_of_matrix(m, mask):
    return np.sum(m[mask] ** 3) + np.sum(np.sin(m[m > 0])) + np.mean(m[mask])


def mask_of_rows(m, keep):
    return np.sum(m[keep] ** 2 * np.arange(3)) + np.sum(m[:, :2][keep, 1] ** 3)


def take_forms(x, m):
    picked = np.take(x, [2, 0, 0, 1]) * np.array([1.0, -1.0, 2.0, 0.5])
    return np.sum(picked**2) + np.sum(np.take(m, [1, 1], axis=1) ** 3) + np.sum(m.take([0, 3]) ** 2)


def index_by_argmax(m):
    best = np.argmax(m, axis=0)
    return np.sum(m[best, np.arange(m.shape[1])] ** 2) + m[np.argmin(m[:, 0]), 1] ** 3


def index_by_comparison(x, y):
    k = int(np.sum(y > 0))
    return x[k] ** 2 + np.sum(x[:k]) * y[k - 1]


def overlapping_reads(x):
    window = x[:-2] * x[1:-1] * x[2:]
    return np.sum(np.sin(window)) + np.sum((x[1:] - x[:-1]) ** 2)


def sliding_by_integers(x):
    windows = x[np.arange(3)[:, None] + np.arange(4)]
    return np.sum(np.tanh(windows) * np.arange(12).reshape(3, 4))


def unpacking_rows(m):
    first, *middle, last = m
    a, b, c = first
    return a * b**2 + np.sin(c) * np.sum(last) + np.sum(middle[0] * middle[1])


def places_in_a_row(x, w, places):
    """`x[1][:, places]` has the axes of the row; `x[1, :, places]` would have that of the places in front."""
    y = x.copy()
    y[1][:, places] = y[0][:, places] * w
    y[0][1:, [0, 2]] += w[:2, :2]
    return np.sum(y**3) + np.sum(x[1][:, places] * w) + np.sum(x[0][:, x[1, 0] > 0])



def places_once(x, t):
    """Places of which none occurs twice, beside some that do: `(k + 1) % n` may, and -1 is that of n - 1."""
    k = np.arange(3)
    order = np.argsort(t)
    some = order[::-1][:3]
    near = np.argsort((t[:, None] - t[None, :]) ** 2, axis=1)
    total = np.sum(x[2 * k] * x[k + 1] ** 2) + np.sum(x[some[np.argsort(t[some])]] * t[:3])
    total += np.sum(x[(k + 3) % 2] ** 2) + np.sum(np.sin(x[k - 1]) * x[k + 2])
    for i in range(4):
        total += np.sum(x[near[i, 1:3]] ** 2) * t[i]
    return total


def masked_numbers(x, scale):
    """Masks without axes."""
    r = np.asarray(x[0] * 2)
    far = np.isclose(r, 0) | (r > 5)
    beta = np.empty_like(r)
    beta[~far] = np.sin(r[~far])
    beta[~far] += r[~far] ** 2
    beta[far] = 7.0
    low, high = np.broadcast_arrays(scale, 0.1)
    if (low > high).any():
        beta[...] = beta * low
    start = np.empty_like(x[0])
    if x[1] > -9:
        start = x[1]
    return beta * np.sum(x[x[1] > -9]) + len(x[x[1] > 9]) + start * r[r > 9].size


def items_down_columns(x, places):
    return np.sum(np.sin(np.sum(np.take_along_axis(x, places, axis=0), axis=0)) ** 2)


def one_of_each_column(x, places):
    return np.sum(np.sin(x[places, np.arange(x.shape[1])] * 2) * np.arange(5.0))


PROGRAMS = [
    Program(elements, normal(("n",))),
    Program(elements_of_matrix, normal((2, 3))),
    Program(slices, normal(("n",))),
    Program(steps, normal((6,))),
    Program(negative_steps, normal((6,))),
    Program(computed_bounds, lambda rng, size=6: (rng.standard_normal(size), 2)),
    Program(slices_of_matrix, normal((4, "n"))),
    Program(rows_and_columns, normal((3, 4))),
    Program(new_axes, normal((3,), (4,)), (0, 1)),
    Program(ellipsis, normal((2, 3, 4))),
    Program(mixed_basic, normal((2, 3, 4))),
    Program(empty_slices, normal((4,))),
    Program(chained, normal((4, 3))),
    Program(integer_array, normal(("n",))),
    Program(repeated_integers, normal(("n",))),
    Program(index_argument, lambda rng: (rng.standard_normal(5), rng.permutation(5))),
    Program(
        two_integer_arrays,
        lambda rng: (rng.standard_normal((3, 4)), rng.integers(-3, 3, 4), rng.integers(0, 4, 4)),
    ),
    Program(integer_arrays_broadcast, normal((3, 4))),
    Program(rows_by_integers, lambda rng: (rng.standard_normal((4, 4)), np.array([2, 0, 2]))),
    Program(integers_around_slice, normal((2, 3, 4))),
    Program(masks, apart((6,))),
    Program(mask_of_matrix, lambda rng: (*apart((3, 4))(rng), rng.random((3, 4)) < 0.7)),
    Program(mask_of_rows, lambda rng: (rng.random((4, 3)), np.array([True, False, True, True]))),
    Program(take_forms, normal((4,), (2, 3)), (0, 1)),
    Program(index_by_argmax, apart((4, 3))),
    Program(index_by_comparison, apart((7,), (6,)), (0, 1)),
    Program(overlapping_reads, normal(("n",))),
    Program(sliding_by_integers, normal((6,))),
    Program(unpacking_rows, normal((4, 3))),
    Program(places_once, lambda rng: (rng.standard_normal(5), np.array([0.3, 0.1, 0.75, 1.4]))),
    Program(places_in_a_row, lambda rng: (*apart((2, 3, 4), (3, 3))(rng), np.array([1, 0, 3])), (0, 1)),
    Program(masked_numbers, fixed(np.array([0.7, -0.4, 1.1]), 0.3), wrt=(0, 1)),
    Program(items_down_columns, lambda rng: (rng.standard_normal((6, 5)), rng.integers(0, 6, (7, 5))), (0,)),
    Program(one_of_each_column, lambda rng: (rng.standard_normal((6, 5)), rng.integers(0, 6, 5)), (0,)),
]
