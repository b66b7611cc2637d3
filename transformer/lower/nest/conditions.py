"""Conditions on places that are certain where they stand: the branch that is not taken goes, as does the rule that a
place does not follow there."""

from __future__ import annotations

from typing import Any

from ...core.grammar import Const, If, Let, Var, type_of
from ...core.sizes import Size
from ...core.walk import atom_of_size, atom_vars
from ...ops.identity import Same
from .nest_walk import inner_blocks
from .nests import Block
from .pieces import GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, Places, chosen, comparisons, holds


def resolve(block: Block) -> Block:
    """The block without tests whose outcome is certain from the range of the indices; other names stay."""
    return _Resolving().block(block)


class _Resolving:
    """Goes down with what is `known` of truth values: conditions of conditions are decided by these."""

    def __init__(self) -> None:
        self.known: dict[Var, bool] = {}
        self.places = Places()
        self.certain: set[Var] = set()             # places of which it is now certain which rule they follow

    def block(self, block: Block) -> Block:
        made: Block = []
        for stmt in block:
            if isinstance(stmt, Let) and (truth := self._truth(stmt)) is not None:
                self.known[stmt.target] = truth
            if isinstance(stmt, If) and (side := self._side(stmt.cond)) is not None:
                made += self.block(stmt.then if side else stmt.orelse)
                made += [Let((merge.target,), Same, (merge.then if side else merge.orelse,), {}, stmt.origin)
                         for merge in stmt.merges]
                continue
            self._inside(stmt)
            made.append(self._simpler(stmt))
        return made

    def _inside(self, stmt: Any) -> None:
        for inner in inner_blocks(stmt):
            inner[:] = self.block(inner)

    def _side(self, cond: Any) -> bool | None:
        if isinstance(cond, Const):
            return bool(cond.value)
        return self.known.get(cond)

    def _truth(self, stmt: Let) -> bool | None:
        name = stmt.op.name
        if name in (LESS, LESS_EQUAL, GREATER, GREATER_EQUAL):
            return self._compared(name, *stmt.args)
        if _is_both(stmt):
            sides = [self._side(atom) for atom in stmt.args]
            return False if False in sides else True if sides == [True, True] else None
        return self._side(stmt.args[0]) if stmt.op is Same else None

    def _compared(self, name: str, a: Any, b: Any) -> bool | None:
        """The outcome of a comparison of places, where it is certain."""
        return holds(name, self.places.of(a), self.places.of(b)) if _is_place(a) and _is_place(b) else None

    def _simpler(self, stmt: Any) -> Any:
        """`a and True` is `a`, and `max(k, 0)` is `k` from 0 on."""
        sides = self.places.sides(stmt)
        if sides is not None:
            place = chosen(stmt, sides)
            self.places.note(stmt, place)
            if place is not None and (comparisons(stmt, sides) or not self.certain.isdisjoint(atom_vars(stmt.args))):
                self.certain.add(stmt.target)
                return Let(stmt.targets, Same, (atom_of_size(place),), {}, stmt.origin)
        if isinstance(stmt, Let) and _is_both(stmt):
            left = [atom for atom in stmt.args if self._side(atom) is not True]
            if len(left) == 1 and stmt.target not in self.known:
                return Let(stmt.targets, Same, (left[0],), {}, stmt.origin)
        return stmt


def _is_both(stmt: Let) -> bool:
    """Whether a statement is `a and b` of truths."""
    return stmt.op.name in ("logical_and", "bitwise_and") and all(
        getattr(getattr(type_of(atom), "dtype", None), "kind", "") == "b" for atom in (stmt.target, *stmt.args))


def _is_place(atom: Any) -> bool:
    type: Any = type_of(atom)
    return isinstance(atom, Size) or type.dtype.kind == "i" and not type.sizes

