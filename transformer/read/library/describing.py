"""What `scipy.stats` says of samples: moments, means, correlations, lines through them, and tests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .refusing import are_equal, at_least, refused


def checked(a, axis, nan_policy="propagate"):
    if nan_policy != "propagate":
        refused(f"nan_policy={nan_policy!r} of scipy.stats is not supported",
                "Remove the nan values first: x[~np.isnan(x)].")
    a = np.asarray(a) * 1.0
    return (np.ravel(a), 0) if axis is None else (a, axis)


def moment_of(a, order, axis):
    """About the mean."""
    return np.mean((a - np.mean(a, axis=axis, keepdims=True)) ** order, axis=axis)


def moment(a, order=1, axis=0, nan_policy="propagate", *, center=None):
    a, axis = checked(a, axis, nan_policy)
    if not isinstance(order, int):
        refused("several orders of scipy.stats.moment are not supported",
                "Call it once per order, and stack the results.")
    return moment_of(a, order, axis) if center is None else np.mean((a - center) ** order, axis=axis)


def skew(a, axis=0, bias=True, nan_policy="propagate"):
    a, axis = checked(a, axis, nan_policy)
    n, found = a.shape[axis], moment_of(a, 3, axis) / moment_of(a, 2, axis) ** 1.5
    return found if bias or not at_least(n, 3) else found * math.sqrt(n * (n - 1)) / (n - 2)


def kurtosis(a, axis=0, fisher=True, bias=True, nan_policy="propagate"):
    a, axis = checked(a, axis, nan_policy)
    n, found = a.shape[axis], moment_of(a, 4, axis) / moment_of(a, 2, axis) ** 2
    if not bias and at_least(n, 4):
        found = ((n**2 - 1.0) * found - 3 * (n - 1) ** 2) / ((n - 2) * (n - 3)) + 3
    return found - 3 if fisher else found


def gmean(a, axis=0, dtype=None, weights=None, nan_policy="propagate"):
    a, axis = checked(a, axis, nan_policy)
    return np.exp(np.average(np.log(a), axis=axis, weights=weights))


def hmean(a, axis=0, dtype=None, *, weights=None, nan_policy="propagate"):
    a, axis = checked(a, axis, nan_policy)
    return 1.0 / np.average(1.0 / np.where(a < 0, np.nan, a), axis=axis, weights=weights)


def sem(a, axis=0, ddof=1, nan_policy="propagate"):
    a, axis = checked(a, axis, nan_policy)
    return np.std(a, axis=axis, ddof=ddof) / math.sqrt(a.shape[axis])


def variation(a, axis=0, nan_policy="propagate", ddof=0, *, keepdims=False):
    a, axis = checked(a, axis, nan_policy)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.mean(a, axis=axis, keepdims=keepdims)


def entropy(pk, qk=None, base=None, axis=0, *, nan_policy="propagate", keepdims=False):
    from scipy.special import entr, rel_entr

    pk, axis = checked(pk, axis, nan_policy)
    pk = pk / np.sum(pk, axis=axis, keepdims=True)
    if qk is None:
        terms = entr(pk)
    else:
        qk = np.asarray(qk)
        terms = rel_entr(pk, qk / np.sum(qk, axis=axis, keepdims=True))
    total = np.sum(terms, axis=axis, keepdims=keepdims)
    return total if base is None else total / np.log(base)


def iqr(x, axis=None, rng=(25, 75), scale=1.0, nan_policy="propagate", interpolation="linear", keepdims=False):
    if interpolation != "linear":
        refused(f"scipy.stats.iqr with interpolation={interpolation!r} is not supported", "Use np.quantile.")
    x, _ = checked(x, 0, nan_policy)
    low, high = np.percentile(x, rng, axis=axis, keepdims=keepdims)
    return ((high - low) / scale).astype(x.dtype)


class Found:
    """What a function of several results gives: by name, by place, and as many as it is unpacked into."""

    def __init__(self, names, values):
        for name, value in zip(names, values):
            setattr(self, name, value)
        self.values = values

    def __getitem__(self, place):
        return self.values[place]

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)


def pearsonr(x, y, *, alternative="two-sided", method=None, axis=0):
    from scipy.special import betainc

    if alternative != "two-sided" or method is not None:
        refused("scipy.stats.pearsonr with alternative or method is not supported", "Omit them.")
    x, axis = checked(x, axis)
    y = np.asarray(y) * 1.0
    if not are_equal(x.shape[axis], y.shape[axis]):
        raise ValueError("`x` and `y` must have the same length along `axis`.")
    if not at_least(x.shape[axis], 2):
        raise ValueError("`x` and `y` must have length at least 2.")
    apart_x, apart_y = (each - np.mean(each, axis=axis, keepdims=True) for each in (x, y))
    size = np.sqrt(np.sum(apart_x * apart_x, axis=axis) * np.sum(apart_y * apart_y, axis=axis))
    r, half = np.clip(np.sum(apart_x * apart_y, axis=axis) / size, -1.0, 1.0), x.shape[axis] / 2 - 1
    if not at_least(x.shape[axis], 3):
        r = np.round(r)
        return Found(("statistic", "pvalue"), (r, np.where(np.isnan(r), r, 1.0).astype(x.dtype)))
    return Found(("statistic", "pvalue"), (r, 2 * betainc(half, half, (1 - np.abs(r)) / 2)))


def linregress(x, y, alternative="two-sided"):
    from scipy.special import stdtr

    if alternative != "two-sided":
        refused("scipy.stats.linregress with alternative is not supported", "Omit it.")
    x, y = np.asarray(x).astype(float), np.asarray(y).astype(float)
    if not at_least(len(x), 3):
        refused("scipy.stats.linregress of fewer than three points is not supported",
                "Compute the slope of the line through two points.")
    if np.max(x) == np.min(x):
        raise ValueError("Cannot calculate a linear regression if all x values are identical")
    free, apart_x, apart_y = len(x) - 2, x - np.mean(x), y - np.mean(y)
    spread_x, spread_y, both = np.mean(apart_x**2), np.mean(apart_y**2), np.mean(apart_x * apart_y)
    slope, r = both / spread_x, both / np.sqrt(spread_x * spread_y)
    intercept = np.mean(y) - slope * np.mean(x)
    error = np.sqrt((1 - r**2) * spread_y / spread_x / free)
    tail = 2 * stdtr(free, -np.abs(r * np.sqrt(free / ((1 - r + 1e-20) * (1 + r + 1e-20)))))
    found = Found(("slope", "intercept", "rvalue", "pvalue", "stderr"), (slope, intercept, r, tail, error))
    found.intercept_stderr = error * np.sqrt(spread_x + np.mean(x) ** 2)
    return found


def of_t(difference, error, df):
    """The result of a t-test."""
    from scipy.special import stdtr

    t = difference / error
    found = Found(("statistic", "pvalue"), (t, 2 * stdtr(df, -np.abs(t))))
    found.df = np.full(np.shape(t), df)[()]
    return found


def ttest_1samp(a, popmean, axis=0, nan_policy="propagate", alternative="two-sided", *, keepdims=False):
    two_sided(alternative, keepdims)
    a, axis = checked(a, axis, nan_policy)
    if np.ndim(popmean):
        popmean = np.squeeze(np.expand_dims(popmean, tuple(range(a.ndim - np.ndim(popmean)))), axis)
    return of_t(np.mean(a, axis=axis) - popmean, sem(a, axis), a.shape[axis] - 1)


def ttest_rel(a, b, axis=0, nan_policy="propagate", alternative="two-sided", *, keepdims=False):
    return ttest_1samp(np.asarray(a) - np.asarray(b), 0.0, axis, nan_policy, alternative, keepdims=keepdims)


def ttest_ind(a, b, *, axis=0, equal_var=True, nan_policy="propagate", alternative="two-sided", trim=0, method=None,
              keepdims=False):
    two_sided(alternative, keepdims or trim or method is not None)
    a, _ = checked(a, axis, nan_policy)
    b, axis = checked(b, axis, nan_policy)
    n, m = a.shape[axis], b.shape[axis]
    of_a, of_b = np.var(a, axis=axis, ddof=1), np.var(b, axis=axis, ddof=1)
    if equal_var:
        df = n + m - 2.0
        error = np.sqrt(((n - 1) * of_a + (m - 1) * of_b) / df * (1.0 / n + 1.0 / m))
    else:
        df = (of_a / n + of_b / m) ** 2 / ((of_a / n) ** 2 / (n - 1) + (of_b / m) ** 2 / (m - 1))
        error = np.sqrt(of_a / n + of_b / m)
    return of_t(np.mean(a, axis=axis) - np.mean(b, axis=axis), error, df)


def two_sided(alternative, more):
    if alternative != "two-sided" or more:
        refused("a t-test with alternative, keepdims, trim or method is not supported", "Omit them.")


CALLS: dict[Any, Any] = {
    f"scipy.stats.{function.__name__}": function
    for function in (moment, skew, kurtosis, gmean, hmean, sem, variation, entropy, iqr, pearsonr, linregress,
                     ttest_1samp, ttest_rel, ttest_ind)
}
