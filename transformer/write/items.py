"""Loops over the items of an array, of which the user did not see the place:

    for k in range(len(obs) - 1):             for o in obs[1:]:
        o = obs[k + 1]              becomes       …
        …

That is how it was written; other stages ask for places, which all loops have.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..core.builder import current
from ..core.grammar import Atom, Block, Function, If, Let, Loop, Read, Stmt, Var
from ..core.sizes import Size, Unknown
from ..core.types import ArrayType
from ..core.walk import all_definitions, all_statements, all_uses, atom_vars, size_of_atom
from ..ops.indexing import Get
from ..ops.regions import Slot
from .measure import array_type


@dataclass(slots=True, eq=False)
class Each(Read):
    """`target` is each item of `source` from the first on, or from the last on `down`."""

    first: int = 0
    down: bool = False

    @property
    def part(self) -> ast.Slice | None:
        """The part that a loop runs over, if it is not the whole array."""
        if self.down:
            return ast.Slice(step=ast.UnaryOp(ast.USub(), ast.Constant(1)))
        return ast.Slice(ast.Constant(self.first)) if self.first else None


def over_items(function: Function) -> Function:
    """The function, in whose print loops run over items where they can: what is lowered keeps places."""
    return replace(function, body=_in_block(function.body))


def _in_block(block: Block) -> Block:
    return [_in_statement(stmt) for stmt in block]


def _in_statement(stmt: Stmt) -> Stmt:
    if isinstance(stmt, If):
        return replace(stmt, then=_in_block(stmt.then), orelse=_in_block(stmt.orelse))
    if isinstance(stmt, Loop):
        return _over_items(replace(stmt, test=_in_block(stmt.test), body=_in_block(stmt.body)))
    return stmt


def _over_items(loop: Loop) -> Loop:
    lets = [stmt for stmt in loop.body if isinstance(stmt, Let)]
    taken = {stmt: place for stmt in lets if (place := _place(stmt, loop)) is not None}
    plain = loop.trips is not None and loop.cond is None and not loop.reads and not loop.records
    if not taken or not plain or loop.position.name not in (None, "_"):
        return loop
    helpers = [stmt for stmt in lets if stmt.targets[0] in _slots(taken)]
    others = [stmt for stmt in loop.body if stmt not in taken and stmt not in helpers]
    hidden = {loop.position, *_slots(taken)}
    if hidden & set(_mentioned(others, loop)) or not all(_runs_through(stmt, taken[stmt], loop) for stmt in taken):
        return loop
    reads: list[Read] = [Each(stmt.target, stmt.args[0], first, loop.down) for stmt, first in taken.items()]
    return replace(loop, reads=reads, body=others, down=False)


def _place(stmt: Let, loop: Loop) -> int | None:
    """From where a loop takes the items of an array, one after the other, if that is what a statement does."""
    if stmt.op is not Get or len(stmt.args) != 2 or stmt.target.name is None:
        return None
    source, at = stmt.args
    index = stmt.attrs["index"]
    if index[0] != Slot(0) or any(entry != slice(None) for entry in index[1:]) or not isinstance(source, Var):
        return None
    if source in set(all_definitions([loop])) or not isinstance(source.type, ArrayType):
        return None
    first = _extent(at, loop) - Size.of(Unknown(loop.position))
    return first if isinstance(first, int) and first >= 0 and not (first and loop.down) else None


def _extent(at: Atom, loop: Loop) -> Any:
    """A place in terms of the position of a loop."""
    made = next((stmt for stmt in loop.body if isinstance(stmt, Let) and stmt.targets[0] is at), None)
    if made is not None and made.op.name in ("add", "subtract") and not made.attrs:
        first, second = (size_of_atom(atom) for atom in made.args)
        return first + second if made.op.name == "add" else first - second
    return size_of_atom(at)


def _slots(taken: dict[Let, int]) -> set[Atom]:
    return {stmt.args[1] for stmt in taken}


def _mentioned(others: Block, loop: Loop) -> Iterator[Var]:
    """What a loop mentions but for the items it takes."""
    for stmt in all_statements(others):
        yield from all_uses(stmt)
    for var in all_definitions(others):
        yield from atom_vars(getattr(var.type, "sizes", ()))
    for carry in loop.carries:
        yield from atom_vars(carry.next)


def _runs_through(stmt: Let, first: int, loop: Loop) -> bool:
    """Whether a loop takes all items from the first on."""
    normal = current().assumptions.normal
    assert loop.trips is not None
    return bool(normal(size_of_atom(loop.trips)) == normal(array_type(stmt.args[0]).sizes[0] - first))
