"""Arrays of short rows: points of three coordinates, colours of pixels, states of many systems."""

import numpy as np

from .program import Program, normal


def clipped_colours(img):
    lighter = np.clip(img * 1.2 - 0.1, -0.7, 0.8)
    return np.sum(lighter * img)


def blurred_colours(img):
    y = (img[1:-1, 1:-1] + img[2:, 1:-1] + img[:-2, 1:-1] + img[1:-1, 2:] + img[1:-1, :-2]) / 5
    return np.sum(y * y * img[1:-1, 1:-1])


def greys(img):
    return np.sum(np.sin(0.299 * img[..., 0] + 0.587 * img[..., 1] + 0.114 * img[..., 2]))


def steps_between_points(x):
    d = x[1:] - x[:-1]
    return np.sum(d * d) + np.sum((np.sqrt(np.sum(d * d, axis=1)) - 1.0) ** 2)


def many_lorenz_systems(s):
    x, y, z = s[:, 0], s[:, 1], s[:, 2]
    rates = np.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z], axis=1)
    return np.sum(rates * s)


def points_in_time(x, v):
    """Both are replaced in each step, and read by rows as well."""
    for _ in range(3):
        centre = np.mean(x, axis=0)
        v = 0.9 * v - 0.3 * (x - centre)
        x = x + 0.1 * v
        x[0] = 0.5 * x[0]
    return np.sum(x * x) + np.sum(np.sin(v[1:] - v[:-1]))


def rows_one_by_one(x, w):
    y = np.zeros((x.shape[0], 2))
    y[:] = 1.5 * x[:, :2]
    y[1:] += x[:-1, 1:]
    for i in range(x.shape[0]):
        y[i, 1] *= w[i]
    y[::2] -= 0.25
    return np.sum(y ** 2)


def sheets(x):
    """The last two axes together are a row, of which one is left out at both ends."""
    y = 2.0 * x[1:-1] - x[2:] - x[:-2]
    y[:, 0] = 0.0
    return np.sum(np.exp(0.2 * y) * x[1:-1])


def reversed_rows(x):
    return np.sum(np.cos(x[::-1] * x) * x[:, ::-1])


PROGRAMS = [
    Program(clipped_colours, normal((4, 5, 3))),
    Program(blurred_colours, normal((4, 5, 3))),
    Program(greys, normal((3, 4, 3))),
    Program(steps_between_points, normal((6, 3))),
    Program(many_lorenz_systems, normal((5, 3))),
    Program(points_in_time, normal((5, 2), (5, 2)), wrt=(0, 1)),
    Program(rows_one_by_one, normal((5, 3), (5,)), wrt=(0, 1)),
    Program(sheets, normal((5, 3, 4))),
    Program(reversed_rows, normal((4, 3))),
]
