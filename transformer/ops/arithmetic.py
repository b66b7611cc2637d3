"""Arithmetic: the operators and their ufuncs, powers, rounding, conversion."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..core.grammar import Const
from ..core.types import INT, ArrayType, type_of_number
from .base import Op
from .elementwise import FLAT, Elementwise, constant, elementwise_type, where
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


def _power_in_base(t, x, p, y):
    n = constant(p)
    if n is None:
        # where p is 0, p * x ** (p - 1) would be nan at x = 0
        return t * p * x ** where(p == 0, 1, p - 1)
    if n in (0, 1, 2):
        return (None, t, t * 2 * x)[int(n)]
    return t * n * x ** (n - 1)


def _power_in_exponent(t, x, p, y):
    base = constant(x)
    if base is not None and base > 0:
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
                return apply(Power, (converted(x, float), p), {}, spelling)
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


def _absolute_jvp(t, x, y):
    return np.real(t * np.conj(np.sign(x))) if x.dtype.kind == "c" else t * np.sign(x)


def _absolute_vjp(dy, x, y):
    return dy * np.conj(np.sign(x)) if x.dtype.kind == "c" else dy * np.sign(x)


class Absolute(Elementwise):
    """Its derivative at 0 is 0."""

    calls = np.absolute, abs, operator.abs
    jvp = _absolute_jvp
    vjp = _absolute_vjp


class Fabs(Elementwise):
    calls = np.fabs, math.fabs
    partials = (lambda t, x, y: t * np.sign(x),)


def _sign_jvp(t, x, y):
    return 1j * y * np.imag(t * np.conj(y)) / np.abs(x) if x.dtype.kind == "c" else None


def _sign_vjp(dy, x, y):
    return 1j * np.imag(dy * y) * np.conj(y) / np.abs(x) if x.dtype.kind == "c" else None


class Sign(Elementwise):
    """Piecewise constant for real numbers; `x / abs(x)` for complex ones."""

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
    partials = (lambda t, x, s, y: t * np.copysign(np.sign(x), s),
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


class _ToInteger(Op):
    """Rounding of a number to a Python integer."""

    elementwise = True
    where = "real"
    derivative = FLAT

    def __init_subclass__(cls) -> None:
        cls.types = staticmethod(_integer)                                 # type: ignore[assignment]
        cls.operands = ("x",)
        super().__init_subclass__()


def _integer(x: ArrayType) -> ArrayType:
    return INT
