"""Places of extremes along columns, which are found row by row, with the extremes at the same time:

    nest j < m                                          nest j < m
        fold i < n: top = x[0, j], place = 0                top[j], best[j] = x[0, j], 0
            better = x[i, j] > top                      nest i < n, j < m, in order
            top = x[i, j] if better else top       →        better = x[i, j] > top[j]
            place = i if better else place                  top[j] = x[i, j] if better else top[j]
        store best, j, place                                best[j] = i if better else best[j]

Processors compare the items of several columns at once. Along rows there is first the extreme, then its place
(`first_places`).
"""

from __future__ import annotations

from typing import Any

from ...core.grammar import Carry, Let, Var, type_of
from ...core.types import ArrayType
from ..nest.copying import NestCopier
from ..nest.nest_walk import inner_blocks
from ..nest.nests import Allocate, Block, Fold, Load, Nest, Store
from ..ordering.unrolling import MOST_PLACES, places
from .columns import is_long, mentions, reads_columns
from .first_places import is_of_place


def places_by_rows(block: Block) -> Block:
    """The block with such folds done row by row, where columns and rows are long."""
    made: Block = []
    for stmt in block:
        for inner in inner_blocks(stmt) if not isinstance(stmt, (Nest, Fold)) else ():
            inner[:] = places_by_rows(inner)
        made += _Columns(stmt).by_rows() if isinstance(stmt, Nest) and _has_columns(stmt) else [stmt]
    return made


def _has_columns(nest: Nest) -> bool:
    """Whether a nest goes down columns to find extremes, and before only computes numbers."""
    folds = [stmt for stmt in nest.body if isinstance(stmt, Fold)]
    if nest.ordered or not nest.indices or len(folds) != 1 or not is_of_place(folds[0]):
        return False
    at = nest.body.index(folds[0])
    return (all(isinstance(stmt, Let) for stmt in nest.body[:at]) and not mentions(nest, folds[0], at)
            and reads_columns(nest, folds[0]) and is_long(nest)
            and min(places(folds[0].indices), places(nest.indices[-1:])) > MOST_PLACES)


class _Columns:
    """A nest around such a fold, and where each number that the fold hands on lies for all columns: where it is stored
    in the end, or in memory of its own."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        at = next(k for k, stmt in enumerate(nest.body) if isinstance(stmt, Fold))
        self.before, self.fold, self.behind = nest.body[:at], nest.body[at], nest.body[at + 1:]
        self.stores = [self._store(carry) for carry in self.fold.carries]
        self.rows = [(store.array, store.at) if store else self._row(carry)
                     for store, carry in zip(self.stores, self.fold.carries, strict=True)]

    def _store(self, carry: Carry) -> Store | None:
        type: Any = carry.out.type
        return next((stmt for stmt in self.behind if isinstance(stmt, Store) and stmt.value is carry.out
                     and not stmt.adds and type_of(stmt.array).dtype == type.dtype), None)   # type: ignore[union-attr]

    def _row(self, carry: Carry) -> tuple[Var, tuple[Var, ...]]:
        type: Any = carry.entry.type
        row = Var(ArrayType(type.dtype, tuple(index.size for index in self.nest.indices)), carry.entry.name)
        return row, tuple(index.var for index in self.nest.indices)

    def by_rows(self) -> Block:
        own = [Allocate(row, "best", self.nest.origin)
               for (row, _), store in zip(self.rows, self.stores, strict=True) if store is None]
        return [*own, self._first(), self._comparisons(), *self._rest()]

    def _first(self) -> Nest:
        """What each column begins with."""
        stores = [Store(row, at, carry.init, False, self.fold.origin) for (row, at), carry in self._handed()]
        return self._nest([*self.before, *stores])

    def _comparisons(self) -> Nest:
        stores = [Store(row, at, carry.next, False, self.fold.origin) for (row, at), carry in self._handed()]
        loads = [Let((carry.entry,), Load, (row, *at), {}, self.fold.origin) for (row, at), carry in self._handed()]
        body = [*self.before, *loads, *self.fold.body, *stores]
        made: Nest = NestCopier().stmt(Nest([*self.fold.indices, *self.nest.indices], body, self.fold.origin, True))
        return made

    def _rest(self) -> Block:
        """What becomes of what is found, but for where it is stored."""
        rest = [stmt for stmt in self.behind if stmt not in self.stores]
        loads = [Let((carry.out,), Load, (row, *at), {}, self.fold.origin) for (row, at), carry in self._handed()]
        return [self._nest([*self.before, *loads, *rest])] if rest else []

    def _handed(self) -> list[tuple[tuple[Var, Any], Carry]]:
        return list(zip(self.rows, self.fold.carries, strict=True))

    def _nest(self, body: Block) -> Nest:
        made: Nest = NestCopier().stmt(Nest(self.nest.indices, body, self.nest.origin))
        return made
