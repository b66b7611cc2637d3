"""Arithmetic: the operators and their ufuncs, powers, rounding, conversion."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..core.errors import BadArgument, NotSupported
from ..core.grammar import Const, type_of
from ..core.types import FLOAT, ArrayType, dtype_of_name, type_of_number
from . import scalars, scalars_of_complex
from .arguments import dtype as checked_dtype
from .elementwise import FLAT, Elementwise, constant, is_python_number, where
from .value import atom, emit, value


class Add(Elementwise):
    calls = np.add, operator.add
    is_total = True
    symbol = "+"
    loop = {"b": operator.or_}
    partials = (lambda t, a, b, y: t,
                lambda t, a, b, y: t)


class Subtract(Elementwise):
    calls = np.subtract, operator.sub
    is_total = True
    symbol = "-"
    partials = (lambda t, a, b, y: t,
                lambda t, a, b, y: -t)


class Multiply(Elementwise):
    calls = np.multiply, operator.mul
    is_total = True
    symbol = "*"
    loop = {"b": operator.and_}
    partials = (lambda t, a, b, y: t * b,
                lambda t, a, b, y: t * a)

    def tangent(given, a, b, y):
        """Factors keep their places."""
        da, db = given
        if da is None or db is None:
            return a * db if da is None else da * b
        return da * b + a * db


class Divide(Elementwise):
    calls = np.divide, operator.truediv
    symbol = "/"
    loop = {"c": scalars_of_complex.quotient_of_complex}
    where = "real", "nonzero"
    partials = (lambda t, a, b, y: t / b,
                lambda t, a, b, y: -t * y / b)

    def tangent(given, a, b, y):
        """Divided once."""
        da, db = given
        if da is None or db is None:
            return -db * y / b if da is None else da / b
        return (da - y * db) / b


class FloorDivide(Elementwise):
    name = "floor_divide"
    calls = np.floor_divide, operator.floordiv
    symbol = "//"
    loop = {"i": scalars.floor_quotient}
    where = "real", "nonzero"
    derivative = FLAT

    def by_operator(a, b):
        return constant(b) not in (None, 0, -1)


class Remainder(Elementwise):
    """Has the sign of the divisor."""

    calls = np.remainder, operator.mod
    symbol = "%"
    where = "real", "nonzero"
    partials = (lambda t, a, b, y: t,
                lambda t, a, b, y: -t * (a // b))


class Fmod(Elementwise):
    """Has the sign of the dividend."""

    calls = np.fmod, math.fmod
    loop = {"iu": scalars.c_remainder, "f": np.fmod}
    where = "real", "nonzero"
    partials = (lambda t, a, b, y: t,
                lambda t, a, b, y: -t * np.trunc(a / b))


class IeeeRemainder(Elementwise):
    """What is left of a number next to the nearest multiple of another one; of two as near, the even one."""

    name = "ieee_remainder"
    calls = (math.remainder,)
    operands = "x", "y"
    loop = {"f": scalars.ieee_remainder}
    where = "real", "nonzero"
    partials = (lambda t, a, b, y: t,
                lambda t, a, b, y: -t * np.rint((a - y) / b))

    def types(x: ArrayType, y: ArrayType) -> ArrayType:
        return FLOAT

    def domain(rng):
        return [((1.7, 0.5), {}), ((-2.3, 1.1), {}), ((0.4, -3.0), {})]

    def batch(lead, x, y):
        """Next to an even multiple first: the differences are exact."""
        size, rest = np.abs(y), np.fmod(x, 2 * y)
        over = np.abs(rest) - size
        further = np.copysign(1.0, rest) * np.where(2 * over < size, over, over - size)
        return np.where(2 * np.abs(rest) <= size, rest, further)


class Ldexp(Elementwise):
    """A number times a power of two."""

    calls = np.ldexp, math.ldexp
    loop = {"f": scalars.times_power_of_two}

    def front(args, kwargs, spelling):
        if spelling == "math.ldexp" and len(args) == 2 and not value(args[1]).type.weak:
            raise BadArgument("Expected an int as second argument to ldexp.", instead="Write int(n), or use np.ldexp.")
        return None

    partials = (lambda t, x, n, y: np.ldexp(t, n),
                lambda t, x, n, y: None)

    def domain(rng):
        x, n = rng.normal(size=3), rng.integers(-3, 4, 3)
        return [((x, n), {}), ((x, 2), {}), ((1.7, -1), {})]


class Divmod(Elementwise):
    calls = np.divmod, divmod
    where = "real", "nonzero"

    def definition(x, y):
        return x // y, x % y


class Negative(Elementwise):
    calls = np.negative, operator.neg
    is_total = True
    symbol = "-"
    partials = (lambda t, x, y: -t,)


def has_opposite(operand: Any, dtype: np.dtype) -> bool:
    """Whether to add an operand to what is of a dtype is to subtract its opposite. Integers wrap around in their own
    dtype, and a number of Python's has to fit the one it meets, as its opposite would."""
    type = type_of(operand)
    if isinstance(operand, Const) and type.weak and type.dtype.kind == "i":          # type: ignore[union-attr]
        size = abs(operand.value)
        return dtype.kind not in "iu" or np.iinfo(dtype).min <= -size and size <= np.iinfo(dtype).max
    return isinstance(type, ArrayType) and (type.is_inexact or type.dtype == dtype)


class Positive(Elementwise):
    calls = np.positive, operator.pos
    is_total = True
    symbol = "+"
    partials = (lambda t, x, y: t,)


def _signed(t, x):
    """`t` with the sign of a real number `x`; 0 where that is."""
    if is_python_number(x):
        return where(x > 0, t, where(x < 0, -t, 0.0))
    return t * np.sign(x)


def _absolute_jvp(t, x, y):
    return np.real(t * np.conj(np.sign(x))) if x.dtype.kind == "c" else _signed(t, x)


def _absolute_vjp(dy, x, y):
    return dy * np.conj(np.sign(x)) if x.dtype.kind == "c" else _signed(dy, x)


class Absolute(Elementwise):
    """Its derivative at 0 is 0."""

    calls = np.absolute, abs, operator.abs
    loop = {"c": scalars_of_complex.length, "biuf": abs}
    jvp = _absolute_jvp
    vjp = _absolute_vjp


class Fabs(Elementwise):
    calls = np.fabs, math.fabs
    loop = math.fabs
    partials = (lambda t, x, y: _signed(t, x),)


def _sign_jvp(t, x, y):
    return 1j * y * np.imag(t * np.conj(y)) / _length(x) if x.dtype.kind == "c" else None


def _sign_vjp(dy, x, y):
    return 1j * np.imag(dy * y) * np.conj(y) / _length(x) if x.dtype.kind == "c" else None


def _length(x):
    """The absolute value of a complex number, to divide what is 0 where that is."""
    length = np.abs(x)
    return where(length == 0, 1, length)


class Sign(Elementwise):
    """Piecewise constant for real numbers; `x / abs(x)` for complex ones. Its derivative at 0 is 0."""

    calls = (np.sign,)
    loop = {"f": scalars.sign_of_float, "iu": scalars.sign_of_integer, "c": scalars_of_complex.sign_of_complex}
    where = "nonzero"
    jvp = _sign_jvp
    vjp = _sign_vjp


class Square(Elementwise):
    calls = (np.square,)
    is_total = True

    def simpler(x):
        return x * x

    partials = (lambda t, x, y: 2 * t * x,)


class Reciprocal(Elementwise):
    calls = (np.reciprocal,)

    def simpler(x):
        return 1 / x if x.dtype.kind in "fc" else (1.0 / x).astype(x.dtype)

    where = "nonzero"
    partials = (lambda t, x, y: -t * y * y,)


class Copysign(Elementwise):
    calls = np.copysign, math.copysign
    where = "nonzero"
    partials = (lambda t, x, s, y: _signed(t, x) * np.copysign(1.0, s),
                lambda t, x, s, y: None)


class NextAfter(Elementwise):
    """The neighbour of a number, in the direction of another one."""

    name = "nextafter"
    calls = np.nextafter, math.nextafter
    loop = {"f": np.nextafter}
    partials = (lambda t, x, to, y: t,
                lambda t, x, to, y: None)


class Heaviside(Elementwise):
    calls = (np.heaviside,)
    loop = scalars.heaviside
    partials = (lambda t, x, h, y: None,
                lambda t, x, h, y: where(x == 0, t, 0.0))


class Floor(Elementwise):
    calls = (np.floor,)
    loop = {"f": np.floor, "iub": scalars.same}
    derivative = FLAT


class Ceil(Elementwise):
    calls = (np.ceil,)
    loop = {"f": np.ceil, "iub": scalars.same}
    derivative = FLAT


class Trunc(Elementwise):
    calls = np.trunc, np.fix
    loop = {"f": np.trunc, "iub": scalars.same}
    derivative = FLAT


class Rint(Elementwise):
    calls = (np.rint,)
    loop = {"fc": np.rint, "iub": scalars.same}
    derivative = FLAT


PYTHON_TYPES = {"float": float, "int": int, "bool": bool, "complex": complex}


class Cast(Elementwise):
    """Conversion to a dtype, or, where `dtype` is a Python type, of a number to a Python number."""

    calls = (np.astype, *PYTHON_TYPES.values(), np.float16, np.float32, np.float64, np.complex64,
             np.complex128, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32,
             np.uint64, np.bool)
    makes_array = {None: "of arrays", "np.astype": "of arrays"}
    methods = ("astype",)
    loop = scalars.same                # the conversion itself is of the code that is made
    linear = "x"

    def types(x: ArrayType, dtype: Any = float) -> ArrayType:
        if not isinstance(dtype, type):
            return ArrayType(np.dtype(dtype), x.sizes)
        if x.sizes:
            raise BadArgument(f"{dtype.__name__} accepts numbers, not arrays",
                             instead=f"Write x.astype({dtype.__name__}) for an array.")
        if x.dtype.kind == "c" and dtype in (int, float):
            raise NotSupported(f"{dtype.__name__} does not accept complex numbers", instead="Take x.real first.")
        return type_of_number(dtype(0))

    def front(args, kwargs, spelling):
        if spelling in (None, "np.astype"):
            return _astype(*args, **kwargs)
        name = spelling.removeprefix("np.")
        dtype = PYTHON_TYPES.get(spelling) or dtype_of_name(name.removeprefix("ml_dtypes."))
        if spelling == "complex" and len(args) == 2:
            from .complex_numbers import OfParts
            return emit(OfParts, tuple(map(atom, args)), {}, spelling)
        if len(args) != 1 or kwargs:
            raise NotSupported(f"{spelling} with {len(args) + len(kwargs)} arguments is not supported",
                               instead=f"Pass one number to {spelling}.")
        return converted(args[0], dtype, spelling)

    def run(x, dtype=float):
        return dtype(x) if isinstance(dtype, type) else np.asarray(x).astype(dtype)[()]

    def vjp(dy, x, dtype=float):
        return dy

    def batch(lead, x, dtype=float):
        return x.astype(dtype)

    def domain(rng):
        arrays = rng.normal(size=(2, 3)), np.float64(0.3), np.arange(3)
        return [((x,), {"dtype": np.dtype(d)}) for x in arrays for d in ("f8", "i8", "c16")] \
            + [((x,), {"dtype": t}) for x in (0.7, 2) for t in PYTHON_TYPES.values()]


def _astype(x: Any, dtype: Any, copy: bool = True, **others: Any) -> Any:
    if others:
        raise NotSupported(f"astype with the argument {', '.join(others)} is not supported", instead="Omit it.")
    x, dtype = value(x), checked_dtype(dtype)
    return x if not copy and x.dtype == dtype and not x.type.weak else converted(x, dtype)


def converted(x: Any, dtype: Any, spelling: str | None = None) -> Any:
    """`x` as a Python number of a type, or in a NumPy dtype."""
    return emit(Cast, (atom(x),), {"dtype": dtype}, spelling)
