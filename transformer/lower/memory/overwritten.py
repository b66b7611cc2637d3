"""Nests that fill an array which is written as a whole before anybody reads it, and numbers that others overwrite
before anybody reads them.

    nest i, j: store y, i, j, 0
    nest i:                                   nest i:
        …                            →            …
        loop j: store y, i, j, v                  loop j: store y, i, j, v

Likewise where each column is written by itself, of as many as are known: y[i, 0], y[i, 1] and y[i, 2], by one statement
or by several, also by products of matrices; and where each place is filled by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Const, Loop, Var
from ...core.sizes import Extent
from ...core.walk import atom_vars, size_of_atom
from ..nest.dependence import as_nest
from ..nest.lifetimes import mentioned, written
from ..nest.nest_walk import inner_blocks, is_load, loaded, statements
from ..nest.nests import Block, Index, Nest, Product, Store
from ..nest.places import same_places, sole


def without_fills(block: Block) -> Block:
    """The block without such nests."""
    made: Block = []
    for k, stmt in enumerate(block):
        for inner in inner_blocks(stmt):
            inner[:] = without_fills(inner)
        if not _is_overwritten(stmt, (block[j] for j in range(k + 1, len(block)))):
            made.append(stmt)
    return made


def without_lost(block: Block) -> Block:
    """The statements of a block without those which store numbers that later ones overwrite before they are read."""
    made: Block = []
    coming: list[Store] = []
    for stmt in reversed(block):
        is_store = isinstance(stmt, Store)
        if is_store and any(stmt.array is each.array and same_places(stmt.at, each.at) for each in coming):
            continue
        if not is_store or stmt.adds:
            coming = [each for each in coming if each.array not in mentioned(stmt)]
        else:
            coming.append(stmt)
        made.append(stmt)
    return made[::-1]


def _is_overwritten(stmt: Any, behind: Iterable[Any]) -> bool:
    if isinstance(stmt, Store):
        return _is_fixed(stmt) and isinstance(stmt.value, Const) and _is_met(stmt, behind)
    if not isinstance(stmt, Nest) or not all(isinstance(each, Store) or is_load(each) for each in stmt.body):
        return False
    stores = [each for each in stmt.body if isinstance(each, Store)]
    if len(stores) != 1 or stores[0].adds:
        return False
    array, certain = stores[0].array, list[tuple[Store, list[Index]]]()
    for following in behind:
        if array not in {*mentioned(following), *written(following)}:
            continue
        if not _writes_alone(following, array):
            return False
        certain += [(each, around) for each, around in _stores(following, []) if each.array is array and not each.adds]
        if _cover(certain, stores[0], stmt.indices):
            return True
    return False


def _is_fixed(stmt: Any) -> bool:
    """Whether a statement stores one number at one place."""
    return isinstance(stmt, Store) and not stmt.adds and all(isinstance(atom, Const) for atom in stmt.at)


def _is_met(store: Store, behind: Iterable[Any]) -> bool:
    """Whether what comes next, but for other such numbers, writes to a place whatever else it does."""
    array, place = store.array, tuple(map(size_of_atom, store.at))
    later = (each for each in behind if array in {*mentioned(each), *written(each)})
    following = next((each for each in later if not _is_fixed(each)), None)
    if following is None or not _writes_alone(following, array):
        return False
    return any(each.array is array and not each.adds and _meets(each.at, around, place)
               for each, around in _stores(following, []))


def _meets(at: tuple[Atom, ...], around: list[Index], place: tuple[Extent, ...]) -> bool:
    """Whether one of the iterations of nests is at a place that is a number along every axis."""
    sizes: dict[Any, Extent] = {index.var: index.size for index in around}
    used: set[Any] = set()
    if len(at) != len(place):                                            # as the other one counts along several axes
        return False
    for atom, known in zip(at, place, strict=True):
        index = sole(atom)
        if size_of_atom(atom) != known and (index in used or not _is_below(known, sizes.get(index, 0))):
            return False
        used.add(index)
    at_least = current().assumptions.certainly_at_least
    return all(at_least(size, 1) for index, size in sizes.items() if index not in used)


def _is_below(place: Extent, size: Extent) -> bool:
    return isinstance(place, int) and isinstance(size, int) and 0 <= place < size


def _writes_alone(stmt: Any, array: Var) -> bool:
    """Whether a statement does nothing with an array but store numbers in it."""
    others = [each for each in statements([stmt]) if not isinstance(each, Store) and not inner_blocks(each)]
    return array not in loaded(stmt) and not any(array in _looked_at(each) for each in others)


def _looked_at(stmt: Any) -> set[Var]:
    """What a statement has to do with, but for what a product writes alone."""
    if isinstance(stmt, Product) and not stmt.adds:
        return {*atom_vars(stmt.target.at), stmt.left.array, stmt.right.array}
    return {*mentioned(stmt), *written(stmt)}


def _stores(stmt: Any, around: list[Index]) -> Iterator[tuple[Store, list[Index]]]:
    """What a statement certainly stores, and the indices of all nests around."""
    nest = as_nest(stmt) if isinstance(stmt, Loop) else stmt
    if isinstance(nest, Store):
        yield nest, around
    elif isinstance(nest, Product):
        yield Store(nest.target.array, nest.target.at, Const(0), nest.adds), [*around, *nest.rows, *nest.columns]
    elif isinstance(nest, Nest):
        for each in nest.body:
            yield from _stores(each, [*around, *nest.indices])


def _cover(stores: list[tuple[Store, list[Index]]], fill: Store, filled: list[Index]) -> bool:
    """Whether one of these writes all that is filled, or each of them a column, and all of these together."""
    stores = [each for each in stores if len(each[0].at) == len(fill.at)]    # others count along several axes
    if any(_same_region(store.at, around, fill.at, filled) for store, around in stores):
        return True
    sizes: dict[Any, Extent] = {index.var: index.size for index in filled}
    known = {axis: size for axis, place in enumerate(fill.at) if isinstance(size := sizes.get(sole(place)), int)
             and all(isinstance(store.at[axis], Const) for store, _ in stores)}
    columns = {tuple(store.at[axis].value for axis in known) for store, around in stores         # type: ignore[union-attr]
               if _same_region(_without(known, store.at), around, _without(known, fill.at), filled)}
    return bool(known) and columns.issuperset(product(*map(range, known.values())))


def _without(axes: Iterable[int], at: tuple[Atom, ...]) -> tuple[Atom, ...]:
    return tuple(each for axis, each in enumerate(at) if axis not in axes)


def _same_region(at: Any, around: list[Index], filled_at: Any, filled: list[Index]) -> bool:
    """Whether places certainly run over the same along every axis: the whole of an index, or the same place. Loops
    around that have nothing to do with places run at least once."""
    sizes: dict[Any, Extent]
    whole: dict[Any, Extent]
    sizes, whole = ({index.var: index.size for index in indices} for indices in (around, filled))
    used: set[Any] = set()
    pairs: Any = [[sole(atom) or size_of_atom(atom) for atom in pair] for pair in zip(at, filled_at, strict=True)]
    for place, other in pairs:
        if other not in whole:
            if place != other:
                return False
            continue
        if place in used or place not in sizes or sizes[place] != whole[other]:
            return False
        used.add(place)
    at_least = current().assumptions.certainly_at_least
    return all(at_least(size, 1) for index, size in sizes.items() if index not in used)
