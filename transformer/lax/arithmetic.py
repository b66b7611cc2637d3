"""Arithmetic, comparisons, bits and special functions of elements: operands of one dtype and one shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from ..taking import taking_arrays
from .strict import INEXACT, REAL, WHOLE, Strict


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Elements of `on_true` where `pred` holds, else of `on_false`, which have one dtype and shape; `pred` has that
    shape, too, or no axes.

    >>> select(np.array([True, False]), np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([1., 4.])
    """
    if np.asarray(pred).dtype.kind != "b":
        raise TypeError(f"lax.select expects a boolean predicate, got {np.asarray(pred).dtype}; lax.select_n accepts "
                        "integers")
    if np.ndim(pred) and np.shape(pred) != np.shape(on_false):
        raise TypeError(f"lax.select requires arguments of equal shape, got {np.shape(pred)} and {np.shape(on_false)}")
    return np.where(pred, _case(on_true, on_false), on_false)


def select_n(which: Any, *cases: Any) -> Any:
    """Elements of the case with the number that `which` has there: an integer, or the truth for one of two cases.

    >>> select_n(np.array([True, False]), np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([3., 2.])
    """
    if not cases:
        raise TypeError("lax.select_n expects at least one case")
    if np.asarray(which).dtype.kind not in "biu":
        raise TypeError(f"lax.select_n expects an integer or boolean predicate, got {np.asarray(which).dtype}")
    if np.asarray(which).dtype.kind == "b":
        if len(cases) > 2:
            raise TypeError(f"lax.select_n expects two cases for a boolean predicate, got {len(cases)}")
        return select(which, cases[-1], cases[0])
    chosen = cases[0]
    for k, case in enumerate(cases[1:], 1):
        chosen = select(which >= k, case, chosen)
    return chosen


def integer_pow(x: Any, y: int) -> Any:
    """`x` to the power of an integer that is known beforehand.

    >>> integer_pow(np.array([2.0, 3.0]), 2)
    array([4., 9.])
    """
    return x ** y


def clamp(min: Any, x: Any, max: Any) -> Any:
    """`x`, but not below `min` nor above `max`, which have its shape or no axes.

    >>> clamp(0.0, np.array([-1.0, 0.5, 2.0]), 1.0)
    array([0. , 0.5, 1. ])
    """
    return _clamped(x, min, max)


@taking_arrays
def shift_right_logical(x: Any, y: Any) -> Any:
    """The bits of `x` moved to the right, with zeros behind them, also where `x` is negative.

    >>> shift_right_logical(np.array([-1], np.int8), np.array([4], np.int8))
    array([15], dtype=int8)
    """
    return np.asarray(_shifted_bits(_bits(x, "u"), _bits(y, "u"))).astype(np.asarray(x).dtype)


@taking_arrays
def shift_right_arithmetic(x: Any, y: Any) -> Any:
    """The bits of `x` moved to the right, with copies of its first bit behind them, also where `x` has no sign.

    >>> shift_right_arithmetic(np.array([255], np.uint8), np.array([4], np.uint8))
    array([255], dtype=uint8)
    """
    return np.asarray(_shifted_bits(_bits(x, "i"), _bits(y, "i"))).astype(np.asarray(x).dtype)


@taking_arrays
def population_count(x: Any) -> Any:
    """How many bits are 1, those of a negative number included.

    >>> population_count(np.array([3, -1], np.int8))
    array([2, 8], dtype=int8)
    """
    return np.bitwise_count(_bits(x, "u")).astype(np.asarray(x).dtype)


def _bits(x: Any, kind: str) -> Any:
    """Integers with a sign ("i") or without ("u") of the same bits; numbers of Python have no bits of their own."""
    if np.asarray(x).dtype.kind not in "iu":
        raise TypeError(f"lax: bit operations are not defined for {np.asarray(x).dtype}, only for integers")
    if isinstance(x, int) or np.asarray(x).dtype.kind == kind:
        return x
    return np.asarray(x).astype(f"{kind}{np.asarray(x).dtype.itemsize}")


@taking_arrays
def polygamma(m: Any, x: Any) -> Any:
    """The derivative of order `m` of the digamma function; `m` is an integer that is known, or an array of floats."""
    return scipy.special.polygamma(int(m) if isinstance(m, float) else m, x)


@taking_arrays
def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """The same numbers in another dtype.

    >>> convert_element_type(np.array([1, 2]), np.float32)
    array([1., 2.], dtype=float32)
    """
    return np.asarray(operand).astype(new_dtype)


@taking_arrays
def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
    """The bits of an array, read as numbers of another dtype that has as many bits.

    >>> bitcast_convert_type(np.array([1.0], np.float32), np.int32)
    array([1065353216], dtype=int32)
    """
    if np.asarray(operand).dtype.itemsize != np.dtype(new_dtype).itemsize:
        raise TypeError(f"lax.bitcast_convert_type from {np.asarray(operand).dtype} to {np.dtype(new_dtype)}: the "
                        "number of bits differs")
    return np.asarray(operand).view(new_dtype)


def _round(x: Any) -> Any:
    """To the nearest whole number, halves away from zero as JAX does."""
    whole = np.trunc(x)
    return whole + np.sign(x) * (np.abs(x - whole) >= 0.5)


def _rsqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


def _first(on_true: Any, on_false: Any) -> Any:
    return on_true


def _complex(x: Any, y: Any) -> Any:
    return x + 1j * y


_case = Strict("select", _first)
_shifted_bits = Strict("shift_right", np.right_shift, WHOLE)
_clamped = Strict("clamp", np.clip)
add = Strict("add", np.add)
sub = Strict("sub", np.subtract)
mul = Strict("mul", np.multiply)
div = Strict("div", np.divide, INEXACT)
rem = Strict("rem", np.fmod)
pow = Strict("pow", np.power)
max = Strict("max", np.maximum)
min = Strict("min", np.minimum)
atan2 = Strict("atan2", np.arctan2, REAL)
nextafter = Strict("nextafter", np.nextafter, REAL)
eq = Strict("eq", np.equal)
ne = Strict("ne", np.not_equal)
lt = Strict("lt", np.less)
le = Strict("le", np.less_equal)
gt = Strict("gt", np.greater)
ge = Strict("ge", np.greater_equal)
bitwise_and = Strict("bitwise_and", np.bitwise_and, WHOLE)
bitwise_or = Strict("bitwise_or", np.bitwise_or, WHOLE)
bitwise_xor = Strict("bitwise_xor", np.bitwise_xor, WHOLE)
neg = Strict("neg", np.negative)
abs = Strict("abs", np.abs)
sign = Strict("sign", np.sign)
square = Strict("square", np.square)
reciprocal = Strict("reciprocal", np.reciprocal, INEXACT)
floor = Strict("floor", np.floor, REAL)
ceil = Strict("ceil", np.ceil, REAL)
round = Strict("round", _round, REAL)
exp = Strict("exp", np.exp, INEXACT)
exp2 = Strict("exp2", np.exp2, INEXACT)
expm1 = Strict("expm1", np.expm1, INEXACT)
log = Strict("log", np.log, INEXACT)
log1p = Strict("log1p", np.log1p, INEXACT)
sqrt = Strict("sqrt", np.sqrt, INEXACT)
cbrt = Strict("cbrt", np.cbrt, REAL)
sin = Strict("sin", np.sin, INEXACT)
cos = Strict("cos", np.cos, INEXACT)
tan = Strict("tan", np.tan, INEXACT)
asin = Strict("asin", np.arcsin, INEXACT)
acos = Strict("acos", np.arccos, INEXACT)
atan = Strict("atan", np.arctan, INEXACT)
sinh = Strict("sinh", np.sinh, INEXACT)
cosh = Strict("cosh", np.cosh, INEXACT)
tanh = Strict("tanh", np.tanh, INEXACT)
asinh = Strict("asinh", np.arcsinh, INEXACT)
acosh = Strict("acosh", np.arccosh, INEXACT)
atanh = Strict("atanh", np.arctanh, INEXACT)
rsqrt = Strict("rsqrt", _rsqrt, INEXACT)
logistic = Strict("logistic", scipy.special.expit, REAL)
is_finite = Strict("is_finite", np.isfinite, INEXACT)
erf = Strict("erf", scipy.special.erf, REAL)
erfc = Strict("erfc", scipy.special.erfc, REAL)
erf_inv = Strict("erf_inv", scipy.special.erfinv, REAL)
lgamma = Strict("lgamma", scipy.special.gammaln, REAL)
digamma = Strict("digamma", scipy.special.digamma, REAL)
igamma = Strict("igamma", scipy.special.gammainc, REAL)
igammac = Strict("igammac", scipy.special.gammaincc, REAL)
betainc = Strict("betainc", scipy.special.betainc, REAL)
zeta = Strict("zeta", scipy.special.zeta, REAL)
bessel_i0e = Strict("bessel_i0e", scipy.special.i0e, REAL)
bessel_i1e = Strict("bessel_i1e", scipy.special.i1e, REAL)
real = Strict("real", np.real, "c")
imag = Strict("imag", np.imag, "c")
conj = Strict("conj", np.conj)
complex = Strict("complex", _complex, REAL)
bitwise_not = Strict("bitwise_not", np.invert, WHOLE)
shift_left = Strict("shift_left", np.left_shift, WHOLE)
