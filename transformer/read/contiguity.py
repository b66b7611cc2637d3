"""Whether a view of an array's elements in another shape shares their memory.

`reshape` and `ravel` give a view of a C-contiguous array and, mostly, a copy of another one. What
layout an array has is followed back through the statements that made it, as far as it is certain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.grammar import Const, Let, Var, type_of
from ..core.types import ArrayType
from ..core.walk import WRITES
from ..ops.value import Value

if TYPE_CHECKING:
    from .reader import Reader

STATEMENTS_FOLLOWED = 8
# Ops whose results NumPy lays out in C order, whatever the layout of their operands.
IN_C_ORDER = frozenset(
    {"zeros", "ones", "full", "empty", "arange", "eye", "identity", "linspace", "array", "flatten", "outer", "tri"}
)
ORDER_MATTERS = frozenset({"reshape", "ravel"})
LIKE_ANOTHER = (np.zeros_like, np.ones_like, np.empty_like, np.full_like)


def note_order(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], made: Value) -> None:
    """Notes of what `np.zeros_like` and the like make that it is laid out as what they are given is."""
    if function in LIKE_ANOTHER and args and isinstance(args[0], Value) and made.ndim > 1 and "order" not in kwargs:
        reader.laid_out.setdefault(made.atom, []).append(args[0].atom)


def shares_memory(reader: Reader, stmt: Let) -> bool:
    """Whether the view that a statement makes is certainly one."""
    base = stmt.args[0]
    if stmt.op.name not in ORDER_MATTERS or _rank(base) == 1 and stmt.op.name == "reshape":
        return True
    return is_contiguous(reader, base, STATEMENTS_FOLLOWED)


def is_contiguous(reader: Reader, atom: Any, depth: int) -> bool:
    """Whether an array is certainly laid out in C order."""
    if isinstance(atom, Const) or _rank(atom) == 0:
        return True
    stmt = reader.builder.numbering.definitions.get(atom) if isinstance(atom, Var) else None
    if stmt is None or not depth or not _lies_contiguous(reader, atom, depth - 1):
        return False
    if stmt.op.name in IN_C_ORDER:
        return True
    if stmt.op.name in WRITES:
        return is_contiguous(reader, stmt.args[0], depth - 1)
    if stmt.op.name == "copy":
        return stmt.attrs.get("spelling") is None or is_contiguous(reader, stmt.args[0], depth - 1)
    return stmt.op.elementwise and _is_result_contiguous(reader, stmt, depth - 1)


def _lies_contiguous(reader: Reader, atom: Any, depth: int) -> bool:
    """Whether the memory of an array is in C order where that of another one decides it: `out=`, `x += y` and
    `np.zeros_like(x)`."""
    return all(is_contiguous(reader, before, depth) for before in reader.laid_out.get(atom, ()))


def _is_result_contiguous(reader: Reader, stmt: Let, depth: int) -> bool:
    """Whether NumPy lays out the result of an elementwise operation in C order: that of its operands, and where they
    differ the C order of one that is as large."""
    in_order = [arg for arg in stmt.args if is_contiguous(reader, arg, depth)]
    return len(in_order) == len(stmt.args) or any(_sizes(arg) == _sizes(stmt.target) for arg in in_order)


def _sizes(atom: Any) -> Any:
    return getattr(type_of(atom), "sizes", ())


def _rank(atom: Any) -> int:
    type = type_of(atom)
    return len(type.sizes) if isinstance(type, ArrayType) else 0
