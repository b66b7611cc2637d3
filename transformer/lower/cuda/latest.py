"""Writes to computed places, of which the last one counts: threads share them, though several may be to the same place.

    nest i < n, ordered                     nest k < m: store latest, k, -1
        store y, p[i], x[i]        →        nest i < n: store latest, p[i], i, where that is greater
                                            nest i < n: if latest[p[i]] == i: store y, p[i], x[i]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.builder import current
from ...core.grammar import Const, If, Let, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import INT, ArrayType
from ...core.walk import atom_of_size, atom_vars
from ...ops.comparison import Equal
from ..nest.combinations import CHUNKS
from ..nest.copying import NestCopier
from ..nest.nest_walk import loaded
from ..nest.nests import GREATEST, Allocate, Block, Index, Load, Nest, Store
from ..nest.places import sole
from .placing import is_small
from .private import made_inside

PLACES = np.dtype(np.int64)


@dataclass
class Scattered:
    """A nest that computes places, and writes there: a number each, or what an `inner` nest goes along. `axes` are
    those of the array along which places are computed."""

    nest: Nest
    lets: list[Let]
    inner: Nest | None
    store: Store
    axes: list[int]

    @property
    def at(self) -> tuple[Any, ...]:
        return tuple(self.store.at[axis] for axis in self.axes)

    @property
    def turn(self) -> Any:
        """Which iteration it is."""
        count: Extent = 0
        for index in self.nest.indices:
            count = count * index.size + Size.of(Unknown(index.var))
        return atom_of_size(count)


def latest_of_all(stmt: Any) -> Block | None:
    """Such a nest as nests whose places threads share; None where it is none."""
    found = _scattered(stmt) if isinstance(stmt, Nest) and stmt.ordered and not is_small(stmt) else None
    if found is None:
        return None
    type: Any = found.store.array.type
    latest = Var(ArrayType(PLACES, tuple(type.sizes[axis] for axis in found.axes)), "latest")
    return [Allocate(latest, CHUNKS, stmt.origin), _begun(latest, stmt.origin), _turns(found, latest),
            _writes(found, latest)]


def _scattered(nest: Nest) -> Scattered | None:
    lets, last = nest.body[:-1], nest.body[-1]
    inner = last if isinstance(last, Nest) else None
    *more, store = [last] if inner is None else inner.body
    if not isinstance(store, Store) or store.adds or not all(isinstance(each, Let) for each in (*lets, *more)):
        return None
    if store.array in loaded(nest) or any(each.op.of_sequences for each in (*lets, *more)):
        return None
    along = [] if inner is None else [index.var for index in inner.indices]
    whole = [sole(at) if sole(at) in along else None for at in store.at]
    axes = [axis for axis, var in enumerate(whole) if var is None]
    sizes = [index.size for each in (nest, inner) if each is not None for index in each.indices]
    used = set(atom_vars(tuple(store.at[axis] for axis in axes)))
    computed = {target for each in lets for target in each.targets}
    if sorted(map(whole.count, along)) != [1] * len(along) or not made_inside([nest]).isdisjoint(
            atom_vars(tuple(sizes))):
        return None
    if used.isdisjoint(computed) or not used.isdisjoint({*along, *(var for each in more for var in each.targets)}):
        return None
    return Scattered(nest, lets, inner, store, axes)


def _begun(latest: Var, origin: Any) -> Nest:
    """No iteration has written anything."""
    indices = [Index(Var(INT), size) for size in latest.type.sizes]      # type: ignore[union-attr]
    for index in indices:
        current().assumptions.within(index.var, 0, index.size - 1)
    none = Const(PLACES.type(-1), ArrayType(PLACES))
    return Nest(indices, [Store(latest, tuple(index.var for index in indices), none, False, origin)], origin)


def _turns(found: Scattered, latest: Var) -> Nest:
    """The last iteration that writes to each place."""
    store = Store(latest, found.at, found.turn, GREATEST, found.store.origin)
    copy: Nest = NestCopier().stmt(Nest(found.nest.indices, [*found.lets, store], found.nest.origin))
    for index in copy.indices:
        current().assumptions.within(index.var, 0, index.size - 1)
    return copy


def _writes(found: Scattered, latest: Var) -> Nest:
    """What that iteration writes."""
    nest, turn, is_last = found.nest, Var(ArrayType(PLACES)), Var(ArrayType(np.dtype(np.bool_)))
    lets = [Let((turn,), Load, (latest, *found.at), {}, nest.origin),
            Let((is_last,), Equal, (turn, found.turn), {}, nest.origin)]
    inner = found.inner
    then: Block = [found.store if inner is None else Nest(inner.indices, inner.body, inner.origin)]
    return Nest(nest.indices, [*found.lets, *lets, If(is_last, then, [], [], nest.origin)], nest.origin, apart=True)
