"""Numbers in nests that need not be computed, as all or some of what they are made of is known.

    1.0 * x[i]          x[i]
    total + x[i]        x[i], where a total begins as 0.0
    2 * 3 - 1           5
    p & True            p
    x if False else y   y

Unrolled loops, and sums of few terms, are full of them. What is computed from known numbers is only written out
where it is as short as these: not ``1.0 / 3.0``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.grammar import Atom, Const, Let, type_of
from ...core.halves import is_half
from ...core.types import ArrayType
from ...ops.arithmetic import Add, Cast, Divide, Multiply, Subtract
from ...ops.comparison import Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual
from ...ops.logic import BitwiseAnd, BitwiseOr, LogicalAnd, LogicalOr
from ...ops.selection import Maximum, Minimum, Where

COMPARED = {Less: operator.lt, LessEqual: operator.le, Greater: operator.gt, GreaterEqual: operator.ge,
            Equal: operator.eq, NotEqual: operator.ne}
COMPUTED: dict[Any, Callable[..., Any]] = {
    Add: operator.add, Subtract: operator.sub, Multiply: operator.mul, Divide: operator.truediv,
    Maximum: np.maximum, Minimum: np.minimum, Cast: lambda number: number, **COMPARED}
LENGTHENING = frozenset((Cast, *COMPARED))                               # of which what is short may be longer
OF_TRUTHS = {BitwiseAnd: True, LogicalAnd: True, BitwiseOr: False, LogicalOr: False}   # what leaves the other one


def folded(stmt: Let, args: tuple[Any, ...]) -> Atom | None:
    """What a statement gives for these operands, if it need not be computed."""
    type = stmt.target.type
    if not isinstance(type, ArrayType) or type.sizes or type.dtype.kind == "c" or is_half(type.dtype):
        return None                    # 1 * (inf + 0j) is nan, and numbers of 16 bits are printed as their bits
    given = _given(stmt, args, type)
    if isinstance(given, Const):
        return Const(given.value, type, given.name) if given.type.dtype == type.dtype else None
    if given is not None:
        return given if type_of(given) == type else None
    return _computed(stmt.op, args, type)


def _given(stmt: Let, args: tuple[Any, ...], type: ArrayType) -> Any:
    """The operand that an operation gives as it is."""
    op = stmt.op
    if op is Where and _is_known(args[0]):
        return args[1] if args[0].value else args[2]
    for known, other in (args, args[::-1]) if len(args) == 2 else ():
        if op is Multiply and _is_known(known) and known.value == 1:
            return other
        if op is Add and type.dtype.kind == "f" and _is_known(known) and known.value == 0 and known not in stmt.args:
            return other                                 # a total may be -0.0; `x + 0.0` in a program is to be 0.0
        if op in OF_TRUTHS and type.dtype.kind == "b" and _is_known(known):
            return other if bool(known.value) is OF_TRUTHS[op] else known
    return None


def _computed(op: Any, args: tuple[Any, ...], type: ArrayType) -> Const | None:
    """The number that an operation on known ones gives, if it is as short as these together."""
    if op not in COMPUTED or not all(map(_is_known, args)):
        return None
    numbers = [atom.type.dtype.type(atom.value) for atom in args]
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            result = type.dtype.type(COMPUTED[op](*numbers))
    except (ArithmeticError, ValueError, TypeError):
        return None
    is_short = op in LENGTHENING or len(str(result)) <= sum(len(str(each)) for each in numbers)
    return Const(result.item(), type) if is_short and np.isfinite(result) else None


def _is_known(atom: Any) -> bool:
    return isinstance(atom, Const) and atom.name is None
