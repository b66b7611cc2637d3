"""Numbers that are rounded: by NumPy, to decimals, and by Python, to integers or to digits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.errors import BadArgument, NotSupported, ShapeError
from ..core.types import INT, ArrayType
from . import arguments, scalars, scalars_of_complex
from .arguments import Args, Bound, Kwargs
from .decimals import RoundDecimal
from .elementwise import FLAT, Elementwise, elementwise_type


class Round(Elementwise):
    calls = np.round, np.around
    methods = ("round",)
    loop = {"f": scalars.rounded, "c": scalars_of_complex.rounded_complex}
    derivative = FLAT

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        operands, attrs = super().bind(args, kwargs)
        return operands, {key: arguments.whole(value, key) for key, value in attrs.items()}

    def types(a: ArrayType, decimals: int = 0) -> Any:
        return elementwise_type(np.round, (a,), **({"decimals": decimals} if decimals else {}))

    def simpler(a, decimals=0):
        """Whole numbers are round; so says NumPy of truth values, which become float16. To tens and hundreds it
        rounds the quotient, as a float64."""
        if a.dtype.kind not in "iu":
            return None
        tens = 10.0 ** -decimals
        return a if decimals >= 0 else (np.rint(a.astype(float) / tens) * tens).astype(a.dtype)


def _numbers(rng):
    return [((1.7,), {}), ((np.float64(-2.3),), {})]


MOST_DIGITS = 22                       # so many zeros a power of ten may have that is a floating number


class FloorToInteger(Elementwise):
    name = "floor_to_integer"
    calls = (math.floor,)
    loop = {"f": math.floor, "biu": scalars.same}
    derivative = FLAT
    domain = _numbers

    def types(x: ArrayType) -> ArrayType:
        return INT

    def batch(lead, x):
        return np.floor(x).astype(int)


class CeilToInteger(Elementwise):
    name = "ceil_to_integer"
    calls = (math.ceil,)
    loop = {"f": math.ceil, "biu": scalars.same}
    derivative = FLAT
    domain = _numbers

    def types(x: ArrayType) -> ArrayType:
        return INT

    def batch(lead, x):
        return np.ceil(x).astype(int)


class TruncToInteger(Elementwise):
    name = "trunc_to_integer"
    calls = (math.trunc,)
    loop = {"f": math.trunc, "biu": scalars.same}
    derivative = FLAT
    domain = _numbers

    def types(x: ArrayType) -> ArrayType:
        if not x.weak and x.dtype.kind != "b" and x.dtype != np.float64:
            raise BadArgument(f"math.trunc does not accept {x.dtype}", instead="Use int.")
        return INT

    def batch(lead, x):
        return np.trunc(x).astype(int)


class RoundNumber(Elementwise):
    """Python's `round`: to an integer, or to digits of the exact decimal value."""

    name = "round_number"
    calls = (round,)
    loop = round
    derivative = FLAT
    domain = _numbers

    def types(number: ArrayType, ndigits: int | None = None) -> ArrayType:
        if number.sizes:
            raise ShapeError("round accepts numbers, not arrays", instead="Use np.round, which accepts arrays.")
        if number.dtype.kind == "c":
            raise BadArgument("round does not accept complex numbers", instead="Use np.round, which does.")
        return INT if ndigits is None else number

    def simpler(number, ndigits=None):
        """Whole numbers are round; `round` of compiled code takes floating-point numbers alone, and no digits. NumPy's
        numbers are rounded as arrays are."""
        if number.dtype.kind in "iu" and (ndigits is None or ndigits >= 0):
            return number
        if ndigits is None:
            return None
        if abs(ndigits) > MOST_DIGITS:
            raise NotSupported(f"round to {ndigits} digits cannot be compiled", instead="Round to fewer digits.")
        if number.type.weak:
            return RoundDecimal.applied(number, ndigits=ndigits)
        return np.round(number, ndigits)

    def batch(lead, x, ndigits=None):
        if ndigits is not None:
            raise NotSupported("round to a number of digits cannot be batched", instead="Use np.round.")
        return (x if x.dtype.kind in "iu" else np.rint(x)).astype(int)
