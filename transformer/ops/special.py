"""Special functions with the names and meanings of `scipy.special`: those of statistics and learning. Others are in
`bessel`, `gamma_family`, `hypergeometric`, `integrals`, `orthogonal`, `distributions`, `box_cox`, `losses`.

They are called by name, so that scipy is imported only by programs that use it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.errors import NotSupported
from ..core.types import ArrayType
from . import scalars, scalars_special
from .base import callable_of
from .elementwise import (
    PI,
    ROOT_2_PI,
    ROOT_PI,
    Elementwise,
    checked_dtypes,
    weak_or_dtype,
    where,
)
from .of_scipy import special
from .reduction import Reduction, cases_of, folded, gone, inner_axes, kept, normal_cases


class Erf(Elementwise):
    calls = "scipy.special.erf", math.erf
    operands = ("x",)
    partials = (lambda t, x, y: t * 2 * np.exp(-x * x) / ROOT_PI,)


class Erfc(Elementwise):
    calls = "scipy.special.erfc", math.erfc
    operands = ("x",)
    partials = (lambda t, x, y: t * -2 * np.exp(-x * x) / ROOT_PI,)


class Erfinv(Elementwise):
    calls = ("scipy.special.erfinv",)
    operands = ("x",)
    loop = {"f": scalars_special.error_inverse}
    where = "unit"
    partials = (lambda t, x, y: t * ROOT_PI * np.exp(y * y) / 2,)


class Ndtr(Elementwise):
    """The distribution function of the standard normal distribution."""

    calls = ("scipy.special.ndtr",)
    operands = ("x",)
    loop = {"f": scalars_special.normal_distribution}
    partials = (lambda t, x, y: t * np.exp(-x * x / 2) / ROOT_2_PI,)


class LogNdtr(Elementwise):
    name = "log_ndtr"
    calls = ("scipy.special.log_ndtr",)
    operands = ("x",)
    loop = {"f": scalars_special.log_normal_distribution}
    partials = (lambda t, x, y: t * np.exp(-x * x / 2 - y) / ROOT_2_PI,)


class Ndtri(Elementwise):
    """The inverse of `ndtr`."""

    calls = ("scipy.special.ndtri",)
    operands = ("x",)
    loop = {"f": scalars_special.normal_quantile}
    where = "probability"
    partials = (lambda t, x, y: t * ROOT_2_PI * np.exp(y * y / 2),)


class Expit(Elementwise):
    """The logistic function."""

    calls = ("scipy.special.expit",)
    operands = ("x",)
    loop = {"f": scalars.logistic}
    partials = (lambda t, x, y: t * y * (1 - y),)


class LogExpit(Elementwise):
    name = "log_expit"
    calls = ("scipy.special.log_expit",)
    operands = ("x",)
    loop = {"f": scalars.log_logistic}
    partials = (lambda t, x, y: t * special.expit(-x),)


class Logit(Elementwise):
    calls = ("scipy.special.logit",)
    operands = ("x",)
    loop = {"f": scalars.logit}
    where = "probability"
    partials = (lambda t, x, y: t / x + t / (1 - x),)            # all orders of which are right at 0 and 1, too


class Xlogy(Elementwise):
    """`x * log(y)`, and 0 where x is, whatever y is."""

    calls = ("scipy.special.xlogy",)
    operands = "x", "y"
    loop = {"f": scalars.x_log_y}
    where = "real", "positive"
    partials = (lambda t, a, b, y: t * np.log(b),
                lambda t, a, b, y: t * a / where((a == 0) & (b == 0), 1, b))


class Xlog1py(Elementwise):
    """`x * log1p(y)`, and 0 where x is, whatever y is."""

    calls = ("scipy.special.xlog1py",)
    operands = "x", "y"
    loop = {"f": scalars.x_log1p_y}
    where = "real", "positive"
    partials = (lambda t, a, b, y: t * np.log1p(b),
                lambda t, a, b, y: t * a / where((a == 0) & (b == -1), 1, 1 + b))


class Entr(Elementwise):
    """`-x * log(x)`."""

    calls = ("scipy.special.entr",)
    operands = ("x",)
    loop = {"f": scalars.entropy}
    where = "positive"
    partials = (lambda t, x, y: -t * (np.log(x) + 1),)


class RelEntr(Elementwise):
    """`x * log(x / y)`, and 0 where x is, whatever y is."""

    name = "rel_entr"
    calls = ("scipy.special.rel_entr",)
    operands = "x", "y"
    loop = {"f": scalars.relative_entropy}
    where = "positive"
    partials = (lambda t, a, b, y: t * (np.log(a / b) + 1),
                lambda t, a, b, y: -t * a / where((a == 0) & (b == 0), 1, b))


def _sinc_partial(t, x, y):
    """By a Bessel function, as `(cos(pi x) - sinc(x)) / x` loses all digits near 0."""
    return -t * PI * special.spherical_jn(1, PI * x)


class Sinc(Elementwise):
    """`sin(pi x) / (pi x)`."""

    calls = (np.sinc,)
    operands = ("x",)
    loop = {"f": scalars.sinc}
    partials = (_sinc_partial,)


def _parts(a, y, axis, keepdims):
    """The parts of elements in a sum of exponentials with the logarithm y; none has one in a sum that is 0."""
    return np.exp(a - kept(where(y == -np.inf, 0, y), axis, keepdims))


def _tangent_of_total(t, a, y, axis=None, keepdims=False):
    return np.sum(t * _parts(a, y, axis, keepdims), axis=axis, keepdims=keepdims)


def _cotangent_of_total(dy, a, y, axis=None, keepdims=False):
    return kept(dy, axis, keepdims) * _parts(a, y, axis, keepdims)


def _total_of_exponentials(a, axis=None, keepdims=False):
    top = np.max(a, axis=axis, keepdims=True)
    top = where(np.isfinite(top), top, 0)
    total = np.log(np.sum(np.exp(a - top), axis=axis, keepdims=True)) + top
    return total if keepdims else np.squeeze(total, gone(a.ndim, axis))


class Logsumexp(Reduction):
    calls = ("scipy.special.logsumexp",)
    domain = cases_of(normal_cases)
    jvp = (_tangent_of_total,)
    vjp = (_cotangent_of_total,)
    definition = _total_of_exponentials

    def front(args, kwargs, spelling):
        if len(args) > 2 and args[2] is not None or kwargs.get("b") is not None:
            raise NotSupported("logsumexp with weights `b` is not supported",
                               instead="Add np.log(b) to the argument, or write the sum with np.log, "
                                       "np.sum and np.exp.")
        return None

    def types(a: ArrayType, axis: Any = None, b: Any = None, keepdims: bool = False,
              return_sign: bool = False) -> ArrayType:
        if return_sign:
            raise NotSupported("logsumexp with signs is not supported",
                               instead="Write the sum with np.log, np.sum and np.exp.")
        return folded(a, axis, keepdims, _dtype("logsumexp", a))

    def batch(lead, a, axis=None, keepdims=False):
        return Logsumexp.applied(a, axis=inner_axes(a, axis), keepdims=keepdims)


def logaddexp_reduce(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.logaddexp.reduce`, over all axes unless said."""
    return np.logaddexp.reduce(a, axis=axis, keepdims=keepdims)          # type: ignore[call-overload]


class LogaddexpReduce(Reduction):
    """The same as NumPy has it: `read.library.folding` knows how it is called."""

    name = "logaddexp_reduce"
    calls = (logaddexp_reduce,)
    domain = cases_of(normal_cases)
    jvp = (_tangent_of_total,)
    vjp = (_cotangent_of_total,)
    definition = _total_of_exponentials

    def types(a: ArrayType, axis: Any = None, keepdims: bool = False) -> ArrayType:
        return folded(a, axis, keepdims, checked_dtypes(np.logaddexp, (weak_or_dtype(a),) * 2)[0])

    def batch(lead, a, axis=None, keepdims=False):
        return LogaddexpReduce.applied(a, axis=inner_axes(a, axis), keepdims=keepdims)


class Softmax(Reduction):
    calls = ("scipy.special.softmax",)
    jvp = vjp = (lambda t, x, y, axis=None: y * (t - np.sum(t * y, axis=axis, keepdims=True)),)

    def types(x: ArrayType, axis: Any = None) -> ArrayType:
        return ArrayType(_dtype("softmax", x), x.sizes)

    def definition(x, axis=None):
        weights = np.exp(x - np.max(x, axis=axis, keepdims=True))
        return weights / np.sum(weights, axis=axis, keepdims=True)

    def batch(lead, x, axis=None):
        return Softmax.applied(x, axis=inner_axes(x, axis))

    def domain(rng):
        x = rng.normal(size=(2, 3, 4))
        return [((x,), {}), ((x,), {"axis": 1}), ((x,), {"axis": (0, 2)}), ((x[0, 0],), {})]


class LogSoftmax(Reduction):
    name = "log_softmax"
    calls = ("scipy.special.log_softmax",)
    domain = Softmax.domain
    jvp = (lambda t, x, y, axis=None: t - np.sum(t * np.exp(y), axis=axis, keepdims=True),)
    vjp = (lambda dy, x, y, axis=None: dy - np.exp(y) * np.sum(dy, axis=axis, keepdims=True),)

    def types(x: ArrayType, axis: Any = None) -> ArrayType:
        return ArrayType(_dtype("log_softmax", x), x.sizes)

    def definition(x, axis=None):
        shifted = x - np.max(x, axis=axis, keepdims=True)
        return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))

    def batch(lead, x, axis=None):
        return LogSoftmax.applied(x, axis=inner_axes(x, axis))


def _dtype(name: str, type: ArrayType) -> np.dtype:
    return checked_dtypes(callable_of(f"scipy.special.{name}"), (weak_or_dtype(type),))[0]
