"""Hypergeometric functions, and elliptic integrals, whose derivatives are hypergeometric functions.

``d/dz F(a, b; c; z) = ab/c F(a+1, b+1; c+1; z)``: derivatives of any order, and at 0 as well, where the usual
formulas for elliptic integrals divide 0 by 0 (Abramowitz and Stegun, 15.2.1, 13.4.8, 17.3.9).
"""

from __future__ import annotations

import numpy as np

from .elementwise import named
from .of_scipy import declaring, declaring_several, no_parameter, special

declare = declaring(__name__)
declare_several = declaring_several(__name__)
EIGHTH_PI = named(np.pi / 8, "(np.pi / 8)")


def _none(function, names):
    return [no_parameter(name, function) for name in names]


Hyp0f1 = declare("hyp0f1(v, z)", *_none("hyp0f1", "v"),
                 lambda t, v, z, y: t * special.hyp0f1(v + 1, z) / v, where=("degree", "positive"))
Hyp1f1 = declare("hyp1f1(a, b, x)", *_none("hyp1f1", "ab"),
                 lambda t, a, b, x, y: t * a / b * special.hyp1f1(a + 1, b + 1, x), where=("order", "degree", "real"))
Hyperu = declare("hyperu(a, b, x)", *_none("hyperu", "ab"),
                 lambda t, a, b, x, y: -t * a * special.hyperu(a + 1, b + 1, x),
                 where=("order", "degree", "positive"))


def _hyp2f1_partial(t, a, b, c, z, y):
    return t * a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z)


Hyp2f1 = declare("hyp2f1(a, b, c, z)", *_none("hyp2f1", "abc"), _hyp2f1_partial,
                 where=("order", "order", "degree", "unit"))


# -- elliptic integrals ---------------------------------------------------------------------------


def _slope_of_k(m, rest):
    """Of K, which has a pole at 1; `rest` is 1 - m."""
    return EIGHTH_PI * special.hyp2f1(0.5, 0.5, 2.0, m) / rest


Ellipk = declare("ellipk(m)", lambda t, m, y: t * _slope_of_k(m, 1 - m), where="unit")
Ellipkm1 = declare("ellipkm1(p)", lambda t, p, y: -t * _slope_of_k(1 - p, p), where="probability")
Ellipe = declare("ellipe(m)", lambda t, m, y: -t * EIGHTH_PI * special.hyp2f1(0.5, 1.5, 2.0, m), where="unit")


def _delta(phi, m):
    return np.sqrt(1 - m * np.sin(phi) ** 2)


def _ellipkinc_m(t, phi, m, y):
    inner = (special.ellipeinc(phi, m) / (1 - m) - y) / m
    return t * (inner - np.sin(2 * phi) / (2 * (1 - m) * _delta(phi, m))) / 2


Ellipkinc = declare("ellipkinc(phi, m)", lambda t, phi, m, y: t / _delta(phi, m), _ellipkinc_m,
                    where=("real", "probability"))
Ellipeinc = declare("ellipeinc(phi, m)", lambda t, phi, m, y: t * _delta(phi, m),
                    lambda t, phi, m, y: t * (y - special.ellipkinc(phi, m)) / (2 * m), where=("real", "probability"))


def _ellipj_slopes(u, m, y):
    sn, cn, dn, _ = y
    return cn * dn, -sn * dn, -m * sn * cn, dn


Ellipj = declare_several("ellipj(u, m)", _ellipj_slopes, no_parameter("m", "ellipj"), where=("real", "order"))
