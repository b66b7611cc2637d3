"""The gamma and beta functions, their logarithms, quotients and incomplete forms; the zeta function.

The incomplete functions have derivatives in their last argument: the density of the distribution of which
they are the distribution function. In their parameters scipy has none.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.errors import NotSupported
from . import scalars_special
from .elementwise import Elementwise
from .of_scipy import OF_SCIPY, above, declaring, no_order, no_parameter, special

declare = declaring(__name__)
GAMMA, BETA = ("degree", "positive"), ("degree", "order", "probability")


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


class Polygamma(Elementwise):
    """The derivative of order `n` of the digamma function."""

    calls = ("scipy.special.polygamma",)
    operands = "n", "x"
    loop = {"f": scalars_special.polygamma}
    where = "order", "positive"
    partials = (no_order,
                lambda t, n, x, y: t * special.polygamma(above(n), x))


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


Loggamma = declare("loggamma(z)", lambda t, z, y: t * special.digamma(z), where="positive")
Rgamma = declare("rgamma(z)", lambda t, z, y: -t * y * special.digamma(z), where="positive")


class Gammasgn(Elementwise):
    calls = ("scipy.special.gammasgn",)
    operands = ("x",)
    loop = OF_SCIPY
    derivative = None, "its result is piecewise constant"


Poch = declare("poch(z, m)", lambda t, z, m, y: t * y * (special.digamma(z + m) - special.digamma(z)),
               lambda t, z, m, y: t * y * special.digamma(z + m), where="positive")


def _binom_k(t, n, k, y):
    return t * y * (special.digamma(n - k + 1) - special.digamma(k + 1))


Binom = declare("binom(n, k)", lambda t, n, k, y: t * y * (special.digamma(n + 1) - special.digamma(n - k + 1)),
                _binom_k, where=("above three", "positive"))


# -- incomplete -----------------------------------------------------------------------------------


def gamma_density(a, x):
    """The density of the gamma distribution of shape `a` at `x`."""
    return np.exp(special.xlogy(a - 1, x) - x - special.gammaln(a))


def beta_density(a, b, x):
    return np.exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b))


Gammainc = declare("gammainc(a, x)", no_parameter("a", "gammainc"),
                   lambda t, a, x, y: t * gamma_density(a, x), where=GAMMA)
Gammaincc = declare("gammaincc(a, x)", no_parameter("a", "gammaincc"),
                    lambda t, a, x, y: -t * gamma_density(a, x), where=GAMMA)
Gammaincinv = declare("gammaincinv(a, y)", no_parameter("a", "gammaincinv"),
                      lambda t, a, p, x: t / gamma_density(a, x), where=("degree", "probability"))
Gammainccinv = declare("gammainccinv(a, y)", no_parameter("a", "gammainccinv"),
                       lambda t, a, p, x: -t / gamma_density(a, x), where=("degree", "probability"))

Betainc = declare("betainc(a, b, x)", no_parameter("a", "betainc"), no_parameter("b", "betainc"),
                  lambda t, a, b, x, y: t * beta_density(a, b, x), where=BETA)
Betaincc = declare("betaincc(a, b, x)", no_parameter("a", "betaincc"), no_parameter("b", "betaincc"),
                   lambda t, a, b, x, y: -t * beta_density(a, b, x), where=BETA)
Betaincinv = declare("betaincinv(a, b, y)", no_parameter("a", "betaincinv"), no_parameter("b", "betaincinv"),
                     lambda t, a, b, p, x: t / beta_density(a, b, x), where=BETA)
Betainccinv = declare("betainccinv(a, b, y)", no_parameter("a", "betainccinv"), no_parameter("b", "betainccinv"),
                      lambda t, a, b, p, x: -t / beta_density(a, b, x), where=BETA)


class Zeta(Elementwise):
    """Hurwitz's zeta function; with one argument Riemann's, for which `q` is 1."""

    calls = ("scipy.special.zeta",)
    operands = "x", "q"
    loop = OF_SCIPY
    where = "degree", "positive"
    partials = (no_parameter("x", "zeta"),
                lambda t, x, q, y: -t * x * special.zeta(x + 1, q))

    @classmethod
    def bind(cls, args: Any, kwargs: Any) -> Any:
        if "out" in kwargs or len(args) > 2:
            raise NotSupported("scipy.special.zeta with out is not supported",
                               instead="Assign the result: y[:] = zeta(x, q).")
        given = {**dict(zip(cls.operands, args)), **kwargs}
        q = given.get("q")
        return (given["x"], 1 if q is None else q), {}
