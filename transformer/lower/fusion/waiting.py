"""Of extremes of several integers, what an iteration waits for comes last.

    lower = min(prev[j + 1] + 1, cur[j] + 1)            lower = min(prev[j + 1] + 1, prev[j] + cost)
    cur[j + 1] = min(lower, prev[j] + cost)     →       cur[j + 1] = min(lower, cur[j] + 1)

The next iteration waits for one comparison then. Of floating numbers the first one counts where one is nan or both are
zeros of two signs, so that their order stays.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...core.grammar import Atom, Let, Loop, Var
from ...core.sizes import Size, Unknown
from ...core.walk import Copier, atom_of_size, atom_vars
from ...ops.selection import Maximum, Minimum
from ..nest.nest_walk import all_uses, is_load, statements
from ..nest.nests import Block, Store
from ..nest.places import same_places


def with_latest_last(block: Block) -> Block:
    """The block with such extremes, in its loops."""
    for stmt in statements(block):
        if isinstance(stmt, Loop) and not stmt.independent:
            late = _late(stmt)
            handed = [each.next for each in stmt.carries] + [each.value for each in stmt.records]
            used = Counter((*all_uses(stmt.body), *handed))
            stmt.body = _reordered(stmt.body, late, used) if late else stmt.body
    return block


def _late(loop: Loop) -> set[Var]:
    """The numbers that rest on what the iteration before has handed on, or written."""
    position = Size.of(Unknown(loop.position))
    before = Copier({loop.position: atom_of_size(position + 1 if loop.down else position - 1)})
    body: Block = loop.body
    written = [(stmt.array, before.args(stmt.at)) for stmt in body if isinstance(stmt, Store)]
    late = {carry.entry for carry in loop.carries if carry.next is not carry.entry}
    for stmt in body:
        if isinstance(stmt, Let) and (_is_one_of(stmt, written) or not late.isdisjoint(atom_vars(stmt.args))):
            late.update(stmt.targets)
    return late


def _is_one_of(stmt: Let, written: list[Any]) -> bool:
    return is_load(stmt) and any(stmt.args[0] is array and same_places(stmt.args[1:], at) for array, at in written)


def _reordered(body: Block, late: set[Var], used: Counter[Any]) -> Block:
    """The body with the late one of three numbers compared last."""
    extremes = {stmt.target: stmt for stmt in body if isinstance(stmt, Let) and stmt.op in (Minimum, Maximum)
                and stmt.target.type.dtype.kind in "iu"}                 # type: ignore[union-attr]
    made: dict[int, Block] = {}
    for stmt in extremes.values():
        for inner, other in (stmt.args, stmt.args[::-1]):
            first = extremes.get(inner) if isinstance(inner, Var) and used[inner] == 1 else None
            if first is None or first.op is not stmt.op or id(first) in made or _is_late(other, late):
                continue
            waiting = sorted(first.args, key=lambda arg: _is_late(arg, late))
            if [_is_late(arg, late) for arg in waiting] == [False, True]:
                made[id(first)] = []
                made[id(stmt)] = [Let(first.targets, stmt.op, (waiting[0], other), first.attrs, first.origin),
                                  Let(stmt.targets, stmt.op, (inner, waiting[1]), stmt.attrs, stmt.origin)]
                break
    return [each for stmt in body for each in made.get(id(stmt), [stmt])]


def _is_late(atom: Atom, late: set[Var]) -> bool:
    return isinstance(atom, Var) and atom in late
