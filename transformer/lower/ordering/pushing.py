"""Sums over what earlier iterations have made, added where they are made: each hands on what it adds to the later ones.

    for j in range(n):                          for j in range(n):
        total = 0.0                                 x[j] = x[j] / a[j, j]
        for k in range(j):                          for k in range(n - j - 1):
            total += x[k] * a[k, j]         →           x[j + k + 1] += -(x[j] * a[j, j + k + 1])
        x[j] += -total
        x[j] = x[j] / a[j, j]

A row of the array is read along memory then, not a column; numbers next to each other are added at the same time. It
is done where what is added is the same at the earlier time: nothing that it is made of is written in between, and
nobody looks at the sum.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...core.grammar import Loop, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import INT
from ...core.walk import size_of_atom
from ..nest.dependence import Access, Ranges, accesses, as_nest, may_meet, moved_access
from ..nest.nest_walk import defined, statements, uses_before
from ..nest.nests import Block, Nest, Store
from .contractions import Term, moved, terms_of
from .explicit import along_memory, loops


def pushed(loop: Loop, around: Ranges) -> Loop | None:
    """A loop whose iterations hand on what they add to the sums of later ones, if that is possible and better."""
    if loop.down or as_nest(loop) is None:
        return None
    term, behind = _sum_at_start(loop)
    if term is None or not _is_better(term, loop.position) or not _may_be_early(term, behind, loop, around):
        return None
    (k,) = term.spans
    here, later = loop.position, Var(INT)
    after = {here: Size.of(Unknown(later)), k: Size.of(Unknown(here))}
    at, *reads = (tuple(moved(place, after) for place in own) for own in term.places)
    spans = {later: (Size.of(Unknown(here)) + 1, size_of_atom(loop.trips))}              # type: ignore[arg-type]
    handed = replace(term, at=at, spans=spans, reads=[
        replace(read, at=own) for read, own in zip(term.reads, reads, strict=True)])
    return replace(loop, body=[*behind, *loops(handed)])


def _sum_at_start(loop: Loop) -> tuple[Term | None, Block]:
    """What an iteration adds at first, if it is a sum over the earlier ones, and what it does then."""
    body: Block = loop.body
    count = next((n for n, stmt in enumerate(body, 1) if isinstance(stmt, Store)), 0)
    before, behind = body[:count], body[count:]
    terms = terms_of(Nest([], before), {}, loop.position) or ()
    made = {var for stmt in before for var in defined(stmt)}
    if len(terms) != 1 or not made.isdisjoint(var for stmt in statements(behind) for var in uses_before(stmt)):
        return None, []
    term, = terms
    start = [span for span in term.spans.values() if span != (0, Size.of(Unknown(loop.position)))]
    return (None, []) if start or len(term.spans) != 1 or term.after else (term, behind)


def _is_better(term: Term, position: Var) -> bool:
    (k,) = term.spans
    return along_memory(term, position) > along_memory(term, k)


def _may_be_early(term: Term, behind: Block, loop: Loop, around: Ranges) -> bool:
    """Whether an iteration may add to the sums of later ones what these would add at first."""
    found = accesses(behind)
    if found is None:
        return False
    (k,), here, other = term.spans, loop.position, Var(INT)
    trips: Any = size_of_atom(loop.trips)                                # type: ignore[arg-type]
    first: Extent = Size.of(Unknown(k)) + 1
    ranges: Ranges = {**around, here: (0, trips - 1), k: (0, Size.of(Unknown(here)) - 1)}
    between: Ranges = {**ranges, other: (first, Size.of(Unknown(here)) - 1)}
    later: Ranges = {**ranges, other: (first, trips - 1)}
    adds = Access(term.array, term.at, {}, True)
    reads = [Access(read.array, read.at, {}) for read in term.reads]
    return (not any(may_meet(read, moved_access(write, here, Size.of(Unknown(other))), between)
                    for read in reads for write in found if write.writes)
            and not any(may_meet(adds, moved_access(each, here, Size.of(Unknown(other))), between) for each in found)
            and not any(may_meet(read, moved_access(adds, here, Size.of(Unknown(other))), later) for read in reads))
