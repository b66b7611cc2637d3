"""Sample calls of functions that are read as written in `transformer/read/library`: functions of X."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.spatial
import scipy.stats

ROWS = np.array([1, 0, 1])
NAN = np.array([[0.0, np.nan, 0.0], [0.0, 0.0, np.nan]])


def changed(write: Any) -> Any:
    """What `write` makes of a copy of its argument."""

    def program(x: Any) -> Any:
        y = x * x
        write(y, x)
        return y

    return program


def square(x: Any) -> Any:
    return x @ x.T + np.eye(2)


def at(ufunc: Any) -> Any:
    return changed(lambda y, x: ufunc.at(y, ROWS, x[0]))


def of_distribution(name: str, method: str) -> Any:
    shapes = {"gamma": (1.7,), "chi2": (3.0,), "beta": (2.0, 1.5), "t": (4.0,), "f": (2.0, 5.0), "lognorm": (0.7,),
              "weibull_min": (1.5,), "pareto": (2.5,)}.get(name, ())
    start = -1.0 if name == "pareto" else 0.0
    return lambda x: getattr(getattr(scipy.stats, name), method)(np.sin(x) ** 2, *shapes, start, 1.0)


def of_samples(name: str) -> Any:
    return lambda x: getattr(scipy.stats, name)(x * x + 0.1, axis=1)


SAMPLES: dict[str, Any] = {
    "scipy.fft.fftfreq": lambda x: scipy.fft.fftfreq(4, x[0, 0]),
    "scipy.fft.dct": lambda x: scipy.fft.dct(x * x),
    "scipy.fft.dctn": lambda x: scipy.fft.dctn(x * x),
    "scipy.fft.idct": lambda x: scipy.fft.idct(x * x),
    "scipy.fft.idctn": lambda x: scipy.fft.idctn(x * x),
    "scipy.fft.rfftfreq": lambda x: scipy.fft.rfftfreq(4, x[0, 0]),
    "scipy.integrate.cumulative_trapezoid": lambda x: scipy.integrate.cumulative_trapezoid(x, x[0], initial=0),
    "scipy.integrate.dblquad": lambda x: scipy.integrate.dblquad(lambda s, t: np.sum(t * x**2), 0, 1, 0, x[0, 0])[0],
    "scipy.integrate.fixed_quad": lambda x: scipy.integrate.fixed_quad(lambda t: t * x[0, 0], 0, x[0, 1])[0],
    "scipy.integrate.tplquad": lambda x: scipy.integrate.tplquad(lambda z, y, t: z * x[0, 0], 0, 1, 0, 1, 0, 1)[0],
    "scipy.integrate.odeint": lambda x: scipy.integrate.odeint(lambda y, t: -y, x[0], np.array([0.0, 0.1])),
    "scipy.integrate.solve_ivp": lambda x: scipy.integrate.solve_ivp(lambda t, y: -y, (0.0, 0.1), x[0],
                                                                     t_eval=[0.05], rtol=1e-10, atol=1e-10).y,
    "scipy.integrate.quad": lambda x: scipy.integrate.quad(lambda t: np.sum(np.sin(t * x)), 0.1, x[0, 0] ** 2)[0],
    "scipy.integrate.simpson": lambda x: scipy.integrate.simpson(x * x, dx=0.5),
    "scipy.integrate.trapezoid": lambda x: scipy.integrate.trapezoid(x * x, dx=0.5),
    "scipy.interpolate.Akima1DInterpolator": lambda x: scipy.interpolate.Akima1DInterpolator([0, 1, 2], x, 1)(0.7),
    "scipy.interpolate.BSpline": lambda x: scipy.interpolate.BSpline(np.arange(6), x[0], 2)(x[0]),
    "scipy.interpolate.CubicHermiteSpline": lambda x: scipy.interpolate.CubicHermiteSpline([0, 1, 2], x[0], x[1])(x[0]),
    "scipy.interpolate.InterpolatedUnivariateSpline": lambda x: scipy.interpolate.InterpolatedUnivariateSpline(
        [0, 1, 2], x[0], k=2)(x[1]),
    "scipy.interpolate.UnivariateSpline": lambda x: scipy.interpolate.UnivariateSpline([0, 1, 2], x[0], k=2, s=0)(x[1]),
    "scipy.interpolate.RegularGridInterpolator": lambda x: scipy.interpolate.RegularGridInterpolator(
        ([0, 1], [0, 1, 2]), x)([[0.3, 1.2]]),
    "scipy.interpolate.interpn": lambda x: scipy.interpolate.interpn(([0, 1], [0, 1, 2]), x, [[0.3, 1.2]]),
    "scipy.interpolate.make_interp_spline": lambda x: scipy.interpolate.make_interp_spline([0, 1, 2], x[0], 2)(0.7),
    "scipy.interpolate.splev": lambda x: scipy.interpolate.splev(x[0], (np.arange(6), x[0], 2)),
    "scipy.interpolate.splint": lambda x: scipy.interpolate.splint(2.1, 2.7, (np.arange(6), x[0], 2)),
    "scipy.interpolate.splrep": lambda x: scipy.interpolate.splrep([0, 1, 2], x[0], k=2)[1],
    "scipy.interpolate.CubicSpline": lambda x: scipy.interpolate.CubicSpline(np.arange(3), x, axis=1)(0.7),
    "scipy.interpolate.PchipInterpolator": lambda x: scipy.interpolate.PchipInterpolator(np.arange(3), x, axis=1)(0.7),
    "scipy.interpolate.interp1d": lambda x: scipy.interpolate.interp1d(np.arange(3), x)(x[0, 0] ** 2),
    "scipy.linalg.block_diag": lambda x: scipy.linalg.block_diag(x, x[0]),
    "scipy.linalg.circulant": lambda x: scipy.linalg.circulant(x[0]),
    "scipy.linalg.hankel": lambda x: scipy.linalg.hankel(x[0]),
    "scipy.linalg.toeplitz": lambda x: scipy.linalg.toeplitz(x[0], x[1]),
    "scipy.linalg.cholesky": lambda x: scipy.linalg.cholesky(square(x)),
    "scipy.linalg.det": lambda x: scipy.linalg.det(square(x)),
    "scipy.linalg.eigh": lambda x: scipy.linalg.eigh(square(x))[0],
    "scipy.linalg.eigvalsh": lambda x: scipy.linalg.eigvalsh(square(x)),
    "scipy.linalg.inv": lambda x: scipy.linalg.inv(square(x)),
    "scipy.linalg.lu_solve": lambda x: scipy.linalg.lu_solve(scipy.linalg.lu_factor(square(x)), x[:, 0]),
    "scipy.linalg.norm": lambda x: scipy.linalg.norm(x),
    "scipy.linalg.pinv": lambda x: scipy.linalg.pinv(x),
    "scipy.linalg.qr": lambda x: scipy.linalg.qr(x.T, mode="economic")[1] ** 2,
    "scipy.linalg.lstsq": lambda x: scipy.linalg.lstsq(x.T, x[0])[0],
    "scipy.linalg.sqrtm": lambda x: scipy.linalg.sqrtm(square(x)),
    "scipy.linalg.solve_sylvester": lambda x: scipy.linalg.solve_sylvester(square(x), np.eye(2), x[:, :2]),
    "scipy.linalg.solve_continuous_lyapunov": lambda x: scipy.linalg.solve_continuous_lyapunov(square(x), np.eye(2)),
    "scipy.linalg.solve_discrete_lyapunov": lambda x: scipy.linalg.solve_discrete_lyapunov(x[:, :2] / 9, np.eye(2)),
    "scipy.linalg.solve_continuous_are": lambda x: scipy.linalg.solve_continuous_are(
        x[:, :2], np.eye(2), np.eye(2), np.eye(2)),
    "scipy.linalg.solve_discrete_are": lambda x: scipy.linalg.solve_discrete_are(
        x[:, :2], np.eye(2), np.eye(2), np.eye(2)),
    "scipy.linalg.solve_banded": lambda x: scipy.linalg.solve_banded((1, 0), np.exp(x), x[0]),
    "scipy.linalg.solve_toeplitz": lambda x: scipy.linalg.solve_toeplitz(x[0] ** 2 + np.array([4, 0, 0]), x[1]),
    "scipy.linalg.solveh_banded": lambda x: scipy.linalg.solveh_banded(x * x + np.array([[0], [4]]), x[0]),
    "scipy.linalg.solve": lambda x: scipy.linalg.solve(square(x), x[:, 0]),
    "scipy.ndimage.convolve": lambda x: scipy.ndimage.convolve(x, x[:, :2]),
    "scipy.ndimage.convolve1d": lambda x: scipy.ndimage.convolve1d(x, x[0]),
    "scipy.ndimage.correlate": lambda x: scipy.ndimage.correlate(x, x[:, :2]),
    "scipy.ndimage.correlate1d": lambda x: scipy.ndimage.correlate1d(x, x[0]),
    "scipy.ndimage.gaussian_filter": lambda x: scipy.ndimage.gaussian_filter(x * x, 0.5),
    "scipy.ndimage.gaussian_filter1d": lambda x: scipy.ndimage.gaussian_filter1d(x * x, 0.5),
    "scipy.ndimage.gaussian_gradient_magnitude": lambda x: scipy.ndimage.gaussian_gradient_magnitude(x * x, 0.5),
    "scipy.ndimage.gaussian_laplace": lambda x: scipy.ndimage.gaussian_laplace(x * x, 0.5),
    "scipy.ndimage.laplace": lambda x: scipy.ndimage.laplace(x * x),
    "scipy.ndimage.map_coordinates": lambda x: scipy.ndimage.map_coordinates(x, [[0.2, 0.7], [1.3, 0.4]], order=1),
    "scipy.ndimage.maximum_filter": lambda x: scipy.ndimage.maximum_filter(x, 2),
    "scipy.ndimage.median_filter": lambda x: scipy.ndimage.median_filter(x, (1, 3)),
    "scipy.ndimage.minimum_filter": lambda x: scipy.ndimage.minimum_filter(x, 2),
    "scipy.ndimage.prewitt": lambda x: scipy.ndimage.prewitt(x * x),
    "scipy.ndimage.sobel": lambda x: scipy.ndimage.sobel(x * x),
    "scipy.ndimage.uniform_filter": lambda x: scipy.ndimage.uniform_filter(x * x, 2),
    "scipy.ndimage.uniform_filter1d": lambda x: scipy.ndimage.uniform_filter1d(x * x, 2),
    "scipy.optimize.fsolve": lambda x: scipy.optimize.fsolve(lambda t: t**3 + t - x[0], np.ones(3), xtol=1e-11),
    "scipy.optimize.root": lambda x: scipy.optimize.root(lambda t: t**3 + t - x[0], np.ones(3), tol=1e-11).x,
    "scipy.optimize.fixed_point": lambda x: scipy.optimize.fixed_point(lambda t: np.cos(t * x), 0.7 + 0 * x,
                                                                       xtol=1e-11),
    "scipy.optimize.bisect": lambda x: scipy.optimize.bisect(lambda t: t - np.sum(np.cos(t * x)), 0.0, 9.0),
    "scipy.optimize.brentq": lambda x: scipy.optimize.brentq(lambda t: t - np.sum(np.cos(t * x)), 0.0, 9.0),
    "scipy.optimize.brenth": lambda x: scipy.optimize.brenth(lambda t: t - np.sum(np.cos(t * x)), 0.0, 9.0),
    "scipy.optimize.ridder": lambda x: scipy.optimize.ridder(lambda t: t - np.sum(np.cos(t * x)), 0.0, 9.0),
    "scipy.optimize.root_scalar": lambda x: scipy.optimize.root_scalar(lambda t: t**3 - np.sum(x * x), x0=1.0,
                                                                       fprime=lambda t: 3 * t**2).root,
    "scipy.optimize.newton": lambda x: scipy.optimize.newton(lambda t: t**3 + t - np.sum(x * x), 1.0),
    "scipy.optimize.rosen": lambda x: scipy.optimize.rosen(x[0]),
    "scipy.signal.detrend": lambda x: scipy.signal.detrend(x * x),
    "scipy.signal.hilbert": lambda x: np.abs(scipy.signal.hilbert(x * x)),
    "scipy.signal.periodogram": lambda x: scipy.signal.periodogram(x)[1],
    "scipy.signal.sosfilt": lambda x: scipy.signal.sosfilt([[0.2, 0.3, 0.0, 1.0, -0.4, 0.1]], x),
    "scipy.signal.welch": lambda x: scipy.signal.welch(x, nperseg=3)[1],
    "scipy.signal.convolve": lambda x: scipy.signal.convolve(x[0], x[1, :2], "same"),
    "scipy.signal.convolve2d": lambda x: scipy.signal.convolve2d(x, x[:, :2], "same", "symm"),
    "scipy.signal.correlate": lambda x: scipy.signal.correlate(x, x[:, 1:]),
    "scipy.signal.correlate2d": lambda x: scipy.signal.correlate2d(x, x[:, 1:], "same"),
    "scipy.signal.fftconvolve": lambda x: scipy.signal.fftconvolve(x[0], x[1], "valid"),
    "scipy.signal.filtfilt": lambda x: scipy.signal.filtfilt([0.2, 0.3], [2.0, -0.4], x, padlen=1),
    "scipy.signal.savgol_filter": lambda x: scipy.signal.savgol_filter(x, 3, 1),
    "scipy.signal.lfilter": lambda x: scipy.signal.lfilter([0.2, 0.3], [2.0, -0.4], x),
    "scipy.spatial.distance.euclidean": lambda x: scipy.spatial.distance.euclidean(x[0], 2 * x[1]),
    "scipy.spatial.distance.sqeuclidean": lambda x: scipy.spatial.distance.sqeuclidean(x[0], 2 * x[1]),
    "scipy.spatial.distance.cityblock": lambda x: scipy.spatial.distance.cityblock(x[0], 2 * x[1]),
    "scipy.spatial.distance.chebyshev": lambda x: scipy.spatial.distance.chebyshev(x[0], 3 * x[1]),
    "scipy.spatial.distance.minkowski": lambda x: scipy.spatial.distance.minkowski(x[0], 2 * x[1], 3),
    "scipy.spatial.distance.cosine": lambda x: scipy.spatial.distance.cosine(x[0], x[1] ** 2),
    "scipy.spatial.distance.cdist": lambda x: scipy.spatial.distance.cdist(x, 2 * x),
    "scipy.spatial.distance.pdist": lambda x: scipy.spatial.distance.pdist(x * x),
    "scipy.spatial.distance.squareform": lambda x: scipy.spatial.distance.squareform(x[0] ** 2),
    "scipy.stats.zscore": lambda x: scipy.stats.zscore(x, axis=1),
    "scipy.stats.bernoulli.logpmf": lambda x: scipy.stats.bernoulli.logpmf([0, 1, 1], np.sin(x) ** 2),
    "scipy.stats.bernoulli.pmf": lambda x: scipy.stats.bernoulli.pmf([0, 1, 2], np.sin(x) ** 2),
    "scipy.stats.beta.logpdf": lambda x: scipy.stats.beta.logpdf(np.sin(x) ** 2, x * x, 1.5),
    "scipy.stats.beta.pdf": lambda x: scipy.stats.beta.pdf(x, x[0] ** 2, 1.5, -0.1, 3.0),
    "scipy.stats.binom.logpmf": lambda x: scipy.stats.binom.logpmf([0, 2, 5], 5, np.sin(x) ** 2),
    "scipy.stats.binom.pmf": lambda x: scipy.stats.binom.pmf([0, 2, 7], 5, np.sin(x) ** 2),
    "scipy.stats.cauchy.logpdf": lambda x: scipy.stats.cauchy.logpdf(x, x[0], 0.7),
    "scipy.stats.cauchy.pdf": lambda x: scipy.stats.cauchy.pdf(x),
    "scipy.stats.chi2.logpdf": lambda x: scipy.stats.chi2.logpdf(x * x, x[0] ** 2),
    "scipy.stats.chi2.pdf": lambda x: scipy.stats.chi2.pdf(x, 3),
    "scipy.stats.gamma.cdf": lambda x: scipy.stats.gamma.cdf(x, 2.5, scale=0.5),
    "scipy.stats.gamma.logpdf": lambda x: scipy.stats.gamma.logpdf(x * x, x[0] ** 2, scale=0.5),
    "scipy.stats.gamma.pdf": lambda x: scipy.stats.gamma.pdf(x, 2.5),
    "scipy.stats.laplace.logpdf": lambda x: scipy.stats.laplace.logpdf(x, 0.05, x[0] ** 2),
    "scipy.stats.laplace.pdf": lambda x: scipy.stats.laplace.pdf(x, 0.05),
    "scipy.stats.logistic.cdf": lambda x: scipy.stats.logistic.cdf(x, scale=0.5),
    "scipy.stats.logistic.logpdf": lambda x: scipy.stats.logistic.logpdf(x, x[0] + 0.1),
    "scipy.stats.logistic.pdf": lambda x: scipy.stats.logistic.pdf(x, 0.05),
    "scipy.stats.lognorm.logpdf": lambda x: scipy.stats.lognorm.logpdf(x * x, 0.5, scale=x[0] ** 2),
    "scipy.stats.lognorm.pdf": lambda x: scipy.stats.lognorm.pdf(x, 0.5),
    "scipy.stats.poisson.logpmf": lambda x: scipy.stats.poisson.logpmf([0, 2, 5], x * x),
    "scipy.stats.poisson.pmf": lambda x: scipy.stats.poisson.pmf([-1, 2, 5], x * x),
    "scipy.stats.t.cdf": lambda x: scipy.stats.t.cdf(x, 3, 0.1),
    "scipy.stats.t.logpdf": lambda x: scipy.stats.t.logpdf(x, x[0] ** 2, x[1], 0.5),
    "scipy.stats.t.pdf": lambda x: scipy.stats.t.pdf(x, 3),
    "scipy.stats.uniform.cdf": lambda x: scipy.stats.uniform.cdf(x, -0.1, 3.0),
    "scipy.stats.uniform.logpdf": lambda x: scipy.stats.uniform.logpdf(x * x, -0.1, x * x + 3.0),
    "scipy.stats.uniform.pdf": lambda x: scipy.stats.uniform.pdf(x, -0.1, x * x + 3.0),
    "scipy.stats.expon.cdf": lambda x: scipy.stats.expon.cdf(x, -0.1, 0.7),
    "scipy.stats.expon.logpdf": lambda x: scipy.stats.expon.logpdf(x * x, scale=x[0, 0]),
    "scipy.stats.expon.pdf": lambda x: scipy.stats.expon.pdf(x),
    "scipy.stats.multivariate_normal.logpdf": lambda x: scipy.stats.multivariate_normal.logpdf(x[:, :2], x[0, :2],
                                                                                               square(x)),
    "scipy.stats.multivariate_normal.pdf": lambda x: scipy.stats.multivariate_normal.pdf(x[:, :2], cov=square(x)),
    "scipy.stats.norm.cdf": lambda x: scipy.stats.norm.cdf(x),
    "scipy.stats.norm.logcdf": lambda x: scipy.stats.norm.logcdf(x),
    "scipy.stats.norm.logpdf": lambda x: scipy.stats.norm.logpdf(x, x[0], x[0, 0]),
    "scipy.stats.norm.logsf": lambda x: scipy.stats.norm.logsf(x),
    "scipy.stats.norm.pdf": lambda x: scipy.stats.norm.pdf(x, scale=np.array([[0.5], [1.5]])),
    "scipy.stats.norm.ppf": lambda x: scipy.stats.norm.ppf(x * x / 4, 0.1, x[0, 0]),
    "scipy.stats.norm.sf": lambda x: scipy.stats.norm.sf(x, 0.3),
    **{f"scipy.stats.{name}": of_distribution(*name.split(".")) for name in (
        "norm.isf norm.interval expon.sf expon.ppf uniform.sf uniform.ppf gamma.sf gamma.ppf chi2.cdf chi2.sf chi2.ppf "
        "beta.cdf beta.sf beta.ppf t.sf t.ppf f.pdf f.logpdf f.cdf f.sf lognorm.cdf lognorm.sf lognorm.ppf "
        "weibull_min.pdf weibull_min.logpdf weibull_min.cdf weibull_min.sf weibull_min.ppf pareto.pdf pareto.logpdf "
        "pareto.cdf pareto.sf gumbel_r.pdf gumbel_r.logpdf gumbel_r.cdf logistic.sf logistic.ppf laplace.cdf "
        "cauchy.cdf").split()},
    "scipy.stats.binom.cdf": lambda x: scipy.stats.binom.cdf([0, 2, 5], 5, np.sin(x) ** 2),
    "scipy.stats.binom.sf": lambda x: scipy.stats.binom.sf([0, 2, 5], 5, np.sin(x) ** 2),
    "scipy.stats.poisson.cdf": lambda x: scipy.stats.poisson.cdf([-1, 2, 5], x * x),
    "scipy.stats.poisson.sf": lambda x: scipy.stats.poisson.sf([-1, 2, 5], x * x),
    **{f"scipy.stats.{name}": of_samples(name) for name in
       "moment skew kurtosis gmean hmean sem variation entropy iqr".split()},
    "scipy.stats.pearsonr": lambda x: scipy.stats.pearsonr(x[0], x[1])[0],
    "scipy.stats.linregress": lambda x: scipy.stats.linregress(x[0], x[1]).slope,
    "scipy.stats.ttest_1samp": lambda x: scipy.stats.ttest_1samp(x, 0.3, axis=1).pvalue,
    "scipy.stats.ttest_ind": lambda x: scipy.stats.ttest_ind(x[0], x[1]).pvalue,
    "scipy.stats.ttest_rel": lambda x: scipy.stats.ttest_rel(x[0], x[1]).pvalue,
    "np.shares_memory": lambda x: x * x if np.shares_memory(x, x.copy()) else x,
    "np.may_share_memory": lambda x: x * x if np.may_share_memory(x, x.copy()) else x,
    "np.put": changed(lambda y, x: np.put(y, [0, 4], x[0, :2])),
    "np.put_along_axis": changed(lambda y, x: np.put_along_axis(y, np.array([[2], [0]]), x[:, :1], axis=1)),
    "np.place": changed(lambda y, x: np.place(y, x > 0, x[0])),
    "np.putmask": changed(lambda y, x: np.putmask(y, x > 0, x)),
    "np.fill_diagonal": changed(lambda y, x: np.fill_diagonal(y, x[0, :2])),
    "np.unique": lambda x: np.unique(x) ** 2,
    "np.unique_values": lambda x: np.unique_values(x) ** 2,
    "np.unique_counts": lambda x: np.unique_counts(x).values ** 2,
    "np.unique_inverse": lambda x: np.unique_inverse(x).values ** 2,
    "np.unique_all": lambda x: np.unique_all(x).values ** 2,
    "np.matvec": lambda x: np.matvec(x, x[0]),
    "np.vecmat": lambda x: np.vecmat(x[:, 0], x),
    "np.union1d": lambda x: np.union1d(x[0], x[1]) ** 2,
    "np.intersect1d": lambda x: np.intersect1d(x[0], x[0, 1:]) ** 2,
    "np.setdiff1d": lambda x: np.setdiff1d(x[0], x[1]) ** 2,
    "np.bincount": lambda x: np.bincount(ROWS, weights=x[0]) ** 2,
    "np.histogram": lambda x: np.histogram(x, 3, range=(-2.0, 2.0), weights=x * x)[0],
    "np.histogram_bin_edges": lambda x: np.histogram_bin_edges(x, 3) ** 2,
    "np.compress": lambda x: np.compress([True, False, True], x, axis=1) ** 2,
    "np.extract": lambda x: np.extract(x > 0, x) ** 2,
    "np.choose": lambda x: np.choose(ROWS, [x[0], x[1] ** 2]),
    "np.trim_zeros": lambda x: np.trim_zeros(x[0] ** 2),
    "np.delete": lambda x: np.delete(x, 1, axis=1) ** 2,
    "np.insert": lambda x: np.insert(x, 1, x[0, 0] ** 2, axis=1),
    "np.resize": lambda x: np.resize(x, (2, 4)) ** 2,
    "np.apply_along_axis": lambda x: np.apply_along_axis(lambda line: line / np.sum(line * line), 1, x),
    "np.vectorize": lambda x: np.vectorize(lambda v: v * v if v > 0 else -v)(x),
    "np.piecewise": lambda x: np.piecewise(x, [x < 0, x > 1], [lambda v: v * v, lambda v: v**3, 0.5]),
    "np.fromfunction": lambda x: np.fromfunction(lambda i, j: i + 2 * j, (2, 3)) * x,
    "np.fromiter": lambda x: np.fromiter((v * v for v in x[0]), dtype=float),
    "np.block": lambda x: np.block([[x, x[:, :1]], [x * x, x[:, 1:2]]]),
    "np.modf": lambda x: np.modf(x)[0] ** 2,
    "np.gradient": lambda x: np.gradient(x * x, 0.5, axis=1),
    "np.ediff1d": lambda x: np.ediff1d(x * x, to_end=1.0),
    "np.nanquantile": lambda x: np.nanquantile(x + NAN, [0.3, 0.6], axis=1) ** 2,
    "np.nanpercentile": lambda x: np.nanpercentile(x + NAN, 40) ** 2,
    "np.nanprod": lambda x: np.nanprod(x + NAN, axis=1) ** 2,
    "np.poly": lambda x: np.poly(x[0]) ** 2,
    "np.polyadd": lambda x: np.polyadd(x[0], x[1, 1:]) ** 2,
    "np.polysub": lambda x: np.polysub(x[0], x[1, 1:]) ** 2,
    "np.polydiv": lambda x: np.polydiv(x[0], x[1, :2])[0] ** 2,
    "np.polyfit": lambda x: np.polyfit(np.arange(3.0), x[0], 1) ** 2,
    "np.histogram2d": lambda x: np.histogram2d(ROWS, ROWS, 2, weights=x[0])[0] ** 2,
    "np.histogramdd": lambda x: np.histogramdd([ROWS, ROWS], 2, weights=x[0])[0] ** 2,
    "np.setxor1d": lambda x: np.setxor1d(x[0], x[0, 1:]) ** 2,
    "np.apply_over_axes": lambda x: np.apply_over_axes(np.sum, x * x, [0]),
    "np.unstack": lambda x: np.unstack(x * x)[1],
    "np.asarray_chkfinite": lambda x: np.asarray_chkfinite(x) ** 2,
    "np.cumulative_sum": lambda x: np.cumulative_sum(x * x, axis=1, include_initial=True),
    "np.cumulative_prod": lambda x: np.cumulative_prod(x, axis=1),
    "np.roots": lambda x: np.abs(np.roots(x[0])),
    "np.i0": lambda x: np.i0(x),
    "np.kaiser": lambda x: np.kaiser(4, x[0, 0]),
    "np.unwrap": lambda x: np.unwrap(4 * x) ** 2,
    "np.cov": lambda x: np.cov(x),
    "np.corrcoef": lambda x: np.corrcoef(x),
    "np.correlate": lambda x: np.correlate(x[0], x[1, :2]),
    "np.polyval": lambda x: np.polyval(x[0], x[1]),
    "np.polyder": lambda x: np.polyder(x[0]) ** 2,
    "np.polyint": lambda x: np.polyint(x[0], k=1.0) ** 2,
    "np.polymul": lambda x: np.polymul(x[0], x[1]),
    "np.vander": lambda x: np.vander(x[0]),
    "np.median": lambda x: np.median(x, axis=1) ** 2,
    "np.quantile": lambda x: np.quantile(x, 0.3, axis=1) ** 2,
    "np.percentile": lambda x: np.percentile(x, [30, 70]) ** 2,
    "np.nanvar": lambda x: np.nanvar(x + NAN, axis=1),
    "np.nanstd": lambda x: np.nanstd(x + NAN, axis=0, keepdims=True)[:, :1],
    "np.nanmedian": lambda x: np.nanmedian(x + NAN) ** 2,
    "np.nancumsum": lambda x: np.nancumsum(x + NAN, axis=1) ** 2,
    "np.nancumprod": lambda x: np.nancumprod(x + NAN, axis=1),
    "np.add.reduce": lambda x: np.add.reduce(x * x),
    "np.add.accumulate": lambda x: np.add.accumulate(x, axis=1) ** 2,
    "np.add.outer": lambda x: np.add.outer(x[0], x[1]) ** 2,
    "np.add.reduceat": lambda x: np.add.reduceat(x[0], [0, 2]) ** 2,
    "np.triu_indices_from": lambda x: (x @ x.T)[np.triu_indices_from(x @ x.T)],
    "np.tril_indices_from": lambda x: (x @ x.T)[np.tril_indices_from(x @ x.T)],
    "np.ndenumerate": lambda x: sum(v * v * (i + 2 * j) for (i, j), v in np.ndenumerate(x)),
    "math.dist": lambda x: math.dist(x[0], x[1]),
    "math.modf": lambda x: math.modf(x[1, 1])[0] ** 2,
    "math.frexp": lambda x: math.frexp(x[1, 1])[0] ** 2,
    "math.fsum": lambda x: math.fsum(x[0]) ** 2,
}

CONSTANT_SAMPLES: dict[str, Any] = {
    "np.packbits": lambda x: np.packbits(x > 0, axis=1),
    "np.unpackbits": lambda x: np.unpackbits((x > 0).astype(np.uint8)),
    "np.allclose": lambda x: np.allclose(x, x + 1e-12),
    "np.array_equal": lambda x: np.array_equal(x, x),
    "np.digitize": lambda x: np.digitize(x, np.array([-1.0, 0.0, 1.0])),
    "np.isin": lambda x: np.isin(np.arange(4), ROWS),
    "np.unravel_index": lambda x: np.unravel_index(np.argmax(x), x.shape),
    "np.ravel_multi_index": lambda x: np.ravel_multi_index((ROWS, ROWS), (2, 3)),
    "np.diag_indices_from": lambda x: np.diag_indices_from(x @ x.T),
    "np.triu_indices": lambda x: np.triu_indices(x.shape[1], 1),
    "np.tril_indices": lambda x: np.tril_indices(x.shape[1], -1),
    "np.ndindex": lambda x: sum(i + 2 * j for i, j in np.ndindex(2, 3)),
    "np.array_equiv": lambda x: np.array_equiv(x, x[0]),
    "np.iscomplex": lambda x: np.iscomplex(x + 1j * (x > 0)),
    "np.isreal": lambda x: np.isreal(x + 1j * (x > 0)),
    "np.iscomplexobj": lambda x: np.iscomplexobj(x + 1j),
    "np.isrealobj": lambda x: np.isrealobj(x),
    "np.isneginf": lambda x: np.isneginf(np.log(np.abs(x) * (x > 0))),
    "np.isposinf": lambda x: np.isposinf(1 / (np.abs(x) * (x > 0))),
    "np.lexsort": lambda x: np.lexsort((x[0], ROWS)),
    "np.fft.fftfreq": lambda x: np.fft.fftfreq(5, 0.1),
    "np.fft.rfftfreq": lambda x: np.fft.rfftfreq(5, 0.1),
    "np.bartlett": lambda x: np.bartlett(5),
    "np.blackman": lambda x: np.blackman(5),
    "np.hamming": lambda x: np.hamming(5),
    "np.hanning": lambda x: np.hanning(5),
}

METHOD_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "compress": ([True, False, True], 1),
    "partition": (1,),
    "argpartition": (1,),
    "put": ([0, 2], 1.5),
}
