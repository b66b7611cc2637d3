"""Bessel functions and their kin: those of spheres, of Hankel, Struve and Airy, with scipy's names.

Derivatives are the recurrences of M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions"
(1964), chapters 9, 10 and 12, which lead to the same functions of the orders beside, so that they have
derivatives of any order. Where a function is finite at 0, none of them divides by the argument.
"""

from __future__ import annotations

import numpy as np

from .elementwise import ROOT_PI, constant
from .of_scipy import (
    above,
    below,
    declaring,
    declaring_several,
    no_order,
    only_of_real,
    special,
)

declare = declaring(__name__)
declare_several = declaring_several(__name__)
OF_ORDER = "order", "positive"


def differing(name):
    """``f_v' = (f_{v-1} - f_{v+1}) / 2``"""
    f = getattr(special, name)
    return lambda t, v, z, y: t * (f(below(v), z) - f(above(v), z)) / 2


def adding(name):
    """``f_v' = (f_{v-1} + f_{v+1}) / 2``"""
    f = getattr(special, name)
    return lambda t, v, z, y: t * (f(below(v), z) + f(above(v), z)) / 2


J0 = declare("j0(x)", lambda t, x, y: -t * special.j1(x))
J1 = declare("j1(x)", lambda t, x, y: t * (special.j0(x) - special.jv(2, x)) / 2)
Jv = declare("jv(v, z)", no_order, differing("jv"), where=OF_ORDER)
Jve = declare("jve(v, z)", no_order, only_of_real("jve", differing("jve")), where=OF_ORDER)

Y0 = declare("y0(x)", lambda t, x, y: -t * special.y1(x), where="positive")
Y1 = declare("y1(x)", lambda t, x, y: t * (special.y0(x) - special.yv(2, x)) / 2, where="positive")
Yv = declare("yv(v, z)", no_order, differing("yv"), where=OF_ORDER)
Yn = declare("yn(n, x)", no_order, differing("yn"), where=OF_ORDER)
Yve = declare("yve(v, z)", no_order, only_of_real("yve", differing("yve")), where=OF_ORDER)

Hankel1 = declare("hankel1(v, z)", no_order, differing("hankel1"), where=OF_ORDER)
Hankel2 = declare("hankel2(v, z)", no_order, differing("hankel2"), where=OF_ORDER)


def _i1e_partial(t, x, y):
    return t * ((special.i0e(x) + special.ive(2, x)) / 2 - np.sign(x) * y)


def _ive_partial(t, v, z, y):
    return t * ((special.ive(below(v), z) + special.ive(above(v), z)) / 2 - np.sign(z) * y)


I0 = declare("i0(x)", lambda t, x, y: t * special.i1(x))
I0e = declare("i0e(x)", lambda t, x, y: t * (special.i1e(x) - np.sign(x) * y))
I1 = declare("i1(x)", lambda t, x, y: t * (special.i0(x) + special.iv(2, x)) / 2)
I1e = declare("i1e(x)", _i1e_partial)
Iv = declare("iv(v, z)", no_order, adding("iv"), where=OF_ORDER)
Ive = declare("ive(v, z)", no_order, only_of_real("ive", _ive_partial), where=OF_ORDER)


def _kv_partial(t, v, z, y):
    return -t * (special.kv(below(v), z) + special.kv(above(v), z)) / 2


def _kn_partial(t, n, x, y):
    return -t * (special.kn(np.abs(below(n)), x) + special.kn(above(n), x)) / 2


def _kve_partial(t, v, z, y):
    return t * (y - (special.kve(below(v), z) + special.kve(above(v), z)) / 2)


K0 = declare("k0(x)", lambda t, x, y: -t * special.k1(x), where="positive")
K0e = declare("k0e(x)", lambda t, x, y: t * (y - special.k1e(x)), where="positive")
K1 = declare("k1(x)", lambda t, x, y: -t * (special.k0(x) + y / x), where="positive")
K1e = declare("k1e(x)", lambda t, x, y: t * (y - special.k0e(x) - y / x), where="positive")
Kv = declare("kv(v, z)", no_order, _kv_partial, where=OF_ORDER)
Kn = declare("kn(n, x)", no_order, _kn_partial, where=OF_ORDER)
Kve = declare("kve(v, z)", no_order, _kve_partial, where=OF_ORDER)


# -- of spheres -----------------------------------------------------------------------------------


def _spherical_partial(name, a, b):
    """``f_n' = (a n f_{n-1} + b (n + 1) f_{n+1}) / (2n + 1)``"""
    f = getattr(special, name)

    def partial(t, n, z, y):
        known = constant(n)
        if known == 0:
            return b * t * f(1, z)
        n, before = (n, np.maximum(n - 1, 0)) if known is None else (known, known - 1)
        return t * (a * n * f(before, z) + b * (n + 1) * f(above(n), z)) / (2 * n + 1)

    return partial


SphericalJn = declare("spherical_jn(n, z)", no_order, _spherical_partial("spherical_jn", 1, -1),
                      where=("order", "real"))
SphericalYn = declare("spherical_yn(n, z)", no_order, _spherical_partial("spherical_yn", 1, -1), where=OF_ORDER)
SphericalIn = declare("spherical_in(n, z)", no_order, _spherical_partial("spherical_in", 1, 1), where=OF_ORDER)
SphericalKn = declare("spherical_kn(n, z)", no_order, _spherical_partial("spherical_kn", -1, -1), where=OF_ORDER)


# -- Struve, Airy ---------------------------------------------------------------------------------


def _inhomogeneous(v, x):
    return (x / 2) ** v / (ROOT_PI * special.gamma(v + 1.5))


def _struve_partial(t, v, x, y):
    return t * (special.struve(below(v), x) - special.struve(above(v), x) + _inhomogeneous(v, x)) / 2


def _modstruve_partial(t, v, x, y):
    return t * (special.modstruve(below(v), x) + special.modstruve(above(v), x) + _inhomogeneous(v, x)) / 2


Struve = declare("struve(v, x)", no_order, _struve_partial, where=OF_ORDER)
Modstruve = declare("modstruve(v, x)", no_order, _modstruve_partial, where=OF_ORDER)
Airy = declare_several("airy(z)", lambda z, y: (y[1], z * y[0], y[3], z * y[2]))
