"""Machine code of what kernels consist of most: sums, products, quotients and comparisons of two numbers of one type,
and what holds of two comparisons.

numba looks for the types of each, tries what it has for numbers that are written in the program, and looks for what
makes its machine code, a third of a millisecond for one instruction. What is made is the same. All that it does
otherwise for integers (quotients, shifts, numbers of other widths) is left to it.

This module imports numba, and is imported when something is compiled.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.core.typing import signature

typed: Any = signature
Maker = Callable[[Any, Any, Any], Any]                            # of a builder and two values

ARITHMETIC = {operator.add: "add", operator.sub: "sub", operator.mul: "mul",
              operator.iadd: "add", operator.isub: "sub", operator.imul: "mul"}
BOTH = {operator.and_: "and_", operator.or_: "or_", operator.xor: "xor"}          # of truth values
QUOTIENTS = operator.truediv, operator.itruediv
COMPARISONS = {operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==",
               operator.ne: "!="}
FLOATS = types.float32, types.float64


def rule_of_operator(key: Any, args: Any) -> tuple[Any, Maker] | None:
    """The types of an operation on two numbers, and what makes its machine code; None for what is left to numba."""
    kinds = tuple(map(types.unliteral, args))
    if len(kinds) != 2 or kinds[0] != kinds[1] or kinds[0] not in (*FLOATS, types.intp, types.boolean):
        return None
    kind, is_float = kinds[0], kinds[0] in FLOATS
    if kind == types.boolean:
        return (typed(kind, *kinds), _of(BOTH[key])) if key in BOTH else None
    if key in ARITHMETIC:
        return typed(kind, *kinds), _of(f"f{ARITHMETIC[key]}") if is_float else _of_integers(ARITHMETIC[key])
    if key in QUOTIENTS and is_float:
        return typed(kind, *kinds), _of("fdiv")
    if key in COMPARISONS:
        return typed(types.boolean, *kinds), _comparing(COMPARISONS[key], is_float)
    return None


def _of(name: str) -> Maker:
    return lambda builder, x, y: getattr(builder, name)(x, y)


def _of_integers(name: str) -> Maker:
    """As numba has them: that numbers do not leave 64 bits."""
    return lambda builder, x, y: getattr(builder, name)(x, y, flags=["nsw"])


def _comparing(sign: str, is_float: bool) -> Maker:
    """With nan, all but `!=` is false."""
    if not is_float:
        return lambda builder, x, y: builder.icmp_signed(sign, x, y)
    if sign == "!=":
        return lambda builder, x, y: builder.fcmp_unordered(sign, x, y)
    return lambda builder, x, y: builder.fcmp_ordered(sign, x, y)
