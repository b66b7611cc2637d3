"""Numbers that a loop reads again and again, of an array that it writes elsewhere, are read before it.

    for j in range(k + 1, n):                   a_ik = a[i, k]
        a[i, j] -= a[i, k] * a[k, j]        →   for j in range(k + 1, n):
                                                    a[i, j] -= a_ik * a[k, j]

LLVM cannot know that none of the places which are written is that one, and does one place after the other. Arrays are
memory here; `levels` has done the same where they were values. As the loop may run over nothing, the place has to be
one of the array in any case.
"""

from __future__ import annotations

from typing import Any

from ...core.builder import current
from ...core.grammar import Let, Loop
from ...core.walk import atom_vars, size_of_atom
from ..nest.dependence import Access, Ranges, accesses, counted_by, is_above, may_meet
from ..nest.nest_walk import defined, inner_blocks, is_load
from ..nest.nests import Block, Nest


def read_before(block: Block, around: Ranges | None = None) -> Block:
    """The block with such numbers read before its loops, the innermost first. `around` are the positions of loops
    around it."""
    made: Block = []
    for stmt in block:
        ranges = {**(around or {}), **positions(stmt)}
        for inner in inner_blocks(stmt):
            inner[:] = read_before(inner, ranges)
        steady = _steady(stmt, around or {}) if isinstance(stmt, (Loop, Nest)) else []
        if steady:
            stmt.body[:] = [each for each in stmt.body if each not in steady]
        made += [*steady, stmt]
    return made


def positions(stmt: Any) -> Ranges:
    """Where a loop that is counted has its positions."""
    counted = counted_by(stmt) if isinstance(stmt, (Loop, Nest)) else None
    return {index.var: (0, index.size - 1) for index in counted or ()}


def _steady(stmt: Any, around: Ranges) -> list[Let]:
    """The loads in the body of a loop, of arrays that it writes, that give the same number each time."""
    loads = [each for each in stmt.body if is_load(each)]
    touched = accesses([stmt]) if loads else None
    if touched is None:
        return []
    writes = [each for each in touched if each.writes]
    inside = {*positions(stmt), *(var for each in stmt.body for var in defined(each))}
    return [load for load in loads if inside.isdisjoint(atom_vars(load.args)) and _is_left_alone(load, writes, around)]


def _is_left_alone(load: Let, writes: list[Access], around: Ranges) -> bool:
    """Whether none of these writes is to the place of a load, but some are to its array, which has that place."""
    array, *at = load.args
    read = Access(array, tuple(map(size_of_atom, at)), {})               # type: ignore[arg-type]
    own = [each for each in writes if each.array is array]
    return bool(own) and not any(may_meet(read, each, around) for each in own) and has_place(read, around)


def has_place(read: Access, around: Ranges) -> bool:
    """Whether an array certainly has a place; shapes of the call may decide it."""
    sizes = map(current().assumptions.normal, read.array.type.sizes)     # type: ignore[union-attr]
    return all(k is not None and is_above(k, around, 0) and is_above(size - k, around, decides=True)
               for k, size in zip(read.at, sizes, strict=True))
