"""Polynomials as objects: `np.poly1d`, and `Polynomial` of `np.polynomial`, made in the program or before."""

from __future__ import annotations

from typing import Any

import numpy as np

from .floats import floats, own_floats
from .polynomials import leading, polyder, polyint, polyval
from .refusing import at_least, of_object, refused


class Poly1d:
    """By its coefficients, the highest power first."""

    def __init__(self, held, variable="x"):
        self.held, self.variable = held, variable

    @property
    def coeffs(self):
        return leading(self.held)

    c = coef = coefficients = coeffs

    @property
    def order(self):
        return len(leading(self.held)) - 1

    o = order

    @property
    def roots(self):
        return np.roots(self.held)

    r = roots

    def __call__(self, val):
        if isinstance(val, Poly1d):
            refused("np.poly1d evaluated at an np.poly1d is not supported",
                    "Compose the polynomials with np.polymul and np.polyadd.")
        return polyval(self.held, val)

    def deriv(self, m=1):
        return Poly1d(polyder(self.held, m) if at_least(len(self.held), m + 1) else np.zeros(1))

    def integ(self, m=1, k=0):
        return Poly1d(polyint(self.held, m, k))

    def __getitem__(self, power):
        return self.held[len(self.held) - 1 - power]

    def __neg__(self):
        return Poly1d(-self.held)

    def __mul__(self, other):
        if np.ndim(held_by(other)) == 0:
            return Poly1d(self.held * other)
        return Poly1d(np.polymul(self.held, held_by(other)))

    __rmul__ = __mul__

    def __truediv__(self, other):
        return Poly1d(self.held / other)

    def __add__(self, other):
        return Poly1d(np.polyadd(self.held, held_by(other)))

    __radd__ = __add__

    def __sub__(self, other):
        return Poly1d(np.polysub(self.held, held_by(other)))

    def __rsub__(self, other):
        return Poly1d(np.polysub(held_by(other), self.held))

    def __eq__(self, other):
        return refused("`==` of polynomials is not supported",
                       "Compare their coefficients: np.array_equal(p.coeffs, q.coeffs).")

    def __pow__(self, power):
        if power < 0 or int(power) != power:
            raise ValueError("Power to non-negative integers only.")
        found = Poly1d(np.array([1]))
        for _ in range(power):
            found = found * self
        return found


def held_by(other):
    """The coefficients of another polynomial, which may have been made before; what is none, as it is."""
    if isinstance(other, np.poly1d):
        return other.coeffs
    return other.held if isinstance(other, Poly1d) else other


def poly1d(c_or_r, r=False, variable=None):
    if isinstance(c_or_r, Poly1d):
        return c_or_r
    return Poly1d(np.poly(c_or_r) if r else np.atleast_1d(c_or_r))


class Polynomial:
    """By its coefficients, the lowest power first, of what `domain` is mapped to by a line: `window`."""

    def __init__(self, coef, ends, onto):
        self.coef, self.ends, self.onto = coef, ends, onto

    @property
    def domain(self):
        return floats(np.array((-1.0, 1.0) if self.ends is None else self.ends))

    @property
    def window(self):
        return floats(np.array((-1.0, 1.0) if self.ends is None else self.onto))

    def __eq__(self, other):
        return refused("`==` of polynomials is not supported",
                       "Compare their coefficients: np.array_equal(p.coef, q.coef).")

    def mapped(self):
        """What a place is multiplied by, and what is added to it."""
        if self.ends is None:
            return 1.0, 0.0
        (start, end), (first, last) = self.ends, self.onto
        return (last - first) / (end - start), (end * first - start * last) / (end - start)

    def __call__(self, arg):
        scale, offset = self.mapped()
        arg = np.asarray(arg)[()]
        if arg.dtype in (np.float16, np.float32):                 # which NumPy multiplies by a float64
            arg = arg.astype(float)
        return polyval(self.coef[::-1], arg if self.ends is None else offset + scale * arg)

    def deriv(self, m=1):
        scale, _ = self.mapped()
        return Polynomial(np.polynomial.polynomial.polyder(self.coef, m) * scale**m, self.ends, self.onto)

    def degree(self):
        return len(self.coef) - 1

    def convert(self, domain=None, kind=None, window=None):
        if domain is not None or kind is not None or window is not None:
            refused("convert of a Polynomial with arguments is not supported", "Omit the arguments.")
        if len(self.coef) > 1 and self.coef[-1] == 0:
            raise ValueError("convert of a Polynomial whose last coefficient is 0: NumPy drops it, so its result "
                             "is shorter")
        scale, offset = self.mapped()
        coef = np.zeros(len(self.coef))
        for k in range(len(self.coef) - 1, -1, -1):
            coef = offset * coef + scale * np.concatenate((np.zeros(1), coef[:-1]))
            coef[0] += self.coef[k]
        return Polynomial(coef, None, None)


def polynomial(coef, domain=None, window=None, symbol="x"):
    ends, coef = (-1.0, 1.0), own_floats(np.atleast_1d(coef))
    if coef.ndim != 1 or not at_least(len(coef), 1):
        raise ValueError("Coefficient array is not 1-d, or empty")
    if domain is None and window is None:
        return Polynomial(coef, None, None)
    return Polynomial(coef, ends if domain is None else domain, ends if window is None else window)


def polynomial_fit(x, y, deg, domain=None, rcond=None, full=False, w=None, window=None, symbol="x"):
    if full or window is not None or rcond is not None:
        refused("Polynomial.fit with full, rcond or window is not supported", "Omit them.")
    if isinstance(deg, (list, tuple)) or isinstance(domain, list) and domain == []:
        refused("Polynomial.fit with selected powers or an empty domain is not supported",
                "Solve for them with np.linalg.lstsq.")
    x = np.asarray(x)
    found = Polynomial(None, around(x) if domain is None else domain, (-1.0, 1.0))
    scale, offset = found.mapped()
    found.coef = np.polynomial.polynomial.polyfit(offset + scale * x, y, deg, w=w)
    return found


def around(x):
    """Where the least and the greatest of the places are; apart from each other, if they are one."""
    low, high = np.min(x), np.max(x)
    return (low - 1, high + 1) if low == high else (low, high)


def of_made(function: Any) -> Any:
    """What is read in place of a call of a polynomial that was made before, or of a method of it."""
    made = getattr(function, "__self__", function)
    kind = next((kind for kind in MADE if isinstance(made, kind)), None)
    method = "__call__" if made is function else function.__name__
    if kind is None or not hasattr(MADE[kind][0], method):
        return None
    owner, read = MADE[kind]

    def called(*args, **kwargs):
        return getattr(read(made), method)(*args, **kwargs)

    return called


def of_poly1d(made):
    return Poly1d(of_object(made, "coeffs", "coefficients"))


def of_polynomial(made):
    coef, domain = of_object(made, "coef", "coefficients"), of_object(made, "domain", "domain")
    return Polynomial(coef, domain, of_object(made, "window", "window"))


MADE: dict[type, Any] = {
    np.poly1d: (Poly1d, of_poly1d),
    np.polynomial.Polynomial: (Polynomial, of_polynomial),
}
CALLS: dict[Any, Any] = {
    np.poly1d: poly1d,
    np.polynomial.Polynomial: polynomial,
    np.polynomial.Polynomial.fit: polynomial_fit,
}
