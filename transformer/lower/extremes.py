"""The largest and smallest of floating numbers, many at a time.

NumPy gives nan where one of the numbers is. A comparison that has to mind it cannot be done for many
numbers at once; whether there is a nan and what is the largest of the others can:

    for i in range(n):
        top, unclear = upper(top, x[i]), unclear | (x[i] != x[i])
    result = nan if unclear else top
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.grammar import Carry, Const, Let, Var, type_of
from ..core.types import ArrayType
from ..ops import scalars
from ..ops.base import Op
from ..ops.comparison import BitwiseOr, Maximum, Minimum, NotEqual, Where
from .nests import Block, Fold, inner_blocks
from .sums import uses_in

TRUTH = ArrayType(np.dtype(bool))


class Upper(Op):
    """The larger of two numbers that are not nan."""

    operands = ("a", "b")
    elementwise = True
    loop = scalars.upper
    types = staticmethod(lambda a, b: a)
    run: Any = staticmethod(scalars.upper)


class Lower(Op):
    """The smaller of two numbers that are not nan."""

    operands = ("a", "b")
    elementwise = True
    loop = scalars.lower
    types = staticmethod(lambda a, b: a)
    run: Any = staticmethod(scalars.lower)


FAST = {Maximum: Upper, Minimum: Lower}


def extremes(block: Block) -> Block:
    """The block with the folds of `maximum` and `minimum` apart from the question for nan."""
    made: Block = []
    for stmt in block:
        for inner in inner_blocks(stmt):
            inner[:] = extremes(inner)
        made += _apart(stmt) if isinstance(stmt, Fold) else [stmt]
    return made


def _apart(stmt: Fold) -> Block:
    before: Block = []
    behind: Block = []
    for carry in list(stmt.carries):
        k = next((k for k, each in enumerate(stmt.body) if _is_extreme(each, carry, stmt)), None)
        if k is not None:
            old: Let = stmt.body[k]
            item = old.args[old.args[0] is carry.entry]
            stmt.body[k] = Let(old.targets, FAST[old.op], (carry.entry, item), {}, old.origin)
            _watch(stmt, carry, item, before, behind)
    return [*before, stmt, *behind]


def _watch(stmt: Fold, carry: Carry, item: Any, before: Block, behind: Block) -> None:
    """Hands on whether a nan has been seen, and minds it at the end."""
    def unclear(number: Any, block: Block) -> Var:
        found = Var(TRUTH)
        block.append(Let((found,), NotEqual, (number, number), {}, stmt.origin))
        return found

    entry, after, out, top = Var(TRUTH, "unclear"), Var(TRUTH), Var(TRUTH), Var(carry.out.type)
    seen = unclear(item, stmt.body)
    stmt.body.append(Let((after,), BitwiseOr, (entry, seen), {}, stmt.origin))
    stmt.carries.append(Carry(entry, unclear(carry.init, before), after, out))
    type: Any = carry.out.type
    nan = Const(type.dtype.type(np.nan), ArrayType(type.dtype))
    behind.append(Let((carry.out,), Where, (out, nan, top), {}, stmt.origin))
    carry.out = top


def _is_extreme(stmt: Any, carry: Carry, fold: Fold) -> bool:
    if not isinstance(stmt, Let) or stmt.op not in FAST or stmt.target is not carry.next:
        return False
    type: Any = type_of(carry.entry)
    return (type.dtype.kind == "f" and carry.entry in stmt.args and stmt.target.type == carry.entry.type
            and uses_in(fold, carry.entry) == 1 and not uses_in(fold, stmt.target))
