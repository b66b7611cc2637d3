"""Arrays of short rows: points of three coordinates, colours of pixels, states of many systems."""

import numpy as np

from .ported import both


def steps_between(x):
    return x[1:] - x[:-1]


def bond_lengths(x):
    d = x[1:] - x[:-1]
    return np.sqrt(np.sum(d * d, axis=1))


def unit_vectors(x):
    return x / np.sqrt(np.sum(x * x, axis=1, keepdims=True))


def rotated(x, rotation):
    return x @ rotation.T


def crossed(a, b):
    return np.cross(a, b)


def distances(a, b):
    return np.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=-1)


def centred(x):
    return x - np.mean(x, axis=0)


def to_unit_range(x):
    low, high = np.min(x, axis=0), np.max(x, axis=0)
    return (x - low) / (high - low)


def lorenz_rates(s):
    x, y, z = s[:, 0], s[:, 1], s[:, 2]
    return np.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z], axis=1)


def grey(img):
    return 0.299 * img[..., 0] + 0.587 * img[..., 1] + 0.114 * img[..., 2]


def lighter(img):
    return np.clip(img * 1.2 - 0.1, 0.0, 1.0)


def blurred(img):
    return (img[1:-1, 1:-1] + img[2:, 1:-1] + img[:-2, 1:-1] + img[1:-1, 2:] + img[1:-1, :-2]) / 5


def points(rng, n):
    return (rng.normal(size=(n, 3)),)


def points_and_rotation(rng, n):
    return rng.normal(size=(n, 3)), rng.normal(size=(3, 3))


def two_clouds(rng, n, m):
    return rng.normal(size=(n, 3)), rng.normal(size=(m, 3))


def image(rng, n, m):
    return (rng.random((n, m, 3)),)


MANY, FEW = (100_000,), (5,)

CASES = [
    *both("steps between points", steps_between, points, MANY, FEW, 0),
    *both("bond lengths", bond_lengths, points, MANY, FEW, 0),
    *both("unit vectors", unit_vectors, points, MANY, FEW, 0),
    *both("points turned", rotated, points_and_rotation, MANY, FEW, 0),
    *both("cross products", crossed, two_clouds, (100_000, 100_000), (4, 4), 0),
    *both("squared distances", distances, two_clouds, (500, 600), (3, 4), 0),
    *both("points around their mean", centred, points, MANY, FEW),
    *both("columns to the unit range", to_unit_range, points, MANY, FEW, 0),
    *both("rates of Lorenz systems", lorenz_rates, points, MANY, FEW, 0),
    *both("grey of colours", grey, image, (400, 500), (3, 4), 0),
    *both("lighter colours", lighter, image, (400, 500), (3, 4), 0),
    *both("blurred colours", blurred, image, (400, 500), (4, 5), 0),
]
