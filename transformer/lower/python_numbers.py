"""Numbers of Python raise where those of NumPy are infinite, or wrap around; compiled code does the same.

    mean = total / count        if count == 0:
                                    raise ZeroDivisionError("division by zero")
                                mean = total / count

What is raised is what Python raises for numbers of these kinds: it is asked when code is made. Integers have 64
bits in compiled code: where they might need more, that is tested, and an OverflowError.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.grammar import Const, Effect, If, Let, Var, type_of
from ..ops.arithmetic import Cast, converted
from ..ops.proofs import Ranges
from ..ops.value import Value, is_python
from .magnitudes import WIDEST, Magnitudes, is_within_64_bits
from .nests import emit

TOO_LARGE = OverflowError("Python int too large to convert to C long")
LIMIT = float(2 ** 63)


def before(stmt: Let, ranges: Ranges) -> None:
    """Emits the tests of operands for which Python raises."""
    if _is_of_numbers(stmt):
        rule, divides = BEFORE.get(stmt.op.name), stmt.op.name in DIVISIONS
        is_certain = divides and _is_not_zero(stmt.args[1], ranges)
        if rule is not None and not is_certain and (stmt.op.name in TO_INTEGER or _is_pythons(stmt)):
            rule(stmt, *map(Value, stmt.args))
            if divides:
                ranges.differ(stmt.args[1], 0)


def after(stmt: Let, magnitudes: Magnitudes) -> None:
    """Emits the tests of a result that Python does not give."""
    if not _is_of_numbers(stmt):
        return
    if str(stmt.attrs.get("spelling")).startswith("math."):
        _test_of_math(stmt)
    elif _is_pythons(stmt):
        kind = _kind(stmt.target)
        if kind == "i" and stmt.op.name in WRAPPED:
            if not is_within_64_bits(magnitudes.exact(stmt)):
                refuse(WRAPPED[stmt.op.name](Value(stmt.target), *map(Value, stmt.args)), TOO_LARGE)
        elif kind == "f" and stmt.op.name == "power" and not _stays_finite(*map(Value, stmt.args)):
            unknown = [x for x in map(Value, stmt.args) if _known(x) is None]
            refuse(_all(np.isinf(Value(stmt.target)), *map(np.isfinite, unknown)), raised(operator.pow, 10.0, 400))


def refuse(condition: Any, error: BaseException) -> None:
    """Emits what raises an error where a condition holds."""
    if not isinstance(condition, Value):
        condition = Value(Const(bool(condition)))
    template = tuple(arg if isinstance(arg, int) else (str(arg),) for arg in error.args)
    origin = current().origin
    attrs = {"exception": type(error), "template": template}
    emit(If(condition.atom, [Effect("raise", (), attrs, origin)], [], [], origin))


def raised(function: Callable[..., Any], *samples: Any) -> BaseException:
    """What Python raises for these numbers."""
    try:
        function(*samples)
    except (ArithmeticError, ValueError) as error:
        return error
    raise AssertionError(f"{function} takes {samples}")


def _is_of_numbers(stmt: Let) -> bool:
    atoms = stmt.target, *stmt.args
    return len(stmt.targets) == 1 and not any(getattr(type_of(atom), "sizes", True) for atom in atoms)


def _is_pythons(stmt: Let) -> bool:
    """Whether an op is Python's, on numbers of Python."""
    return is_python(stmt.attrs.get("spelling")) and all(type_of(atom).weak for atom in (stmt.target, *stmt.args))   # type: ignore[union-attr]


def _kind(atom: Any) -> str:
    kind: str = type_of(atom).dtype.kind                                 # type: ignore[union-attr]
    return kind


def _all(*conditions: Any) -> Any:
    total, *others = conditions
    for condition in others:
        total = operator.and_(total, condition)
    return total


def _known(x: Any) -> Any:
    """The number that an operand certainly is."""
    return x.atom.value if isinstance(x.atom, Const) else None


def _stays_finite(base: Any, exponent: Any) -> bool:
    """Whether a power of a finite number is finite: of two that are known, or as the number or 1 is not smaller."""
    known, power = _known(base), _known(exponent)
    if known is not None and power is not None and known > 0:
        return abs(power * math.log2(known)) < sys.float_info.max_exp
    return power is not None and 0 <= power <= 1


# -- operands -------------------------------------------------------------------------------------

SAMPLES = {"b": (1, 0), "i": (1, 0), "f": (1.0, 0.0), "c": (1j, 0j)}


def _is_not_zero(divisor: Any, ranges: Ranges) -> bool:
    """Whether a divisor is certainly not 0, as sizes are not."""
    stmt = current().numbering.definitions.get(divisor) if isinstance(divisor, Var) else None
    if stmt is not None and stmt.op is Cast:
        return _is_not_zero(stmt.args[0], ranges)
    return _kind(divisor) == "i" and (ranges.at_least(divisor, 1) or ranges.at_most(divisor, -1))


def _divided(function: Callable[..., Any]) -> Callable[..., None]:
    def test(stmt: Let, x: Any, y: Any) -> None:
        if _known(y) is None or _known(y) == 0:
            refuse(y == 0 if _known(y) is None else True,
                   raised(function, SAMPLES[_kind(x.atom)][0], SAMPLES[_kind(y.atom)][1]))

    return test


def _raised_to(stmt: Let, x: Any, y: Any) -> None:
    """A power: of 0 to a negative number, of a negative number to one that is not whole."""
    kinds = {_kind(x.atom), _kind(y.atom)}
    if "c" in kinds or _kind(stmt.target) != "f" or str(stmt.attrs.get("spelling")).startswith("math."):
        return
    base, exponent = _known(x), _known(y)
    if base in (None, 0) and (exponent is None or exponent < 0):
        refuse(_all(x == 0, y < 0) if exponent is None else x == 0, raised(operator.pow, SAMPLES[_kind(x.atom)][1], -1))
    if "f" == _kind(y.atom) and (base is None or base < 0) and (exponent is None or exponent != int(exponent)):
        broken = y != np.floor(y) if exponent is None else True
        negative = _all(x < 0, np.isfinite(y), np.isfinite(x))
        refuse(negative if broken is True else _all(negative, broken),
               ValueError("negative number cannot be raised to a fractional power"))


def _shifted_by(stmt: Let, x: Any, y: Any) -> None:
    if _known(y) is None or _known(y) < 0:
        refuse(y < 0 if _known(y) is None else True, raised(operator.lshift, 1, -1))


def _made_integer(stmt: Let, x: Any) -> None:
    """A floating number of which an integer is made, or one without a sign."""
    python = stmt.op.name != "cast" or stmt.attrs.get("dtype") is int
    if python and x.dtype == np.uint64:
        refuse(x > 2 ** 63 - 1, TOO_LARGE)
    if python and _kind(x.atom) == "f" and _kind(stmt.target) == "i":
        refuse(np.isnan(x), raised(int, math.nan))
        refuse(np.isinf(x), raised(int, math.inf))
        refuse(operator.or_(x >= LIMIT, x < -LIMIT), TOO_LARGE)


TO_INTEGER = frozenset({"cast", "floor_to_integer", "ceil_to_integer", "trunc_to_integer", "round_number"})
DIVISIONS = frozenset({"divide", "floor_divide", "remainder", "divmod"})
BEFORE: dict[str, Callable[..., None]] = {
    "divide": _divided(operator.truediv), "floor_divide": _divided(operator.floordiv),
    "remainder": _divided(operator.mod), "divmod": _divided(divmod),
    "power": _raised_to, "left_shift": _shifted_by, "right_shift": _shifted_by,
    **dict.fromkeys(TO_INTEGER, _made_integer),
}


# -- integers of more than 64 bits ----------------------------------------------------------------


def _added(result: Any, x: Any, y: Any) -> Any:
    """What leaves the range is told by the operands: LLVM takes it that `x + 1` of numba is greater than `x`."""
    for one, other in ((x, _known(y)), (y, _known(x))):
        if other is not None:
            return one > WIDEST[1] - other if other >= 0 else one < WIDEST[0] - other
    return operator.or_(x > WIDEST[1] - np.maximum(y, 0), x < WIDEST[0] - np.minimum(y, 0))


def _subtracted(result: Any, x: Any, y: Any) -> Any:
    known = _known(y)
    if known is not None:
        return x < WIDEST[0] + known if known >= 0 else x > WIDEST[1] + known
    return operator.or_(x > WIDEST[1] + np.minimum(y, 0), x < WIDEST[0] + np.maximum(y, 0))


def _multiplied(result: Any, x: Any, y: Any) -> Any:
    """A factor may be so large at most; where both are open, the product in floating numbers, which is off by little,
    is far from one that has wrapped around: that of NumPy, as LLVM takes it that others have the sign they should."""
    for one, other in ((x, _known(y)), (y, _known(x))):
        if other:
            low, high = sorted(Fraction(end, other) for end in WIDEST)
            tests = [one < math.ceil(low)] if low > WIDEST[0] else []
            tests += [one > math.floor(high)] if high < WIDEST[1] else []
            return reduce(operator.or_, tests) if tests else False
    wrapped = converted(x, np.int64) * converted(y, np.int64)
    return abs(_float(x) * _float(y) - _float(wrapped)) > LIMIT


def _powered(result: Any, x: Any, y: Any) -> Any:
    return np.power(abs(_float(x)), _float(y)) >= LIMIT


def _left(result: Any, x: Any, y: Any) -> Any:
    if _known(y) in range(64):
        return operator.rshift(result, y) != x
    return operator.or_(_all(x != 0, y > 63), operator.rshift(result, y) != x)


def _lowest(result: Any, x: Any) -> Any:
    return x == -2 ** 63


def _divided_by_minus_one(result: Any, x: Any, y: Any) -> Any:
    return _all(x == -2 ** 63, y == -1)


def _float(x: Any) -> Any:
    return converted(x, float)


WRAPPED: dict[str, Callable[..., Any]] = {
    "add": _added, "subtract": _subtracted, "multiply": _multiplied, "power": _powered, "left_shift": _left,
    "floor_divide": _divided_by_minus_one,
    "negative": _lowest, "absolute": _lowest, "square": lambda result, x: _multiplied(result, x, x),
}


# -- functions of `math` --------------------------------------------------------------------------

# What they give for numbers that they are not defined for, or that are too large: nan or infinity.
UNDEFINED = frozenset("sqrt log log1p log2 log10 sin cos tan arcsin arccos arccosh arctanh gamma fmod power "
                      "ieee_remainder".split())
INFINITE = frozenset("log log1p log2 log10 arctanh".split())
DOMAIN = ValueError("math domain error")                                 # Python 3.14 tells the number
OVERFLOWING = frozenset("exp exp2 expm1 sinh cosh gamma gammaln hypot ldexp power".split())


def _test_of_math(stmt: Let) -> None:
    name, result, operands = stmt.op.name, Value(stmt.target), list[Any](map(Value, stmt.args))
    if _kind(stmt.target) != "f":
        return
    if name in UNDEFINED:
        refuse(_all(np.isnan(result), *(x == x for x in operands if _kind(x.atom) == "f")), DOMAIN)
    if name in INFINITE | OVERFLOWING:
        finite = [np.isfinite(x) for x in operands if _kind(x.atom) == "f"]
        infinite = _all(np.isinf(result), *finite)
        if name in INFINITE:
            refuse(infinite, DOMAIN)
            return
        if name in ("gamma", "gammaln", "power"):                        # poles
            refuse(_all(infinite, operands[0] == 0 if name == "power" else operands[0] <= 0), DOMAIN)
        refuse(infinite, raised(math.exp, 1000.0))
