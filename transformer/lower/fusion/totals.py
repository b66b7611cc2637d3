"""Sums that begin with zeros, to be added to others in the end, are added to those at once.

    nest i < n, j < m
        store t, i, j, 0.0
    nest k < d, i < n, j < m, in order              nest k < d, i < n, j < m, in order
        t[i, j] += x[k, i] * y[k, j]        →           w[i, j] += x[k, i] * y[k, j]
    nest i < n, j < m
        w[i, j] += t[i, j]

A gradient of weights in a loop over places or samples is such a sum. It is done for sums of few items: of many, those
that are apart are more accurate, and what they cost besides does not matter. A number that is stored to be added later
is added at once as well, if what comes in between does not look at the sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Const, Let, Loop, Var
from ...core.sizes import Extent, product
from ...core.walk import Copier, atom_vars, size_of_atom
from ...ops.arithmetic import Add
from ..nest.lifetimes import mentioned
from ..nest.nest_walk import all_uses, defined, inner_blocks, is_load, statements
from ..nest.nests import Block, Fold, Nest, Store
from .shrinking import Uses, own_memory
from .substitution import filled_arrays

MANY = 64                              # items of a sum that is worth memory of its own


def added_at_once(block: Block, results: list[Atom]) -> Block:
    """The block without such sums."""
    own = own_memory(block, results)
    for k in range(len(block)):
        _in_block(block[k], own)
    return _without_totals(block, own)


def _in_block(stmt: Any, own: dict[Var, Uses]) -> None:
    for inner in inner_blocks(stmt) if not isinstance(stmt, (Nest, Fold)) else ():
        for each in inner:
            _in_block(each, own)
        inner[:] = _without_totals(inner, own)


@dataclass(slots=True)
class _Sum:
    """What is added in the end: a total at a place to an element at another one."""

    total: Var
    place: tuple[Any, ...]
    store: Store


def _without_totals(block: Block, own: dict[Var, Uses]) -> Block:
    for last in list(block):
        found = _sum_in(last)
        if found is None or found.total not in own:
            continue
        if _is_added_where_made(found, block[:block.index(last)], own[found.total]):
            block = [stmt for stmt in block if stmt is not last]
            continue
        first: Any = next((stmt for stmt in block if _zeros(stmt, found.total) is not None), None)
        if first is None or block.index(first) > block.index(last):
            continue
        between = block[block.index(first) + 1:block.index(last)]
        if _may_be_direct(found, between, own[found.total]):
            first.body.remove(_zeros(first, found.total))
            for stmt in between:
                _redirect(stmt, found)
            block = [stmt for stmt in block if stmt is not last and (stmt is not first or first.body)]
    return block


def _is_added_where_made(found: _Sum, before: Block, uses: Uses) -> bool:
    """Adds what one nest stores as soon as it is made, if it is a number for each place, and nobody needs it, or looks
    at what it is added to, in the meantime."""
    target, used = found.store.array, set(atom_vars(tuple(found.store.at)))
    for stmt in reversed(before):
        store = _stored(stmt, found.total) if isinstance(stmt, Nest) else None
        if store is not None:
            alone = len(uses.places) == 2 and _is_only_added_to(target, stmt) and used.isdisjoint(defined(stmt))
            if alone:
                _redirect(stmt, found)
            return alone
        if {target, found.total} & mentioned(stmt) or not {target, *used}.isdisjoint(defined(stmt)):
            return False
    return False


def _stored(nest: Nest, array: Var) -> Store | None:
    """What a nest stores in every iteration at a place of its own."""
    indices = [index.var for index in nest.indices]
    return next((each for each in nest.body if isinstance(each, Store) and each.array is array and not each.adds
                 and len(each.at) == len(indices) and set(each.at) == set(indices)), None)


def _is_only_added_to(array: Var, nest: Nest) -> bool:
    """Whether a nest uses an array for nothing but additions."""
    stores = [each for each in statements(nest.body) if isinstance(each, Store) and each.array is array]
    rest = sum(var is array for var in all_uses([nest])) - len(stores)
    return rest == 0 and all(store.adds for store in stores)


def _sum_in(stmt: Any) -> _Sum | None:
    """The sum that a nest adds to other elements, if it does nothing else, once for each."""
    if not isinstance(stmt, Nest) or not stmt.body or not isinstance(stmt.body[-1], Store):
        return None
    *lets, store = stmt.body
    total = _added(lets, store)
    if total is None:
        return None
    place, indices = total.args[1:], [index.var for index in stmt.indices]
    types: list[Any] = [total.args[0].type, store.array.type]
    whole = len(place) == len(indices) == len(set(place)) and set(place) == set(indices)
    sizes = {index.var: index.size for index in stmt.indices}
    if not whole or types[0].dtype != types[1].dtype or total.args[0] is store.array:
        return None
    normal = current().assumptions.normal
    if any(normal(sizes[k]) != normal(size) for k, size in zip(place, types[0].sizes, strict=True)):
        return None
    return _Sum(total.args[0], place, store)


def _added(lets: Block, store: Store) -> Any:
    """The load of what is added to an element, if that is all that is done."""
    loads = [each for each in lets if is_load(each)]
    if store.adds:
        return loads[0] if len(lets) == len(loads) == 1 and store.value is loads[0].target else None
    add = next((each for each in lets if isinstance(each, Let) and each.target is store.value), None)
    same = [each for each in loads if each.args[0] is store.array and each.args[1:] == tuple(store.at)]
    if add is None or add.op is not Add or len(lets) != 3 or len(loads) != 2 or len(same) != 1:
        return None
    total = next(each for each in loads if each is not same[0])
    return total if {total.target, same[0].target} == set(add.args) else None


def _zeros(stmt: Any, array: Var) -> Store | None:
    """The store that fills an array with zeros."""
    store = filled_arrays(stmt).get(array) if isinstance(stmt, Nest) else None
    zero = store is not None and not store.adds and isinstance(store.value, Const) and store.value.value == 0
    return store if zero else None


def _may_be_direct(found: _Sum, between: Block, uses: Uses) -> bool:
    """Whether there are few items, nothing but additions to the total, and nobody looks at what it is added to."""
    target, used = found.store.array, set(atom_vars(tuple(found.store.at)))
    if any(target in mentioned(stmt) or not used.isdisjoint(defined(stmt)) for stmt in between):
        return False
    sites = [site for stmt in between for site in _additions(stmt, found.total, {})]
    if not sites or len(sites) != len(uses.places) - 2:
        return False
    return all(_are_few(store, sizes) for store, sizes in sites)


def _additions(stmt: Any, total: Var, around: dict[Var, Extent]) -> Iterator[tuple[Store, dict[Var, Extent]]]:
    """Where something is added to the total, with the sizes of the loops around it."""
    if isinstance(stmt, Store) and stmt.array is total and stmt.adds:
        yield stmt, around
    if isinstance(stmt, (Nest, Fold)):
        around = {**around, **{index.var: index.size for index in stmt.indices}}
    elif isinstance(stmt, Loop) and stmt.trips is not None:
        around = {**around, stmt.position: size_of_atom(stmt.trips)}
    elif inner_blocks(stmt):
        return
    for inner in inner_blocks(stmt):
        for each in inner:
            yield from _additions(each, total, around)


def _are_few(store: Store, sizes: dict[Var, Extent]) -> bool:
    """Whether few items are added to an element."""
    items = product([size for var, size in sizes.items() if var not in atom_vars(tuple(store.at))])
    inside = not set(sizes).isdisjoint(atom_vars((items,)))
    return not inside and (items < MANY if isinstance(items, int) else not current().assumptions.choose(items, MANY))


def _redirect(stmt: Any, found: _Sum) -> None:
    """Makes additions to the total additions to what it would be added to."""
    for inner in inner_blocks(stmt):
        for k, each in enumerate(inner):
            if isinstance(each, Store) and each.array is found.total:
                at = Copier(dict(zip(found.place, each.at, strict=True))).args(found.store.at)
                inner[k] = Store(found.store.array, at, each.value, True, each.origin)
            else:
                _redirect(each, found)
