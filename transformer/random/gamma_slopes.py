"""How numbers of the gamma distribution change with its parameter, where the probability below them stays the same.

The derivatives of a series, and of a continued fraction where the number is large, term by term, as in JAX; the
expansions are those of M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions" (1964), 6.5.29 and 6.5.31.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MOST = 2000


def slope(a: Any, x: Any) -> Any:
    """`dx/da` for numbers x of the gamma distribution with parameter a."""
    far = (x > 1) & (x > a)
    near = by_series(a, np.where(far, a, x))
    return np.where(far, by_fraction(a, np.where(far, x, a + 2)), near)


def by_series(a: Any, x: Any) -> Any:
    """`1 + x / (a + 1) + x**2 / ((a + 1) (a + 2)) + …`, and its derivative with respect to a."""
    from scipy import special

    term, total = np.ones_like(a), np.ones_like(a)
    dterm, dtotal = np.zeros_like(a), np.zeros_like(a)
    r = a
    k = 0
    while k < MOST and (k == 0 or np.any(np.abs(dterm) > np.finfo(a.dtype).eps * np.abs(dtotal))):
        r = r + 1
        dterm = dterm * (x / r) - term * x / (r * r)
        dtotal = dtotal + dterm
        term = term * (x / r)
        total = total + term
        k += 1
    return -(dtotal + total * (np.log(x) - special.digamma(a + 1))) * x / a


def by_fraction(a: Any, x: Any) -> Any:
    """The continued fraction of the rest above x, and its derivative with respect to a."""
    from scipy import special

    y, z = 1 - a, x - a + 2
    p2, q2, p1, q1 = np.ones_like(a), x, x + 1, z * x
    dp2, dq2, dp1, dq1 = np.zeros_like(a), np.zeros_like(a), np.zeros_like(a), -x
    ratio = p1 / q1
    dratio = (dp1 - ratio * dq1) / q1
    change = np.ones_like(a)
    k = 0
    while k < MOST and np.any(change > np.finfo(a.dtype).eps):
        k += 1
        y, z = y + 1, z + 2
        p, q = p1 * z - p2 * y * k, q1 * z - q2 * y * k
        dp = dp1 * z - p1 - dp2 * y * k + p2 * k
        dq = dq1 * z - q1 - dq2 * y * k + q2 * k
        ratio = p / q
        following = (dp - ratio * dq) / q
        change = np.abs(following - dratio)
        dratio = following
        scale = 1 / np.maximum(np.abs(p), 1)
        p2, q2, p1, q1 = p1 * scale, q1 * scale, p * scale, q * scale
        dp2, dq2, dp1, dq1 = dp1 * scale, dq1 * scale, dp * scale, dq * scale
    return (dratio + ratio * (np.log(x) - special.digamma(a))) * x
