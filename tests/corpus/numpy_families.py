"""Families of NumPy: quantiles without NaN, polynomials and their series, histograms, methods of ufuncs."""

import math

import numpy as np
from numpy.polynomial import chebyshev, legendre, polynomial

from .program import Program, apart, fixed

VECTOR = np.array([0.3, -1.2, 2.1, 0.7, -0.45, 1.6])
GAPS = np.array([False, True, False, False, True, False])
PLACES = np.array([1, 0, 2, 1])


def without_nan(x):
    m = np.where(GAPS, np.nan, x).reshape(2, 3)
    return np.sum(np.nanquantile(m, [0.3, 0.6], axis=1) ** 2) + np.nanprod(m) + np.nanpercentile(m, 40) ** 2


def median_of_columns(x):
    return np.sum(np.nanmedian(np.where(GAPS, np.nan, x).reshape(3, 2), axis=0) ** 2)


def polynomials(x):
    total = np.polyadd(x, x[:2]) * 2 - np.polysub(x[:3], x)
    return np.sum(total**2) + np.sum(np.poly(x[:3]) ** 2)


def division(x):
    quotient, rest = np.polydiv(x, np.array([1.0, 0.5, -0.3]))
    return np.sum(quotient**2) + np.sum(rest**2)


def straight_line(x, y):
    slope, start = np.polyfit(x, y, 1)
    return slope**2 + start


def weighted_parabola(y):
    return np.sum(np.polyfit(np.arange(6.0), y, 2, w=np.arange(1.0, 7.0)) ** 2)


def series(x):
    return np.sum(chebyshev.chebval(x, [0.5, 1.0, -0.3]) * legendre.legval(x, x[:3]) + polynomial.polyval(x, x[:4]))


def weights_in_boxes(x):
    counts, _, _ = np.histogram2d(np.arange(6.0), np.arange(6.0) % 3, bins=(2, 3), weights=x)
    return np.sum(counts**2)


def ordered_by_two_keys(x):
    order = np.lexsort((x, np.array([1, 0, 1, 0, 1, 1])))
    return np.sum(x[order] ** 2 * np.arange(6.0))


def folds_of_ufuncs(x):
    m = x.reshape(2, 3)
    total = np.hypot.reduce(x) + np.sum(np.subtract.reduce(m, axis=1, keepdims=True) ** 2)
    return total + np.sum(np.logaddexp.accumulate(m, axis=1)) + np.sum(np.fmax.outer(x, x[:2]) ** 2)


def parts_of_ufuncs(x):
    rows = np.maximum.reduceat(x.reshape(3, 2), [0, 2, 1])
    return np.sum(rows**2) + np.sum(np.multiply.reduceat(x, [0, 2, 4]) ** 2)


def in_place_at(x):
    y = x.copy()
    np.multiply.at(y, PLACES, x[:4])
    np.square.at(y, PLACES)
    np.hypot.at(y, 3, x[0])
    return np.sum(y)


def window(x):
    return np.sum(x * np.kaiser(6, x[0])) + np.i0(x[1])


def triangle_of_columns(x):
    rows, columns = np.triu_indices(x.shape[1], 1)
    return np.sum(x[:, 0] ** 2) * np.sum(columns)


def boxes_around_integers(x):
    places = np.arange(6) % 3
    counts, edges = np.histogramdd([places, places + 1], 2, weights=x)
    return np.sum(counts**2) * edges[0][1]


def angles_wrapped(x):
    total = 0.0
    for angle in x:
        total += math.remainder(5 * angle, 2 * math.pi) ** 2
    return total + math.remainder(x[0], x[1])


def scaled_by_powers_of_two(x):
    total = 0.0
    for i in range(len(x)):
        fraction, whole = math.modf(3 * x[i])
        total += math.ldexp(fraction, i - 1) ** 2 + whole * x[i]
    return total + np.sum(np.ldexp(x, np.arange(len(x)) - 1) ** 3)


def matrices_by_vectors(m):
    return np.sum(np.matvec(m, m[0]) ** 2) + np.sum(np.vecmat(m[:, 0], m) ** 3) + np.sum(np.matvec(m[None], m[:1]))


def unique_with_counts(x):
    found, (values, places) = np.unique_counts(np.floor(x)), np.unique_inverse(np.floor(x))
    every = np.unique_all(x)
    weights = np.sum(found.counts * found.values) + np.sum(every.indices * every.counts)
    return weights * np.sum(x * values[places]) + every.values[0] * np.sum(every.inverse_indices * x)


MATVEC = [np.matvec] if hasattr(np, "matvec") else []          # NumPy has it from 2.2 on

PROGRAMS = [
    Program(without_nan, fixed(VECTOR)),
    Program(median_of_columns, fixed(VECTOR)),
    Program(polynomials, apart(("n",))),
    Program(division, fixed(VECTOR)),
    Program(straight_line, fixed(np.array([0.1, 1.2, 1.9, 3.3]), np.array([0.4, 0.2, -0.3, 1.1])), wrt=(0, 1)),
    Program(weighted_parabola, fixed(VECTOR)),
    Program(series, fixed(VECTOR)),
    Program(weights_in_boxes, fixed(VECTOR)),
    Program(ordered_by_two_keys, fixed(VECTOR)),
    Program(folds_of_ufuncs, fixed(VECTOR)),
    Program(parts_of_ufuncs, fixed(VECTOR)),
    Program(in_place_at, fixed(VECTOR)),
    Program(window, fixed(VECTOR)),
    Program(triangle_of_columns, apart(("n", "m"))),
    Program(boxes_around_integers, fixed(VECTOR)),
    Program(angles_wrapped, apart(("n",))),
    Program(scaled_by_powers_of_two, fixed(np.array([0.3, -1.2, 0.75, 1.1]))),
    *(Program(matrices_by_vectors, fixed(np.array([[0.3, -1.2, 0.7], [0.5, 1.4, -0.2]]))) for _ in MATVEC),
    Program(unique_with_counts, fixed(np.array([0.3, -1.2, 0.7, 1.1]))),
]
