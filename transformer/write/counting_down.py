"""Loops of the user that count down, and keep what they record:

    for t in range(n - 1, -1, -1):                for t in range(n - 1, -1, -1):
        h_k[n - t - 1] = h           becomes          h_k[t] = h
        h = step(h, x[t])                             h = step(h, x[t])

Core counts the iterations of any loop upwards, and so do the rows of what it records. In print they are counted
as the user does, in that loop and in all that read its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..core.equations import of_range
from ..core.grammar import Function, If, Let, Loop, Record, Stmt, Var
from ..core.sizes import Size, Unknown
from ..core.types import SeqType
from ..core.walk import Copier, all_statements, all_uses, atom_of_size, renamed
from .ranges import index_of, seen_through
from .stores import Store, stores

Group = list[Loop]


def with_rows_in_order(function: Function) -> Function:
    """The function, in whose print rows of records are counted down where the user counts iterations down."""
    if not _turned(function):
        return function
    copier = Copier()
    body = copier.block(function.body)
    made = replace(function, body=body, results=[copier.atom(result) for result in function.results],
                   size_names={copier.attr(size): name for size, name in function.size_names.items()})
    lets = {stmt.target: stmt for stmt in all_statements(body) if isinstance(stmt, Let) and stmt.targets}
    for loop in _turned(made):
        _turn(loop, lets)
    return made


def _turned(function: Function) -> list[Loop]:
    groups = [group for group in _Rows(function).groups() if _counts_down(group)]
    kept = stores(function).of if groups else {}
    return [loop for group in groups for loop in group if not _appends(group, kept)]


def _appends(group: Group, kept: dict[Var, Store]) -> bool:
    """Whether rows are put at the end of a list, as they differ in length."""
    return any(kept[record.target].kind == "list" for loop in group for record in loop.records)


def _counts_down(group: Group) -> bool:
    """Whether the user counts the iterations down that all these loops go through."""
    steps = {index[2] for loop in group if (index := index_of(loop)) is not None}
    return steps == {-1} and all(map(_may_turn, group))


def _may_turn(loop: Loop) -> bool:
    rows = all(isinstance(read.source, Var) and isinstance(read.source.type, SeqType) for read in loop.reads)
    return rows and loop.trips is not None and loop.cond is None and loop.count is None and (
        loop.position.name in (None, "_"))


def _turn(loop: Loop, lets: dict[Var, Let]) -> None:
    """Counts the positions of a loop, which is of this stage alone, from the other end."""
    assert loop.trips is not None
    position = Var(loop.position.type, loop.position.name)
    last = of_range(seen_through(loop.trips, lets)) - 1
    copier = Copier({loop.position: atom_of_size(last - Size.of(Unknown(position)))})
    for stmt in loop.body:
        renamed(stmt, copier)
    for record in loop.records:
        record.target.type = copier.type(record.target.type)
    for read in loop.reads:
        read.target.type = copier.type(read.target.type)
    for carry in loop.carries:
        carry.next, carry.entry.type = copier.atom(carry.next), copier.type(carry.entry.type)
    loop.position, loop.down = position, not loop.down


class _Rows:
    """Which loops go through the same rows: one that records them, and those that read them."""

    def __init__(self, function: Function) -> None:
        statements = list(all_statements(function.body))
        self.loops = [stmt for stmt in statements if isinstance(stmt, Loop)]
        self.records: dict[Var, tuple[Loop, Record]] = {
            record.target: (loop, record) for loop in self.loops for record in loop.records}
        self.sources = {read.target: read.source for loop in self.loops for read in loop.reads}
        self.looked_at = {var for stmt in statements for var in _looked_at(stmt)} | {
            var for var in function.results if isinstance(var, Var)}

    def groups(self) -> Iterator[Group]:
        """Groups of loops whose rows nothing else looks at."""
        group = {loop: [loop] for loop in self.loops}
        fixed = set()
        for loop in self.loops:
            for read in loop.reads:
                found = self._made(read.source)
                if found is None:
                    fixed.add(loop)
                elif group[found[0]] is not group[loop]:
                    group[found[0]] += group[loop]
                    group.update(dict.fromkeys(group[loop], group[found[0]]))
        fixed |= {loop for var in self.looked_at for loop in self._within(var)}
        for together in {id(each): each for each in group.values()}.values():
            if fixed.isdisjoint(together) and any(loop.records for loop in together):
                yield together

    def _within(self, source: Any) -> Iterator[Loop]:
        """The loops that make a sequence and the rows that it consists of."""
        found = self._made(source)
        while found is not None:
            yield found[0]
            found = self._made(found[1].value)

    def _made(self, source: Any) -> tuple[Loop, Record] | None:
        """The loop and the record that a sequence comes from; of a row that is one itself, those within."""
        if source in self.records:
            return self.records[source]
        outer = self._made(self.sources[source]) if source in self.sources else None
        return None if outer is None else self._made(outer[1].value)


def _looked_at(stmt: Stmt) -> Iterator[Var]:
    """The rows that a statement uses other than by going through them, or by keeping them as a row in turn."""
    if isinstance(stmt, Loop):
        handed = [atom for carry in stmt.carries for atom in (carry.init, carry.next)]
    elif isinstance(stmt, If):
        handed = [atom for merge in stmt.merges for atom in (merge.then, merge.orelse)]
    else:
        handed = list(all_uses(stmt))
    yield from (atom for atom in handed if isinstance(atom, Var) and isinstance(atom.type, SeqType))
