"""Tests of places that a program computes: where they are not certainly inside of an array, compiled code raises
what NumPy does.

    y = x[order]                 for i in range(m):
                                     k = order[i]
                                     if not -n <= k < n:
                                         raise IndexError("index", k, "is out of bounds for axis 0 with size", n)
                                 for i in range(m):
                                     k = order[i]
                                     y[i] = x[k + n if k < 0 else k]

All places of a statement are tested before it reads or writes anything, as NumPy does; so a test is an effect,
which keeps its place among the others. Numbers in the text of an exception stand beside it: its pieces are put
together where the error leaves compiled code.
"""

from __future__ import annotations

import ast
from typing import Any

from ..core.builder import current
from ..core.grammar import Effect, Let
from ..core.sizes import Extent
from ..core.types import INT
from ..core.walk import atom_of_size
from ..ops.integers import affine, is_exact
from ..ops.regions import Slot, entries
from ..ops.value import Value
from ..write.layout import Group, Item, Line
from .access import Stored, fitted, running
from .nests import Nest, emit
from .ranges import Ranges

CHECK = "check"


def operands(stmt: Let, ranges: Ranges) -> list[Stored]:
    """The operands of a statement as rules see them; before that, the tests of the places at which it reads
    or writes."""
    made = [Stored(atom) for atom in stmt.args]
    index = stmt.attrs.get("index")
    if index is None:
        return made
    slots = made[1 + stmt.op.writes:]
    for entry, axis, count in entries(index, tuple(slots)):
        if isinstance(entry, Slot) and count:
            _tested(slots[entry.k], made[0].shape[axis], axis, ranges)
    return made


def _tested(slot: Stored, size: Extent, axis: int, ranges: Ranges) -> None:
    is_low = ranges.at_least(slot.atom, 0)
    if not (is_low or ranges.at_least(slot.atom, -size)) or not ranges.at_most(slot.atom, size - 1):
        _test(slot, size, axis, is_low)
        ranges.note(slot.atom, 0 if is_low else -size, size - 1)
    slot.from_front = is_low


def _test(slot: Stored, size: Extent, axis: int, is_low: bool) -> None:
    """Emits the tests of an integer, or of every element of an array, in order."""
    builder = current()

    def test(k: Value) -> None:
        place = atom_of_size(affine(k)) if is_exact(k.atom) else fitted(k, INT.strong()).atom
        attrs = {"axis": axis, "low": is_low}
        emit(Effect(CHECK, (place, atom_of_size(size)), attrs, builder.origin))

    if not slot.ndim:
        test(slot[()])
        return
    with running(slot.shape) as (indices, at), builder.nested() as body:
        test(slot[at])
    emit(Nest(indices, body, builder.origin, ordered=True))


def printed(e: Any, stmt: Effect) -> list[Item]:
    """The statements of a test; `e` are the `Expressions`."""
    k, size = map(e.atom, stmt.args)
    test: ast.expr = ast.Compare(k, [ast.GtE()], [size])
    if not stmt.attrs["low"]:
        inside = ast.Compare(ast.UnaryOp(ast.USub(), size), [ast.LtE(), ast.Lt()], [k, size])
        test = ast.UnaryOp(ast.Not(), inside)
    where = f"is out of bounds for axis {stmt.attrs['axis']} with size"
    error = ast.Call(ast.Name("IndexError"), [ast.Constant("index"), k, ast.Constant(where), size], [])
    return [Group(ast.If(test, [], []), [Line(ast.Raise(error, None), stmt.origin)], [], stmt.origin)]
