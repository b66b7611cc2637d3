"""Arrays that begin with zeros: their caller allocates them so, and no nest has to fill them.

    nest i, j: store y, i, j, 0               y = np.zeros((n, m)), by whoever calls
    …                                    →    …
    nest i, j: add to y, i, j, v              nest i, j: add to y, i, j, v
    nest j: add to y, 0, j, 0

To add 0 changes nothing but -0.0, which no sum is that has begun with 0.0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import copysign
from typing import Any

from ...core.grammar import Const, Var
from ..nest.lifetimes import mentioned
from ..nest.nest_walk import is_empty_memory, statements, uses_before, writes
from ..nest.nests import Block, Index, Nest, Store
from ..nest.places import sole
from ..ordering.raveling import sizes_of_places


def without_zeros(block: Block, outside: Collection[Var]) -> tuple[Block, list[Var]]:
    """The block without the zeros that are stored in arrays of its caller before anything else is done to them, and
    these arrays."""
    waiting: set[Var] = set()
    made: Block = []
    zeroed: list[Var] = []
    for stmt in block:
        found = [store for store in _fills(stmt, ()) if store.array in waiting and _is_alone(store, stmt)]
        waiting -= mentioned(stmt)
        zeroed += [store.array for store in found]
        made += _without(found, [stmt])
        if is_empty_memory(stmt) and stmt.target in outside:
            waiting.add(stmt.target)
    sums = set(zeroed).difference(*(writes(stmt) for stmt in statements(made) if not _adds(stmt)))
    nothing = [stmt for stmt in statements(made) if _adds(stmt) and stmt.array in sums and _is_zero(stmt.value)]
    return _without(nothing, made), zeroed


def _adds(stmt: Any) -> bool:
    return isinstance(stmt, Store) and stmt.adds is True


def _fills(stmt: Any, around: tuple[Index, ...]) -> Iterator[Store]:
    """Stores of zeros in all of an array."""
    if isinstance(stmt, Nest):
        for each in stmt.body:
            yield from _fills(each, (*around, *stmt.indices))
    elif isinstance(stmt, Store) and not stmt.adds and _is_zero(stmt.value) and _is_everywhere(stmt, around):
        yield stmt


def _is_zero(value: Any) -> bool:
    """Whether all bits of a number are 0."""
    if not isinstance(value, Const) or value.value != 0:
        return False
    parts = complex(value.value)
    return copysign(1, parts.real) == copysign(1, parts.imag) == 1


def _is_everywhere(store: Store, around: tuple[Index, ...]) -> bool:
    """Whether places run over the whole of every axis."""
    sizes = {index.var: index.size for index in around}
    axes = [(place, size) for place, size in zip(store.at, sizes_of_places(store.array, store.at), strict=True)
            if size != 1]
    places = [sole(place) for place, _ in axes]
    return len(set(places)) == len(axes) and all(
        place in sizes and sizes[place] == size for place, (_, size) in zip(places, axes, strict=True))


def _is_alone(store: Store, stmt: Any) -> bool:
    """Whether nothing else in a statement has to do with the array."""
    return sum(store.array in set(uses_before(each)) for each in statements([stmt])) == 1


def _without(stores: list[Store], block: Block) -> Block:
    """The block without some stores, and without nests that do nothing then."""
    made: Block = []
    for stmt in block:
        if isinstance(stmt, Nest):
            stmt.body = _without(stores, stmt.body)
        if stmt not in stores and (not isinstance(stmt, Nest) or stmt.body):
            made.append(stmt)
    return made
