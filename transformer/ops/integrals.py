"""Integrals of elementary functions: exponential, sine and cosine integrals, those of errors, Fresnel and Dawson;
and Lambert's function, the inverse of `w exp(w)`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.types import ArrayType
from .base import callable_of
from .elementwise import PI, ROOT_2_PI, ROOT_PI, Elementwise, elementwise_type, where
from .of_scipy import OF_SCIPY, declaring, declaring_several, no_order, special
from .value import named

declare = declaring(__name__)
declare_several = declaring_several(__name__)


def _expn_partial(t, n, x, y):
    """``E_n' = -E_{n-1}``, and `E_0` is elementary."""
    return -t * where(n == 0, y * (1 + 1 / x), special.expn(np.maximum(n - 1, 0), x))


Expn = declare("expn(n, x)", no_order, _expn_partial, where=("order", "positive"))
Exp1 = declare("exp1(z)", lambda t, z, y: -t * np.exp(-z) / z, where="positive")
Expi = declare("expi(x)", lambda t, x, y: t * np.exp(x) / x, where="positive")

Dawsn = declare("dawsn(x)", lambda t, x, y: t * (1 - 2 * x * y))
Erfcx = declare("erfcx(x)", lambda t, x, y: t * 2 * (x * y - 1 / ROOT_PI))
Erfi = declare("erfi(z)", lambda t, z, y: t * 2 * np.exp(z * z) / ROOT_PI, where="unit")
Erfcinv = declare("erfcinv(y)", lambda t, p, x: -t * ROOT_PI * np.exp(x * x) / 2, where="probability")
Wofz = declare("wofz(z)", lambda t, z, y: t * 2 * (1j / ROOT_PI - z * y))

Sici = declare_several("sici(x)", lambda x, y: (special.spherical_jn(0, x), np.cos(x) / x), where="positive")
Shichi = declare_several("shichi(x)", lambda x, y: (special.spherical_in(0, x), np.cosh(x) / x), where="positive")
Fresnel = declare_several("fresnel(z)", lambda z, y: (np.sin(PI * z * z / 2), np.cos(PI * z * z / 2)), where="unit")


ROOT_2 = named(2 ** 0.5, "math.sqrt(2)")


def _owens_t_h(t, h, a, y):
    return -t * np.exp(-h * h / 2) * special.erf(a * h / ROOT_2) / (2 * ROOT_2_PI)


def _owens_t_a(t, h, a, y):
    return t * np.exp(-h * h * (1 + a * a) / 2) / (2 * PI * (1 + a * a))


OwensT = declare("owens_t(h, a)", _owens_t_h, _owens_t_a)


class Lambertw(Elementwise):
    """Branch `k` of the inverse of ``w exp(w)``; complex, also where its imaginary part is 0."""

    calls = ("scipy.special.lambertw",)
    loop = OF_SCIPY
    where = "positive"
    partials = (lambda t, z, w: t / (z + np.exp(w)),)

    def types(z: ArrayType, k: Any = 0, tol: Any = 1e-8) -> ArrayType:
        return elementwise_type(callable_of("scipy.special.lambertw"), (z,))
