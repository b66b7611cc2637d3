"""Sums and extremes over the rows of an array, row by row: a row of totals instead of a total for every column.

    nest j < m                              nest j < m
        fold i < n, total = 0                   store y, j, 0
            total + x[i, j]          →      nest i < n, j < m, in order
        store y, j, total                       y[j] += x[i, j]

Memory is read in its order then, and numbers next to each other are added at the same time. Running totals along many
columns, and whatever else a fold stores on its way, go down row by row with a row of the numbers that it hands on:

    nest j < m                              nest j < m
        fold i < n, total = 0                   store totals, j, 0
            next = total + x[i, j]       →  nest i < n, j < m, in order
            store y, (i, j), next               next = totals[j] + x[i, j]
                                                store y, (i, j), next
                                                store totals, j, next
"""

from __future__ import annotations

from ...core.builder import current
from ...core.grammar import Carry, Let, Var, type_of
from ...core.sizes import product
from ...core.types import ArrayType
from ...core.walk import atom_vars
from ...ops.arithmetic import Add
from ...ops.selection import Maximum, Minimum
from ..nest.copying import NestCopier
from ..nest.nest_walk import inner_blocks, is_load, statements
from ..nest.nests import Allocate, Block, Fold, Load, Nest, Store
from ..ordering.unrolling import MOST_PLACES, places
from .sums import added, combined


def by_rows(block: Block, only_long: bool = False) -> Block:
    """The block with sums and extremes along columns done row by row; with `only_long`, those whose items and rows are
    too many to be written out."""
    made: Block = []
    for stmt in block:
        for inner in inner_blocks(stmt) if not isinstance(stmt, (Nest, Fold)) else ():
            inner[:] = by_rows(inner, only_long)
        made += _by_rows(stmt, only_long) if isinstance(stmt, Nest) and not stmt.ordered else [stmt]
    return made


def _by_rows(nest: Nest, only_long: bool) -> Block:
    """A nest around one sum, as three: what totals begin with, the additions, and what becomes of them; of several
    extremes, which follow from each other, one after another."""
    folds = [stmt for stmt in nest.body if isinstance(stmt, Fold)]
    if _is_scan(nest, folds, only_long):
        return _scan_by_rows(nest, folds[0])
    steps = [step for step in map(_step, folds) if step is not None]
    if not folds or len(steps) < len(folds) or not nest.indices:
        return [nest]
    if only_long and min(places(folds[0].indices), places(nest.indices[-1:])) <= MOST_PLACES:
        return [nest]
    if len(folds) > 1 and any(step.op is Add for step in steps):
        return [nest]
    if not all(reads_columns(nest, fold) for fold in folds):
        return [nest]
    at = nest.body.index(folds[0])
    if any(not isinstance(stmt, Let) for stmt in nest.body[:at]) or mentions(nest, folds[0], at):
        return [nest]
    *made, last = _apart(nest, at, folds[0], folds[0].carries[0], steps[0])
    return [*made, *(_by_rows(last, only_long) if len(folds) > 1 else [last])]


def _is_scan(nest: Nest, folds: list[Fold], only_long: bool) -> bool:
    """Whether all that a nest does is to go down columns, and to store on its way."""
    if len(folds) != 1 or not nest.indices or nest.body[-1] is not folds[0]:
        return False
    body = folds[0].body
    if not any(isinstance(stmt, Store) for stmt in body) or not all(isinstance(stmt, (Let, Store)) for stmt in body):
        return False
    if only_long and min(places(folds[0].indices), places(nest.indices[-1:])) <= MOST_PLACES:
        return False
    before = nest.body[:-1]
    return all(isinstance(stmt, Let) for stmt in before) and not mentions(nest, folds[0], len(before)) and (
        reads_columns(nest, folds[0]) and is_long(nest))


def is_long(nest: Nest | Fold) -> bool:
    """Whether a row is worth a loop of its own: of a short one, columns share what is fetched of memory anyway."""
    size, assumptions = product([index.size for index in nest.indices]), current().assumptions
    return assumptions.certainly_at_least(size, MOST_PLACES + 1) or assumptions.choose(size, MOST_PLACES + 1)


def _scan_by_rows(nest: Nest, fold: Fold) -> Block:
    """A nest around such a fold as two: what is handed on to the first row, and one row after another."""
    *before, _ = nest.body
    here = tuple(index.var for index in nest.indices)
    sizes = tuple(index.size for index in nest.indices)
    rows = [Var(ArrayType(type_of(carry.entry).dtype, sizes)) for carry in fold.carries]   # type: ignore[union-attr]
    handed = list(zip(rows, fold.carries, strict=True))
    first = [Store(row, here, carry.init, False, fold.origin) for row, carry in handed]
    entries = [Let((carry.entry,), Load, (row, *here), {}, fold.origin) for row, carry in handed]
    nexts = [Store(row, here, carry.next, False, fold.origin) for row, carry in handed]
    return [*(Allocate(row, "sum", nest.origin) for row in rows),
            NestCopier().stmt(Nest(nest.indices, [*before, *first], nest.origin)),
            NestCopier().stmt(Nest([*fold.indices, *nest.indices], [*before, *entries, *fold.body, *nexts],
                                   fold.origin, True))]


def _step(fold: Fold) -> Let | None:
    """The addition of a fold, or the comparison, that makes its only number."""
    if len(fold.carries) != 1:
        return None
    return added(fold.carries[0], fold) or combined(fold.carries[0], fold, (Maximum, Minimum))


def _apart(nest: Nest, at: int, fold: Fold, carry: Carry, step: Let) -> Block:
    type = type_of(carry.entry)
    assert isinstance(type, ArrayType)
    totals = Var(ArrayType(type.dtype, tuple(index.size for index in nest.indices)))
    here = tuple(index.var for index in nest.indices)
    behind = nest.body[at + 1:]
    own = behind[0] if len(behind) == 1 and isinstance(behind[0], Store) else None
    direct = own is not None and own.value is carry.out and not own.adds and (
        type_of(own.array).dtype == type.dtype)                          # type: ignore[union-attr]
    target, place = (own.array, own.at) if direct and own is not None else (totals, here)
    before = nest.body[:at]
    copier = NestCopier()
    first = copier.stmt(Nest(nest.indices, [*before, Store(target, place, carry.init, False, fold.origin)],
                             nest.origin))
    body = [stmt for stmt in fold.body if stmt is not step and step.target not in getattr(stmt, "targets", ())]
    if step.op is Add:
        body.append(Store(target, place, step.args[1], True, fold.origin))
    else:
        old, new = Var(carry.entry.type), Var(carry.entry.type)
        body += [Let((old,), Load, (target, *place), {}, fold.origin),
                 Let((new,), step.op, (old, step.args[1]), {}, fold.origin),
                 Store(target, place, new, False, fold.origin)]
    sums = NestCopier().stmt(Nest([*fold.indices, *nest.indices], [*before, *body], fold.origin, True))
    if direct:
        return [first, sums]
    load = Let((carry.out,), Load, (totals, *here), {}, fold.origin)
    last = Nest(nest.indices, [*before, load, *behind], nest.origin)
    return [Allocate(totals, "sum", nest.origin), first, sums, last]


def mentions(nest: Nest, fold: Fold, at: int) -> bool:
    """Whether the size of what is added up depends on the column."""
    inside = {index.var for index in nest.indices}.union(*(stmt.targets for stmt in nest.body[:at]))
    return not inside.isdisjoint(atom_vars(tuple(index.size for index in fold.indices)))


def reads_columns(nest: Nest, fold: Fold) -> bool:
    """Whether the arrays of more than one axis that are added up lie across the sum."""
    columns, rows = {index.var for index in nest.indices}, {index.var for index in fold.indices}
    across = along = 0
    for stmt in statements(fold.body):
        if not is_load(stmt) or len(stmt.args) < 3:
            continue
        everywhere, last = set(atom_vars(stmt.args[1:])), set(atom_vars(stmt.args[-1:]))
        if not everywhere.isdisjoint(columns) and not everywhere.isdisjoint(rows):
            across += not last.isdisjoint(columns) and last.isdisjoint(rows)
            along += not last.isdisjoint(rows)
    return across > 0 and not along

