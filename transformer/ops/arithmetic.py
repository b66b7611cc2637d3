"""Arithmetic: the operators and their ufuncs, powers, rounding, conversion."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..core.errors import BadArgument, NotSupported, ShapeError
from ..core.grammar import Const
from ..core.types import INT, ArrayType, type_of_number
from .elementwise import FLAT, Elementwise, constant, elementwise_type, is_python_number, where
from .value import Value, apply, atom, emit, is_python, value


class Add(Elementwise):
    calls = np.add, operator.add
    symbol = "+"
    partials = (lambda t, a, b, y: t,
                lambda t, a, b, y: t)


class Subtract(Elementwise):
    calls = np.subtract, operator.sub
    symbol = "-"
    partials = (lambda t, a, b, y: t,
                lambda t, a, b, y: -t)


class Multiply(Elementwise):
    calls = np.multiply, operator.mul
    symbol = "*"
    partials = (lambda t, a, b, y: t * b,
                lambda t, a, b, y: t * a)


class Divide(Elementwise):
    calls = np.divide, operator.truediv
    symbol = "/"
    where = "real", "nonzero"
    partials = (lambda t, a, b, y: t / b,
                lambda t, a, b, y: -t * y / b)


class FloorDivide(Elementwise):
    name = "floor_divide"
    calls = np.floor_divide, operator.floordiv
    symbol = "//"
    where = "real", "nonzero"
    derivative = FLAT


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
    where = "real", "nonzero"
    partials = (lambda t, a, b, y: t,
                lambda t, a, b, y: -t * np.trunc(a / b))


class Divmod(Elementwise):
    calls = np.divmod, divmod
    where = "real", "nonzero"

    def definition(x, y):
        return x // y, x % y


FLOAT64 = np.dtype(float)


def _power_in_base(t, x, p, y):
    n = constant(p)
    if n is None:
        # where p and x are 0, p * x ** (p - 1) would be nan; elsewhere nothing may be replaced, since
        # the next order differentiates this
        at_zero = p == 0 if getattr(p, "dtype", FLOAT64).kind in "iu" else (p == 0) & (x == 0)
        return t * p * x ** where(at_zero, 1, p - 1)
    if n == 0:
        return None
    if n in (1, 2):
        return t if n == 1 else t * 2 * x
    if n == -1:
        return -t * x ** -2
    return t * n * x ** (n - 1)


def _power_in_exponent(t, x, p, y):
    base = constant(x)
    if isinstance(base, (int, float, np.floating)) and base > 0:
        return t * y * _log_of_constant(base, t)
    # 0 ** p is flat in p > 0
    return t * y * np.log(where(x == 0, 1, x))


def _log_of_constant(base, t):
    number = math.log(base)
    return Value(Const(number, name=f"math.log({base})")) if isinstance(t, Value) else number


class Power(Elementwise):
    calls = np.power, operator.pow, pow, math.pow
    symbol = "**"
    where = "positive", "real"
    partials = _power_in_base, _power_in_exponent

    def front(args, kwargs, spelling):
        """Python makes a float of an int to a negative power."""
        if len(args) == 2 and is_python(spelling) and not kwargs:
            x, p = map(value, args)
            n = constant(p)
            if x.type == INT and p.type == INT and n is not None and n < 0:
                return apply(Power, (converted(x, float, "float"), p), {}, spelling)
        return None


class FloatPower(Elementwise):
    """The power in at least double precision."""

    name = "float_power"
    calls = (np.float_power,)
    where = "positive", "real"
    partials = _power_in_base, _power_in_exponent


class Negative(Elementwise):
    calls = np.negative, operator.neg
    symbol = "-"
    partials = (lambda t, x, y: -t,)


class Positive(Elementwise):
    calls = np.positive, operator.pos
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
    jvp = _absolute_jvp
    vjp = _absolute_vjp


class Fabs(Elementwise):
    calls = np.fabs, math.fabs
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
    where = "nonzero"
    jvp = _sign_jvp
    vjp = _sign_vjp


class Square(Elementwise):
    calls = (np.square,)
    partials = (lambda t, x, y: t * 2 * x,)


class Reciprocal(Elementwise):
    calls = (np.reciprocal,)
    where = "nonzero"
    partials = (lambda t, x, y: -t * y * y,)


class Copysign(Elementwise):
    calls = np.copysign, math.copysign
    where = "nonzero"
    partials = (lambda t, x, s, y: _signed(t, x) * np.copysign(1.0, s),
                lambda t, x, s, y: None)


class Heaviside(Elementwise):
    calls = (np.heaviside,)
    partials = (lambda t, x, h, y: None,
                lambda t, x, h, y: where(x == 0, t, 0.0))


class Floor(Elementwise):
    calls = (np.floor,)
    derivative = FLAT


class Ceil(Elementwise):
    calls = (np.ceil,)
    derivative = FLAT


class Trunc(Elementwise):
    calls = np.trunc, np.fix
    derivative = FLAT


class Rint(Elementwise):
    calls = (np.rint,)
    derivative = FLAT


class Round(Elementwise):
    calls = np.round, np.around
    methods = ("round",)
    derivative = FLAT

    def types(a: ArrayType, decimals: int = 0) -> Any:
        return elementwise_type(np.round, (a,))


def _numbers(rng):
    return [((1.7,), {}), ((np.float64(-2.3),), {})]


class FloorToInteger(Elementwise):
    name = "floor_to_integer"
    calls = (math.floor,)
    derivative = FLAT
    domain = _numbers

    def types(x: ArrayType) -> ArrayType:
        return INT

    def batch(lead, x):
        return np.floor(x).astype(int)


class CeilToInteger(Elementwise):
    name = "ceil_to_integer"
    calls = (math.ceil,)
    derivative = FLAT
    domain = _numbers

    def types(x: ArrayType) -> ArrayType:
        return INT

    def batch(lead, x):
        return np.ceil(x).astype(int)


class TruncToInteger(Elementwise):
    name = "trunc_to_integer"
    calls = (math.trunc,)
    derivative = FLAT
    domain = _numbers

    def types(x: ArrayType) -> ArrayType:
        if not x.weak and x.dtype.kind != "b" and x.dtype != np.float64:
            raise BadArgument(f"math.trunc does not take {x.dtype}", instead="int does.")
        return INT

    def batch(lead, x):
        return np.trunc(x).astype(int)


class RoundNumber(Elementwise):
    """Python's `round`: to an integer, or to digits of the exact decimal value."""

    name = "round_number"
    calls = (round,)
    derivative = FLAT
    domain = _numbers

    def types(number: ArrayType, ndigits: int | None = None) -> ArrayType:
        if number.sizes:
            raise ShapeError("round takes numbers, not arrays", instead="np.round takes arrays.")
        if number.dtype.kind == "c":
            raise BadArgument("round does not take complex numbers", instead="np.round does.")
        return INT if ndigits is None else number

    def batch(lead, x, ndigits=None):
        if ndigits is not None:
            raise NotSupported("round to digits has no form for a batch", instead="Use np.round.")
        return np.rint(x).astype(int)


PYTHON_TYPES = {"float": float, "int": int, "bool": bool, "complex": complex}


class Cast(Elementwise):
    """Conversion to a dtype, or, where `dtype` is a Python type, of a number to a Python number."""

    calls = (np.astype, *PYTHON_TYPES.values(), np.float16, np.float32, np.float64, np.complex64,
             np.complex128, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32,
             np.uint64, np.bool)
    methods = ("astype",)
    linear = "x"

    def types(x: ArrayType, dtype: Any = float) -> ArrayType:
        if not isinstance(dtype, type):
            return ArrayType(np.dtype(dtype), x.sizes)
        if x.sizes:
            raise ShapeError(f"{dtype.__name__} takes numbers, not arrays",
                             instead="astype converts arrays.")
        if x.dtype.kind == "c" and dtype in (int, float):
            raise NotSupported(f"{dtype.__name__} takes real numbers", instead="Take x.real first.")
        return type_of_number(dtype(0))

    def front(args, kwargs, spelling):
        if spelling in (None, "np.astype"):
            return _astype(*args, **kwargs)
        name = spelling.removeprefix("np.")
        dtype = PYTHON_TYPES[name] if name == spelling else np.dtype(name)
        if len(args) != 1 or kwargs:
            raise NotSupported(f"{spelling} is supported with one argument")
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
        raise NotSupported(f"astype: {', '.join(others)} has no rule here", instead="Leave it out.")
    x, dtype = value(x), np.dtype(dtype)
    return x if not copy and x.dtype == dtype and not x.type.weak else converted(x, dtype)


def converted(x: Any, dtype: Any, spelling: str | None = None) -> Any:
    """`x` as a Python number of a type, or in a NumPy dtype."""
    return emit(Cast, (atom(x),), {"dtype": dtype}, spelling)
