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

from ...core.builder import current
from ...core.grammar import Const, Effect, If, Let, Var
from ...ops.arithmetic import Cast, converted
from ...ops.proofs import Ranges
from ...ops.python_errors import (
    DIVISIONS,
    DOMAIN,
    LIMIT,
    TOO_LARGE,
    both,
    is_of_numbers,
    is_pythons,
    kind_of,
    known,
    must_hold,
    raised,
    refused,
)
from ...ops.value import Value
from ..nest.nests import emit
from .magnitudes import WIDEST, Magnitudes, is_within_64_bits


def before(stmt: Let, ranges: Ranges) -> None:
    """Emits the tests of operands for which Python raises."""
    if len(stmt.targets) > 1 or not is_of_numbers(stmt):
        return
    divides = stmt.op.name in DIVISIONS and is_pythons(stmt)
    if not (divides and _is_not_zero(stmt.args[1], ranges)):
        _refuse_all(stmt)
        if divides:
            ranges.differ(stmt.args[1], 0)


def _refuse_all(stmt: Let) -> None:
    """Emits the tests of operands: where one test tells that none of several fails, they are behind that."""
    common = must_hold(stmt)
    with current().nested() as tests:
        for condition, error in refused(stmt):
            refuse(condition, error)
    if common is not None:
        tests = [If(np.logical_not(common).atom, tests, [], [], current().origin)]
    for test in tests:
        emit(test)


def after(stmt: Let, magnitudes: Magnitudes) -> None:
    """Emits the tests of a result that Python does not give."""
    if len(stmt.targets) > 1 or not is_of_numbers(stmt):
        return
    if str(stmt.attrs.get("spelling")).startswith("math."):
        _test_of_math(stmt)
    elif is_pythons(stmt):
        kind = kind_of(stmt.target)
        if kind == "i" and stmt.op.name in WRAPPED:
            if not is_within_64_bits(magnitudes.exact(stmt)):
                refuse(WRAPPED[stmt.op.name](Value(stmt.target), *map(Value, stmt.args)), TOO_LARGE)
        elif kind == "f" and stmt.op.name == "power" and not _stays_finite(*map(Value, stmt.args)):
            unknown = [x for x in map(Value, stmt.args) if known(x) is None]
            refuse(both(np.isinf(Value(stmt.target)), *map(np.isfinite, unknown)), raised(operator.pow, 10.0, 400))


def refuse(condition: Any, error: BaseException) -> None:
    """Emits what raises an error where a condition holds."""
    if not isinstance(condition, Value):
        condition = Value(Const(bool(condition)))
    template = tuple(arg if isinstance(arg, int) else (str(arg),) for arg in error.args)
    origin = current().origin
    attrs = {"exception": type(error), "template": template}
    emit(If(condition.atom, [Effect("raise", (), attrs, origin)], [], [], origin))


def _stays_finite(base: Any, exponent: Any) -> bool:
    """Whether a power of a finite number is finite: of two that are known, or as the number or 1 is not smaller."""
    number, power = known(base), known(exponent)
    if number is not None and power is not None and number > 0:
        return abs(power * math.log2(number)) < sys.float_info.max_exp
    return power is not None and 0 <= power <= 1


def _is_not_zero(divisor: Any, ranges: Ranges) -> bool:
    """Whether a divisor is certainly not 0, as sizes are not."""
    stmt = current().numbering.definitions.get(divisor) if isinstance(divisor, Var) else None
    if stmt is not None and stmt.op is Cast:
        return _is_not_zero(stmt.args[0], ranges)
    return kind_of(divisor) == "i" and (ranges.at_least(divisor, 1) or ranges.at_most(divisor, -1))


# -- integers of more than 64 bits ----------------------------------------------------------------


def _added(result: Any, x: Any, y: Any) -> Any:
    """What leaves the range is told by the operands: LLVM takes it that `x + 1` of numba is greater than `x`."""
    for one, other in ((x, known(y)), (y, known(x))):
        if other is not None:
            return one > WIDEST[1] - other if other >= 0 else one < WIDEST[0] - other
    return operator.or_(x > WIDEST[1] - np.maximum(y, 0), x < WIDEST[0] - np.minimum(y, 0))


def _subtracted(result: Any, x: Any, y: Any) -> Any:
    number = known(y)
    if number is not None:
        return x < WIDEST[0] + number if number >= 0 else x > WIDEST[1] + number
    return operator.or_(x > WIDEST[1] + np.minimum(y, 0), x < WIDEST[0] + np.maximum(y, 0))


def _multiplied(result: Any, x: Any, y: Any) -> Any:
    """A factor may be so large at most; where both are open, the product in floating numbers, which is off by little,
    is far from one that has wrapped around: that of NumPy, as LLVM takes it that others have the sign they should."""
    for one, other in ((x, known(y)), (y, known(x))):
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
    if known(y) in range(64):
        return operator.rshift(result, y) != x
    return operator.or_(both(x != 0, y > 63), operator.rshift(result, y) != x)


def _lowest(result: Any, x: Any) -> Any:
    return x == -2 ** 63


def _divided_by_minus_one(result: Any, x: Any, y: Any) -> Any:
    return both(x == -2 ** 63, y == -1)


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
OVERFLOWING = frozenset("exp exp2 expm1 sinh cosh gamma gammaln hypot ldexp power".split())


def _test_of_math(stmt: Let) -> None:
    name, result, operands = stmt.op.name, Value(stmt.target), list[Any](map(Value, stmt.args))
    if kind_of(stmt.target) != "f":
        return
    if name in UNDEFINED:
        refuse(both(np.isnan(result), *(x == x for x in operands if kind_of(x.atom) == "f")), DOMAIN)
    if name in INFINITE | OVERFLOWING:
        finite = [np.isfinite(x) for x in operands if kind_of(x.atom) == "f"]
        infinite = both(np.isinf(result), *finite)
        if name in INFINITE:
            refuse(infinite, DOMAIN)
            return
        if name in ("gamma", "gammaln", "power"):                        # poles
            refuse(both(infinite, operands[0] == 0 if name == "power" else operands[0] <= 0), DOMAIN)
        refuse(infinite, raised(math.exp, 1000.0))
