"""Loop forms of special functions: see `scalars`. They compute in double precision, as scipy does.

Expansions are those of M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions" (1964),
and of S. L. Moshier's Cephes library, whose coefficients are used for the inverse of the normal
distribution function and for the Bessel functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from .loops import joined

Function = TypeVar("Function", bound=Callable[..., float])


def in_double(function: Function) -> Function:
    """Marks a function that takes and gives double precision, whatever the precision of its operands."""
    function.is_double = True                                            # type: ignore[attr-defined]
    return function


@joined
@in_double
def normal_distribution(x):
    """The distribution function of the standard normal distribution."""
    return 0.5 * math.erfc(-x * 0.7071067811865476)


@in_double
def log_normal_distribution(x):
    """By an asymptotic series where the distribution function is small."""
    if x > 0.0:
        return math.log1p(-0.5 * math.erfc(x * 0.7071067811865476))
    if x > -14.0:
        return math.log(0.5 * math.erfc(-x * 0.7071067811865476))
    total = 1.0
    term = 1.0
    for k in range(1, 12):
        term *= -(2.0 * k - 1.0) / (x * x)
        total += term
    return -0.5 * x * x - math.log(-x) - 0.9189385332046728 + math.log(total)


@in_double
def digamma(x):
    """By reflection below 0, recurrence up to 10, and Stirling's series. nan at the poles."""
    if x == 0.0:
        return -math.copysign(math.inf, x)
    if x == -math.inf or x < 0.0 and x == np.floor(x):
        return math.nan
    reflected = 0.0
    if x < 0.0:
        reflected = -math.pi / math.tan(math.pi * (x - np.floor(x)))
        x = 1.0 - x
    shift = 0.0
    while x < 10.0:
        shift -= 1.0 / x
        x += 1.0
    z = 1.0 / (x * x)
    series = z * (1.0 / 12.0 - z * (1.0 / 120.0 - z * (1.0 / 252.0 - z * (1.0 / 240.0 - z * (
        1.0 / 132.0 - z * (691.0 / 32760.0 - z / 12.0))))))
    return math.log(x) - 0.5 / x - series + shift + reflected


@in_double
def zeta(s, x):
    """Hurwitz's zeta function for `s > 1` and `x > 0`, by the formula of Euler and Maclaurin."""
    total = 0.0
    for k in range(12):
        total += (x + k) ** -s
    y = x + 12.0
    total += y ** (1.0 - s) / (s - 1.0) + 0.5 * y ** -s
    factor = s * y ** (-s - 1.0)
    square = y * y
    total += factor / 12.0
    factor *= (s + 1.0) * (s + 2.0) / square
    total -= factor / 720.0
    factor *= (s + 3.0) * (s + 4.0) / square
    total += factor / 30240.0
    factor *= (s + 5.0) * (s + 6.0) / square
    total -= factor / 1209600.0
    factor *= (s + 7.0) * (s + 8.0) / square
    total += factor / 47900160.0
    factor *= (s + 9.0) * (s + 10.0) / square
    return total - factor * 691.0 / 1307674368000.0


@in_double
def polygamma(n, x):
    """For `x > 0`; `n` is a whole number."""
    if n == 0.0:
        return digamma(x)
    if not x > 0.0:
        return math.inf if x == 0.0 else math.nan
    sign = 1.0 if n % 2.0 == 1.0 else -1.0
    return sign * math.gamma(n + 1.0) * zeta(n + 1.0, x)


@in_double
def sign_of_gamma(x):
    return -1.0 if x < 0.0 and np.floor(x) % 2.0 == 1.0 else 1.0


@in_double
def is_pole_of_gamma(x):
    return x <= 0.0 and x == np.floor(x)


@in_double
def log_beta(a, b):
    """Of the absolute value; without cancellation where one number is much larger than the other."""
    if is_pole_of_gamma(a) or is_pole_of_gamma(b):
        whole, other = (a, b) if is_pole_of_gamma(a) else (b, a)
        if other != np.floor(other) or not 1.0 - whole - other > 0.0:
            return math.inf
        return log_beta_of_positive(1.0 - whole - other, other) if other > 0.0 else math.inf
    if a > 0.0 and b > 0.0:
        return log_beta_of_positive(a, b)
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


@in_double
def log_beta_of_positive(a, b):
    small = min(a, b)
    large = max(a, b)
    if large == math.inf:
        return -math.inf
    if large < 1e5:
        return math.lgamma(small) + (math.lgamma(large) - math.lgamma(small + large))
    total = small + large
    series = (1.0 / large - 1.0 / total) / 12.0
    difference = (large - 0.5) * math.log1p(-small / total) - small * math.log(total) + small + series
    return math.lgamma(small) + difference


@in_double
def beta(a, b):
    """Where the gamma function of one number has a pole, finite only for another whole number."""
    if is_pole_of_gamma(a) or is_pole_of_gamma(b):
        other = b if is_pole_of_gamma(a) else a
        size = math.exp(log_beta(a, b))
        return size if size == math.inf or other % 2.0 == 0.0 else -size
    if max(abs(a), abs(b), abs(a + b)) < 170.0 and a + b != 0.0:
        large, small = (a, b) if abs(a) > abs(b) else (b, a)
        return 0.0 if is_pole_of_gamma(a + b) else math.gamma(large) / math.gamma(a + b) * math.gamma(small)
    if is_pole_of_gamma(a + b):
        return 0.0
    return sign_of_gamma(a) * sign_of_gamma(b) * sign_of_gamma(a + b) * math.exp(log_beta(a, b))


@in_double
def normal_quantile(p):
    """The inverse of the normal distribution function; Cephes `ndtri`."""
    if p == 0.0:
        return -math.inf
    if p == 1.0:
        return math.inf
    if not 0.0 < p < 1.0:
        return math.nan
    upper = p > 1.0 - 0.1353352832366127
    y = 1.0 - p if upper else p
    if y > 0.1353352832366127:
        y -= 0.5
        z = y * y
        top = (((-59.96335010141079 * z + 98.00107541859997) * z - 56.67628574690703) * z
               + 13.931260938727968) * z - 1.2391658386738125
        bottom = (((((((z + 1.9544885833814176) * z + 4.676279128988815) * z + 86.36024213908905) * z
                     - 225.46268785411937) * z + 200.26021238006066) * z - 82.03722561683334) * z
                  + 15.90562251262117) * z - 1.1833162112133
        return (y + y * (z * top / bottom)) * 2.5066282746310007
    x = math.sqrt(-2.0 * math.log(y))
    z = 1.0 / x
    if x < 8.0:
        top = (((((((4.0554489230596245 * z + 31.525109459989388) * z + 57.16281922464213) * z
                  + 44.08050738932008) * z + 14.684956192885803) * z + 2.1866330685079025) * z
               - 0.1402560791713545) * z - 0.03504246268278482) * z - 0.0008574567851546854
        bottom = (((((((z + 15.779988325646675) * z + 45.39076351288792) * z + 41.3172038254672) * z
                     + 15.04253856929075) * z + 2.504649462083094) * z - 0.14218292285478779) * z
                  - 0.03808064076915783) * z - 0.0009332594808954574
    else:
        top = (((((((3.2377489177694603 * z + 6.915228890689842) * z + 3.9388102529247444) * z
                  + 1.3330346081580755) * z + 0.20148538954917908) * z + 0.012371663481782003) * z
               + 0.00030158155350823543) * z + 2.6580697468673755e-06) * z + 6.239745391849833e-09
        bottom = (((((((z + 6.02427039364742) * z + 3.6798356385616087) * z + 1.3770209948908132) * z
                     + 0.21623699359449663) * z + 0.013420400608854318) * z
                   + 0.00032801446468212774) * z + 2.8924786474538068e-06) * z + 6.790194080099813e-09
    distance = x - math.log(x) / x - z * top / bottom
    return distance if upper else -distance


@in_double
def error_inverse(x):
    """The inverse of the error function: a step of Newton's method on top of the quantile."""
    if not abs(x) < 1.0:
        return math.copysign(math.inf, x) if abs(x) == 1.0 else math.nan
    if x == 0.0:
        return x
    if abs(x) > 0.5:
        y = -normal_quantile(0.5 * (1.0 - abs(x))) * 0.7071067811865476
        miss = math.erfc(y) - (1.0 - abs(x))
        return math.copysign(y + miss * 0.886226925452758 * math.exp(y * y), x)
    y = normal_quantile(0.5 * (1.0 + x)) * 0.7071067811865476
    for _ in range(2):
        y -= (math.erf(y) - x) * 0.886226925452758 * math.exp(y * y)
    return y
