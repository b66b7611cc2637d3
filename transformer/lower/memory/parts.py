"""Parts of an array that are computed as a whole before they are written, where an element that is written would be
read by another iteration, so that the array need not be copied:

    y = x with a row j < m: x[i, m - 1 - j]         nest j < m: part[j] = x[i, m - 1 - j]
                                              →     y = x with a row j < m: part[j]         now in the memory of x
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...core.equations import guardable
from ...core.grammar import Let, Var, type_of
from ...core.sizes import Extent
from ...core.types import ArrayType
from ...core.walk import atom_vars
from ..nest.copying import NestCopier
from ..nest.lifetimes import Lifetimes, mentioned, written
from ..nest.nest_walk import defined, loaded, statements
from ..nest.nests import Allocate, Block, Index, Load, Nest, Store
from .read_first import is_read_first


@dataclass(slots=True)
class _Write:
    """A store to an array, the block that it is in, and the nests around it."""

    store: Store
    block: Block
    nests: list[Nest]

    @property
    def indices(self) -> list[Index]:
        return [index for nest in self.nests for index in nest.indices]


def compute_first(block: Block, update: Allocate, lifetimes: Lifetimes, unequal: Sequence[Extent],
                  resizes: bool) -> None:
    """Divides the nest that writes a part of a new version of an array, if it reads of the old version what it has
    written."""
    source: Any = update.source
    nest: Any = next((stmt for stmt in block[block.index(update):] if update.target in written(stmt)), None)
    if not isinstance(nest, Nest) or is_read_first(nest, source, update.target, unequal):
        return
    writes = _writes(nest, update.target)
    last = [stmt for stmt in block if source in mentioned(stmt)][-1]
    if writes is None or not (resizes or all(map(_is_steady, writes))):
        return
    if update.target in loaded(nest) or lifetimes.is_needed_after(last, source):
        return
    made = [_divided(write, block, nest) for write in writes]
    for each in made:
        lifetimes.after[id(each)] = lifetimes.after[id(nest)]
    at = block.index(nest) + 1
    block[at:at] = made


def _writes(nest: Nest, array: Var) -> list[_Write] | None:
    """What a nest writes to an array, at places that its indices tell; None if something else decides."""
    found: list[_Write] = []

    def collect(nest: Nest, around: list[Nest]) -> None:
        for stmt in nest.body:
            if isinstance(stmt, Store) and stmt.array is array:
                found.append(_Write(stmt, nest.body, [*around, nest]))
            elif isinstance(stmt, Nest):
                collect(stmt, [*around, nest])

    collect(nest, [])
    stores = sum(isinstance(each, Store) and each.array is array for each in statements([nest]))
    in_order = any(each.ordered for write in found for each in write.nests) and len(found) > 1     # of each other
    return found if stores == len(found) and not in_order and all(map(_is_of_indices, found)) else None


def _is_of_indices(write: _Write) -> bool:
    """Whether the place of a store is one in terms of indices, each of which has the same range at every place of the
    others."""
    inside = {var for stmt in statements([write.nests[0]]) for var in defined(stmt)}
    indices = {index.var for index in write.indices}
    sizes = atom_vars(tuple(index.size for index in write.indices))
    return inside.isdisjoint(atom_vars(write.store.at)) and (inside | indices).isdisjoint(sizes)


def _is_steady(write: _Write) -> bool:
    """Whether there are as many elements in every iteration of loops around."""
    return all(guardable(index.size) for index in write.indices)


def _divided(write: _Write, block: Block, nest: Nest) -> Nest:
    """Has a nest, which is in a block, write to memory of its own, and gives the one that writes to the array then."""
    store, indices = write.store, write.indices
    dtype = type_of(store.value).dtype                                   # type: ignore[union-attr]
    part, item = Var(ArrayType(dtype, tuple(index.size for index in indices))), Var(ArrayType(dtype))
    places: tuple[Any, ...] = tuple(index.var for index in indices)
    block.insert(block.index(nest), Allocate(part, "get", store.origin))
    write.block[write.block.index(store)] = Store(part, places, store.value, False, store.origin)
    made: Block = [Let((item,), Load, (part, *places), {}, store.origin)]
    made.append(Store(store.array, store.at, item, store.adds, store.origin))
    ordered = any(each.ordered for each in write.nests)
    written: Nest = NestCopier().stmt(Nest(indices, made, store.origin, ordered))
    return written
