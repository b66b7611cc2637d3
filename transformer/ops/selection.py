"""Selection: which of several numbers it is, by a condition or by their order."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..core.errors import BadArgument, NotSupported
from ..core.grammar import Const
from ..core.halves import finfo, is_half
from ..core.types import INT, ArrayType
from . import scalars, scalars_of_complex
from .arguments import Args, Bound, Kwargs
from .elementwise import Elementwise, aligned, elementwise_type, is_python_number, number_of, where
from .joining import in_one_dtype
from .rewritten import Rewritten
from .value import apply, atom, call, emit, value


class Where(Elementwise):
    """Without a spelling and on numbers: a conditional expression. With that of a selection: one with the choices that
    its last operand is."""

    calls = (np.where,)
    is_total = True
    makes_array = {"np.where": "always", "np.select": "always"}
    loop = scalars.chosen
    hands_on = keeps_truth = True
    made_of = slice(1, None)
    operands = "condition", "x", "y"
    where = "truth", "real", "real"
    partials = (None,
                lambda t, c, a, b, y: where(c, t, 0.0),
                lambda t, c, a, b, y: where(c, 0.0, t))

    def counts(place, c, a, b):
        return c if place == 1 else np.logical_not(c)

    def tangent(given, c, a, b, y):
        """One choice, as the primal is."""
        _, da, db = given
        return where(c, 0.0 if da is None else da, 0.0 if db is None else db)

    def front(args, kwargs, spelling):
        return call(np.nonzero, args, {}) if len(args) == 1 and not kwargs else None

    def batch(lead, condition, x, y):
        return where(*aligned(lead, (condition, x, y)), "np.select")


class Select(Rewritten):
    """The first choice whose condition holds."""

    calls = (np.select,)

    def rewrite(condlist, choicelist, default=0):
        if len(condlist) != len(choicelist):
            raise BadArgument("list of cases must be same length as list of conditions")
        *choices, result = given = tuple(map(value, (*choicelist, default)))
        *fitted, last = in_one_dtype(given) if any(choice.type.weak for choice in choices) else given
        for condition, choice, array in reversed(list(zip(condlist, choices, fitted, strict=True))):
            if choice.type.weak and not np.can_cast(choice.dtype, array.dtype, "same_kind"):
                raise BadArgument(f"Cannot cast array data from dtype('{choice.dtype}') to dtype('{array.dtype}') "
                                  "according to the rule 'same_kind'")
            if choice.type.weak and result.type.weak:       # two numbers of Python's would have their own dtype
                result = last
            result = value(apply(Where, (condition, choice, result), {}, "np.select"))
        return result


def _share(t, wins, ties):
    """The tangent of the operand that was selected; half of it where both were."""
    return where(wins, t, where(ties, 0.5 * t, 0.0), "np.select")


def _ties(a, b):
    """Where both were selected; of a number that is written down, it stands behind."""
    return b == a if isinstance(value(a).atom, Const) else a == b


def _winning(given, a_wins, b_wins, ties):
    """The tangent of the operand that was selected; the mean of both where both were."""
    da, db = given
    if da is None or db is None:
        return _share(db, b_wins, ties) if da is None else _share(da, a_wins, ties)
    return where(a_wins, da, where(b_wins, db, 0.5 * (da + db)), "np.select")


class Maximum(Elementwise):
    """Of equal operands each has half of the derivative."""

    calls = (np.maximum,)
    is_total = True
    loop = {"c": scalars_of_complex.larger_complex, "b": operator.or_, "iu": max, "f": scalars.larger}
    hands_on = keeps_truth = True
    partials = (lambda t, a, b, y: _share(t, a > b, a == b),
                lambda t, a, b, y: _share(t, b > a, a == b))

    def counts(place, a, b):
        return b >= a if place else a >= b

    def tangent(given, a, b, y):
        return _winning(given, a > b, b > a, _ties(a, b))


class Minimum(Elementwise):
    """Of equal operands each has half of the derivative."""

    calls = (np.minimum,)
    is_total = True
    loop = {"c": scalars_of_complex.smaller_complex, "b": operator.and_, "iu": min, "f": scalars.smaller}
    hands_on = keeps_truth = True
    partials = (lambda t, a, b, y: _share(t, a < b, a == b),
                lambda t, a, b, y: _share(t, b < a, a == b))

    def counts(place, a, b):
        return b <= a if place else a <= b

    def tangent(given, a, b, y):
        return _winning(given, a < b, b < a, _ties(a, b))


class Fmax(Elementwise):
    """The larger operand, or the one that is not nan."""

    calls = (np.fmax,)
    loop = {"c": scalars_of_complex.larger_complex_number, "b": operator.or_, "iu": max, "f": scalars.larger_number}
    partials = (lambda t, a, b, y: _share(t, (a == y) & (b != y), a == b),
                lambda t, a, b, y: _share(t, (b == y) & (a != y), a == b))


class Fmin(Elementwise):
    """The smaller operand, or the one that is not nan."""

    calls = (np.fmin,)
    loop = {"c": scalars_of_complex.smaller_complex_number, "b": operator.and_, "iu": min, "f": scalars.smaller_number}
    partials = Fmax.partials


class Clip(Elementwise):
    """`minimum(maximum(x, low), high)`, with the derivatives of that."""

    calls = (np.clip,)
    methods = ("clip",)
    operands = "x", "low", "high"
    where = "real", "low", "high"
    partials = (lambda t, x, low, high, y: _share(t, (low < x) & (x < high), (low <= x) & (x <= high)),
                lambda t, x, low, high, y:
                _share(t, (x < low) & (low < high), (x <= low) & (low <= high)),
                lambda t, x, low, high, y:
                _share(t, high < np.maximum(x, low), high == np.maximum(x, low)))

    def counts(place, x, low, high):
        return (low <= x) & (x <= high) if place == 0 else None

    def simpler(x, low, high):
        x = x.astype(x.dtype)                  # a Python number counts as an array
        return np.minimum(np.maximum(x, low), high)

    def front(args, kwargs, spelling):
        """One bound is a maximum or a minimum; `min` and `max` are other names of the bounds."""
        names = {"min": "a_min", "max": "a_max"}
        return _clip(*args, **{names.get(key, key): item for key, item in kwargs.items()})


def _clip(a: Any, a_min: Any = None, a_max: Any = None, **others: Any) -> Any:
    if others:
        raise NotSupported(f"np.clip with the argument {', '.join(others)} is not supported", instead="Omit it.")
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
    return _within(low, least, Maximum, operator.le), _within(high, most, Minimum, operator.ge)


def _within(bound: Any, last: int, nearer: Any, is_beyond: Any) -> Any:
    """A bound, unless it is known to be none; one of Python's that is not known stands for the last number at most."""
    if bound is None or value(bound).type != INT:
        return bound
    known = number_of(bound)
    if known is not None:
        return None if is_beyond(known, last) else bound
    if abs(last) >= 2 ** 63 - 1:
        return bound
    return emit(nearer, (atom(bound), atom(last)), {}, "max" if nearer is Maximum else "min")


class NanToNum(Elementwise):
    name = "nan_to_num"
    calls = (np.nan_to_num,)
    where = "any"
    jvp = vjp = (lambda t, x, y, **attrs: where(np.isfinite(x), t, 0.0),)

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        """Numbers of 16 bits are computed in float32, of which the largest one is none of theirs."""
        (x,), attrs = super().bind(args, kwargs)
        if is_half(x.dtype):
            most = float(finfo(x.dtype).max)
            attrs = {"posinf": most, "neginf": -most, **{key: item for key, item in attrs.items() if item is not None}}
        return (x,), attrs

    def types(x: ArrayType, copy: bool = True, nan: float = 0.0, posinf: float | None = None,
              neginf: float | None = None) -> Any:
        if not copy:
            raise NotSupported("nan_to_num in place is not supported", instead="Omit copy, and use the result.")
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
