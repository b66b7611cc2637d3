"""Lengths that are only compared with a number: their squares are, and no root is taken.

    np.hypot(x, y) < 3.0        →       x * x + y * y < 9.0
    abs(z) > 3.0                →       (the same of z.real and z.imag > 9.0) or isinf(z.real) or isinf(z.imag)

A root never falls where its argument grows. So the bound is the first square whose root, rounded, is not below the
number, and the outcome is that of the root: `abs(z) <= 2.0` is `… < 4.000000000000002`. Squares may be infinite or 0,
which is as good for a number of usual size; nan besides infinity has an infinite length.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ...core.grammar import Const, Let, Var, type_of
from ...core.types import BOOL, ArrayType
from ...ops.arithmetic import Absolute, Add, Multiply
from ...ops.comparison import Greater, GreaterEqual, Isinf, Less, LessEqual
from ...ops.complex_numbers import Imag, Real
from ...ops.elementary import Hypot
from ...ops.logic import BitwiseOr
from ..nest.nest_walk import all_uses, inner_blocks, statements
from ..nest.nests import Block

# Comparisons of a length with a number, by the one that has the length on its left.
TURNED: dict[Any, Any] = {Less: Greater, LessEqual: GreaterEqual, Greater: Less, GreaterEqual: LessEqual}
USUAL = {np.dtype("f4"): (1e-15, 1e15), np.dtype("f8"): (1e-140, 1e140)}


def compared(block: Block) -> Block:
    """The block with such comparisons."""
    lengths = {stmt.target: stmt for stmt in statements(block) if isinstance(stmt, Let) and _is_length(stmt)}
    if lengths:
        found = {stmt.target: _comparison(stmt, lengths) for stmt in statements(block) if isinstance(stmt, Let)}
        uses = Counter(var for var in all_uses(block) if var in lengths)
        only = Counter(each[1] for each in found.values() if each is not None)
        _rewrite(block, {target: each for target, each in found.items()
                         if each is not None and uses[each[1]] == only[each[1]]}, lengths)
    return block


def _rewrite(block: Block, found: dict[Any, Any], lengths: dict[Var, Let]) -> None:
    for k, stmt in reversed(list(enumerate(block))):
        for inner in inner_blocks(stmt):
            _rewrite(inner, found, lengths)
        if isinstance(stmt, Let) and stmt.target in found:
            op, length, bound = found[stmt.target]
            block[k:k + 1] = _of_squares(stmt, op, lengths[length], bound)


def _is_length(stmt: Let) -> bool:
    type, of = stmt.target.type, type_of(stmt.args[0]) if stmt.op in (Hypot, Absolute) else None
    is_one = isinstance(of, ArrayType) and (stmt.op is Hypot or of.dtype.kind == "c")
    return is_one and isinstance(type, ArrayType) and not type.sizes and type.dtype in USUAL


def _comparison(stmt: Let, lengths: dict[Var, Let]) -> tuple[Any, Var, float] | None:
    """How a statement compares which length with a number, if it does."""
    if stmt.op not in TURNED:
        return None
    (left, right), op = stmt.args, stmt.op
    if isinstance(left, Const):
        left, right, op = right, left, TURNED[op]
    if left not in lengths or not isinstance(right, Const):
        return None
    low, high = USUAL[left.type.dtype]                                   # type: ignore[union-attr]
    return (op, left, right.value) if low <= right.value <= high else None      # type: ignore[return-value]


def _of_squares(stmt: Let, op: Any, length: Let, bound: float) -> Block:
    made: Block = []
    of_length: Any = length.target.type

    def number(op: Any, *args: Any, type: Any = of_length) -> Any:
        made.append(Let((Var(type),), op, args, {}, stmt.origin))
        return made[-1].target

    x, y = length.args if length.op is Hypot else (number(Real, *length.args), number(Imag, *length.args))
    square = number(Add, number(Multiply, x, x), number(Multiply, y, y))
    first = Const(first_square(bound, of_length.dtype, op in (Less, GreaterEqual)), of_length)
    if op in (Less, LessEqual):
        return [*made, Let(stmt.targets, Less, (square, first), {}, stmt.origin)]
    above = number(GreaterEqual, square, first, type=BOOL)
    infinite = number(BitwiseOr, number(Isinf, x, type=BOOL), number(Isinf, y, type=BOOL), type=BOOL)
    return [*made, Let(stmt.targets, BitwiseOr, (above, infinite), {}, stmt.origin)]


def first_square(bound: float, dtype: np.dtype, reached: bool) -> Any:
    """The smallest number whose root is the bound or above it (`reached`), or above it.

    >>> first_square(3.0, np.dtype("f8"), True), first_square(2.0, np.dtype("f8"), True)
    (np.float64(9.0), np.float64(4.0))
    """
    bound = dtype.type(bound)
    square = bound * bound
    is_there = (lambda s: np.sqrt(s) >= bound) if reached else (lambda s: np.sqrt(s) > bound)
    while is_there(np.nextafter(square, dtype.type(0))):
        square = np.nextafter(square, dtype.type(0))
    while not is_there(square):
        square = np.nextafter(square, dtype.type(np.inf))
    return square
