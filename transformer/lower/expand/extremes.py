"""The largest and smallest of floating numbers, many at a time.

NumPy gives nan where one of the numbers is, and a comparison that minds it is done for one number after
another. Whole numbers are compared many at a time, and floating numbers have an order as whole numbers,
by their bits, in which nan has a place:

    top = order(x[0])
    for i in range(n):
        top = larger(top, order(x[i]))
    result = of_order(top)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.grammar import Carry, Let, Var, type_of
from ...core.types import ArrayType
from ...ops import scalars
from ...ops.base import Op
from ...ops.selection import Maximum, Minimum
from ..fusion.sums import uses_in
from ..nest.nest_walk import inner_blocks
from ..nest.nests import Block, Fold

WHOLE: dict[Any, np.dtype] = {np.dtype("f4"): np.dtype("i4"), np.dtype("f8"): np.dtype("i8")}


def _op(form: Callable[..., Any]) -> Any:
    """An op on numbers for a function between floating numbers and whole ones."""
    return type(form.__name__, (Op,), {"operands": ("x",), "elementwise": True, "loop": staticmethod(form),
                                       "types": staticmethod(lambda x: x), "run": staticmethod(form)})


ORDER = {
    (Maximum, np.dtype("f4")): _op(scalars.order_f32), (Maximum, np.dtype("f8")): _op(scalars.order_f64),
    (Minimum, np.dtype("f4")): _op(scalars.order_from_nan_f32),
    (Minimum, np.dtype("f8")): _op(scalars.order_from_nan_f64),
}
OF_ORDER = {np.dtype("f4"): _op(scalars.of_order_f32), np.dtype("f8"): _op(scalars.of_order_f64)}


def extremes(block: Block) -> Block:
    """The block with the folds of `maximum` and `minimum` over whole numbers."""
    made: Block = []
    for stmt in block:
        for inner in inner_blocks(stmt):
            inner[:] = extremes(inner)
        made += _in_order(stmt) if isinstance(stmt, Fold) else [stmt]
    return made


def _in_order(stmt: Fold) -> Block:
    before: Block = []
    behind: Block = []
    for carry in stmt.carries:
        k = next((k for k, each in enumerate(stmt.body) if _is_extreme(each, carry, stmt)), None)
        if k is not None:
            old: Let = stmt.body[k]
            stmt.body[k:k + 1] = _step(old, carry, before)
            dtype = type_of(old.target).dtype                            # type: ignore[union-attr]
            out = Var(carry.entry.type)
            carry.out.name = carry.out.name or ("top" if old.op is Maximum else "bottom")
            behind.append(Let((carry.out,), OF_ORDER[dtype], (out,), {}, stmt.origin))
            carry.out = out
    return [*before, stmt, *behind]


def _step(old: Let, carry: Carry, before: Block) -> Block:
    """The comparison in an iteration, of whole numbers, one of which is handed on."""
    type: Any = type_of(old.target)
    dtype = type.dtype
    whole, order = ArrayType(WHOLE[dtype]), ORDER[old.op, dtype]
    item = old.args[old.args[0] is carry.entry]
    init, placed, entry, after = (Var(whole) for _ in range(4))
    before.append(Let((init,), order, (carry.init,), {}, old.origin))
    carry.init, carry.entry, carry.next = init, entry, after
    return [Let((placed,), order, (item,), {}, old.origin),
            Let((after,), old.op, (entry, placed), {}, old.origin)]


def _is_extreme(stmt: Any, carry: Carry, fold: Fold) -> bool:
    if not isinstance(stmt, Let) or stmt.target is not carry.next or stmt.op not in (Maximum, Minimum):
        return False
    type: Any = type_of(carry.entry)
    return (type.dtype in WHOLE and carry.entry in stmt.args and stmt.target.type == carry.entry.type
            and uses_in(fold, carry.entry) == 1 and not uses_in(fold, stmt.target))
