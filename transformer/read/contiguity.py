"""Whether a view of an array's elements in another shape shares their memory.

`reshape` and `ravel` give a view of a C-contiguous array and, mostly, a copy of another one. What
layout an array has is followed back through the statements that made it, as far as it is certain; writes leave it as
it was made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.grammar import Const, Let, Var, type_of
from ..core.types import ArrayType
from ..core.walk import WRITES
from ..ops.regions import is_view
from ..ops.value import Value
from .branches.journal import Cell
from .values import View

if TYPE_CHECKING:
    from .reader import Reader

STATEMENTS_FOLLOWED = 8
# Ops whose results NumPy lays out in C order, whatever the layout of their operands.
IN_C_ORDER = frozenset(
    {"zeros", "ones", "full", "empty", "arange", "eye", "identity", "linspace", "array", "flatten", "outer", "tri",
     "diag", "dot"}
)
ORDER_MATTERS = frozenset({"reshape", "ravel"})
JOINS = frozenset({"concatenate", "stack"})
PARTS = frozenset({"real", "imag"})                         # views, with every other number of the memory
LIKE_ANOTHER = (np.zeros_like, np.ones_like, np.empty_like, np.full_like)


def note_order(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], made: Value) -> None:
    """Notes of what `np.zeros_like` and the like make that it is laid out as what they are given is."""
    if function in LIKE_ANOTHER and args and isinstance(args[0], Value) and made.ndim > 1 and "order" not in kwargs:
        reader.laid_out.setdefault(made.atom, []).append(args[0].atom)


def shares_memory(reader: Reader, stmt: Let, base: Value) -> bool:
    """Whether what a statement makes of `base` is certainly a view of it."""
    if stmt.op.name not in ORDER_MATTERS or _rank(base.atom) == 1 and stmt.op.name == "reshape":
        return True
    versions = [base.atom] if isinstance(base, View) else [reader.journal.at_first(Cell(base)), base.atom]
    return any(is_contiguous(reader, version, STATEMENTS_FOLLOWED) for version in versions)


def is_contiguous(reader: Reader, atom: Any, depth: int) -> bool:
    """Whether an array is certainly laid out in C order."""
    if isinstance(atom, Const) or _rank(atom) == 0:
        return True
    stmt = reader.builder.numbering.definitions.get(atom) if isinstance(atom, Var) else None
    if stmt is None or not depth or not _lies_contiguous(reader, atom, depth - 1):
        return False
    if stmt.op.name in IN_C_ORDER:
        return True
    if stmt.op.name in WRITES or stmt.op.name in ORDER_MATTERS or stmt.op.name == "get" and _is_one_piece(stmt):
        return is_contiguous(reader, stmt.args[0], depth - 1)
    if stmt.op.name in PARTS and Value(stmt.args[0]).dtype.kind == "c":
        return False
    if stmt.op.name in JOINS:
        return all(_rank(arg) == 1 or is_contiguous(reader, arg, depth - 1) for arg in stmt.args)
    if stmt.op.name == "copy":
        return stmt.attrs.get("spelling") is None or is_contiguous(reader, stmt.args[0], depth - 1)
    return stmt.op.elementwise and _is_result_contiguous(reader, stmt, depth - 1)


def _is_one_piece(stmt: Let) -> bool:
    """Whether an index takes elements that follow each other in C order: places of axes, then a slice, then all."""
    index = list(stmt.attrs["index"])
    while index and not isinstance(index[0], slice) and index[0] is not None:
        index.pop(0)
    return is_view(stmt) and all(entry == slice(None) for entry in index[1:]) and _is_dense(index[:1])


def _is_dense(entries: list[Any]) -> bool:
    return all(isinstance(entry, slice) and entry.step in (None, 1) for entry in entries)


def _lies_contiguous(reader: Reader, atom: Any, depth: int) -> bool:
    """Whether the memory of an array is in C order where that of another one decides it: `out=`, `x += y` and
    `np.zeros_like(x)`."""
    return all(is_contiguous(reader, before, depth) for before in reader.laid_out.get(atom, ()))


def _is_result_contiguous(reader: Reader, stmt: Let, depth: int) -> bool:
    """Whether NumPy lays out the result of an elementwise operation in C order: that of its operands, and where they
    differ the C order of one that is as large."""
    if _rank(stmt.target) == 1:
        return True                                         # made anew, whatever the steps of its operands
    in_order = [arg for arg in stmt.args if is_contiguous(reader, arg, depth)]
    return len(in_order) == len(stmt.args) or any(_sizes(arg) == _sizes(stmt.target) for arg in in_order)


def _sizes(atom: Any) -> Any:
    return getattr(type_of(atom), "sizes", ())


def _rank(atom: Any) -> int:
    type = type_of(atom)
    return len(type.sizes) if isinstance(type, ArrayType) else 0
