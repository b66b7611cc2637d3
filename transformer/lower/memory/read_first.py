"""Whether a statement reads the old elements of an array before it writes new ones to their memory.

    for i in range(n - k - 1):                          a[k + 1 + i, k]: iteration i alone writes to this row, and
        f = a[k + 1 + i, k] / a[k, k]                   has read it before
        for j in range(m - k):                          a[k, k + j]: nobody writes to row k
            a[k + 1 + i, k + j] -= f * a[k, k + j]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.grammar import Atom, Loop, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.walk import atom_vars, inner_targets, size_of_atom
from ..nest.lifetimes import written
from ..nest.nest_walk import defined, inner_blocks, is_load, statements, uses_before, writes
from ..nest.nests import Block, Fold, Nest, Store
from ..nest.places import Place, never_meet, same_places

MOST_PAIRS = 256                       # of a load and a store that are compared


@dataclass(slots=True)
class _Access:
    """Where an element is read or written, as the how manyeth access, and the loops around that, outermost first."""

    at: Place
    stores: bool
    around: tuple[Any, ...]
    order: int = 0


def is_read_first(stmt: Any, source: Var, target: Var, unequal: Sequence[Extent]) -> bool:
    """Whether a statement that reads an array and writes another one in its memory gives the same."""
    if target not in written(stmt):
        return True
    loads, stores = _accesses(stmt, source, target)
    if not _are_all(stmt, source, loads) or len(loads) * len(stores) > MOST_PAIRS or any(
            target in writes(each) and not isinstance(each, Store) for each in statements([stmt])):
        return False
    moving = _moving(stmt)
    return all(_is_in_time(load, store, moving) or never_meet(load.at, store.at, moving, unequal)
               for load in loads for store in stores)


def is_never_written(stmt: Any, array: Var, stores: list[Place], unequal: Sequence[Extent]) -> bool:
    """Whether a statement reads an array nowhere that has been written: along an axis, all reads keep a distance
    from all writes, whatever the indices are."""
    loads, _ = _accesses(stmt, array)
    moving = _moving(stmt)
    return _are_all(stmt, array, loads) and len(loads) * len(stores) <= MOST_PAIRS and all(
        never_meet(load.at, store, moving, unequal) for load in loads for store in stores)


def _accesses(stmt: Any, source: Var, target: Var | None = None) -> tuple[list[_Access], list[_Access]]:
    """The loads of an array, and the stores to another one."""
    found = list(_in_order([stmt], source, target, ()))
    for order, access in enumerate(found):
        access.order = order
    return [access for access in found if not access.stores], [access for access in found if access.stores]


def _in_order(block: Block, source: Var, target: Var | None, around: tuple[Any, ...]) -> Iterator[_Access]:
    for stmt in block:
        if is_load(stmt) and stmt.args[0] is source:
            yield _Access(stmt.args[1:], False, around)
        elif isinstance(stmt, Store) and stmt.array is target:
            yield _Access(stmt.at, True, around)
        inside = (*around, stmt) if isinstance(stmt, (Nest, Fold, Loop)) else around
        for inner in inner_blocks(stmt):
            yield from _in_order(inner, source, target, inside)


def _are_all(stmt: Any, array: Var, loads: list[_Access]) -> bool:
    """Whether all that a statement does with an array is to read elements."""
    return sum(array in uses_before(each) for each in statements([stmt])) == len(loads)


def _moving(stmt: Any) -> list[Var]:
    """What may be another number in another iteration."""
    return list(dict.fromkeys(var for each in statements([stmt])
                              for var in (*_indices(each), *defined(each), *inner_targets(each))))


def _indices(stmt: Any) -> list[Var]:
    return [stmt.position] if isinstance(stmt, Loop) else [index.var for index in getattr(stmt, "indices", ())]


def _is_in_time(load: _Access, store: _Access, moving: list[Var]) -> bool:
    """Whether an element is written, if at all, in the iteration that reads it, and behind that."""
    if load.order > store.order:
        return False
    common = [loop for loop, other in zip(load.around, store.around, strict=False) if loop is other]
    inside = len(common) == len(load.around) == len(store.around)
    if inside and _are_apart(common, store.at) and same_places(load.at, store.at):
        return True
    return all(any(_tells(*pair, index, moving) for pair in zip(load.at, store.at, strict=True))
               for loop in common for index in _indices(loop))


def _are_apart(loops: list[Any], at: Place) -> bool:
    """Whether an iteration writes where no other one does, as the loops may be done in any order."""
    indices = {index for loop in loops for index in _indices(loop)}
    return indices <= set(atom_vars(at)) and all(
        isinstance(loop, (Nest, Fold)) and not getattr(loop, "ordered", False) for loop in loops)


def _tells(a: Atom, b: Atom, index: Var, moving: list[Var]) -> bool:
    """Whether two places along an axis are the same only if an index is."""
    here, there = size_of_atom(a), size_of_atom(b)
    count = here.terms.get((Unknown(index),), 0) if isinstance(here, Size) else 0
    return count != 0 and here == there and set(moving).isdisjoint(atom_vars((here - Size.of(Unknown(index)) * count,)))
