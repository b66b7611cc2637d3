"""Comparison, selection, logic and bits."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..core.errors import BadArgument, NotSupported
from ..core.halves import finfo
from ..core.types import BOOL, INT, ArrayType
from . import scalars
from .elementwise import FLAT, Elementwise, aligned, constant, elementwise_type, is_python_number, number_of, where
from .rewritten import Rewritten
from .value import apply, atom, call, emit, value


class Less(Elementwise):
    calls = np.less, operator.lt
    is_total = True
    symbol = "<"
    loop = {"c": scalars.complex_less}
    derivative = FLAT


class LessEqual(Elementwise):
    name = "less_equal"
    calls = np.less_equal, operator.le
    is_total = True
    symbol = "<="
    loop = {"c": scalars.complex_less_equal}
    derivative = FLAT


class Greater(Elementwise):
    calls = np.greater, operator.gt
    is_total = True
    symbol = ">"
    loop = {"c": scalars.complex_greater}
    derivative = FLAT


class GreaterEqual(Elementwise):
    name = "greater_equal"
    calls = np.greater_equal, operator.ge
    is_total = True
    symbol = ">="
    loop = {"c": scalars.complex_greater_equal}
    derivative = FLAT


class Equal(Elementwise):
    calls = np.equal, operator.eq
    is_total = True
    symbol = "=="
    derivative = FLAT


class NotEqual(Elementwise):
    name = "not_equal"
    calls = np.not_equal, operator.ne
    is_total = True
    symbol = "!="
    derivative = FLAT


class Isclose(Elementwise):
    calls = (np.isclose,)
    loop = scalars.is_close
    derivative = FLAT

    def types(a: ArrayType, b: ArrayType, rtol: float = 1e-5, atol: float = 1e-8,
              equal_nan: bool = False) -> Any:
        return elementwise_type(np.isclose, (a, b))

    def simpler(a, b, **attrs):
        """Whole numbers are compared as floats."""
        whole = a.dtype.kind in "biu" and b.dtype.kind in "biu"
        return Isclose.applied(a.astype(float), b.astype(float), **attrs) if whole else None


def _number_pairs(rng):
    return [((1.0, other), {}) for other in (1.0, 1.0 + 1e-10, 1.1, np.float64(np.inf))]


class IscloseNumbers(Elementwise):
    """`math.isclose`, which is symmetric in its arguments."""

    name = "isclose_numbers"
    calls = (math.isclose,)
    loop = scalars.is_close_number
    derivative = FLAT
    domain = _number_pairs

    def types(a: ArrayType, b: ArrayType, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> ArrayType:
        return BOOL

    def batch(lead, a, b, rel_tol=1e-9, abs_tol=0.0):
        a, b = aligned(lead, (a, b))
        tolerance = np.maximum(rel_tol * np.maximum(np.abs(a), np.abs(b)), abs_tol)
        return (a == b) | (np.abs(a - b) <= tolerance) & np.isfinite(a) & np.isfinite(b)


class Isnan(Elementwise):
    calls = np.isnan, math.isnan

    def simpler(x):
        return x != x

    where = "any"
    derivative = FLAT


class Isinf(Elementwise):
    calls = np.isinf, math.isinf

    def simpler(x):
        return value(False) if x.dtype.kind in "biu" else None

    where = "any"
    derivative = FLAT


class Isfinite(Elementwise):
    calls = np.isfinite, math.isfinite

    def simpler(x):
        return value(True) if x.dtype.kind in "biu" else None

    where = "any"
    derivative = FLAT


class Signbit(Elementwise):
    calls = (np.signbit,)
    loop = np.signbit
    derivative = FLAT


class Where(Elementwise):
    """Without a spelling and on numbers: a conditional expression."""

    calls = (np.where,)
    is_total = True
    makes_array = {"np.where": "always"}
    loop = scalars.chosen
    hands_on = keeps_truth = True
    made_of = slice(1, None)
    operands = "condition", "x", "y"
    where = "truth", "real", "real"
    partials = (None,
                lambda t, c, a, b, y: where(c, t, 0.0),
                lambda t, c, a, b, y: where(c, 0.0, t))

    def front(args, kwargs, spelling):
        return call(np.nonzero, args, {}) if len(args) == 1 and not kwargs else None

    def batch(lead, condition, x, y):
        return np.where(*aligned(lead, (condition, x, y)))


class Select(Rewritten):
    """The first choice whose condition holds."""

    calls = (np.select,)

    def rewrite(condlist, choicelist, default=0):
        if len(condlist) != len(choicelist):
            raise BadArgument("list of cases must be same length as list of conditions")
        result = default
        for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
            result = apply(Where, (condition, choice, result), {}, "np.where")
        return result


def _share(t, wins, ties):
    """The tangent of the operand that was selected; half of it where both were."""
    return where(wins, t, where(ties, 0.5 * t, 0.0))


class Maximum(Elementwise):
    """Of equal operands each has half of the derivative."""

    calls = (np.maximum,)
    is_total = True
    loop = {"c": scalars.larger_complex, "b": operator.or_, "iuf": scalars.larger}
    hands_on = keeps_truth = True
    partials = (lambda t, a, b, y: _share(t, a > b, a == b),
                lambda t, a, b, y: _share(t, b > a, a == b))


class Minimum(Elementwise):
    """Of equal operands each has half of the derivative."""

    calls = (np.minimum,)
    is_total = True
    loop = {"c": scalars.smaller_complex, "b": operator.and_, "iuf": scalars.smaller}
    hands_on = keeps_truth = True
    partials = (lambda t, a, b, y: _share(t, a < b, a == b),
                lambda t, a, b, y: _share(t, b < a, a == b))


class Fmax(Elementwise):
    """The larger operand, or the one that is not nan."""

    calls = (np.fmax,)
    loop = {"c": scalars.larger_complex_number, "b": operator.or_, "iuf": scalars.larger_number}
    partials = (lambda t, a, b, y: _share(t, (a == y) & (b != y), a == b),
                lambda t, a, b, y: _share(t, (b == y) & (a != y), a == b))


class Fmin(Elementwise):
    """The smaller operand, or the one that is not nan."""

    calls = (np.fmin,)
    loop = {"c": scalars.smaller_complex_number, "b": operator.and_, "iuf": scalars.smaller_number}
    partials = Fmax.partials


class Clip(Elementwise):
    """`minimum(maximum(x, low), high)`, with the derivatives of that."""

    calls = (np.clip,)
    methods = ("clip",)
    operands = "x", "low", "high"
    where = "real", "low", "high"
    partials = (lambda t, x, low, high, y: _share(t, (low < x) & (x < high), x == y),
                lambda t, x, low, high, y:
                _share(t, (x < low) & (low < high), (x <= low) & (low <= high)),
                lambda t, x, low, high, y:
                _share(t, high < np.maximum(x, low), high == np.maximum(x, low)))

    def simpler(x, low, high):
        x = x.astype(x.dtype)                  # a Python number counts as an array
        return np.minimum(np.maximum(x, low), high)

    def front(args, kwargs, spelling):
        """One bound is a maximum or a minimum; `min` and `max` are other names of the bounds."""
        names = {"min": "a_min", "max": "a_max"}
        return _clip(*args, **{names.get(key, key): item for key, item in kwargs.items()})


def _clip(a: Any, a_min: Any = None, a_max: Any = None, **others: Any) -> Any:
    if others:
        raise NotSupported(f"np.clip with the argument {', '.join(others)}", instead="Leave it out.")
    a = value(a)
    if a.type == INT and not all(bound is None or is_python_number(bound) for bound in (a_min, a_max)):
        a = a.astype(a.dtype)                  # a Python number counts as an array
    low, high = _bounds(a, a_min, a_max)
    if low is None and high is None:
        return np.positive(a)
    if low is None or high is None:
        return np.minimum(a, high) if low is None else np.maximum(a, low)
    return emit(Clip, (a.atom, atom(low), atom(high)), {}, "np.clip")


def _bounds(a: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The bounds; a Python int beyond the numbers of the array's dtype is none, as NumPy has it, which refuses one that
    all of them are beyond."""
    if a.dtype.kind not in "iu":
        return low, high
    least, most = int(np.iinfo(a.dtype).min), int(np.iinfo(a.dtype).max)
    return _within(low, least, max, operator.le), _within(high, most, min, operator.ge)


def _within(bound: Any, last: int, nearer: Any, is_beyond: Any) -> Any:
    """A bound, unless it is known to be none; one of Python's that is not known stands for the last number at most."""
    if bound is None or value(bound).type != INT:
        return bound
    known = number_of(bound)
    if known is not None:
        return None if is_beyond(known, last) else bound
    return bound if abs(last) >= 2 ** 63 - 1 else call(nearer, (bound, last), {})


class NanToNum(Elementwise):
    name = "nan_to_num"
    calls = (np.nan_to_num,)
    where = "any"
    jvp = vjp = (lambda t, x, y, **attrs: where(np.isfinite(x), t, 0.0),)

    def types(x: ArrayType, copy: bool = True, nan: float = 0.0, posinf: float | None = None,
              neginf: float | None = None) -> Any:
        if not copy:
            raise NotSupported("nan_to_num in place has no rule here", instead="Leave out copy.")
        return elementwise_type(np.nan_to_num, (x,))

    def simpler(x, copy=True, nan=0.0, posinf=None, neginf=None):
        if x.dtype.kind == "c":
            parts = (NanToNum.simpler(part, copy, nan, posinf, neginf) for part in (np.real(x), np.imag(x)))
            return next(parts) + 1j * next(parts)
        if x.dtype.kind != "f":
            return x
        most = float(finfo(x.dtype).max)
        finite = where(x == -np.inf, -most if neginf is None else neginf, where(np.isnan(x), nan, x))
        return where(x == np.inf, most if posinf is None else posinf, finite)


def is_true(x: Any) -> Any:
    """A number as a truth value."""
    return x if x.dtype.kind == "b" else x != 0


class LogicalAnd(Elementwise):
    name = "logical_and"
    calls = (np.logical_and,)
    is_total = True
    def simpler(x, y):
        return is_true(x) & is_true(y)
    where = "truth"
    derivative = FLAT


class LogicalOr(Elementwise):
    name = "logical_or"
    calls = (np.logical_or,)
    is_total = True
    def simpler(x, y):
        return is_true(x) | is_true(y)
    where = "truth"
    derivative = FLAT


class LogicalXor(Elementwise):
    name = "logical_xor"
    calls = (np.logical_xor,)
    is_total = True
    def simpler(x, y):
        return is_true(x) ^ is_true(y)
    where = "truth"
    derivative = FLAT


class LogicalNot(Elementwise):
    name = "logical_not"
    calls = np.logical_not, operator.not_
    is_total = True
    asks_truth = True

    def simpler(x):
        return None if x.dtype.kind == "b" else x == 0

    where = "truth"
    derivative = FLAT


class BitwiseAnd(Elementwise):
    name = "bitwise_and"
    calls = np.bitwise_and, operator.and_
    keeps_truth = True
    symbol = "&"
    where = "integer"
    derivative = FLAT


class BitwiseOr(Elementwise):
    name = "bitwise_or"
    calls = np.bitwise_or, operator.or_
    keeps_truth = True
    symbol = "|"
    where = "integer"
    derivative = FLAT


class BitwiseXor(Elementwise):
    name = "bitwise_xor"
    calls = np.bitwise_xor, operator.xor
    keeps_truth = True
    symbol = "^"
    where = "integer"
    derivative = FLAT


class Invert(Elementwise):
    calls = np.invert, operator.invert, operator.inv
    symbol = "~"
    loop = {"b": operator.not_}
    where = "integer"
    derivative = FLAT


def _is_short(shift: Any) -> bool:
    """Whether a shift is known to leave some of 64 bits, as processors shift."""
    return constant(shift) in range(64)


class LeftShift(Elementwise):
    name = "left_shift"
    calls = np.left_shift, operator.lshift
    symbol = "<<"
    loop = scalars.shifted_left
    where = "integer"
    derivative = FLAT

    def by_operator(x1, x2):
        return _is_short(x2)


class RightShift(Elementwise):
    name = "right_shift"
    calls = np.right_shift, operator.rshift
    symbol = ">>"
    loop = scalars.shifted_right
    where = "integer"
    derivative = FLAT

    def by_operator(x1, x2):
        return _is_short(x2)
