"""Sums over the rows above, for several rows of a triangle in one pass over each of those:

    for i in range(n):                          for block in range(n // 4):
        for j in range(i):                          first = 4 * block
            total = 0.0                             for j in range(first):
            for k in range(j):                          t0 = t1 = t2 = t3 = 0.0
                total += a[i, k] * a[j, k]              for k in range(j):
            a[i, j] = (a[i, j] - total) / a[j, j]           t0 += a[first, k] * a[j, k]
        a[i, i] = …                         →               t1 += a[first + 1, k] * a[j, k]     … and t2, t3
                                                        a[first, j] = (a[first, j] - t0) / a[j, j]
                                                        …
                                                    for i in range(4):
                                                        for j in range(i):
                                                            …                       as before, from a[first + i, first]
                                                        a[first + i, first + i] = …
                                                for i in range(n % 4):
                                                    …                               as before, for what is left

Each row above is fetched a fourth of the times, and four sums go on at once. What a row begins with, as far as all rows
of a block have it, has to be apart from all that the rows of the block above it do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.builder import current
from ...core.grammar import Let, Loop, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import INT
from ...core.walk import atom_of_size, atom_vars
from ..nest.copying import NestCopier
from ..nest.dependence import Access, Ranges, accesses, conflicts, may_meet, moved_access
from ..nest.nest_walk import defined, inner_blocks, is_load, statements
from ..nest.nests import Block, Fold, Index, Nest, Store
from .contractions import moved, slope
from .interchange import as_nest, only_writes
from .passes import TOGETHER, folded_at_once, index_up_to, left_over, moving_with, once_or_each
from .peeling import section


def rows_together(block: Block) -> Block:
    """The block with such sums done for several rows at a time."""
    made: Block = []
    for stmt in block:
        nest = _in_nests(stmt)
        together = _together(nest) if nest else None
        if together is None:
            for inner in inner_blocks(stmt):
                inner[:] = rows_together(inner)
        made += together or [stmt]
    return made


def _in_nests(stmt: Any) -> Nest | None:
    """A loop of the program, and those in it, as nests in order; None where they are not counted."""
    if isinstance(stmt, Loop):
        inside = [_in_nests(each) if isinstance(each, (Loop, Nest)) else each for each in stmt.body]
        return None if None in inside or stmt.down or not only_writes(stmt) else as_nest(stmt, inside)
    return stmt if isinstance(stmt, Nest) and not any(isinstance(each, Loop) for each in statements([stmt])) else None


def _together(nest: Nest) -> Block | None:
    start = nest.body[0] if nest.body else None
    if not isinstance(start, Nest) or not (nest.ordered and start.ordered):
        return None
    if not _is_triangle(nest, start) or not _pays(start, nest.indices[0].var) or not _are_apart(nest, start):
        return None
    (index,) = nest.indices
    passes = index.size // TOGETHER
    left = left_over(nest, index, [], passes * TOGETHER, index.size - passes * TOGETHER)
    return [_passes(nest, start, passes), left]


def _is_triangle(nest: Nest, start: Nest) -> bool:
    """Whether each row begins with a loop that is longer by one than that of the row before."""
    if not len(nest.indices) == len(start.indices) == 1:
        return False
    (index,), (above,) = nest.indices, start.indices
    shortest = above.size - Size.of(Unknown(index.var))
    return (slope(above.size, index.var) == 1 and index.var not in atom_vars((shortest,))
            and current().assumptions.certainly_at_least(shortest, 0)
            and current().assumptions.certainly_at_least(index.size, 0)
            and not (isinstance(index.size, int) and index.size < 2 * TOGETHER))


def _pays(start: Nest, row: Var) -> bool:
    """Whether there are sums of what the row has and of what all rows have, and nothing that cannot be done for several
    rows at a time."""
    folds = [stmt for stmt in start.body if isinstance(stmt, Fold)]
    if not folds or not all(isinstance(stmt, (Let, Store, Fold)) for stmt in start.body):
        return False
    if not all(isinstance(stmt, Let) for fold in folds for stmt in fold.body):
        return False
    moving = _moving(start.body, row)
    return all(_is_shared(fold, moving) for fold in folds)


def _is_shared(fold: Fold, moving: set[Var]) -> bool:
    """Whether the sums of all rows have as many items, and read what is each row's own and what is common to them."""
    if not moving.isdisjoint(atom_vars(tuple(index.size for index in fold.indices))):
        return False
    loads = [stmt for stmt in fold.body if is_load(stmt)]
    own = [stmt for stmt in loads if not moving.isdisjoint(atom_vars(stmt.args))]
    return 0 < len(own) < len(loads)


def _moving(block: Block, row: Var) -> set[Var]:
    """The variables of a block that depend on the row; what folds give always does."""
    moving = {row}
    for stmt in block:
        if isinstance(stmt, Fold):
            entries = {carry.entry for carry in stmt.carries}
            moving = {*moving_with(stmt.body, moving | entries), *defined(stmt)}
        elif isinstance(stmt, Let):
            moving = moving_with([stmt], moving)
    return moving


# -- whether it may be ------------------------------------------------------------------------------


def _are_apart(nest: Nest, start: Nest) -> bool:
    """Whether what a row does at the places that an earlier row has, too, is apart from all that this one does."""
    early, late = accesses(nest.body), accesses(start.body)
    if early is None or late is None:
        return False
    (index,), (above,) = nest.indices, start.indices
    here, distance, place = Size.of(Unknown(index.var)), Var(INT), Var(INT)
    ranges: Ranges = {index.var: (0, index.size - 1), distance: (0, index.size - 2 - here), place: (0, above.size - 1)}
    behind = [_later(each, {index.var: here + 1 + Size.of(Unknown(distance)), above.var: Size.of(Unknown(place))})
              for each in late]
    return not any(may_meet(*pair, ranges) for pair in conflicts(early, behind))


def _later(access: Access, there: dict[Var, Extent]) -> Access:
    """An access at other positions."""
    for position, place in there.items():
        access = moved_access(access, position, place)
    return access


# -- how it is done -----------------------------------------------------------------------------------


def _passes(nest: Nest, start: Nest, passes: Extent) -> Nest:
    (index,), (above,) = nest.indices, start.indices
    number = index_up_to(passes, index.var)
    first = Size.of(Unknown(number.var)) * TOGETHER
    common_size = moved(above.size, {index.var: first})
    common = index_up_to(common_size, above.var)
    shared = NestCopier({above.var: common.var})
    copiers = [NestCopier({index.var: atom_of_size(first + n), above.var: common.var}) for n in range(TOGETHER)]
    at_once = Nest([common], list(_for_all(start.body, shared, copiers, _moving(start.body, index.var))), start.origin,
                   True)
    own = index_up_to(TOGETHER, index.var)
    rest = [section(start, common_size, above.size - common_size), *nest.body[1:]]
    row = atom_of_size(first + Size.of(Unknown(own.var)))
    alone = Nest([own], NestCopier({index.var: row}).block(rest), nest.origin, True)
    return Nest([number], [at_once, alone], nest.origin, True)


def _for_all(body: Block, common: NestCopier, copiers: list[NestCopier], moving: set[Var]) -> Iterator[Any]:
    """Statements for several rows: once what is the same for all of them, and sums together."""
    for stmt in body:
        if isinstance(stmt, Fold):
            yield _sums(stmt, common, copiers, moving)
        else:
            is_same = isinstance(stmt, Let) and moving.isdisjoint(stmt.targets)
            yield from once_or_each(stmt, is_same, common, copiers)


def _sums(fold: Fold, common: NestCopier, copiers: list[NestCopier], moving: set[Var]) -> Fold:
    """One fold in place of one for each row."""
    indices: list[Index] = common.stmt(Nest(fold.indices, [])).indices
    for copier in copiers:
        copier.mapping.update(common.mapping)
    return folded_at_once(fold, indices, common, copiers, moving)
