"""Whether two iterations of a loop touch the same element, by where they read and write.

    for i in range(n):                      c[i, j] of one iteration, c[i, j] of a later one: never the same
        for j in range(i + 1):
            c[i, j] += a[j, i]              c[i, j] of one, c[i + j, 0] of a later one: perhaps

Places are sizes in terms of positions of loops. Along an axis, two of them never meet if their difference keeps above
0, where every position stands at that end of its range at which the difference is least.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.builder import current
from ...core.grammar import If, Let, Loop, Var
from ...core.sizes import Extent, Size, Unknown, replaced
from ...core.types import INT
from ...core.walk import atom_vars, size_of_atom
from .nest_walk import defined, inner_blocks, is_load, statements
from .nests import Block, Fold, Index, Nest, Store
from .places import common_axes

Places = tuple[Extent | None, ...]
Ranges = dict[Var, tuple[Extent, Extent]]      # first and last, outer positions before those that depend on them


@dataclass(slots=True)
class Access:
    """An element that is read or written, for all positions of the loops around it. An axis is None where the place
    is not one in terms of these."""

    array: Var
    at: Places
    ranges: Ranges
    writes: bool = False
    adds: bool = False


@dataclass(slots=True)
class Frame:
    """The loop whose iterations are compared: its position, which is below `trips`, and whether it runs downwards."""

    position: Var
    trips: Extent
    down: bool = False
    around: Ranges = field(default_factory=dict)

    def meet(self, early: Access, late: Access) -> bool:
        """Whether an access of an iteration and another one of a later iteration may be to the same element."""
        return self._meet(early, late, -1 if self.down else 1)

    def meet_in_one(self, one: Access, other: Access) -> bool:
        """Whether two accesses of the same iteration may be to the same element."""
        return self._meet(one, other, 0)

    def _meet(self, one: Access, other: Access, step: int) -> bool:
        """The position of the second is behind (1), before (-1) or that of the first (0)."""
        if one.array is not other.array:
            return False
        here, distance = Size.of(Unknown(self.position)), Var(INT)
        ranges: Ranges = {**self.around, self.position: (0, self.trips - 1)}
        there: Extent = here
        if step:
            ranges[distance] = (0, self.trips - 2 - here if step > 0 else here - 1)
            there = here + (Size.of(Unknown(distance)) + 1) * step
        return may_meet(one, moved_access(other, self.position, there), ranges)


def may_meet(one: Access, other: Access, ranges: Ranges) -> bool:
    """Whether two accesses may be to the same element, for positions in their ranges."""
    if one.array is not other.array:
        return False
    ranges, alone = {**ranges, **one.ranges, **other.ranges}, common_axes((one.at, other.at))
    return not any(a is not None and b is not None and (is_above(a - b, ranges) or is_above(b - a, ranges))
                   for a, b in zip(one.at[:alone], other.at[:alone], strict=True))


def moved_access(access: Access, position: Var, there: Extent) -> Access:
    """An access at another position of the loop, with positions of its own of the loops inside."""
    moved: dict[Any, Extent] = {Unknown(position): there}
    ranges: Ranges = {}
    for var, (first, last) in access.ranges.items():
        twin = Var(INT)
        ranges[twin] = replaced(first, moved.get), replaced(last, moved.get)
        moved[Unknown(var)] = Size.of(Unknown(twin))
    at = tuple(None if k is None else replaced(k, moved.get) for k in access.at)
    return Access(access.array, at, ranges, access.writes, access.adds)


def is_above(size: Extent, ranges: Ranges, least: int = 1, decides: bool = False) -> bool:
    """Whether a size is at least a number, for all positions in their ranges; if it `decides`, the shapes of the call
    may do so."""
    for var in reversed(ranges):
        count = size.terms.get((Unknown(var),), 0) if isinstance(size, Size) else 0
        if count:
            size = size - Size.of(Unknown(var)) * count + ranges[var][count < 0] * count
    assumptions = current().assumptions
    return ranges.keys().isdisjoint(atom_vars((size,))) and (
        assumptions.certainly_at_least(size, least) or decides and assumptions.decide(size - least))


def accesses(block: Block, with_numbers: bool = False) -> list[Access] | None:
    """All that a block reads and writes; None where it does something else, or what cannot be told. If numbers do not
    matter, loops may hand them on (`with_numbers`)."""
    inside = {var for stmt in statements(block) for var in defined(stmt)}
    inside.update(carry.entry for stmt in statements(block) for carry in getattr(stmt, "carries", ()))
    found: list[Access] = []
    counted = _counted if with_numbers else counted_by
    return found if all(_collect(stmt, {}, inside, found, counted) for stmt in block) else None


def _collect(stmt: Any, ranges: Ranges, inside: set[Var], found: list[Access], counted_by: Any) -> bool:
    match stmt:
        case Let():
            if is_load(stmt):
                found.append(Access(stmt.args[0], _places(stmt.args[1:], inside), ranges))   # type: ignore[arg-type]
            elif stmt.op.of_sequences or any(getattr(arg.type, "sizes", ()) for arg in atom_vars(stmt.args)):
                return False
        case Store():
            found.append(Access(stmt.array, _places(stmt.at, inside), ranges, True, bool(stmt.adds)))
        case If():
            if any(getattr(merge.target.type, "sizes", True) for merge in stmt.merges):
                return False
        case Nest() | Fold() | Loop():
            counted = counted_by(stmt)
            if counted is None or not inside.isdisjoint(atom_vars(tuple(index.size for index in counted))):
                return False
            ranges = {**ranges, **{index.var: (0, index.size - 1) for index in counted}}
        case _:
            return False
    return all(_collect(each, ranges, inside, found, counted_by) for block in inner_blocks(stmt) for each in block)


def _places(at: Any, inside: set[Var]) -> tuple[Extent | None, ...]:
    return tuple(size_of_atom(k) if inside.isdisjoint(atom_vars((k,))) else None for k in at)


def counted_by(stmt: Any) -> list[Index] | None:
    """The positions that a loop runs over, if it hands on nothing but arrays that it writes in place; those of a nest
    or fold."""
    nest = as_nest(stmt) if isinstance(stmt, Loop) else stmt
    return None if nest is None else nest.indices


def _counted(stmt: Any) -> list[Index] | None:
    """The same of a loop that hands on numbers as well."""
    if isinstance(stmt, Loop):
        stmt = replace(stmt, carries=[carry for carry in stmt.carries if getattr(carry.entry.type, "sizes", True)])
    return counted_by(stmt)


def as_nest(loop: Loop) -> Nest | None:
    """A loop whose iterations are counted and hand on nothing but arrays that they write in place."""
    if loop.trips is None or loop.test or loop.cond is not None or loop.count is not None:
        return None
    if loop.reads or loop.records or not all(c.entry is c.init is c.next is c.out for c in loop.carries):
        return None
    return Nest([Index(loop.position, size_of_atom(loop.trips))], loop.body, loop.origin, ordered=True)


def conflicts(one: list[Access], other: list[Access]) -> Iterator[tuple[Access, Access]]:
    """The pairs of accesses whose order matters if they are to the same element: not two reads, not two additions."""
    for a in one:
        for b in other:
            if a.array is b.array and (a.writes or b.writes) and not (a.adds and b.adds):
                yield a, b
