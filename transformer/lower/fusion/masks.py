"""What is computed of the elements that a mask selects, and written back there, is computed of all, and chosen.

    inside = np.abs(z) < 2                      for i in range(n):
    z[inside] = z[inside] ** 2 + c[inside]          square = z[i] * z[i] + c[i]
                                                    z[i] = square if abs(z[i]) < 2 else z[i]

No places are listed, and elements are read and written one behind another. It is done where nothing else is made
of what has been selected, and where computing an element does not cost much.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ...core.builder import Builder, current
from ...core.grammar import Atom, Block, Function, If, Let, Loop, Var, type_of
from ...core.types import ArrayType
from ...core.walk import all_statements, atom_vars, head_uses, tail_uses
from ...ops.arithmetic import converted
from ...ops.elementwise import where
from ...ops.regions import Slot, is_mask
from ...ops.value import Value
from .substitution import cost_of

DEAREST = 64                           # additions to make an element, in vain where the mask does not hold


def chosen_by_masks(function: Function) -> Function:
    """The function without reads and writes through masks, where there are better ways; the same one, if there
    are none."""
    selections = list(_selections(function))
    return _Choosing(selections).function(function) if selections else function


class _Selection:
    """The reads, writes and elementwise ops on what one mask selects."""

    def __init__(self, mask: Var) -> None:
        self.mask = mask
        self.reads: list[Let] = []
        self.writes: list[Let] = []
        self.ops: list[Let] = []

    @property
    def vars(self) -> set[Any]:
        return {target for stmt in (*self.reads, *self.ops) for target in stmt.targets}

    def is_closed(self, function: Function) -> bool:
        """Whether what is selected goes nowhere but into these ops and writes."""
        inside, own = self.vars, {*self.reads, *self.writes, *self.ops}
        if not inside.isdisjoint(atom_vars(tuple(function.results))):
            return False
        for stmt in all_statements(function.body):
            if stmt in own:
                if any(getattr(type_of(arg), "sizes", ()) and arg not in inside for arg in _selected(stmt)):
                    return False
            elif not inside.isdisjoint((*head_uses(stmt), *tail_uses(stmt))):
                return False
        return bool(self.writes) and cost_of(self.ops) <= DEAREST and all(map(_is_harmless, self.ops))


def _selections(function: Function) -> Iterator[_Selection]:
    by_mask: dict[Var, _Selection] = {}
    for stmt in all_statements(function.body):
        if isinstance(stmt, Let) and _is_through_mask(stmt):
            mask: Any = stmt.args[-1]
            selection = by_mask.setdefault(mask, _Selection(mask))
            (selection.writes if stmt.op.writes else selection.reads).append(stmt)
    by_size = {Value(stmt.target).shape: each for each in by_mask.values() for stmt in each.reads}
    for stmt in all_statements(function.body):
        if isinstance(stmt, Let) and stmt.op.elementwise and len(stmt.targets) == 1:
            found = by_size.get(Value(stmt.target).shape)
            if found is not None:
                found.ops.append(stmt)
    return (each for each in by_mask.values() if each.is_closed(function))


def _is_through_mask(stmt: Let) -> bool:
    """Whether all axes of an array are read or written through one mask of its shape."""
    if stmt.op.name not in ("get", "put", "addat") or stmt.attrs["index"] != (Slot(0),):
        return False
    mask = stmt.args[-1]
    return isinstance(mask, Var) and is_mask(mask.type) and () != Value(mask).shape == Value(stmt.args[0]).shape


def _selected(stmt: Let) -> tuple[Atom, ...]:
    """The operands of a statement that are what has been selected."""
    return () if stmt.op.name == "get" else stmt.args[1:2] if stmt.op.writes else stmt.args


def _is_harmless(stmt: Let) -> bool:
    """Whether an op may be done for elements that the program does not do it for: none raises anything."""
    return type_of(stmt.target).dtype.kind in "fcb" or stmt.op.name in (   # type: ignore[union-attr]
        "add", "subtract", "multiply", "negative", "maximum", "minimum", "absolute", "square", "where", "cast", "same")


class _Choosing:
    """Writes the blocks anew. `whole` has for what has been selected the array of all elements."""

    def __init__(self, selections: list[_Selection]) -> None:
        self.of = {stmt: each for each in selections for stmt in (*each.reads, *each.writes, *each.ops)}
        self.whole: dict[Any, Atom] = {}

    def function(self, function: Function) -> Function:
        return replace(function, body=self.block(function.body))

    def block(self, block: Block) -> Block:
        return [new for stmt in block for new in self.stmt(stmt)]

    def stmt(self, stmt: Any) -> Block:
        if isinstance(stmt, If):
            return [replace(stmt, then=self.block(stmt.then), orelse=self.block(stmt.orelse))]
        if isinstance(stmt, Loop):
            return [replace(stmt, test=self.block(stmt.test), body=self.block(stmt.body))]
        selection = self.of.get(stmt)
        if selection is None:
            return [stmt]
        if stmt.op.name == "get":
            self.whole[stmt.target] = stmt.args[0]
            return []
        args = tuple(self.whole.get(arg, arg) for arg in stmt.args)
        return self._written(stmt, args) if stmt.op.writes else self._computed(stmt, args, selection)

    def _computed(self, stmt: Let, args: tuple[Atom, ...], selection: _Selection) -> Block:
        type: Any = stmt.target.type
        whole = Var(ArrayType(type.dtype, type_of(selection.mask).sizes, type.weak), stmt.target.name)   # type: ignore[union-attr]
        self.whole[stmt.target] = whole
        return [replace(stmt, targets=(whole,), args=args)]

    def _written(self, stmt: Let, args: tuple[Atom, ...]) -> Block:
        builder = Builder(current().assumptions, stmt.origin)
        with builder.active():
            array: Any = Value(args[0])
            value: Any = Value(args[1])
            new = array + value if stmt.op.adds else value
            new = new if new.dtype == array.dtype and not new.type.weak else converted(new, array.dtype)
            last = where(Value(args[-1]), new, array)
        made: Any = builder.block[-1]
        assert made.target is last.atom
        return [*builder.block[:-1], replace(made, targets=stmt.targets)]
