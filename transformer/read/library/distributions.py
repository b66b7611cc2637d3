"""Densities and distribution functions of `scipy.stats`: normal, of numbers and of vectors, and exponential."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def positive(scale):
    """The scale of a distribution; nan where it is not positive, as for SciPy."""
    return 1.0 if scale is None else np.where(np.greater(scale, 0), scale, np.nan)


def standard(x, loc, scale):
    """How far `x` lies from the location, in units of the scale."""
    distance = np.asarray(x, np.float64) - loc
    return distance if scale is None else distance / positive(scale)


def norm_logpdf(x, loc=0, scale=None):
    z = standard(x, loc, scale)
    return -(z**2) / 2 - math.log(2 * math.pi) / 2 - np.log(positive(scale))


def norm_pdf(x, loc=0, scale=None):
    z = standard(x, loc, scale)
    return np.exp(-(z**2) / 2) / (math.sqrt(2 * math.pi) * positive(scale))


def norm_cdf(x, loc=0, scale=None):
    from scipy.special import ndtr

    return ndtr(standard(x, loc, scale))


def norm_logcdf(x, loc=0, scale=None):
    from scipy.special import log_ndtr

    return log_ndtr(standard(x, loc, scale))


def norm_sf(x, loc=0, scale=None):
    from scipy.special import ndtr

    return ndtr(-standard(x, loc, scale))


def norm_logsf(x, loc=0, scale=None):
    from scipy.special import log_ndtr

    return log_ndtr(-standard(x, loc, scale))


def norm_ppf(q, loc=0, scale=None):
    from scipy.special import ndtri

    return ndtri(np.asarray(q, np.float64)) * positive(scale) + loc


def expon_logpdf(x, loc=0, scale=None):
    z = standard(x, loc, scale)
    return np.where(z < 0, -np.inf, -z) - np.log(positive(scale))


def expon_pdf(x, loc=0, scale=None):
    z = standard(x, loc, scale)
    return np.where(z < 0, 0.0, np.exp(-z)) / positive(scale)


def expon_cdf(x, loc=0, scale=None):
    z = standard(x, loc, scale)
    return np.where(z < 0, 0.0, -np.expm1(-z))


def multivariate_normal_logpdf(x, mean=None, cov=1, allow_singular=False):
    cov = np.asarray(cov)
    dim = len(cov) if cov.ndim else 1 if mean is None else np.size(mean)
    steps = np.atleast_1d(np.asarray(x, np.float64))
    if dim == 1 and steps.ndim < 2:
        steps = steps[..., None]                               # a vector holds points of a line
    if mean is not None:
        steps = steps - mean
    constant = dim * math.log(2 * math.pi) / 2
    if cov.ndim < 2 or dim == 1:
        variance = np.broadcast_to(np.ravel(cov), (dim,))
        found = -np.sum(steps**2 / variance, axis=-1) / 2 - np.sum(np.log(variance)) / 2 - constant
    else:
        if allow_singular:
            check_regular(cov)
        root = np.linalg.cholesky(cov)
        scaled = np.linalg.solve(root, steps[..., None])[..., 0]
        found = -np.sum(scaled**2, axis=-1) / 2 - np.sum(np.log(np.diag(root))) - constant
    return found if np.ndim(found) == 0 else np.squeeze(found)[()]


def check_regular(cov):
    """Raises where SciPy would count an eigenvalue as zero, and do without its direction."""
    values = np.linalg.eigvalsh(cov)
    if values[0] <= 1e6 * np.finfo(np.float64).eps * np.abs(values).max():
        raise np.linalg.LinAlgError("the density of a singular covariance matrix is not supported: add a small number "
                                    "to its diagonal")


def multivariate_normal_pdf(x, mean=None, cov=1, allow_singular=False):
    return np.exp(multivariate_normal_logpdf(x, mean, cov, allow_singular))


NORMAL = (norm_logpdf, norm_pdf, norm_cdf, norm_logcdf, norm_sf, norm_logsf, norm_ppf)
EXPONENTIAL = (expon_logpdf, expon_pdf, expon_cdf)
OF_VECTORS = (multivariate_normal_logpdf, multivariate_normal_pdf)
CALLS: dict[Any, Any] = {
    "scipy.stats.{}.{}".format(*function.__name__.rsplit("_", 1)): function
    for function in (*NORMAL, *EXPONENTIAL, *OF_VECTORS)
}
