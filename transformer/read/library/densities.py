"""More distributions of `scipy.stats`: the logarithms of their densities, and of the probabilities of counts.

Where a density is zero its formula is not evaluated: a place inside stands there, and minus infinity is chosen.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import Any

import numpy as np

from .distributions import positive, standard


def chosen(inside, value, scale):
    """The logarithm of a density that has this value where it is not zero; nan where parameters are none."""
    return np.where(inside | np.isnan(value), value, -np.inf) - np.log(positive(scale))


def gamma_logpdf(x, a, loc=0, scale=None):
    from scipy.special import gammaln, xlogy

    z, a = standard(x, loc, scale), positive(a)
    inside = np.logical_not(z < 0)
    z = np.where(inside, z, 1.0)
    return chosen(inside, xlogy(a - 1, z) - z - gammaln(a), scale)


def gamma_cdf(x, a, loc=0, scale=None):
    from scipy.special import gammainc

    z = standard(x, loc, scale)
    return gammainc(positive(a), np.where(z < 0, 0.0, z))


def chi2_logpdf(x, df, loc=0, scale=None):
    from scipy.special import gammaln, xlogy

    z, df = standard(x, loc, scale), positive(df)
    inside = np.logical_not(z < 0)
    z = np.where(inside, z, 1.0)
    return chosen(inside, xlogy(df / 2 - 1, z) - z / 2 - gammaln(df / 2) - math.log(2) * df / 2, scale)


def beta_logpdf(x, a, b, loc=0, scale=None):
    from scipy.special import betaln, xlog1py, xlogy

    z, a, b = standard(x, loc, scale), positive(a), positive(b)
    inside = np.logical_not((z < 0) | (z > 1))
    z = np.where(inside, z, 0.5)
    return chosen(inside, xlog1py(b - 1, -z) + xlogy(a - 1, z) - betaln(a, b), scale)


def uniform_logpdf(x, loc=0, scale=None):
    z = standard(x, loc, scale)
    return chosen(np.logical_not((z < 0) | (z > 1)), np.where(np.isnan(z), z, 0.0), scale)


def uniform_cdf(x, loc=0, scale=None):
    return np.clip(standard(x, loc, scale), 0.0, 1.0)


def lognorm_logpdf(x, s, loc=0, scale=None):
    z, s = standard(x, loc, scale), positive(s)
    inside = np.logical_not(z <= 0)
    z = np.where(inside, z, 1.0)
    return chosen(inside, -(np.log(z) ** 2) / (2 * s**2) - np.log(s * z) - math.log(2 * math.pi) / 2, scale)


def t_logpdf(x, df, loc=0, scale=None):
    from scipy.special import gammaln

    z, df = standard(x, loc, scale), positive(df)
    normal = np.isinf(df)
    of = np.where(normal, 1.0, df)
    power = (of + 1) / 2
    value = gammaln(power) - gammaln(of / 2) - np.log(of * math.pi) / 2 - power * np.log1p(z**2 / of)
    return np.where(normal, -(z**2) / 2 - math.log(2 * math.pi) / 2, value) - np.log(positive(scale))


def t_cdf(x, df, loc=0, scale=None):
    from scipy.special import stdtr

    return stdtr(positive(df), standard(x, loc, scale))


def cauchy_logpdf(x, loc=0, scale=None):
    return -np.log1p(standard(x, loc, scale) ** 2) - math.log(math.pi) - np.log(positive(scale))


def laplace_logpdf(x, loc=0, scale=None):
    return -np.abs(standard(x, loc, scale)) - math.log(2) - np.log(positive(scale))


def logistic_logpdf(x, loc=0, scale=None):
    y = -np.abs(standard(x, loc, scale))
    return y - 2 * np.log1p(np.exp(y)) - np.log(positive(scale))


def logistic_cdf(x, loc=0, scale=None):
    from scipy.special import expit

    return expit(standard(x, loc, scale))


def can_be(n, p):
    """Whether something may be tried so often, and succeed with this probability."""
    return np.greater_equal(n, 0) & np.equal(np.floor(n), n) & np.greater_equal(p, 0) & np.less_equal(p, 1)


def poisson_logpmf(k, mu, loc=0):
    from scipy.special import gammaln, xlogy

    n, mu = standard(k, loc, None), np.where(np.greater_equal(mu, 0), mu, np.nan)
    inside = np.logical_not((n < 0) | (np.floor(n) != n)) | np.isnan(n)
    n = np.where(inside, n, 0.0)
    return chosen(inside, xlogy(n, mu) - gammaln(n + 1) - mu, None)


def binom_logpmf(k, n, p, loc=0):
    from scipy.special import gammaln, xlog1py, xlogy

    h, p = standard(k, loc, None), np.where(can_be(n, p), p, np.nan)
    inside = np.logical_not((h < 0) | (h > n) | (np.floor(h) != h)) | np.isnan(h)
    h = np.where(inside, h, 0.0)
    ways = gammaln(n + 1) - gammaln(h + 1) - gammaln(n - h + 1)
    return chosen(inside, ways + xlogy(h, p) + xlog1py(n - h, -p), None)


def bernoulli_logpmf(k, p, loc=0):
    return binom_logpmf(k, 1, p, loc)


def power_of(logarithm: Any) -> Any:
    """The density, or the probability, of which another function gives the logarithm."""

    def density(*args, **kwargs):
        return np.exp(logarithm(*args, **kwargs))

    return density


class Frozen:
    """`scipy.stats.norm(loc, scale)`: a distribution with what its methods are called with."""

    def __init__(self, of, args, kwargs):
        self.of, self.args, self.kwargs = of, args, kwargs

    def __getattr__(self, name):
        return functools.partial(called_with, getattr(self.of, name), self.args, self.kwargs)


def called_with(method, args, kwargs, *given, **options):
    return method(*given, *args, **kwargs, **options)


def of_frozen(function: Any) -> Any:
    """What is read in place of a call of a distribution, or of a method of what such a call has given before."""
    owner: Any = getattr(function, "__self__", None)
    if hasattr(function, "freeze") and _is_of_stats(function):
        return _freezing(function)
    if hasattr(owner, "dist") and _is_of_stats(owner):
        method = getattr(getattr(sys.modules["scipy.stats"], owner.dist.name, owner.dist), function.__name__)
        return _called(method, owner.args, owner.kwds)
    return None


def _is_of_stats(found: Any) -> bool:
    return type(found).__module__.startswith("scipy.stats.")


def _freezing(distribution: Any) -> Any:
    def frozen(*args, **kwargs):
        return Frozen(distribution, args, kwargs)

    return frozen


def _called(method: Any, args: Any, kwargs: Any) -> Any:
    def called(*given, **options):
        return method(*given, *args, **kwargs, **options)

    return called


LOGARITHMS = (gamma_logpdf, chi2_logpdf, beta_logpdf, uniform_logpdf, lognorm_logpdf, t_logpdf, cauchy_logpdf,
              laplace_logpdf, logistic_logpdf, poisson_logpmf, binom_logpmf, bernoulli_logpmf)
BELOW = (gamma_cdf, uniform_cdf, t_cdf, logistic_cdf)


def _named(function: Any, method: str) -> str:
    return f"scipy.stats.{function.__name__.rpartition('_')[0]}.{method}"


def _method(function: Any) -> str:
    return str(function.__name__.rpartition("_")[2])


CALLS: dict[Any, Any] = {
    **{_named(function, _method(function)): function for function in (*LOGARITHMS, *BELOW)},
    **{_named(function, _method(function).removeprefix("log")): power_of(function) for function in LOGARITHMS},
}
