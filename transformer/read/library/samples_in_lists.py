"""The functions of `statistics`: of samples in lists, tuples and vectors, in floating numbers throughout."""

from __future__ import annotations

import statistics
from collections import namedtuple
from typing import Any

import numpy as np

from .refusing import at_least, refused

EXACT = ("mean", "harmonic_mean", "median", "median_low", "median_high", "variance", "pvariance")
LinearRegression = namedtuple("LinearRegression", ("slope", "intercept"))


def samples(data, function, least=1):
    numbers = np.asarray(data if hasattr(data, "__len__") else list(data))
    if numbers.ndim != 1:
        raise TypeError("statistics takes samples along one axis")
    if function in EXACT and numbers.dtype.kind != "f":
        refused("statistics." + function + " of whole numbers is not supported",
                "What it gives may be whole or not: convert them to floats.")
    if not at_least(len(numbers), least):
        points = "two data points" if least == 2 else "one data point"
        raise statistics.StatisticsError(function + " requires at least " + points)
    return numbers * 1.0


def mean(data):
    return np.mean(samples(data, "mean"))


def fmean(data, weights=None):
    return float(np.average(samples(data, "fmean"), weights=weights))


def geometric_mean(data):
    return float(np.exp(np.mean(np.log(samples(data, "geometric_mean")))))


def harmonic_mean(data, weights=None):
    numbers = samples(data, "harmonic_mean")
    return 1 / np.mean(1 / numbers) if weights is None else 1 / np.average(1 / numbers, weights=weights)


def median(data):
    return np.median(samples(data, "median"))


def median_low(data):
    numbers = np.sort(samples(data, "median_low"))
    return numbers[(len(numbers) - 1) // 2]


def median_high(data):
    numbers = np.sort(samples(data, "median_high"))
    return numbers[len(numbers) // 2]


def deviations(numbers, center):
    """The sum of squares about the mean, or about what is given for it."""
    return np.sum((numbers - (np.mean(numbers) if center is None else center)) ** 2)


def variance(data, xbar=None):
    numbers = samples(data, "variance", 2)
    return deviations(numbers, xbar) / (len(numbers) - 1)


def pvariance(data, mu=None):
    numbers = samples(data, "pvariance")
    return deviations(numbers, mu) / len(numbers)


def stdev(data, xbar=None):
    numbers = samples(data, "stdev", 2)
    return float(np.sqrt(deviations(numbers, xbar) / (len(numbers) - 1)))


def pstdev(data, mu=None):
    numbers = samples(data, "pstdev")
    return float(np.sqrt(deviations(numbers, mu) / len(numbers)))


def pairs(x, y, function):
    one, other = samples(x, function, 2), samples(y, function, 2)
    if len(one) != len(other):
        raise statistics.StatisticsError(function + " requires that both inputs have same number of data points")
    return one - np.mean(one), other - np.mean(other)


def covariance(x, y, /):
    one, other = pairs(x, y, "covariance")
    return float(np.sum(one * other) / (len(one) - 1))


def correlation(x, y, /, *, method="linear"):
    if method != "linear":
        refused("statistics.correlation of ranks is not supported", "Rank the samples first: scipy.stats.rankdata.")
    one, other = pairs(x, y, "correlation")
    return float(np.sum(one * other) / np.sqrt(np.sum(one**2) * np.sum(other**2)))


def linear_regression(x, y, /, *, proportional=False):
    if proportional:
        one, other = samples(x, "linear regression", 2), samples(y, "linear regression", 2)
        return LinearRegression(float(np.sum(one * other) / np.sum(one**2)), 0.0)
    one, other = pairs(x, y, "linear regression")
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
