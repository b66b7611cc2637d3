"""Sums over what the iterations before have made, for four iterations in one pass over what all four of them add up:

    for i in range(n):                          for block in range(n // 4):
        total = 0.0                                 first = 4 * block
        for k in range(i):                          t0 = t1 = t2 = t3 = 0.0
            total += a[i, k] * y[k]                 for k in range(first):
        y[i] = b[i] - total                             t0 += a[first, k] * y[k]
                                                        t1 += a[first + 1, k] * y[k]            … and t2, t3
                                        →           y[first] = b[first] - t0
                                                    t1 += a[first + 1, first] * y[first]
                                                    y[first + 1] = b[first + 1] - t1            … so for t2, t3
                                                for i in range(n % 4):
                                                    …               as before, for what is left

What is summed is read a fourth of the times, and an iteration waits for three products of the one before it at most,
not for a whole sum. In loops that run down, each sum begins with what was made last. Sums of loops of the program keep
the order of their items; of those, four go on at once also where all iterations have as many, and in small
triangles outside of loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...core.builder import current
from ...core.grammar import If, Let, Loop, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import INT
from ...core.walk import atom_of_size, atom_vars, size_of_atom
from ..fusion.sums import added
from ..nest.copying import NestCopier
from ..nest.dependence import Access, Ranges, accesses, conflicts, may_meet, moved_access
from ..nest.nest_walk import all_uses, inner_blocks
from ..nest.nests import Block, Fold, Index, Nest, Store
from .contractions import moved, slope
from .interchange import as_nest, only_writes
from .passes import TOGETHER, are_worth_their_code, folded_at_once, index_up_to, left_over, moving_with, repeats


def sums_so_far(block: Block, in_loop: bool = False) -> Block:
    """The block with such sums done for four iterations at a time."""
    made: Block = []
    for stmt in block:
        for inner in inner_blocks(stmt):
            inner[:] = sums_so_far(inner, in_loop or repeats(stmt))
        made += _together(stmt, in_loop) or [stmt]
    return made


@dataclass(slots=True)
class Sum:
    """A loop, the sum in it, and what stands before and behind that. What the sum needs comes `first`. A `loop` of the
    program has its items in order. With a `shift` of 1, what an iteration adds to the items of the one before it comes
    first, and else last."""

    nest: Nest
    first: Block
    before: Block
    fold: Fold
    rest: Block
    loop: Loop | None
    shift: int = 0

    @property
    def iteration(self) -> Index:
        return self.nest.indices[0]

    @property
    def item(self) -> Index:
        return self.fold.indices[0]

    @property
    def growth(self) -> int:
        return slope(self.item.size, self.iteration.var)


def _together(stmt: Any, in_loop: bool) -> Block | None:
    found = _parts(_in_order(stmt)) if _may_be(stmt) else None
    if found is None or not _is_growing(found):
        return None
    shift = next((shift for shift in (0, 1) if _may_be_early(found, shift)), None)
    if shift is None or not (found.loop or are_worth_their_code(found.iteration.size, in_loop)):
        return None
    found.shift = shift
    index = found.iteration
    passes = index.size // TOGETHER
    return [_passes(found, passes), left_over(found.nest, index, [], passes * TOGETHER, index.size - passes * TOGETHER)]


def _may_be(stmt: Any) -> bool:
    """Whether the statement is a loop with one sum, and with nothing else that would take long."""
    is_loop = isinstance(stmt, Loop) and only_writes(stmt) and not stmt.independent or (
        isinstance(stmt, Nest) and stmt.ordered and len(stmt.indices) == 1)
    body: Block = stmt.body if is_loop else []
    return sum(map(_is_sum, body)) == 1 and all(
        isinstance(each, (Let, Store)) or isinstance(each, If) and _is_short(each) or _is_sum(each) for each in body)


def _is_short(choice: If) -> bool:
    return all(isinstance(each, (Let, Store)) for block in inner_blocks(choice) for each in block)


def _is_sum(stmt: Any) -> bool:
    """Whether a statement is a loop that hands on a number, and does nothing else."""
    if isinstance(stmt, Loop):
        is_counted = stmt.trips is not None and stmt.cond is None and stmt.count is None and not stmt.down
        if not is_counted or stmt.reads or stmt.records:
            return False
    elif not isinstance(stmt, Fold) or len(stmt.indices) > 1:
        return False
    return (len(stmt.carries) == 1 and not getattr(stmt.carries[0].entry.type, "sizes", True)
            and all(isinstance(each, Let) for each in stmt.body))


def _in_order(stmt: Nest | Loop) -> Nest:
    return as_nest(stmt, NestCopier().block(stmt.body)) if isinstance(stmt, Loop) else stmt


def _parts(nest: Nest) -> Sum | None:
    """The parts of the loop, if nothing before the sum writes to memory."""
    k = next(k for k, each in enumerate(nest.body) if _is_sum(each))
    before, fold, rest = nest.body[:k], nest.body[k], nest.body[k + 1:]
    if not all(isinstance(each, Let) for each in before):
        return None
    loop = fold if isinstance(fold, Loop) else None
    if loop is not None:
        size = size_of_atom(loop.trips)                                  # type: ignore[arg-type]
        fold = Fold([Index(loop.position, size)], loop.carries, loop.body, loop.origin)
    first = _needed(before, fold)
    return Sum(nest, first, [each for each in before if each not in first], fold, rest, loop)


def _needed(before: Block, fold: Fold) -> Block:
    """The statements before a sum on which it rests."""
    needed = {*all_uses([fold])}
    first: Block = []
    for stmt in reversed(before):
        if not needed.isdisjoint(stmt.targets):
            needed.update(all_uses([stmt]))
            first.insert(0, stmt)
    return first


def _is_growing(found: Sum) -> bool:
    """Whether each iteration adds up one item more than that before it, or, in order, as many."""
    here, size, assumptions = found.iteration.var, found.item.size, current().assumptions
    shortest = size - Size.of(Unknown(here)) * found.growth
    total = found.iteration.size
    return (found.growth in ((1,) if found.loop is None else (0, 1)) and here not in atom_vars((shortest,))
            and assumptions.certainly_at_least(total, 0) and not assumptions.certainly_at_least(TOGETHER, total)
            and (assumptions.certainly_at_least(shortest, 0) or assumptions.decide(shortest)))


def _may_be_early(found: Sum, shift: int) -> bool:
    """Whether the items that four iterations have in common are there before the first of these."""
    written = accesses([*found.first, *found.before, found.fold, *found.rest])
    read = accesses([*found.first, found.fold])
    if written is None or read is None or shift and not _is_in_any_order(found):
        return False
    here, item = Size.of(Unknown(found.iteration.var)), Size.of(Unknown(found.item.var))
    for later in range(1, TOGETHER):
        ranges: Ranges = {found.iteration.var: (0, found.iteration.size - 1 - later),
                          found.item.var: (0, found.item.size - 1)}
        there = {found.iteration.var: here + later, found.item.var: item + shift * later}
        late = [Access(each.array, tuple(None if k is None else moved(k, there) for k in each.at), {}) for each in read]
        early = [moved_access(each, Var(INT), 0) for each in written]
        if any(may_meet(*pair, ranges) for pair in conflicts(early, late)):
            return False
    return True


def _is_in_any_order(found: Sum) -> bool:
    return found.loop is None and added(found.fold.carries[0], found.fold) is not None


# -- how it is done -----------------------------------------------------------------------------------


def _passes(found: Sum, passes: Extent) -> Nest:
    number = index_up_to(passes, found.iteration.var)
    first = Size.of(Unknown(number.var)) * TOGETHER
    common = index_up_to(moved(found.item.size, {found.iteration.var: first}), found.item.var)
    item = Size.of(Unknown(common.var))
    copiers = [NestCopier({found.iteration.var: atom_of_size(first + n),
                           found.item.var: atom_of_size(item + found.shift * n)}) for n in range(TOGETHER)]
    body: Block = [copier.stmt(stmt) for copier in copiers for stmt in found.first]
    at_once = folded_at_once(found.fold, [common], NestCopier({found.item.var: common.var}), copiers, _moving(found))
    body.append(at_once if found.loop is None else replace(
        found.loop, position=common.var, trips=atom_of_size(common.size), carries=at_once.carries, body=at_once.body))
    for n, copier in enumerate(copiers):
        body += _iteration(found, copier, [(0 if found.shift else common.size) + k for k in range(n * found.growth)])
    return Nest([number], body, found.nest.origin, True)


def _moving(found: Sum) -> set[Var]:
    """The variables of the fold that differ from one iteration to the next."""
    moving = {found.iteration.var, *(carry.entry for carry in found.fold.carries),
              *(target for stmt in found.first for target in stmt.targets)}
    if found.shift:
        return {*moving, *(target for stmt in found.fold.body for target in stmt.targets)}
    return moving_with(found.fold.body, moving)


def _iteration(found: Sum, copier: NestCopier, items: list[Extent]) -> Iterator[Any]:
    """What is left for one of the iterations: the last items of its sum, and what it does with that."""
    (carry,) = found.fold.carries
    total = copier.mapping[carry.out]
    yield from map(copier.stmt, found.before)
    for item in items:
        copier.mapping.update({found.item.var: atom_of_size(item), carry.entry: total})
        yield from copier.block(found.fold.body)
        total = copier.atom(carry.next)
    copier.mapping[carry.out] = total
    yield from map(copier.stmt, found.rest)
