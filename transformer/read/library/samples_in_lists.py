"""The functions of `statistics`: of samples in lists, tuples and vectors, in floats of 64 bits throughout. Some give a
number of the samples' kind."""

from __future__ import annotations

import statistics
import sys
from collections import namedtuple
from typing import Any

import numpy as np

from .refusing import all_are_pythons, are_equal, at_least, refused

EXACT = ("mean", "harmonic_mean", "median", "median_low", "median_high", "variance", "pvariance")
ZERO_HAS_A_MEAN = sys.version_info >= (3, 13)
LinearRegression = namedtuple("LinearRegression", ("slope", "intercept"))


def held(data):
    """The samples; what can be gone through once is kept."""
    return data if hasattr(data, "__len__") else list(data)


def samples(data, function, least=1):
    numbers = np.asarray(held(data))
    if numbers.ndim != 1:
        raise TypeError("statistics takes samples along one axis")
    if function in EXACT and numbers.dtype.kind != "f":
        refused("statistics." + function + " of whole numbers is not supported",
                "What it gives may be whole or not: convert them to floats.")
    if not at_least(len(numbers), least):
        points = "two data points" if least == 2 else "one data point"
        raise statistics.StatisticsError(function + " requires at least " + points)
    return numbers.astype(float)


def of_their_kind(number, data):
    """A number of the kind that the samples are of: of Python's, or of the dtype of an array."""
    if all_are_pythons(data):
        return float(number)
    return number.astype(np.asarray(data).dtype)


def mean(data):
    data = held(data)
    return of_their_kind(np.mean(samples(data, "mean")), data)


def weighted(numbers, weights):
    if weights is None:
        return np.mean(numbers)
    if not are_equal(len(numbers), len(weights)):
        raise statistics.StatisticsError("data and weights must be the same length")
    if np.sum(weights) == 0:
        raise statistics.StatisticsError("sum of weights must be non-zero")
    return np.average(numbers, weights=weights)


def fmean(data, weights=None):
    return float(weighted(samples(data, "fmean"), weights))


def geometric_mean(data):
    numbers = samples(data, "geometric_mean")
    if np.any(numbers < 0 if ZERO_HAS_A_MEAN else numbers <= 0):
        raise statistics.StatisticsError("geometric mean requires a non-empty dataset containing positive numbers")
    return float(np.exp(np.mean(np.log(numbers))))


def harmonic_mean(data, weights=None):
    data = held(data)
    numbers = samples(data, "harmonic_mean")
    if np.any(numbers < 0):
        raise statistics.StatisticsError("harmonic mean does not support negative values")
    return of_their_kind(1 / weighted(1 / numbers, weights), data)


def median(data):
    data = held(data)
    return of_their_kind(np.median(samples(data, "median")), data)


def median_low(data):
    data = held(data)
    numbers = np.sort(samples(data, "median_low"))
    return of_their_kind(numbers[(len(numbers) - 1) // 2], data)


def median_high(data):
    data = held(data)
    numbers = np.sort(samples(data, "median_high"))
    return of_their_kind(numbers[len(numbers) // 2], data)


def deviations(numbers, center):
    """The sum of squares about the mean, or about what is given for it."""
    return np.sum((numbers - (np.mean(numbers) if center is None else center)) ** 2)


def variance(data, xbar=None):
    data = held(data)
    numbers = samples(data, "variance", 2)
    return of_their_kind(deviations(numbers, xbar) / (len(numbers) - 1), data)


def pvariance(data, mu=None):
    data = held(data)
    numbers = samples(data, "pvariance")
    return of_their_kind(deviations(numbers, mu) / len(numbers), data)


def stdev(data, xbar=None):
    numbers = samples(data, "stdev", 2)
    return float(np.sqrt(deviations(numbers, xbar) / (len(numbers) - 1)))


def pstdev(data, mu=None):
    numbers = samples(data, "pstdev")
    return float(np.sqrt(deviations(numbers, mu) / len(numbers)))


def pairs(x, y, function):
    one, other = samples(x, function, 2), samples(y, function, 2)
    if not are_equal(len(one), len(other)):
        raise statistics.StatisticsError(function + " requires that both inputs have same number of data points")
    return one - np.mean(one), other - np.mean(other)


def covariance(x, y, /):
    one, other = pairs(x, y, "covariance")
    return float(np.sum(one * other) / (len(one) - 1))


def correlation(x, y, /, *, method="linear"):
    if method != "linear":
        refused("statistics.correlation of ranks is not supported", "Rank the samples first: scipy.stats.rankdata.")
    one, other = pairs(x, y, "correlation")
    if is_constant(x) or is_constant(y):
        raise statistics.StatisticsError("at least one of the inputs is constant")
    return float(np.sum(one * other) / np.sqrt(np.sum(one**2) * np.sum(other**2)))


def is_constant(data):
    numbers = np.asarray(data)
    return np.max(numbers) == np.min(numbers)


def linear_regression(x, y, /, *, proportional=False):
    if proportional:
        one, other = samples(x, "linear regression", 2), samples(y, "linear regression", 2)
        return LinearRegression(float(np.sum(one * other) / np.sum(one**2)), 0.0)
    one, other = pairs(x, y, "linear regression")
    if is_constant(x):
        raise statistics.StatisticsError("x is constant")
    slope = float(np.sum(one * other) / np.sum(one**2))
    return LinearRegression(slope, float(np.mean(np.asarray(y)) - slope * np.mean(np.asarray(x))))


CALLS: dict[Any, Any] = {
    statistics.mean: mean,
    statistics.fmean: fmean,
    statistics.geometric_mean: geometric_mean,
    statistics.harmonic_mean: harmonic_mean,
    statistics.median: median,
    statistics.median_low: median_low,
    statistics.median_high: median_high,
    statistics.variance: variance,
    statistics.pvariance: pvariance,
    statistics.stdev: stdev,
    statistics.pstdev: pstdev,
    statistics.covariance: covariance,
    statistics.correlation: correlation,
    statistics.linear_regression: linear_regression,
}
