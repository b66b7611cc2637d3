"""Where something is: places of extremes, searches in sorted arrays, interpolation, items at places."""

import numpy as np

from .ported import both


def highest(x):
    return np.argmax(x)


def highest_of_rows(x):
    return np.argmax(x, axis=1)


def lowest_of_columns(x):
    return np.argmin(x, axis=0)


def nearest_centre(x, centres):
    return np.argmin(np.sum((x[:, None, :] - centres[None]) ** 2, axis=-1), axis=1)


def maxima_of_columns(x):
    return np.max(x, axis=0)


def bins_of(values, edges):
    return np.searchsorted(edges, values)


def interpolated(x, xp, fp):
    return np.interp(x, xp, fp)


def taken(x, places):
    return x[places]


def pairs_apart(x, first, second):
    d = x[first] - x[second]
    return np.sum(d * d, axis=1)


def vector(rng, n):
    return (rng.normal(size=n),)


def matrix(rng, n, m):
    return (rng.normal(size=(n, m)),)


def clustered(rng, n, m):
    return rng.normal(size=(n, 4)), rng.normal(size=(m, 4))


def values_and_edges(rng, n, m):
    return rng.normal(size=n), np.sort(rng.normal(size=m))


def samples(rng, n, m):
    return rng.uniform(-0.5, 0.5, n), np.linspace(-1.0, 1.0, m), rng.normal(size=m)


def vector_and_places(rng, n, m):
    return rng.normal(size=n), rng.integers(0, n, m)


def points_and_pairs(rng, n, m):
    return rng.normal(size=(n, 3)), rng.integers(0, n, m), rng.integers(0, n, m)


CASES = [
    *both("place of the maximum, 2e5", highest, vector, (200_000,), (7,)),
    *both("classes of rows of ten", highest_of_rows, matrix, (20_000, 10), (3, 4)),
    *both("places of the minima of columns", lowest_of_columns, matrix, (1_000, 300), (3, 4)),
    *both("nearest of eight centres", nearest_centre, clustered, (20_000, 8), (4, 3)),
    *both("maxima of columns", maxima_of_columns, matrix, (1_000, 300), (3, 4), 0),
    *both("bins of values", bins_of, values_and_edges, (20_000, 1_000), (5, 4)),
    *both("interpolation", interpolated, samples, (50_000, 50), (5, 4), 0, 2),
    *both("items at places", taken, vector_and_places, (200_000, 100_000), (6, 5), 0),
    *both("distances of pairs", pairs_apart, points_and_pairs, (10_000, 100_000), (4, 6), 0),
]
