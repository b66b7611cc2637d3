"""Filters, banded matrices, pairs and scores of SciPy."""

import numpy as np
import scipy.linalg
import scipy.signal
import scipy.spatial
import scipy.stats

from .program import Program, fixed, normal

B, A = scipy.signal.butter(2, 0.3)
BANDS = np.array([[0.0, 0.3, -0.4], [4.1, 3.8, 4.4], [0.5, 0.2, 0.0]])


def there_and_back(x):
    return np.sum(scipy.signal.filtfilt(B, A, x) ** 2)


def with_another_end(b, x):
    padded = scipy.signal.filtfilt(b, [2.0, 0.4], x, axis=0, padtype="even", padlen=2)
    return np.sum(padded**2) + np.sum(scipy.signal.filtfilt(b, [2.0, 0.4], x, axis=0, padtype=None) ** 2)


def smoothed(x):
    rate = scipy.signal.savgol_filter(x, 5, 2, deriv=1, delta=0.5)
    return np.sum(rate * scipy.signal.savgol_filter(x, 3, 1, mode="nearest"))


def of_bands(bands, b):
    both = scipy.linalg.solve_banded((1, 1), bands, b)
    return np.sum(both * scipy.linalg.solveh_banded(bands[:2], b)) + scipy.linalg.solve_toeplitz(bands[1] * 0.5, b)[0]


def of_pairs(x):
    square = scipy.spatial.distance.squareform(x)
    return np.sum(square**3) + scipy.spatial.distance.squareform(square @ square, checks=False)[0]


def scores(x):
    return np.sum(scipy.stats.zscore(x, axis=1) * x + scipy.stats.zscore(x, ddof=1) ** 3)


def of_one_variable(x, variance):
    density = scipy.stats.multivariate_normal
    line = density.logpdf(x, x[0], variance) @ x
    apart = density.logpdf(x[None], np.zeros(len(x)), np.exp(x))
    return line + apart * density.logpdf(x[:1], cov=variance * np.eye(1), allow_singular=True)


def with_steps_to_spare(x, tolerance):
    grid = np.broadcast(x[:, None], x)
    close = np.isclose(x[:, None], x, tolerance, atol=abs(x[0]))
    return np.sum(close * x) * grid.size + grid.ndim * tolerance


PROGRAMS = [
    Program(there_and_back, normal((12,)), order=1),
    Program(with_another_end, normal((2,), (4, 2)), (0, 1), order=1),
    Program(smoothed, normal((7,))),
    Program(of_bands, fixed(BANDS, np.array([0.3, 1.0, -0.4])), (0, 1), order=1),
    Program(of_pairs, fixed(np.array([0.3, 1.0, 0.4]))),
    Program(of_one_variable, fixed(np.array([0.3, 1.0, -0.4]), 0.8), (0, 1)),
    Program(with_steps_to_spare, fixed(np.array([0.03, 1.0, 1.04, -0.4]), 0.02), (0, 1)),
    Program(scores, normal((3, 4)), order=1),
]
