"""Distributions by a formula of uniform, normal, exponential or gamma numbers; derivatives pass through parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.halves import finfo
from ..drawing import FLOATS, WHOLE, take_dtype, take_shape
from ..taking import taking_arrays
from .floats import exponential, fraction, normal, uniform
from .gammas import gamma, loggamma
from .keys import of_parameters, split, take_key
from .whole import bernoulli, saturated


def _given(name: str, dtype: Any, shape: Any, *parameters: Any) -> Any:
    """The dtype, the shape, and the parameters as arrays of that dtype."""
    found = take_dtype(name, dtype, FLOATS)
    return found, of_parameters(name, shape, *parameters), *[np.asarray(each).astype(found) for each in parameters]


@taking_arrays
def rademacher(key: Any, shape: Any = (), dtype: Any = np.int64) -> Any:
    """1 or -1, of which both are as likely. As `jax.random.rademacher`.

    >>> rademacher(np.array([0, 42], np.uint32), (4,))
    array([ 1,  1, -1, -1])
    """
    take_key("rademacher", key)
    found = take_dtype("rademacher", dtype, (*WHOLE, *FLOATS))
    return (2 * bernoulli(key, 0.5, take_shape("rademacher", shape)) - 1).astype(found)


@taking_arrays
def logistic(key: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Numbers of the logistic distribution, whose distribution function is `1 / (1 + exp(-x))`. As
    `jax.random.logistic`.

    >>> logistic(np.array([0, 42], np.uint32), (2,))
    array([-0.2952..., -4.1839...])
    """
    take_key("logistic", key)
    found = take_dtype("logistic", dtype, FLOATS)
    u = uniform(key, take_shape("logistic", shape), found, float(finfo(found).tiny), 1.0)
    return np.log(u) - np.log1p(-u)


@taking_arrays
def cauchy(key: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Numbers of the Cauchy distribution, whose density is `1 / (pi * (1 + x**2))`. As `jax.random.cauchy`.

    >>> cauchy(np.array([0, 42], np.uint32), (2,))
    array([ -0.2343..., -21.1907...])
    """
    take_key("cauchy", key)
    found = take_dtype("cauchy", dtype, FLOATS)
    u = uniform(key, take_shape("cauchy", shape), found, float(finfo(found).eps), 1.0)
    return np.tan(found.type(np.pi) * (u - found.type(0.5)))


@taking_arrays
def lognormal(key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Exponentials of normal numbers with the deviation `sigma`. As `jax.random.lognormal`.

    >>> lognormal(np.array([0, 42], np.uint32), 0.5, (2,))
    array([0.9117..., 0.3379...])
    """
    take_key("lognormal", key)
    found, sizes, deviation = _given("lognormal", dtype, shape, sigma)
    return np.exp(normal(key, sizes, found) * deviation)


@taking_arrays
def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers of the Pareto distribution from 1 on, whose density is `b / x**(b + 1)`. As `jax.random.pareto`.

    >>> pareto(np.array([0, 42], np.uint32), 3.0, (2,))
    array([1.2037..., 1.0050...])
    """
    take_key("pareto", key)
    found, sizes, power = _given("pareto", dtype, shape, b)
    return np.exp(exponential(key, sizes, found) / power)


@taking_arrays
def rayleigh(key: Any, scale: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Lengths of vectors of two normal numbers with the deviation `scale`. As `jax.random.rayleigh`.

    >>> rayleigh(np.array([0, 42], np.uint32), 2.0, (2,))
    array([2.6101..., 5.7958...])
    """
    words = take_key("rayleigh", key)
    found, sizes, deviation = _given("rayleigh", dtype, shape, scale)
    return deviation * np.sqrt(np.log(fraction(words, sizes, found)) * found.type(-2))


@taking_arrays
def maxwell(key: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Lengths of vectors of three normal numbers. As `jax.random.maxwell`.

    >>> maxwell(np.array([0, 42], np.uint32), (2,))
    array([2.1856..., 0.8664...])
    """
    take_key("maxwell", key)
    found = take_dtype("maxwell", dtype, FLOATS)
    return np.linalg.norm(normal(key, (*take_shape("maxwell", shape), 3), found), axis=-1)


@taking_arrays
def weibull_min(key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Numbers of the Weibull distribution, which are above `x` with probability `exp(-(x / scale)**concentration)`. As
    `jax.random.weibull_min`; the parameters broadcast to the shape.

    >>> weibull_min(np.array([0, 42], np.uint32), 2.0, 1.5, (2,))
    array([1.3529..., 0.1223...])
    """
    words = take_key("weibull_min", key)
    found, sizes, size, power = _given("weibull_min", dtype, shape, scale, concentration)
    return (-np.log1p(-fraction(words, sizes, found))) ** (1 / power) * size


@taking_arrays
def triangular(key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers between `left` and `right`, whose density goes up to `mode` and down again along straight lines. As
    `jax.random.triangular`.

    >>> triangular(np.array([0, 42], np.uint32), 0.0, 1.0, 2.0, (2,))
    array([0.9238..., 0.1732...])
    """
    words = take_key("triangular", key)
    found, sizes, low, top, high = _given("triangular", dtype, shape, left, mode, right)
    u = fraction(words, sizes, found)
    rising = low + np.sqrt(u * (high - low) * (top - low))
    return np.where(u < (top - low) / (high - low), rising, high - np.sqrt((1 - u) * (high - low) * (high - top)))


@taking_arrays
def geometric(key: Any, p: Any, shape: Any = None, dtype: Any = np.int64) -> Any:
    """How many trials there are until the first one that holds, which each does with probability `p`, a float or an
    array of them. As `jax.random.geometric`.

    >>> geometric(np.array([0, 42], np.uint32), 0.2, (4,))
    array([ 4, 19,  3,  2])
    """
    words = take_key("geometric", key)
    precision = take_dtype("geometric", np.float64 if isinstance(p, float) else np.asarray(p).dtype, FLOATS)
    found = take_dtype("geometric", dtype, WHOLE)
    u = fraction(words, of_parameters("geometric", shape, p), precision)
    trials = np.floor(np.log(np.where(u == 0, 1, u)) / np.log1p(-np.asarray(p))) + 1
    return saturated(trials, found)


@taking_arrays
def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Sums of the squares of `df` normal numbers. As `jax.random.chisquare`.

    >>> chisquare(np.array([0, 42], np.uint32), 3.0, (2,))
    array([3.4123..., 1.9269...])
    """
    take_key("chisquare", key)
    found, sizes, count = _given("chisquare", dtype, shape, df)
    return np.exp(loggamma(key, count / 2, sizes, found)) * 2


@taking_arrays
def t(key: Any, df: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers of Student's distribution with `df` degrees of freedom. As `jax.random.t`.

    >>> t(np.array([0, 42], np.uint32), 3.0, (2,))
    array([-0.6930..., -0.5820...])
    """
    take_key("t", key)
    found, sizes, count = _given("t", dtype, shape, df)
    keys = split(key)
    half = count / 2
    return normal(keys[0], sizes, found) * np.sqrt(half / gamma(keys[1], half, sizes, found))


@taking_arrays
def wald(key: Any, mean: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers of the Wald distribution with this mean and the scale 1: when a drifting random walk first arrives. As
    `jax.random.wald`.

    J. R. Michael, W. R. Schucany, R. W. Haas, "Generating random variates using transformations with multiple roots"
    (1976).

    >>> wald(np.array([0, 42], np.uint32), 2.0, (2,))
    array([5.3240..., 1.3862...])
    """
    take_key("wald", key)
    found, sizes, centre = _given("wald", dtype, shape, mean)
    keys = split(key)
    y = normal(keys[0], sizes, found) ** 2
    z = uniform(keys[1], sizes, found)
    x = centre + centre ** 2 * y / 2 - centre / 2 * np.sqrt(4 * centre * y + centre ** 2 * y ** 2)
    return np.where(z <= centre / (centre + x), x, centre ** 2 / x)


@taking_arrays
def orthogonal(key: Any, n: int, shape: Any = (), dtype: Any = np.float64, m: int | None = None) -> Any:
    """Matrices of shape (..., n, m) with orthogonal columns, or rows if there are fewer of them; all are as likely. As
    `jax.random.orthogonal`, where LAPACK and XLA round alike.

    F. Mezzadri, "How to generate random matrices from the classical compact groups" (2007).

    >>> q = orthogonal(np.array([0, 42], np.uint32), 3)
    >>> np.allclose(q @ q.T, np.eye(3))
    True
    """
    take_key("orthogonal", key)
    found = take_dtype("orthogonal", dtype, FLOATS)
    columns = n if m is None else m
    more, fewer = (n, columns) if n > columns else (columns, n)
    q, r = np.linalg.qr(normal(key, (*take_shape("orthogonal", shape), more, fewer), found))
    q = q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[..., None, :]
    return np.swapaxes(q, -1, -2) if n < columns else q


@taking_arrays
def generalized_normal(key: Any, p: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Numbers whose density goes as `exp(-abs(x)**p)`. As `jax.random.generalized_normal`.

    >>> generalized_normal(np.array([0, 42], np.uint32), 2.0, (2,))
    array([-0.3547... , -0.0984...])
    """
    take_key("generalized_normal", key)
    found = take_dtype("generalized_normal", dtype, FLOATS)
    sizes, keys = take_shape("generalized_normal", shape), split(key)
    return rademacher(keys[1], sizes, found) * gamma(keys[0], 1 / p, sizes, found) ** (1 / p)


@taking_arrays
def ball(key: Any, d: int, p: Any = 2, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Points of `d` coordinates, whose powers `p` have a sum of at most 1; all are as likely. As `jax.random.ball`.

    F. Barthe, O. Guédon, S. Mendelson, A. Naor, "A probabilistic approach to the geometry of the l_p^n-ball" (2005).

    >>> np.linalg.norm(ball(np.array([0, 42], np.uint32), 3)) <= 1
    np.True_
    """
    take_key("ball", key)
    found, sizes, keys = take_dtype("ball", dtype, FLOATS), take_shape("ball", shape), split(key)
    x = generalized_normal(keys[0], p, (*sizes, d), found)
    beside = exponential(keys[1], sizes, found)
    return x / ((np.sum(np.abs(x) ** p, axis=-1) + beside) ** (1 / p))[..., None]


@taking_arrays
def f(key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers of Fisher's F distribution: ratios of two chi-square numbers, each per degree of freedom. As
    `jax.random.f`.

    >>> f(np.array([0, 42], np.uint32), 4.0, 6.0, (2,))
    array([1.1581..., 0.5528...])
    """
    take_key("f", key)
    found, sizes, above, below = _given("f", dtype, shape, dfnum, dfden)
    keys = split(key)
    return chisquare(keys[1], above, sizes, found) / above / (chisquare(keys[0], below, sizes, found) / below)


@taking_arrays
def double_sided_maxwell(key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Numbers of Maxwell's distribution with a sign, `loc + scale * x`. As `jax.random.double_sided_maxwell`: the shape
    of the parameters is appended to `shape`, or to itself where `shape` is empty.

    >>> double_sided_maxwell(np.array([0, 42], np.uint32), 1.0, 2.0, (2,))
    array([-2.6956..., -3.6877...])
    """
    take_key("double_sided_maxwell", key)
    found = take_dtype("double_sided_maxwell", dtype, FLOATS)
    own = np.broadcast_shapes(np.shape(loc), np.shape(scale))
    sizes = (take_shape("double_sided_maxwell", shape) or own) + own
    keys = split(key)
    return rademacher(keys[1], sizes, found) * maxwell(keys[0], sizes, found) * scale + loc
