"""What iterations add to sums of later ones, added where these begin: the reverse of `pushing`.

    for j in range(n - 1, -1, -1):              for j in range(n - 1, -1, -1):
        x[j] = x[j] / a[j, j]                       total = 0.0
        for k in range(j):                          for k in range(j + 1, n):
            x[k] += -(x[j] * a[k, j])       →           total += x[k] * a[j, k]
                                                    x[j] += -total
                                                    x[j] = x[j] / a[j, j]

A row of the array is read along memory then, not a column. It is done where what is added is the same at the later
time, and nobody looks at the sum in between.
"""

from __future__ import annotations

from dataclasses import replace

from ...core.grammar import Let, Loop, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import INT
from ...core.walk import atom_vars, size_of_atom
from ..nest.dependence import Access, Frame, Ranges, accesses, as_nest, conflicts, may_meet, moved_access
from ..nest.nests import Block
from ..nest.unchanged import are_apart, are_read_again
from .contractions import Term, moved, terms_of
from .explicit import along_memory, loops


def pulled(loop: Loop, around: Ranges) -> Loop | None:
    """A loop that counts down whose iterations begin with what earlier ones add in the end, if that is possible and
    better."""
    if not loop.down or not loop.body or as_nest(loop) is None:
        return None
    *before, last = loop.body
    trips: Extent = size_of_atom(loop.trips)                             # type: ignore[arg-type]
    frame = Frame(loop.position, trips, True, around)
    term = _sum_at_end(before, last, frame)
    if term is None or not _may_be_late(term, before, frame):
        return None
    (k,), here, earlier = term.spans, loop.position, Var(INT)
    after: dict[Var, Extent] = {here: Size.of(Unknown(earlier)), k: Size.of(Unknown(here))}
    at, *reads = (tuple(moved(place, after) for place in own) for own in term.places)
    taken = replace(term, at=at, spans={earlier: (Size.of(Unknown(here)) + 1, trips)}, reads=[
        replace(read, at=own) for read, own in zip(term.reads, reads, strict=True)])
    return replace(loop, body=[*loops(taken), *before])


def _sum_at_end(before: Block, last: object, frame: Frame) -> Term | None:
    """What an iteration adds in the end, if it is a product for every later one, better summed along memory."""
    numbers = {target: stmt for stmt in before if isinstance(stmt, Let) for target in stmt.targets}
    terms = terms_of(last, numbers, frame.position) or ()
    if len(terms) != 1 or not are_apart(list(terms), before):
        return None
    if not are_read_again(list(terms), [*before, last], len(before), 1, frame):
        return None
    term, here = terms[0], frame.position
    if term.after or list(term.spans.values()) != [(0, Size.of(Unknown(here)))]:
        return None
    (k,) = term.spans
    moving = here not in atom_vars(term.at) and all(here in atom_vars(read.at) for read in term.reads)
    return term if moving and along_memory(term, here) > along_memory(term, k) else None


def _may_be_late(term: Term, before: Block, frame: Frame) -> bool:
    """Whether an iteration may begin with what earlier ones would add to its sum in the end."""
    found = accesses(before)
    if found is None:
        return False
    (k,), here, other = term.spans, frame.position, Var(INT)
    target, there = Size.of(Unknown(k)), Size.of(Unknown(other))
    ranges: Ranges = {**frame.around, k: (0, frame.trips - 1), here: (target + 1, frame.trips - 1)}
    between: Ranges = {**ranges, other: (target + 1, Size.of(Unknown(here)) - 1)}
    later: Ranges = {**ranges, other: (0, Size.of(Unknown(here)) - 1)}
    adds = Access(term.array, term.at, {}, True, True)
    others = replace(adds, at=tuple(moved(place, {k: there}) for place in term.at))
    reads = [Access(read.array, read.at, {}) for read in term.reads]
    return (not any(may_meet(mine, moved_access(each, here, there), between)
                    for mine, each in conflicts([adds, *reads], found))
            and not any(may_meet(read, others, later) for read in reads))
