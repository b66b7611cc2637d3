"""Functions of NumPy that are written with others, and those that go along axes."""

import math

import numpy as np

from .program import Program, apart, fixed

VECTOR = np.array([0.3, -1.2, 2.1, 0.7, -0.45])
MATRIX = np.array([[1.1, -0.4, 0.7, 0.25], [0.2, 1.9, -0.8, 1.3], [0.6, -0.35, 0.9, -1.7]])


def sum_where(x):
    return np.sum(x ** 2, where=x > 0)


def mean_where(x):
    return np.mean(x ** 2, where=x > 0)


def max_where(x):
    return np.max(x ** 2, where=x > 0, initial=-1.0)


def sum_initial(x):
    return np.sum(x ** 2, initial=3.0)


def max_initial(x):
    return np.max(x ** 2, initial=3.0)


def prod_where(x):
    return np.prod(x, where=x > 0)


def std_where(x):
    return np.std(x, where=x > -1)


def take_along(m):
    i = np.argsort(m, axis=1)
    return np.sum(np.take_along_axis(m, i, axis=1) ** 2 * np.arange(4.0))


def median(x):
    return np.median(x) ** 2


def median_axis(m):
    return np.sum(np.median(m, axis=1) ** 2)


def quantile(x):
    return np.quantile(x, 0.3) ** 2


def quantile_l(x):
    return np.sum(np.quantile(x, [0.3, 0.7]) ** 2)


def percentile(m):
    return np.sum(np.percentile(m, 30, axis=0) ** 2)


def histogram(x):
    h, e = np.histogram(x, bins=4)
    return np.sum(h * x[:4] ** 2)


def histogram2(x):
    h, e = np.histogram(x, bins=4, range=(-2.0, 3.0))
    return np.sum(h * x[:4] ** 2)


def digitize(x):
    h = np.digitize(x, np.array([-1.0, 0, 1.0]))
    return np.sum(h * x ** 2)


def interp(x):
    return np.sum(np.interp(x, np.array([-2.0, 0.0, 1.0, 3.0]), np.array([1.0, 3.0, -1.0, 2.0])) ** 2)


def interp_fp(x):
    return np.sum(np.interp(np.array([0.5, 1.5, 2.2]), np.arange(5.0), x) ** 2)


def interp_xp(x):
    return np.sum(np.interp(np.array([0.5, 1.5, 2.2]), np.cumsum(x * x), x) ** 2)


def interp_scalar(x):
    return np.interp(x[0], np.arange(5.0), x) ** 2


def convolve(x):
    return np.sum(np.convolve(x, x[:3]) ** 2)


def convolve_same(x):
    return np.sum(np.convolve(x, np.array([1.0, 2, 1]), mode='same') ** 2)


def convolve_valid(x):
    return np.sum(np.convolve(x, x[:3], 'valid') ** 2)


def correlate(x):
    return np.sum(np.correlate(x, x[:3], 'valid') ** 2)


def gradient(x):
    return np.sum(np.gradient(x) ** 2)


def gradient_dx(x):
    return np.sum(np.gradient(x, 0.1) ** 2)


def gradient_x(x):
    return np.sum(np.gradient(x, np.array([0, 0.1, 0.3, 0.6, 1.0])) ** 2)


def gradient_2d(m):
    a, b = np.gradient(m)
    return np.sum(a ** 2 * b)


def gradient_axis(m):
    return np.sum(np.gradient(m, axis=1) ** 2)


def gradient_eo(m):
    return np.sum(np.gradient(m, axis=1, edge_order=2) ** 2)


def polyval(x):
    return np.polyval(x, 1.5) ** 2


def polyval2(x):
    return np.sum(np.polyval([1.0, 2.0, 3.0], x) ** 2)


def vander(x):
    return np.sum(np.vander(x, 3) ** 2)


def vander_inc(x):
    return np.sum(np.vander(x, increasing=True) ** 2)


def nansum(x):
    y = x.copy()
    y[1] = np.nan
    return np.nansum(y ** 2)


def nanmean(x):
    y = x.copy()
    y[1] = np.nan
    return np.nanmean(y ** 2)


def nanmax(x):
    y = x.copy()
    y[1] = np.nan
    return np.nanmax(y ** 2)


def nanmin(m):
    y = m.copy()
    y[1, 0] = np.nan
    return np.sum(np.nanmin(y ** 2, axis=0))


def nanvar(x):
    y = x.copy()
    y[1] = np.nan
    return np.nanvar(y)


def nanstd(x):
    y = x.copy()
    y[1] = np.nan
    return np.nanstd(y)


def nancumsum(x):
    y = x.copy()
    y[1] = np.nan
    return np.sum(np.nancumsum(y) ** 2)


def nanmedian(x):
    y = x.copy()
    y[1] = np.nan
    return np.nanmedian(y) ** 2


def nanarg(x):
    y = x.copy()
    y[1] = np.nan
    return x[np.nanargmax(y)] ** 2


def cov(m):
    return np.sum(np.cov(m) ** 2)


def cov_xy(x):
    return np.cov(x, x ** 2)[0, 1]


def cov_F(m):
    return np.sum(np.cov(m, rowvar=False) ** 2)


def corrcoef(m):
    return np.sum(np.corrcoef(m) ** 2)


def add_reduce(x):
    return np.add.reduce(x) ** 2


def max_reduce(m):
    return np.sum(np.maximum.reduce(m) ** 2)


def max_reduce_l(x):
    return np.maximum.reduce([x[0], x[1], x[2]]) ** 2


def add_acc(x):
    return np.sum(np.add.accumulate(x) ** 2)


def max_acc(x):
    return np.sum(np.maximum.accumulate(x) ** 2)


def min_acc(x):
    return np.sum(np.minimum.accumulate(x) ** 2)


def outer_sub(x):
    return np.sum(np.subtract.outer(x, x) ** 2)


def outer_mul(x):
    return np.sum(np.multiply.outer(x, x) ** 3)


def reduceat(x):
    return np.sum(np.add.reduceat(x, [0, 2]) ** 2)


def log_reduce(x):
    return np.logaddexp.reduce(x)


def unwrap(x):
    return np.sum(np.unwrap(x * 3) ** 2)


def ediff1d(x):
    return np.sum(np.ediff1d(x) ** 2)


def hanning(x):
    return np.sum(np.hanning(5) * x ** 2)


def integers_of_math(x, n):
    """Of whole numbers that come out of an array."""
    total = 0.0
    for k in range(len(n)):
        total += x[k] ** 2 / math.factorial(n[k]) + x[0] * math.comb(n[k], n[0]) + x[1] * math.perm(n[k], 2)
        total += x[k] * (math.gcd(n[k], n[0], 12) + math.lcm(n[k], n[1])) + x[k] * math.isqrt(n[k] ** 2 - 1)
    return total


CURVE = np.poly1d([1.0, -0.4, 0.3])
SERIES = np.polynomial.Polynomial.fit(np.arange(5.0), np.arange(5.0) ** 2 + 1, 2)


def fitted_objects(x, y):
    """Polynomials as objects, of both kinds, and arithmetic with them."""
    curve = np.poly1d(np.polyfit(x, y, 1))
    squared = (curve * curve - 0.5).deriv()
    series = np.polynomial.Polynomial.fit(x, y, 2)
    return np.sum(squared(x) * (curve + CURVE)(x)) + series(0.3) * series.convert().coef[1] + curve[0] * squared.order


def objects_made_before(x):
    return np.sum(CURVE(x) * SERIES(x)) + CURVE.deriv()(x[0]) * SERIES.deriv()(x[1])


def spaced(x):
    """What functions of NumPy take at the end of their arguments."""
    numbers, step = np.linspace(x[0], x, 4, retstep=True, axis=1)
    ordered = np.sort(numbers, 0, "stable")
    kept = np.trim_zeros(np.where(x > x[0], x, 0.0))
    whole = np.multiply(kept[0], np.arange(3), dtype=np.float64)
    return np.sum(ordered[-1] ** 2) + np.sum(step**2) + np.sum(kept**3) + np.sum(whole)


PROGRAMS = [
    Program(fitted_objects, fixed(np.array([0.2, 0.7, 1.1, 1.9]), np.array([0.4, 1.2, 0.9, 2.0])), (0, 1)),
    Program(objects_made_before, apart(("n",))),
    Program(spaced, fixed(np.array([0.4, 1.2, 0.9, 2.0]))),
    Program(integers_of_math, fixed(VECTOR[:3], np.array([4, 9, 6])), order=1),
    Program(sum_where, apart(("n",))),
    Program(mean_where, apart(("n",))),
    Program(max_where, apart(("n",))),
    Program(sum_initial, apart(("n",))),
    Program(max_initial, apart(("n",))),
    Program(prod_where, apart(("n",))),
    Program(std_where, apart(("n",))),
    Program(take_along, fixed(MATRIX)),
    Program(median, apart(("n",))),
    Program(median_axis, apart(("n", "m"))),
    Program(quantile, apart(("n",))),
    Program(quantile_l, apart(("n",))),
    Program(percentile, apart(("n", "m"))),
    Program(histogram, fixed(VECTOR)),
    Program(histogram2, apart(("n",))),
    Program(digitize, apart(("n",))),
    Program(interp, apart(("n",))),
    Program(interp_fp, fixed(VECTOR)),
    Program(interp_xp, apart(("n",))),
    Program(interp_scalar, fixed(VECTOR)),
    Program(convolve, apart(("n",))),
    Program(convolve_same, apart(("n",))),
    Program(convolve_valid, apart(("n",))),
    Program(correlate, apart(("n",))),
    Program(gradient, apart(("n",))),
    Program(gradient_dx, apart(("n",))),
    Program(gradient_x, fixed(VECTOR)),
    Program(gradient_2d, apart(("n", "m"))),
    Program(gradient_axis, apart(("n", "m"))),
    Program(gradient_eo, apart(("n", "m"))),
    Program(polyval, apart(("n",))),
    Program(polyval2, apart(("n",))),
    Program(vander, apart(("n",))),
    Program(vander_inc, apart(("n",))),
    Program(nansum, apart(("n",))),
    Program(nanmean, apart(("n",))),
    Program(nanmax, apart(("n",))),
    Program(nanmin, apart(("n", "m"))),
    Program(nanvar, apart(("n",))),
    Program(nanstd, apart(("n",))),
    Program(nancumsum, apart(("n",))),
    Program(nanmedian, apart(("n",))),
    Program(nanarg, apart(("n",))),
    Program(cov, apart(("n", "m"))),
    Program(cov_xy, apart(("n",))),
    Program(cov_F, apart(("n", "m"))),
    Program(corrcoef, apart(("n", "m"))),
    Program(add_reduce, apart(("n",))),
    Program(max_reduce, apart(("n", "m"))),
    Program(max_reduce_l, apart(("n",))),
    Program(add_acc, apart(("n",))),
    Program(max_acc, apart(("n",))),
    Program(min_acc, apart(("n",))),
    Program(outer_sub, apart(("n",))),
    Program(outer_mul, apart(("n",))),
    Program(reduceat, apart(("n",))),
    Program(log_reduce, apart(("n",))),
    Program(unwrap, apart(("n",))),
    Program(ediff1d, apart(("n",))),
    Program(hanning, fixed(VECTOR)),
]
