"""Special functions, with the names and meanings of `scipy.special`.

They are called by name, so that scipy is imported only by programs that use it.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ..core.errors import NotDifferentiable, NotSupported
from ..core.types import ArrayType
from . import scalars, scalars_special
from .base import callable_of
from .elementwise import (
    PI,
    ROOT_2_PI,
    ROOT_PI,
    Elementwise,
    checked_dtypes,
    constant,
    weak_or_dtype,
    where,
)
from .reduction import Reduction, cases_of, folded, gone, inner_axes, kept, normal_cases
from .value import Value, apply


class _Special:
    """Stands for `scipy.special` in rules: ``special.erf(x)`` emits Core for a `Value`."""

    def __getattr__(self, name: str) -> Any:
        return partial(_call, f"scipy.special.{name}")


def _call(name: str, *operands: Any) -> Any:
    from .table import lookup
    if not any(isinstance(operand, Value) for operand in operands):
        return callable_of(name)(*operands)
    found = lookup(name)
    assert found is not None, name
    return apply(found[0], operands, {}, name)


special = _Special()

OF_SCIPY = None, "scipy computes it"


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
    partials = (lambda t, x, y: t / (x * (1 - x)),)


class Gamma(Elementwise):
    calls = "scipy.special.gamma", math.gamma
    operands = ("x",)
    where = "positive"
    partials = (lambda t, x, y: t * y * special.digamma(x),)


class Gammaln(Elementwise):
    calls = "scipy.special.gammaln", math.lgamma
    operands = ("x",)
    where = "positive"
    partials = (lambda t, x, y: t * special.digamma(x),)


class Digamma(Elementwise):
    """The logarithmic derivative of the gamma function; scipy calls it psi as well."""

    calls = "scipy.special.digamma", "scipy.special.psi"
    operands = ("x",)
    loop = {"f": scalars_special.digamma}
    where = "positive"
    partials = (lambda t, x, y: t * special.polygamma(1, x),)


def _no_order(t, n, x, y):
    raise NotDifferentiable("the order of a special function has no derivative here",
                            why="It is known for whole orders only.", instead="Pass an int.")


class Polygamma(Elementwise):
    """The derivative of order `n` of the digamma function."""

    calls = ("scipy.special.polygamma",)
    operands = "n", "x"
    loop = {"f": scalars_special.polygamma}
    where = "order", "positive"
    partials = (_no_order,
                lambda t, n, x, y: t * special.polygamma(_above(n), x))


def _above(n):
    known = constant(n)
    return n + 1 if known is None else known + 1


def _below(n):
    known = constant(n)
    return n - 1 if known is None else known - 1


class Beta(Elementwise):
    calls = ("scipy.special.beta",)
    operands = "a", "b"
    loop = {"f": scalars_special.beta}
    where = "positive"
    partials = (lambda t, a, b, y: t * y * (special.digamma(a) - special.digamma(a + b)),
                lambda t, a, b, y: t * y * (special.digamma(b) - special.digamma(a + b)))


class Betaln(Elementwise):
    calls = ("scipy.special.betaln",)
    operands = "a", "b"
    loop = {"f": scalars_special.log_beta}
    where = "positive"
    partials = (lambda t, a, b, y: t * (special.digamma(a) - special.digamma(a + b)),
                lambda t, a, b, y: t * (special.digamma(b) - special.digamma(a + b)))


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


class I0(Elementwise):
    calls = ("scipy.special.i0",)
    operands = ("x",)
    loop = OF_SCIPY
    partials = (lambda t, x, y: t * special.i1(x),)


class I1(Elementwise):
    calls = ("scipy.special.i1",)
    operands = ("x",)
    loop = OF_SCIPY
    partials = (lambda t, x, y: t * (special.i0(x) + special.iv(2, x)) / 2,)


def _iv_partial(t, v, z, y):
    return t * (special.iv(_below(v), z) + special.iv(_above(v), z)) / 2


class Iv(Elementwise):
    """The modified Bessel function of the first kind, of order `v`."""

    calls = ("scipy.special.iv",)
    operands = "v", "z"
    loop = OF_SCIPY
    where = "order", "positive"
    partials = (_no_order, _iv_partial)


def _sinc_partial(t, x, y):
    """By a Bessel function, as `(cos(pi x) - sinc(x)) / x` loses all digits near 0."""
    return -t * PI * special.spherical_jn(1, PI * x)


class Sinc(Elementwise):
    """`sin(pi x) / (pi x)`."""

    calls = (np.sinc,)
    operands = ("x",)
    loop = {"f": scalars.sinc}
    partials = (_sinc_partial,)


def _spherical_jn_partial(t, n, z, y):
    n = constant(n)
    if n is None:
        raise NotSupported("the derivative of spherical_jn is known for a constant order only",
                           instead="Write the order as a number.")
    if n == 0:
        return -t * special.spherical_jn(1, z)
    below, above = special.spherical_jn(n - 1, z), special.spherical_jn(n + 1, z)
    return t * (n * below - (n + 1) * above) / (2 * n + 1)


class SphericalJn(Elementwise):
    """The spherical Bessel function of the first kind, of order `n`."""

    name = "spherical_jn"
    calls = ("scipy.special.spherical_jn",)
    operands = "n", "z"
    loop = OF_SCIPY
    where = "order", "real"
    partials = (_no_order, _spherical_jn_partial)


class Logsumexp(Reduction):
    calls = ("scipy.special.logsumexp",)
    domain = cases_of(normal_cases)
    jvp = (lambda t, a, y, axis=None, keepdims=False:
           np.sum(t * np.exp(a - kept(y, axis, keepdims)), axis=axis, keepdims=keepdims),)
    vjp = (lambda dy, a, y, axis=None, keepdims=False:
           kept(dy, axis, keepdims) * np.exp(a - kept(y, axis, keepdims)),)

    def front(args, kwargs, spelling):
        if len(args) > 2 and args[2] is not None or kwargs.get("b") is not None:
            raise NotSupported("logsumexp with weights `b`",
                               instead="Add np.log(b) to the argument, or write the sum with np.log, "
                                       "np.sum and np.exp.")
        return None

    def types(a: ArrayType, axis: Any = None, b: Any = None, keepdims: bool = False,
              return_sign: bool = False) -> ArrayType:
        if return_sign:
            raise NotSupported("logsumexp with signs has no rule here",
                               instead="Write the sum with np.log, np.sum and np.exp.")
        return folded(a, axis, keepdims, _dtype("logsumexp", a))

    def definition(a, axis=None, keepdims=False):
        top = np.max(a, axis=axis, keepdims=True)
        top = where(np.isfinite(top), top, 0)
        total = np.log(np.sum(np.exp(a - top), axis=axis, keepdims=True)) + top
        return total if keepdims else np.squeeze(total, gone(a.ndim, axis))

    def batch(lead, a, axis=None, keepdims=False):
        return Logsumexp.applied(a, axis=inner_axes(a, axis), keepdims=keepdims)


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
