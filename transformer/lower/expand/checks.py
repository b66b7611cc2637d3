"""Tests of places that a program computes: where they are not certainly inside of an array, compiled code raises
what NumPy does.

    y = x[order]                 outside = 0
                                 for i in range(m):
                                     k = order[i]
                                     outside += (k < -n) | (k >= n)
                                 if outside > 0:
                                     for i in range(m):
                                         k = order[i]
                                         if not -n <= k < n:
                                             raise IndexError("index", k, "is out of bounds for axis 0 with size", n)
                                 for i in range(m):
                                     k = order[i]
                                     y[i] = x[k + n if k < 0 else k]

All places of a statement are tested before it reads or writes anything, as NumPy does, and the first one that is
outside is told. To count those that are outside goes many at a time. Numbers in the text of an exception stand
beside it: its pieces are put together where the error leaves compiled code.
"""

from __future__ import annotations

import ast
import operator
from typing import Any

import numpy as np

from ...core.bounds import LARGEST
from ...core.builder import current
from ...core.grammar import Atom, Effect, If, Let
from ...core.sizes import Extent
from ...core.types import INT
from ...core.walk import atom_of_size
from ...ops.arithmetic import converted
from ...ops.elements import number
from ...ops.integers import affine, is_exact
from ...ops.proofs import Ranges
from ...ops.regions import Slot, entries
from ...ops.value import Value, value
from ...write.layout import Group, Item, Line
from ..nest.access import Stored, fitted, running
from ..nest.nests import Nest, emit
from .folds import fold

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
    is_low = ranges.at_least(slot.atom, 0) and not (slot.ndim and _may_wrap(slot, ranges))
    if not (is_low or ranges.at_least(slot.atom, -size)) or not ranges.at_most(slot.atom, size - 1):
        _test(slot, size, axis, is_low)
        if is_low or slot.dtype.kind == "i":
            ranges.note(slot.atom, 0 if is_low else -size, size - 1)
    slot.from_front = is_low


def _may_wrap(slot: Stored, ranges: Ranges) -> bool:
    """Whether integers may be so large that NumPy takes them for negative places, as it casts arrays of them."""
    return slot.dtype == np.uint64 and not ranges.at_most(slot.atom, LARGEST)


def _test(slot: Stored, size: Extent, axis: int, is_low: bool) -> None:
    """Emits the tests of an integer, or of every element of an array, in order."""
    builder = current()

    def test(k: Any) -> None:
        attrs = {"axis": axis, "low": is_low}
        emit(Effect(CHECK, (_place(k), atom_of_size(size)), attrs, builder.origin))

    def outside(k: Value) -> Value:
        above = k >= number(size)
        return above if is_low else operator.or_(k < number(-size), above)

    if not slot.ndim:
        test(slot[()] if slot.dtype != np.uint64 else np.minimum(slot[()], LARGEST))     # a number is not cast
        return
    with running(slot.shape) as (indices, at):
        def count(state: tuple[Value, ...]) -> tuple[Value, ...]:
            return (state[0] + converted(outside(Value(_place(slot[at]))), int),)

        total, = fold(indices, (value(0),), count)
    with builder.nested() as block, running(slot.shape) as (indices, at), builder.nested() as body:
        test(slot[at])
    waiting: Any = block
    waiting.append(Nest(indices, body, builder.origin, ordered=True))
    some: Any = total
    emit(If((some > 0).atom, block, [], [], builder.origin))


def _place(k: Value) -> Atom:
    """An integer as a place, which is 64 bits wide."""
    return atom_of_size(affine(k)) if is_exact(k.atom) else fitted(k, INT.strong()).atom


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
