"""Places that loops before have looked at: what an integer was then, for one axis, it may be again.

    for k in range(n):                          … of the reverse sweep:
        d = best[ends[k, 1]]                    for k in range(n - 1, -1, -1):
                                                    ends[k, 1] is a place of what is as long as `best`

An integer is followed to what it is made of. Of a loop that has ended, all positions were there, so the position of
another loop with as many trips was one of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...core.grammar import Const, Let, Loop, type_of
from ...core.guards import Assumptions
from ...core.sizes import Extent, Size
from ...ops.regions import Slot, slots_of
from ..scopes import Scopes
from .touching import has_index

DEEPEST = 4                            # statements that an integer is followed through


class LookedAt(NamedTuple):
    """An integer, as `Places.made_of` says it, that was a place of an axis of this size, if loops with these `trips`
    have iterations."""

    integer: Any
    size: Extent
    trips: Counter[Any]


class Places:
    def __init__(self, scopes: Scopes, assumptions: Assumptions) -> None:
        self.scopes = scopes
        self.assumptions = assumptions

    def of_loop(self, loop: Any) -> Iterator[LookedAt]:
        """What every iteration of a loop, which stands in no other one, looks at."""
        if isinstance(loop, Loop) and loop.cond is None:
            trips = (_trips(loop),)
            for stmt in loop.body:
                yield from self._of_statement(stmt, trips)

    def _of_statement(self, stmt: Any, trips: tuple[Any, ...]) -> Iterator[LookedAt]:
        if isinstance(stmt, Let) and has_index(stmt):
            for integer, size in axes(stmt):
                yield LookedAt(self.made_of(integer, []), size, Counter(trips))
        elif isinstance(stmt, Loop) and stmt.cond is None:
            for inner in stmt.body:
                yield from self._of_statement(inner, (*trips, _trips(stmt)))

    def is_known(self, stmt: Let, before: list[LookedAt]) -> bool:
        """Whether all integers in an index are places that were looked at before."""
        around = Counter(_trips(scope.loop) for scope in self.scopes.scope_of[stmt].loops())
        return all(any(self._is_one(integer, size, each, around) for each in before) for integer, size in axes(stmt))

    def _is_one(self, integer: Any, size: Extent, looked: LookedAt, around: Counter[Any]) -> bool:
        return looked.trips <= around and self.made_of(integer, []) == looked.integer and (
            self.assumptions.certainly_equal(size, looked.size))

    def made_of(self, atom: Any, positions: list[Any], depth: int = 0) -> Any:
        """What an integer is made of, where positions of loops are told by the number of trips, and which of them they
        are by the order in which they turn up."""
        stmt = self.scopes.definition.get(atom) if not isinstance(atom, Const | Size | int) else None
        if isinstance(stmt, Loop) and atom is stmt.position:
            if atom not in positions:
                positions.append(atom)
            return "position", positions.index(atom), _trips(stmt)
        if isinstance(stmt, Let) and depth < DEEPEST and (stmt.op.elementwise or stmt.op.name == "get"):
            index = stmt.attrs.get("index", ())
            if stmt.attrs.keys() <= {"index"} and all(isinstance(entry, int | Slot) for entry in index):
                return stmt.op.name, index, *(self.made_of(arg, positions, depth + 1) for arg in stmt.args)
        return repr(atom.value) if isinstance(atom, Const) else atom


def axes(stmt: Let) -> Iterator[tuple[Any, Extent]]:
    """The integers in the index of a statement, each with the size of its axis."""
    slots = slots_of(stmt)
    entries = (entry for entry in stmt.attrs["index"] if entry is not None)
    sizes: Any = stmt.args[0].type.sizes                                       # type: ignore[union-attr]
    for entry, size in zip(entries, sizes):
        if isinstance(entry, Slot) and not getattr(type_of(slots[entry.k]), "sizes", ()):
            yield slots[entry.k], size


def _trips(loop: Loop) -> Any:
    return repr(loop.trips.value) if isinstance(loop.trips, Const) else loop.trips
