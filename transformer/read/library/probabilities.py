"""Probabilities and quantiles of distributions of `scipy.stats`, and densities that are simple themselves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .densities import can_be, chosen, power_of
from .distributions import positive, standard


def beyond(x, loc, scale, start=0.0):
    """How far x lies from the location, but not below where a distribution begins."""
    z = standard(x, loc, scale)
    return np.where(z < start, start, z)


def part(q):
    """A probability, or nan."""
    q = np.asarray(q, np.float64)
    return np.where((q >= 0) & (q <= 1), q, np.nan)


def raised(z, power):
    """To a power; nan where that is not positive, also of 1."""
    return np.where(np.greater(power, 0), z**power, np.nan)


def placed(z, loc, scale):
    return z * positive(scale) + loc


def norm_isf(q, loc=0, scale=None):
    from scipy.special import ndtri

    return placed(-ndtri(part(q)), loc, scale)


def norm_interval(confidence, loc=0, scale=None):
    from scipy.special import ndtri

    end = ndtri((1 + part(confidence)) / 2)
    return placed(-end, loc, scale), placed(end, loc, scale)


def expon_sf(x, loc=0, scale=None):
    return np.exp(-beyond(x, loc, scale))


def expon_ppf(q, loc=0, scale=None):
    return placed(-np.log1p(-part(q)), loc, scale)


def uniform_sf(x, loc=0, scale=None):
    return 1 - np.clip(standard(x, loc, scale), 0.0, 1.0)


def uniform_ppf(q, loc=0, scale=None):
    return placed(part(q), loc, scale)


def gamma_sf(x, a, loc=0, scale=None):
    from scipy.special import gammaincc

    return gammaincc(positive(a), beyond(x, loc, scale))


def gamma_ppf(q, a, loc=0, scale=None):
    from scipy.special import gammaincinv

    return placed(gammaincinv(positive(a), part(q)), loc, scale)


def chi2_cdf(x, df, loc=0, scale=None):
    from scipy.special import gammainc

    return gammainc(positive(df) / 2, beyond(x, loc, scale) / 2)


def chi2_sf(x, df, loc=0, scale=None):
    from scipy.special import gammaincc

    return gammaincc(positive(df) / 2, beyond(x, loc, scale) / 2)


def chi2_ppf(q, df, loc=0, scale=None):
    from scipy.special import gammaincinv

    return placed(2 * gammaincinv(positive(df) / 2, part(q)), loc, scale)


def beta_cdf(x, a, b, loc=0, scale=None):
    from scipy.special import betainc

    return betainc(positive(a), positive(b), np.clip(standard(x, loc, scale), 0.0, 1.0))


def beta_sf(x, a, b, loc=0, scale=None):
    from scipy.special import betaincc

    return betaincc(positive(a), positive(b), np.clip(standard(x, loc, scale), 0.0, 1.0))


def beta_ppf(q, a, b, loc=0, scale=None):
    from scipy.special import betaincinv

    return placed(betaincinv(positive(a), positive(b), part(q)), loc, scale)


def t_sf(x, df, loc=0, scale=None):
    from scipy.special import stdtr

    return stdtr(positive(df), -standard(x, loc, scale))


def t_ppf(q, df, loc=0, scale=None):
    from scipy.special import stdtrit

    q = part(q)
    return placed(np.where(q == 0, -np.inf, stdtrit(positive(df), np.where(q == 0, 0.5, q))), loc, scale)


def f_logpdf(x, dfn, dfd, loc=0, scale=None):
    from scipy.special import betaln, xlogy

    z, n, m = standard(x, loc, scale), positive(dfn), positive(dfd)
    inside = np.logical_not(z < 0)
    z = np.where(inside, z, 1.0)
    value = m / 2 * np.log(m) + n / 2 * np.log(n) + xlogy(n / 2 - 1, z) - (n + m) / 2 * np.log(m + n * z)
    return chosen(inside, value - betaln(n / 2, m / 2), scale)


def f_cdf(x, dfn, dfd, loc=0, scale=None):
    from scipy.special import fdtr

    return fdtr(positive(dfn), positive(dfd), beyond(x, loc, scale))


def f_sf(x, dfn, dfd, loc=0, scale=None):
    from scipy.special import fdtrc

    return fdtrc(positive(dfn), positive(dfd), beyond(x, loc, scale))


def depth(x, s, loc, scale):
    """The logarithm, in standard deviations; where there is none, it counts as -inf."""
    z = standard(x, loc, scale)
    inside = np.logical_not(z <= 0)
    return np.where(inside, np.log(np.where(inside, z, 1.0)) / positive(s), -np.inf)


def lognorm_cdf(x, s, loc=0, scale=None):
    from scipy.special import ndtr

    return ndtr(depth(x, s, loc, scale))


def lognorm_sf(x, s, loc=0, scale=None):
    from scipy.special import ndtr

    return ndtr(-depth(x, s, loc, scale))


def lognorm_ppf(q, s, loc=0, scale=None):
    from scipy.special import ndtri

    return placed(np.exp(positive(s) * ndtri(part(q))), loc, scale)


def weibull_min_logpdf(x, c, loc=0, scale=None):
    from scipy.special import xlogy

    z, c = standard(x, loc, scale), positive(c)
    inside = np.logical_not(z < 0)
    z = np.where(inside, z, 1.0)
    return chosen(inside, np.log(c) + xlogy(c - 1, z) - z**c, scale)


def weibull_min_cdf(x, c, loc=0, scale=None):
    return -np.expm1(-raised(beyond(x, loc, scale), c))


def weibull_min_sf(x, c, loc=0, scale=None):
    return np.exp(-raised(beyond(x, loc, scale), c))


def weibull_min_ppf(q, c, loc=0, scale=None):
    return placed((-np.log1p(-part(q))) ** (1 / positive(c)), loc, scale)


def pareto_logpdf(x, b, loc=0, scale=None):
    z, b = standard(x, loc, scale), positive(b)
    inside = np.logical_not(z < 1)
    return chosen(inside, np.log(b) - (b + 1) * np.log(np.where(inside, z, 1.0)), scale)


def pareto_cdf(x, b, loc=0, scale=None):
    return 1 - 1 / raised(beyond(x, loc, scale, 1.0), b)


def pareto_sf(x, b, loc=0, scale=None):
    return 1 / raised(beyond(x, loc, scale, 1.0), b)


def gumbel_r_logpdf(x, loc=0, scale=None):
    z = standard(x, loc, scale)
    return -z - np.exp(-z) - np.log(positive(scale))


def gumbel_r_cdf(x, loc=0, scale=None):
    return np.exp(-np.exp(-standard(x, loc, scale)))


def logistic_sf(x, loc=0, scale=None):
    from scipy.special import expit

    return expit(-standard(x, loc, scale))


def logistic_ppf(q, loc=0, scale=None):
    from scipy.special import logit

    return placed(logit(part(q)), loc, scale)


def laplace_cdf(x, loc=0, scale=None):
    z = standard(x, loc, scale)
    tail = 0.5 * np.exp(-np.abs(z))
    return np.where(z > 0, 1 - tail, tail)


def cauchy_cdf(x, loc=0, scale=None):
    return 0.5 + np.arctan(standard(x, loc, scale)) / math.pi


def counted(k, loc, most, is_possible):
    """A whole number of events, and whether there are fewer than none, or as many as there can be; neither, where the
    parameters are not possible, of which the functions below then give nan."""
    k = np.floor(standard(k, loc, None))
    none, every = (k < 0) & is_possible, (k >= most) & is_possible
    return np.where(none | every, 0.0, k), none, every


def binom_cdf(k, n, p, loc=0):
    from scipy.special import bdtr

    is_possible = can_be(n, p)
    k, none, every = counted(k, loc, n, is_possible)
    return np.where(none, 0.0, np.where(every, 1.0, bdtr(k, n, np.where(is_possible, p, np.nan))))


def binom_sf(k, n, p, loc=0):
    from scipy.special import bdtrc

    is_possible = can_be(n, p)
    k, none, every = counted(k, loc, n, is_possible)
    return np.where(none, 1.0, np.where(every, 0.0, bdtrc(k, n, np.where(is_possible, p, np.nan))))


def poisson_cdf(k, mu, loc=0):
    from scipy.special import pdtr

    k, none, _ = counted(k, loc, np.inf, np.greater_equal(mu, 0))
    return np.where(none, 0.0, pdtr(k, mu))


def poisson_sf(k, mu, loc=0):
    from scipy.special import pdtrc

    k, none, _ = counted(k, loc, np.inf, np.greater_equal(mu, 0))
    return np.where(none, 1.0, pdtrc(k, mu))


LOGARITHMS = (f_logpdf, weibull_min_logpdf, pareto_logpdf, gumbel_r_logpdf)
OTHERS = (norm_isf, norm_interval, expon_sf, expon_ppf, uniform_sf, uniform_ppf, gamma_sf, gamma_ppf, chi2_cdf, chi2_sf,
          chi2_ppf, beta_cdf, beta_sf, beta_ppf, t_sf, t_ppf, f_cdf, f_sf, lognorm_cdf, lognorm_sf, lognorm_ppf,
          weibull_min_cdf, weibull_min_sf, weibull_min_ppf, pareto_cdf, pareto_sf, gumbel_r_cdf, logistic_sf,
          logistic_ppf, laplace_cdf, cauchy_cdf, binom_cdf, binom_sf, poisson_cdf, poisson_sf)
CALLS: dict[Any, Any] = {
    "scipy.stats.{}.{}".format(*function.__name__.rsplit("_", 1)): function for function in (*LOGARITHMS, *OTHERS)
} | {
    "scipy.stats.{}.pdf".format(function.__name__.rpartition("_")[0]): power_of(function) for function in LOGARITHMS
}
