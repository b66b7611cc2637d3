"""Sums that a loop adds up at one place of an array are added up in a number.

    for k in range(j):                          total = a[i, j]
        a[i, j] -= a[i, k] * a[j, k]    →       for k in range(j):
                                                    total -= a[i, k] * a[j, k]
                                                a[i, j] = total

LLVM cannot know that none of the places which are read is that one, and each item waits until the one before is in
memory. The items keep their order. As the loop may run over nothing, the place has to be one of the array in any case.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...core.grammar import Atom, Carry, Let, Loop, Var, type_of
from ...core.walk import atom_vars, size_of_atom
from ...ops.arithmetic import Add
from ..fusion.steady import has_place, positions
from ..nest.copying import NestCopier
from ..nest.dependence import Access, Places, Ranges, accesses, may_meet
from ..nest.nest_walk import inner_blocks, is_load
from ..nest.nests import Block, Load, Store
from .interchange import only_writes


def carried_sums(block: Block, around: Ranges | None = None) -> Block:
    """The block with such sums in numbers. `around` are the positions of loops around it."""
    made: Block = []
    for stmt in block:
        ranges = {**(around or {}), **positions(stmt)}
        for inner in inner_blocks(stmt):
            inner[:] = carried_sums(inner, ranges)
        store = _only_store(stmt) if isinstance(stmt, Loop) and only_writes(stmt) else None
        if store is None or not _is_left_alone(store, stmt, around or {}):
            made.append(stmt)
        else:
            made += _in_number(stmt, store, _begin(made, store))
    return made


def _only_store(loop: Loop) -> Store | None:
    """What a loop changes, if that is one number, always at the same place, and all that it does."""
    body: Block = loop.body
    *lets, store = body or [None]
    if not isinstance(store, Store) or not all(isinstance(each, Let) for each in lets) or not _is_number(store):
        return None
    inside = {loop.position, *(target for each in lets for target in each.targets)}
    changes = store.adds is True or any(_is_load_of(store, each) for each in lets)
    return store if changes and inside.isdisjoint(atom_vars(store.at)) else None


def _is_number(store: Store) -> bool:
    """Whether what is stored is rounded no further."""
    dtype = type_of(store.array).dtype                                   # type: ignore[union-attr]
    return dtype.char in "fdFD" and type_of(store.value).dtype == dtype  # type: ignore[union-attr]


def _is_load_of(store: Store, stmt: Any) -> bool:
    return is_load(stmt) and stmt.args[0] is store.array and _places(stmt.args[1:]) == _places(store.at)


def _places(at: tuple[Atom, ...]) -> Places:
    return tuple(map(size_of_atom, at))


def _is_left_alone(store: Store, loop: Loop, around: Ranges) -> bool:
    """Whether nothing else in a loop touches the place of its store, which the array certainly has."""
    place, touched = Access(store.array, _places(store.at), {}), accesses([loop])
    return touched is not None and has_place(place, around) and not any(
        each.at != place.at and may_meet(place, each, around) for each in touched)


def _begin(made: Block, store: Store) -> Atom | None:
    """What the number begins as, where that was stored just before: then it is taken out there."""
    for k in range(len(made) - 1, -1, -1):
        each = made[k]
        if isinstance(each, Store) and not each.adds and each.array is store.array and (
                _places(each.at) == _places(store.at) and _is_number(each)):
            del made[k]
            return each.value
        if not isinstance(each, Let) or store.array in each.args:
            return None
    return None


def _in_number(loop: Loop, store: Store, begin: Atom | None) -> Block:
    number = type_of(store.array).with_sizes(())                         # type: ignore[union-attr]
    entry, out, first = Var(number), Var(number), Var(number)
    lets: Block = loop.body[:-1]
    copier = NestCopier()
    body: Block = []
    for each in lets:
        if _is_load_of(store, each):
            copier.mapping[each.target] = entry
        else:
            body.append(copier.stmt(each))
    following = copier.atom(store.value)
    if store.adds:
        total = Var(number)
        body.append(Let((total,), Add, (entry, following), {}, store.origin))
        following = total
    rest = [carry for carry in loop.carries if carry.entry is not store.array]
    carry = Carry(entry, first if begin is None else begin, following, out)
    load: Block = [Let((first,), Load, (store.array, *store.at), {}, store.origin)] if begin is None else []
    return [*load, replace(loop, carries=[*rest, carry], body=body), replace(store, value=out, adds=False)]
