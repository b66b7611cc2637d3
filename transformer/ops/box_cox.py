"""Exponentials and powers less what they are near 0 (`exprel`, `cosm1`, `powm1`); transformations of Box and Cox.

``boxcox(x, l) = (x**l - 1) / l = log(x) * exprel(l * log(x))``: written so, its derivatives in `l` exist at 0 as
well; those of `exprel` are confluent hypergeometric functions.
"""

from __future__ import annotations

import numpy as np

from .elementwise import LOG_10, named
from .of_scipy import declaring, special

declare = declaring(__name__)
DEGREE = named(np.pi / 180, "(np.pi / 180)")

Exprel = declare("exprel(x)", lambda t, x, y: t * special.hyp1f1(2.0, 3.0, x) / 2)
Cosm1 = declare("cosm1(x)", lambda t, x, y: -t * np.sin(x))
Powm1 = declare("powm1(x, y)", lambda t, x, p, y: t * p * x ** (p - 1),
                lambda t, x, p, y: t * (y + 1) * np.log(x), where="positive")
Exp10 = declare("exp10(x)", lambda t, x, y: t * y * LOG_10, where="unit")

Sindg = declare("sindg(x)", lambda t, x, y: t * DEGREE * special.cosdg(x))
Cosdg = declare("cosdg(x)", lambda t, x, y: -t * DEGREE * special.sindg(x))
Tandg = declare("tandg(x)", lambda t, x, y: t * DEGREE * (1 + y * y))


def _slope_in_exponent(t, log, exponent):
    return t * log * log * special.hyp1f1(2.0, 3.0, exponent * log) / 2


Boxcox = declare("boxcox(x, lmbda)", lambda t, x, p, y: t * x ** (p - 1),
                 lambda t, x, p, y: _slope_in_exponent(t, np.log(x), p), where=("positive", "real"))
Boxcox1p = declare("boxcox1p(x, lmbda)", lambda t, x, p, y: t * (1 + x) ** (p - 1),
                   lambda t, x, p, y: _slope_in_exponent(t, np.log1p(x), p), where=("positive", "real"))


def _slope_of_inverse(t, y, p):
    """Of ``log1p(p y) / p`` in `p`."""
    return -t * y * y * special.hyp2f1(2.0, 2.0, 3.0, -p * y) / 2


InvBoxcox = declare("inv_boxcox(y, lmbda)", lambda t, y, p, x: t * x ** (1 - p),
                    lambda t, y, p, x: _slope_of_inverse(t * x, y, p), where="probability")
InvBoxcox1p = declare("inv_boxcox1p(y, lmbda)", lambda t, y, p, x: t * (1 + x) ** (1 - p),
                      lambda t, y, p, x: _slope_of_inverse(t * (1 + x), y, p), where="probability")
