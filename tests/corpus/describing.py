"""What `scipy.stats` says of samples, and probabilities of distributions."""

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


PROGRAMS = [
    Program(shape_of_samples, apart((5, 2)), order=1),
    Program(means_of_positive, apart((3, 4)), order=1),
    Program(line_through_samples, fixed(np.array([0.2, 0.9, 1.4, 2.2]), np.array([0.4, 0.3, 1.2, 0.9])), (0, 1)),
    Program(are_means_equal, fixed(np.array([0.2, 0.9, 1.4, 2.2]), np.array([0.4, 0.3, 1.2])), (0, 1), order=1),
    Program(value_at_risk, fixed(0.2, 0.7, 0.9), (0, 1, 2), order=1),
]
