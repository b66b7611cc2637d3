"""Whether a view of an array's elements in another shape shares their memory.

`reshape` and `ravel` give a view of a C-contiguous array and, mostly, a copy of another one. What
layout an array has is followed back through the statements that made it, as far as it is certain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.grammar import Const, Let, Var, type_of
from ..core.types import ArrayType
from ..core.walk import WRITES

if TYPE_CHECKING:
    from .reader import Reader

STATEMENTS_FOLLOWED = 8
# Ops whose results NumPy lays out in C order, whatever the layout of their operands.
IN_C_ORDER = frozenset(
    {"zeros", "ones", "full", "empty", "arange", "eye", "identity", "linspace", "array", "flatten", "outer", "tri"}
)
ORDER_MATTERS = frozenset({"reshape", "ravel"})


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
    if stmt is None or not depth:
        return False
    if stmt.op.name in IN_C_ORDER:
        return True
    if stmt.op.name in WRITES:
        return is_contiguous(reader, stmt.args[0], depth - 1)
    if stmt.op.name == "copy":
        return stmt.attrs.get("spelling") is None or is_contiguous(reader, stmt.args[0], depth - 1)
    return stmt.op.elementwise and all(is_contiguous(reader, arg, depth - 1) for arg in stmt.args)


def _rank(atom: Any) -> int:
    type = type_of(atom)
    return len(type.sizes) if isinstance(type, ArrayType) else 0
