"""Orthogonal polynomials of a degree `n`, as scipy's `eval_…`: their derivatives are polynomials of degree `n - 1`
of the same kind, or of a wider one (Abramowitz and Stegun, 22.8, and 22.5 for relations between them).
"""

from __future__ import annotations

import numpy as np

from .elementwise import constant, where
from .of_scipy import above, declaring, no_order, no_parameter, special

declare = declaring(__name__)
OF_DEGREE = "degree", "unit"


def lowered(rule):
    """The partial of a polynomial in `x`, which is 0 for degree 0: ``rule(n, n - 1, *parameters, x)``."""
    def partial(t, n, *parameters_and_x_and_y):
        arguments = parameters_and_x_and_y[:-1]
        known = constant(n)
        if known == 0:
            return 0 * t
        if known is not None:
            return t * rule(known, known - 1, *arguments)
        return t * where(n == 0, 0, rule(n, np.maximum(n - 1, 0), *arguments))
    return partial


def _jacobi(n, m, alpha, beta, x):
    return (n + alpha + beta + 1) / 2 * special.eval_jacobi(m, above(alpha), above(beta), x)


def _gegenbauer(n, m, alpha, x):
    return 2 * alpha * special.eval_gegenbauer(m, above(alpha), x)


def _of_interval(rule):
    """For polynomials on [0, 1] that are others on [-1, 1]."""
    return lowered(lambda n, m, x: 2 * rule(n, m, 2 * x - 1))


def _legendre(n, m, x):
    return _jacobi(n, m, 0, 0, x)


def _chebyt(n, m, x):
    return n * special.eval_chebyu(m, x)


def _chebyu(n, m, x):
    return _gegenbauer(n, m, 1, x)


EvalJacobi = declare("eval_jacobi(n, alpha, beta, x)", no_order, no_parameter("alpha", "eval_jacobi"),
                     no_parameter("beta", "eval_jacobi"), lowered(_jacobi),
                     where=("degree", "order", "order", "unit"))
EvalGegenbauer = declare("eval_gegenbauer(n, alpha, x)", no_order, no_parameter("alpha", "eval_gegenbauer"),
                         lowered(_gegenbauer), where=("degree", "order", "unit"))
EvalLegendre = declare("eval_legendre(n, x)", no_order, lowered(_legendre), where=OF_DEGREE)
EvalShLegendre = declare("eval_sh_legendre(n, x)", no_order, _of_interval(_legendre), where=OF_DEGREE)
EvalChebyt = declare("eval_chebyt(n, x)", no_order, lowered(_chebyt), where=OF_DEGREE)
EvalChebyu = declare("eval_chebyu(n, x)", no_order, lowered(_chebyu), where=OF_DEGREE)
EvalShChebyt = declare("eval_sh_chebyt(n, x)", no_order, _of_interval(_chebyt), where=OF_DEGREE)
EvalShChebyu = declare("eval_sh_chebyu(n, x)", no_order, _of_interval(_chebyu), where=OF_DEGREE)
EvalHermite = declare("eval_hermite(n, x)", no_order,
                      lowered(lambda n, m, x: 2 * n * special.eval_hermite(m, x)), where=OF_DEGREE)
EvalHermitenorm = declare("eval_hermitenorm(n, x)", no_order,
                          lowered(lambda n, m, x: n * special.eval_hermitenorm(m, x)), where=OF_DEGREE)
EvalLaguerre = declare("eval_laguerre(n, x)", no_order,
                       lowered(lambda n, m, x: -special.eval_genlaguerre(m, 1, x)), where=OF_DEGREE)
EvalGenlaguerre = declare("eval_genlaguerre(n, alpha, x)", no_order, no_parameter("alpha", "eval_genlaguerre"),
                          lowered(lambda n, m, alpha, x: -special.eval_genlaguerre(m, above(alpha), x)),
                          where=("degree", "order", "unit"))
