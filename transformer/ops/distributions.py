"""Distribution functions with scipy's names (`chdtr`, `stdtr`, `fdtr`, `pdtr`, …), and inverses of some.

The derivative in the variable is the density; that of a discrete distribution in its probability, or its mean,
is known as well. Parameters such as degrees of freedom have none.
"""

from __future__ import annotations

import numpy as np

from .elementwise import PI, ROOT_2_PI
from .gamma_family import beta_density, gamma_density
from .of_scipy import declaring, no_parameter, special

declare = declaring(__name__)


def _student_density(df, x):
    scale = special.gammaln((df + 1) / 2) - special.gammaln(df / 2)
    return np.exp(scale - (df + 1) / 2 * np.log1p(x * x / df)) / np.sqrt(df * PI)


Stdtr = declare("stdtr(df, t)", no_parameter("df", "stdtr"),
                lambda t, df, x, y: t * _student_density(df, x), where=("degree", "real"))
Stdtrit = declare("stdtrit(df, p)", no_parameter("df", "stdtrit"),
                  lambda t, df, p, x: t / _student_density(df, x), where=("degree", "probability"))


def _chi_square_density(v, x):
    return gamma_density(v / 2, x / 2) / 2


Chdtr = declare("chdtr(v, x)", no_parameter("v", "chdtr"),
                lambda t, v, x, y: t * _chi_square_density(v, x), where=("degree", "positive"))
Chdtrc = declare("chdtrc(v, x)", no_parameter("v", "chdtrc"),
                 lambda t, v, x, y: -t * _chi_square_density(v, x), where=("degree", "positive"))
Chdtri = declare("chdtri(v, p)", no_parameter("v", "chdtri"),
                 lambda t, v, p, x: -t / _chi_square_density(v, x), where=("degree", "probability"))


def _f_density(n, d, x):
    whole = d + n * x
    return beta_density(n / 2, d / 2, n * x / whole) * n * d / (whole * whole)


F = "degree", "degree", "positive"
Fdtr = declare("fdtr(dfn, dfd, x)", no_parameter("dfn", "fdtr"), no_parameter("dfd", "fdtr"),
               lambda t, n, d, x, y: t * _f_density(n, d, x), where=F)
Fdtrc = declare("fdtrc(dfn, dfd, x)", no_parameter("dfn", "fdtrc"), no_parameter("dfd", "fdtrc"),
                lambda t, n, d, x, y: -t * _f_density(n, d, x), where=F)
Fdtri = declare("fdtri(dfn, dfd, p)", no_parameter("dfn", "fdtri"), no_parameter("dfd", "fdtri"),
                lambda t, n, d, p, x: t / _f_density(n, d, x), where=("degree", "degree", "probability"))

G = "positive", "degree", "positive"
Gdtr = declare("gdtr(a, b, x)", lambda t, a, b, x, y: t * x * gamma_density(b, a * x), no_parameter("b", "gdtr"),
               lambda t, a, b, x, y: t * a * gamma_density(b, a * x), where=G)
Gdtrc = declare("gdtrc(a, b, x)", lambda t, a, b, x, y: -t * x * gamma_density(b, a * x), no_parameter("b", "gdtrc"),
                lambda t, a, b, x, y: -t * a * gamma_density(b, a * x), where=G)


# -- discrete ones --------------------------------------------------------------------------------


def _poisson(k, m):
    """The probability of `k` events; `k` counts as the whole number below it."""
    return gamma_density(np.floor(k) + 1.0, m)


Pdtr = declare("pdtr(k, m)", no_parameter("k", "pdtr"),
               lambda t, k, m, y: -t * _poisson(k, m), where=("degree", "positive"))
Pdtrc = declare("pdtrc(k, m)", no_parameter("k", "pdtrc"),
                lambda t, k, m, y: t * _poisson(k, m), where=("degree", "positive"))


def _binomial_slope(k, n, p):
    return beta_density(np.floor(k) + 1.0, n - np.floor(k), p)


B = "order", "degree", "probability"
Bdtr = declare("bdtr(k, n, p)", no_parameter("k", "bdtr"), no_parameter("n", "bdtr"),
               lambda t, k, n, p, y: -t * _binomial_slope(k, n, p), where=B)
Bdtrc = declare("bdtrc(k, n, p)", no_parameter("k", "bdtrc"), no_parameter("n", "bdtrc"),
                lambda t, k, n, p, y: t * _binomial_slope(k, n, p), where=B)
Nbdtr = declare("nbdtr(k, n, p)", no_parameter("k", "nbdtr"), no_parameter("n", "nbdtr"),
                lambda t, k, n, p, y: t * beta_density(n, np.floor(k) + 1.0, p), where=B)

NdtriExp = declare("ndtri_exp(y)", lambda t, p, x: t * ROOT_2_PI * np.exp(p + x * x / 2), where="low")
