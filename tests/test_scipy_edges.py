"""Functions of SciPy, and objects of NumPy, that are read as Python, for arguments at the edges: the same, or the same
error."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy import fft, integrate, interpolate, linalg, ndimage, optimize, signal, stats

from transformer import NotSupported, jvp, segments, tree, vmap

X = np.array([0.0, 0.4, 1.0, 1.7, 2.5, 3.1])
Y = np.array([1.0, -0.5, 0.3, 2.0, 1.1, 0.2])
T = np.array([-0.3, 0.05, 0.55, 1.2, 2.9, 3.6])
KNOTS = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 3.0])
ROWS = np.array([[0.1, 0.7, 0.4], [0.9, 0.2, -0.3]])
GRID = np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0])
SINGLE = np.array([[2.0, 0.5], [0.5, 1.0]], np.float32)


def value(function: Any, x: Any) -> Any:
    return jvp(function, (x,), (x,))[0]


F = X.astype(np.float32)
SAME = {
    "splines of float32": (lambda y: (interpolate.make_interp_spline(F, y, k=1)(F), *interpolate.splrep(F, y)[:2],
                                      interpolate.BSpline(F, y[:4], 1)(F)), Y.astype(np.float32)),
    "curves of float32": (lambda y: (interpolate.CubicSpline(F, y)(F), interpolate.PchipInterpolator(F, y)(F),
                                     interpolate.interp1d(F, y)(F)), Y.astype(np.float32)),
    "grids of float32": (lambda v: [interpolate.interpn((F[:3], F[:2]), v, F[None, :2] / 2, method=method)
                                    for method in ("linear", "nearest")], ROWS.T.astype(np.float32)),
    "a derivative beyond the ends": (lambda y: interpolate.splev(T, interpolate.splrep(X, y), der=1, ext=3), Y),
    "as many coefficients as knots": (lambda c: (interpolate.BSpline(KNOTS, c, 2).derivative().c,
                                                 interpolate.BSpline(KNOTS, c, 2).antiderivative().c), Y[:5]),
    "a period, integrated": (lambda c: interpolate.BSpline(KNOTS, c, 2, "periodic").antiderivative()(T), Y[:5]),
    "nan on a grid": (lambda v: interpolate.RegularGridInterpolator(GRID, v, bounds_error=False, fill_value=7.0)(
        np.array([[np.nan, 0.1], [np.nan, 9.0], [5.0, 0.1]])), ROWS.T),
    "a power of 1 that is none": (lambda b: (stats.pareto.sf(np.array([0.5, 2.0]), b), stats.pareto.cdf(0.5, b),
                                             stats.weibull_min.cdf(1.0, b)), -1.0),
    "no probability": (lambda p: (stats.binom.cdf(np.array([-1, 2, 7]), 5, p),
                                  stats.binom.sf(np.array([-1, 7]), 5, p)), 1.5),
    "no whole number of trials": (lambda p: (stats.binom.pmf(2, 5.5, p), stats.binom.cdf(7, 5.5, p)), 0.3),
    "no average": (lambda mu: (stats.poisson.cdf(-1, mu), stats.poisson.sf(-1, mu)), -1.0),
    "too few to correct for": (lambda x: (stats.skew(x, bias=False), stats.kurtosis(x, bias=False)), ROWS),
    "a harmonic mean of negative numbers": (lambda x: stats.hmean(x, axis=1), ROWS),
    "two points": (lambda x: tuple(stats.pearsonr(x, np.array([3.0, 1.0]))), Y[:2]),
    "one mean for each column": (lambda m: tuple(stats.ttest_1samp(ROWS, m)), Y[:3]),
    "degrees of freedom": (lambda x: (stats.ttest_rel(x, x**2).df, stats.ttest_ind(x, x**2).df), ROWS),
    "a range of float32": (lambda x: stats.iqr(x), Y.astype(np.float32)),
    "one sample": (lambda x: (signal.detrend(x), signal.welch(x, nperseg=1)), Y[:1]),
    "matrices of float32": (lambda a: (linalg.sqrtm(a), linalg.solve_sylvester(a, a, a)), SINGLE),
    "Riccati of float32": (lambda a: linalg.solve_continuous_are(a, a, a, a), SINGLE),
    "Newton's method of float32": (lambda a: optimize.newton(lambda x: x - a, a, fprime=lambda x: 1.0 + 0.0 * x),
                                   np.array([2.0, 1.1], np.float32)),
    "polynomials of nothing": (lambda c: (np.poly1d(c).deriv(3).coeffs, np.poly1d(c).deriv(5).coeffs,
                                         np.poly1d(c).deriv(5)(2.0)), Y[:3]),
    "a polynomial to the power of 0": (lambda c: (np.poly1d(c) ** 0).coeffs, Y[:3]),
    "the domain of a polynomial": (lambda c: (Polynomial(c).window, Polynomial(c, domain=[0, 3]).domain), Y[:3]),
    "places at one point": (lambda y: (Polynomial.fit(np.ones(3), y, 0)(1.0), Polynomial.fit(np.ones(3), y, 0).domain),
                            Y[:3]),
    "polynomials of a float32": (lambda x: Polynomial([1.0, 2.0])(x), np.float32(0.5)),
    "one number between arrays": (lambda a: np.linspace(a, 2 * a, 1, retstep=True), Y[:2]),
}


@pytest.mark.parametrize("case", SAME)
def test_what_scipy_gives(case: str) -> None:
    function, x = SAME[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, wanted = value(function, x), function(x)
    for one, other in zip(tree.leaves(found), tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
        assert (np.asarray(one).dtype, np.shape(one)) == (np.asarray(other).dtype, np.shape(other))


RAISED = {
    "knots that decrease": lambda y: interpolate.BSpline(KNOTS[::-1] - y[0], y[:5], 2)(1.0),
    "a value for each place": lambda y: interpolate.make_interp_spline(np.append(X, 4.0), y, k=1)(1.0),
    "splines of degree 0 of FITPACK": lambda y: interpolate.splrep(X, y, k=0)[1],
    "a derivative of too high an order": lambda y: interpolate.make_interp_spline(X, y, k=1).derivative(2)(T),
    "no such ext": lambda y: interpolate.splev(T, interpolate.splrep(X, y), ext=7),
    "an order below 0": lambda y: ndimage.gaussian_filter1d(y, 1.0, order=-1),
    "one sample is not correlated": lambda y: tuple(stats.pearsonr(y[:1], y[:1])),
    "lengths that differ": lambda y: tuple(stats.pearsonr(y, y[:1])),
    "a line through one place": lambda y: tuple(stats.linregress(np.ones(6), y)),
    "means along the axis": lambda y: tuple(stats.ttest_1samp(np.ones((6, 3)), y, axis=1)),
    "no such norm": lambda y: fft.dct(y, norm="none"),
    "no such scaling": lambda y: signal.welch(y, nperseg=4, scaling="none"),
    "parts that do not end": lambda y: signal.welch(y, nperseg=4, noverlap=4),
    "a right side of another shape": lambda y: linalg.solve_sylvester(np.eye(3), np.eye(2), np.reshape(y, (2, 3))),
    "no such method": lambda y: linalg.solve_discrete_lyapunov(np.eye(6) / 2, np.outer(y, y), method="none"),
    "a negative power": lambda y: (np.poly1d(y) ** -1).coeffs,
    "which zeros": lambda y: np.trim_zeros(y, "x"),
    "bits of floats": np.packbits,
    "three equations for two unknowns": lambda y: optimize.fsolve(lambda z: y[:3] * z[0] - z[1], [1.0, 1.0]),
    "points on the way to infinity": lambda y: integrate.quad(lambda t: y[0] * np.exp(-t), 0, np.inf, points=[2.0])[0],
}


@pytest.mark.parametrize("case", RAISED)
def test_what_scipy_raises(case: str) -> None:
    for call in (lambda: RAISED[case](Y), lambda: value(RAISED[case], Y)):
        with pytest.raises((ValueError, TypeError)):
            call()


REFUSED = {
    "whole numbers of a filter": (lambda y: ndimage.gaussian_filter(y, 1.0, output=int), "which SciPy rounds"),
    "moments of several orders": (lambda y: stats.moment(y, [1, 2]), "several orders"),
    "one line of a grid": (lambda y: interpolate.interpn((X, [0.0]), y[:, None], [[0.1, 0.0]]), "single point along"),
    "equal polynomials": (lambda y: float(np.poly1d(y) == np.poly1d(y)), "`==` of polynomials"),
    "the integral of steps": (lambda y: interpolate.make_interp_spline(X, y, k=0).antiderivative()(T), "of degree 0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    function, why = REFUSED[case]
    with pytest.raises(NotSupported, match=why):
        value(function, Y)


def test_segments_of_truth_values() -> None:
    x, ids = np.array([True, False, False]), np.array([0, 0, 2])
    np.testing.assert_array_equal(segments.segment_max(x, ids, 3), [True, False, False])
    np.testing.assert_array_equal(segments.segment_min(x, ids, 3), [False, True, False])


def test_events_end_the_integration_in_each_lane() -> None:
    def below_half(t, y):
        return y[0] - 0.5

    below_half.terminal = True

    def ended(rate):
        found = integrate.solve_ivp(lambda t, y: -rate * y, (0, 3.0), np.array([1.0]), events=below_half)
        return found.y[0, -1], found.t[-1]

    levels, times = vmap(ended)(np.array([1.0, 2.0]))
    np.testing.assert_allclose(levels, 0.5)
    np.testing.assert_allclose(times, np.log(2.0) / np.array([1.0, 2.0]), rtol=1e-3)
