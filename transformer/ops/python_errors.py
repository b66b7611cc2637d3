"""For which operands Python raises, where NumPy's numbers would be infinite or nan.

What is raised is what Python raises for numbers of these kinds: it is asked. A rule gives the conditions under which
operands are refused, each with its error: compiled code tests them (`lower/expand/python_numbers.py`), and a `try` asks
for them beforehand (`read/raising/attempts.py`). Of functions of `math` compiled code looks at what they give.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.grammar import Const, Let, type_of
from .value import Value, is_python

TOO_LARGE = OverflowError("Python int too large to convert to C long")
LIMIT = float(2 ** 63)
Refused = Iterator[tuple[Any, BaseException]]


def raised(function: Callable[..., Any], *samples: Any) -> BaseException:
    """What Python raises for these numbers."""
    try:
        function(*samples)
    except (ArithmeticError, ValueError) as error:
        return error
    raise AssertionError(f"{function} takes {samples}")


def refused(stmt: Let) -> Refused:
    """The conditions under which Python refuses the operands of a statement that is about numbers."""
    rule = BEFORE.get(stmt.op.name)
    if rule is not None and (stmt.op.name in TO_INTEGER or is_pythons(stmt)):
        yield from rule(stmt, *map(Value, stmt.args))


def must_hold(stmt: Let) -> Any:
    """A condition under which Python refuses no operand, where that is one test for several."""
    return abs(Value(stmt.args[0])) < LIMIT if stmt.op.name in TO_INTEGER and _is_int_of_float(stmt) else None


def is_of_numbers(stmt: Let) -> bool:
    """Whether a statement makes numbers of numbers."""
    return not any(getattr(type_of(atom), "sizes", True) for atom in (*stmt.targets, *stmt.args))


def is_pythons(stmt: Let) -> bool:
    """Whether an op is Python's, on numbers of Python."""
    return is_python(stmt.attrs.get("spelling")) and all(type_of(atom).weak for atom in (*stmt.targets, *stmt.args))   # type: ignore[union-attr]


def kind_of(atom: Any) -> str:
    kind: str = type_of(atom).dtype.kind                                 # type: ignore[union-attr]
    return kind


def both(*conditions: Any) -> Any:
    """All of several conditions."""
    total, *others = conditions
    for condition in others:
        total = operator.and_(total, condition)
    return total


def known(x: Any) -> Any:
    """The number that an operand certainly is."""
    return x.atom.value if isinstance(x.atom, Const) else None


SAMPLES = {"b": (1, 0), "i": (1, 0), "f": (1.0, 0.0), "c": (1j, 0j)}


def _divided(function: Callable[..., Any]) -> Callable[..., Refused]:
    def rule(stmt: Let, x: Any, y: Any) -> Refused:
        if known(y) is None or known(y) == 0:
            samples = SAMPLES[kind_of(x.atom)][0], SAMPLES[kind_of(y.atom)][1]
            yield y == 0 if known(y) is None else True, raised(function, *samples)

    return rule


def _raised_to(stmt: Let, x: Any, y: Any) -> Refused:
    """A power: of 0 to a negative number, of a negative number to one that is not whole."""
    kinds = {kind_of(x.atom), kind_of(y.atom)}
    if "c" in kinds or kind_of(stmt.target) != "f" or str(stmt.attrs.get("spelling")).startswith("math."):
        return
    base, exponent = known(x), known(y)
    if base in (None, 0) and (exponent is None or exponent < 0):
        yield both(x == 0, y < 0) if exponent is None else x == 0, raised(operator.pow, SAMPLES[kind_of(x.atom)][1], -1)
    if "f" == kind_of(y.atom) and (base is None or base < 0) and (exponent is None or exponent != int(exponent)):
        broken = y != np.floor(y) if exponent is None else True
        negative = both(x < 0, np.isfinite(y), np.isfinite(x))
        yield (negative if broken is True else both(negative, broken),
               ValueError("negative number cannot be raised to a fractional power"))


def _shifted_by(stmt: Let, x: Any, y: Any) -> Refused:
    if known(y) is None or known(y) < 0:
        yield y < 0 if known(y) is None else True, raised(operator.lshift, 1, -1)


def _made_integer(stmt: Let, x: Any) -> Refused:
    """A floating-point number that is made an integer, or one without a sign."""
    if _is_int(stmt) and x.dtype == np.uint64:
        yield x > 2 ** 63 - 1, TOO_LARGE
    if _is_int_of_float(stmt):
        yield np.isnan(x), raised(int, math.nan)
        yield np.isinf(x), raised(int, math.inf)
        yield operator.or_(x >= LIMIT, x < -LIMIT), TOO_LARGE


def _is_int(stmt: Let) -> bool:
    """Whether a number is converted by Python."""
    return stmt.op.name != "cast" or stmt.attrs.get("dtype") is int


def _is_int_of_float(stmt: Let) -> bool:
    return _is_int(stmt) and kind_of(stmt.args[0]) == "f" and kind_of(stmt.target) == "i"


TO_INTEGER = frozenset({"cast", "floor_to_integer", "ceil_to_integer", "trunc_to_integer", "round_number"})
DIVISIONS = frozenset({"divide", "floor_divide", "remainder", "divmod"})
BEFORE: dict[str, Callable[..., Refused]] = {
    "divide": _divided(operator.truediv), "floor_divide": _divided(operator.floordiv),
    "remainder": _divided(operator.mod), "divmod": _divided(divmod),
    "power": _raised_to, "left_shift": _shifted_by, "right_shift": _shifted_by,
    **dict.fromkeys(TO_INTEGER, _made_integer),
}


# -- functions of `math` --------------------------------------------------------------------------

DOMAIN = ValueError("math domain error")                                 # Python 3.14 tells the number
OVERFLOW = raised(math.exp, 1000.0)
LARGEST = 709.782712893384                                               # the logarithm of the largest number
LARGEST_OF_SINH = 710.4758600739439

OF_MATH = frozenset("sqrt log log1p log2 log10 sin cos tan arcsin arccos arccosh arctanh gamma gammaln fmod power "
                    "ieee_remainder exp exp2 expm1 sinh cosh hypot ldexp".split()) | TO_INTEGER

UNDEFINED: dict[str, Callable[[Any], Any]] = {
    "sqrt": lambda x: x < 0,
    "log": lambda x: x <= 0, "log2": lambda x: x <= 0, "log10": lambda x: x <= 0, "log1p": lambda x: x <= -1,
    "arcsin": lambda x: abs(x) > 1, "arccos": lambda x: abs(x) > 1,
    "arccosh": lambda x: x < 1, "arctanh": lambda x: abs(x) >= 1,
    "sin": np.isinf, "cos": np.isinf, "tan": np.isinf,
}
TOO_GREAT: dict[str, Callable[[Any], Any]] = {
    "exp": lambda x: both(x > LARGEST, np.isfinite(x)), "expm1": lambda x: both(x > LARGEST, np.isfinite(x)),
    "sinh": lambda x: both(abs(x) > LARGEST_OF_SINH, np.isfinite(x)),
    "cosh": lambda x: both(abs(x) > LARGEST_OF_SINH, np.isfinite(x)),
}


TESTED = UNDEFINED.keys() | TOO_GREAT.keys() | TO_INTEGER       # beforehand, of `math`


def refused_by_math(stmt: Let) -> Refused:
    """The conditions under which a function of `math` of one number raises."""
    (x,) = map(Value, stmt.args)
    if stmt.op.name in TO_INTEGER:
        yield from _made_integer(stmt, x)
    if stmt.op.name in UNDEFINED:
        yield UNDEFINED[stmt.op.name](x), DOMAIN
    if stmt.op.name in TOO_GREAT:
        yield TOO_GREAT[stmt.op.name](x), OVERFLOW


def may_raise(stmt: Let) -> bool:
    """Whether Python or `math` may refuse the operands of a statement, or find its result too large."""
    if not is_of_numbers(stmt):
        return False
    if stmt.op.name in TO_INTEGER:
        return kind_of(stmt.target) in "iu" and kind_of(stmt.args[0]) in "fu"
    return stmt.op.name in OF_MATH if spelled_by_math(stmt) else stmt.op.name in BEFORE and is_pythons(stmt)


def spelled_by_math(stmt: Let) -> bool:
    return str(stmt.attrs.get("spelling")).startswith("math.")
