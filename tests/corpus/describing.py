"""What `scipy.stats` and `statistics` say of samples, and probabilities of distributions."""

import statistics

import numpy as np
from scipy import stats

from .program import Program, apart, fixed


def shape_of_samples(x):
    return np.sum(stats.skew(x) * stats.kurtosis(x, bias=False)) + stats.sem(x, axis=None) + stats.iqr(x)


def means_of_positive(x):
    parts = x * x + 0.3
    return np.sum(stats.gmean(parts, axis=1) * stats.hmean(parts, axis=1)) + np.sum(stats.entropy(parts, parts[::-1]))


def line_through_samples(x, y):
    r, tail = stats.pearsonr(x, y)
    line = stats.linregress(x, y)
    return r * tail + line.slope * line.intercept_stderr + line.pvalue + stats.linregress(x, y)[1]


def are_means_equal(x, y):
    unequal = stats.ttest_ind(x, y, equal_var=False)
    t, tail = stats.ttest_ind(x, y)
    return t * tail + unequal.statistic + stats.ttest_1samp(x, 0.2).pvalue


def value_at_risk(mean, deviation, level):
    """Quantiles, and what lies beyond them, of three kinds of losses."""
    normal = stats.norm(mean, deviation)
    low, high = normal.interval(level)
    tail = stats.t.sf(high, 4.0, mean, deviation) + stats.lognorm.cdf(high, deviation)
    return tail * stats.weibull_min.ppf(level, 1.5) + stats.chi2.sf(deviation, 3) * low + normal.isf(level)


def samples_in_a_list(x):
    samples = [v * v + 0.1 for v in x]
    spread = statistics.stdev(samples) * statistics.pvariance(samples) + statistics.variance(samples, 0.5)
    means = statistics.mean(v + 1 for v in samples) + statistics.geometric_mean(samples)
    middle = statistics.median(samples) * statistics.median_low(samples) + statistics.median_high(samples)
    return spread + means * statistics.harmonic_mean(samples) + middle + statistics.fmean(x, weights=[1, 2, 3, 4, 5])


def line_through_a_list(x):
    slope, intercept = statistics.linear_regression(range(len(x)), x)
    through_zero = statistics.linear_regression(x, x**2, proportional=True)
    scale = statistics.mean([1, 2, 4]) * statistics.pstdev([1, 2])
    together = statistics.correlation(x, np.sin(x)) * statistics.covariance(list(x), [1, 2, 3, 4, 6])
    return slope * intercept + through_zero.slope * scale + together


PROGRAMS = [
    Program(samples_in_a_list, apart((5,))),
    Program(line_through_a_list, apart((5,)), order=1),
    Program(shape_of_samples, apart((5, 2)), order=1),
    Program(means_of_positive, apart((3, 4)), order=1),
    Program(line_through_samples, fixed(np.array([0.2, 0.9, 1.4, 2.2]), np.array([0.4, 0.3, 1.2, 0.9])), (0, 1)),
    Program(are_means_equal, fixed(np.array([0.2, 0.9, 1.4, 2.2]), np.array([0.4, 0.3, 1.2])), (0, 1), order=1),
    Program(value_at_risk, fixed(0.2, 0.7, 0.9), (0, 1, 2), order=1),
]
