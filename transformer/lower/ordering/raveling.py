"""Loops over whole rows, which lie one behind the other in memory: one loop over all of their numbers.

    nest i, j < n, m                                        nest p < n*m
        store y, i, j, x[i + 1, j] - x[i, j]       →            store y, p, x[p + m] - x[p]

Rows are often short, three coordinates or ten classes, and processors compute eight numbers at once. What is read and
written has fewer places than the array has axes then: the last one counts along all axes that are left, as the array
that NumPy's `ravel` gives is counted.

Only arrays whose elements certainly lie in one piece are written so: those that the function, or its caller for it,
allocates. Arguments may be any view: they are read through `ravel`, which copies those that lie otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Effect, Let, Var
from ...core.sizes import Extent, Size, Unknown, product
from ...core.types import INT
from ...core.walk import atom_of_size, atom_vars, size_of_atom
from ..nest.nest_walk import accesses, inner_blocks, is_load, statements, uses_after, uses_before, writes
from ..nest.nests import ROOM, Allocate, Block, Fold, Index, Nest, Store
from ..nest.places import sole


def ravel(block: Block, params: list[Var]) -> Block:
    """The block with its loops over whole rows as loops over their numbers."""
    return _raveled(block, whole_arrays(block, params))


def whole_arrays(block: Block, params: list[Var]) -> set[Var]:
    """The arrays that may be read and written as NumPy's `ravel` of them, in the function with these parameters."""
    inside = list(statements(block))
    written = {array for stmt in inside for array in writes(stmt)}
    whole = {stmt.target for stmt in inside if isinstance(stmt, Allocate)} | set(params).difference(written)
    return whole.difference(_taking_turns(inside))


def _taking_turns(inside: list[Any]) -> Iterator[Any]:
    """The names that stand for other memory after a while."""
    for stmt in inside:
        for carry in getattr(stmt, "carries", ()):
            if carry.next is not carry.entry:
                yield from (carry.entry, carry.out)
        yield from (merge.target for merge in getattr(stmt, "merges", ()))
        if isinstance(stmt, Effect) and stmt.kind == ROOM:
            yield stmt.args[0]


def whole_rows(block: Block) -> set[int]:
    """The nests and folds, by their identity, which go through whole rows of arrays that nobody reads or writes in
    another way, but for arguments."""
    inside = list(statements(block))
    made = {stmt.target for stmt in inside if isinstance(stmt, Allocate)}
    touched = {array for stmt in inside for array, _ in _own(stmt)}
    found = [stmt for stmt in inside if isinstance(stmt, (Nest, Fold)) and len(stmt.indices) > 1
             and _is_of_rows(stmt, touched)]
    count = Counter(array for stmt in inside for array, _ in _own(stmt))
    while True:
        by_rows = Counter(array for stmt in found for array, _ in accesses(stmt))
        others = {array for array in made if by_rows[array] < count[array]}
        left = [stmt for stmt in found if others.isdisjoint(array for array, _ in accesses(stmt))]
        if len(left) == len(found):
            return set(map(id, found))
        found = left


def _own(stmt: Any) -> Iterator[tuple[Any, tuple[Atom, ...]]]:
    """What a statement itself reads or writes."""
    return iter(()) if inner_blocks(stmt) else accesses(stmt)


def sizes_of_places(array: Var, at: tuple[Atom, ...]) -> tuple[Extent, ...]:
    """How many places there are along each axis that a place in an array counts along."""
    sizes: tuple[Extent, ...] = array.type.sizes                         # type: ignore[union-attr]
    return sizes if len(at) == len(sizes) else (*sizes[:len(at) - 1], product(sizes[len(at) - 1:]))


def _raveled(block: Block, whole: set[Var]) -> Block:
    made: Block = []
    for stmt in block:
        for inner in inner_blocks(stmt):
            inner[:] = _raveled(inner, whole)
        made.append(flattened(stmt, whole) if isinstance(stmt, (Nest, Fold)) else stmt)
    return made


def flattened(stmt: Nest | Fold, whole: set[Var]) -> Nest | Fold:
    """A nest with one index for as many of its last ones as go through rows, also where they are those of two nests."""
    inner = stmt.body[0] if len(stmt.body) == 1 else None
    if isinstance(stmt, Nest) and isinstance(inner, Nest):
        both = Nest([*stmt.indices, *inner.indices], inner.body, stmt.origin, stmt.ordered or inner.ordered,
                    stmt.apart and inner.apart)
        if inner.indices and _is_of_rows(both, whole):
            return flattened(both, whole)
    while len(stmt.indices) > 1 and _is_of_rows(stmt, whole):
        stmt = _of_numbers(stmt)
    return stmt


def _is_of_rows(stmt: Nest | Fold, whole: set[Var]) -> bool:
    """Whether the last two indices of a nest do nothing but go through rows of arrays, in any order: where a row waits
    for the one before, its own numbers are still computed together, which those of all rows could not be."""
    if getattr(stmt, "ordered", False):
        return False
    row, place = stmt.indices[-2:]
    both = {row.var, place.var}
    others = (var for each in statements(stmt.body) if not is_load(each) and not isinstance(each, Store)
              for var in (*uses_before(each), *uses_after(each)))
    stored = [each.value for each in statements(stmt.body) if isinstance(each, Store)]
    handed_on = [carry.next for carry in getattr(stmt, "carries", ())]
    return (both.isdisjoint(atom_vars((place.size, stored, handed_on))) and both.isdisjoint(others)
            and all(_goes_through_rows(array, at, row, place, whole) for array, at in accesses(stmt)
                    if not both.isdisjoint(atom_vars(at))))


def _goes_through_rows(array: Var, at: tuple[Atom, ...], row: Index, place: Index, whole: set[Var]) -> bool:
    """Whether a place is one of a row, which the last index goes through as a whole, some rows from the other one."""
    if array not in whole or len(at) < 2 or sole(at[-1]) is not place.var:
        return False
    normal, distance = current().assumptions.normal, size_of_atom(at[-2]) - _size(row.var)
    return (isinstance(distance, int) and normal(sizes_of_places(array, at)[-1]) == normal(place.size)
            and {row.var, place.var}.isdisjoint(atom_vars(at[:-2])))


def _size(var: Var) -> Size:
    return Size.of(Unknown(var))


def _of_numbers(stmt: Nest | Fold) -> Nest | Fold:
    """A nest with one index in place of its last two."""
    *others, row, place = stmt.indices
    number, size = Var(INT), row.size * place.size
    current().assumptions.within(number, 0, size - 1)
    _count_by(stmt.body, number, row.var, place)
    stmt.indices = [*others, Index(number, size)]
    return stmt


def _count_by(block: Block, number: Var, row: Var, place: Index) -> None:
    """Places in rows as numbers of all rows, in place."""
    def counted(at: tuple[Atom, ...]) -> tuple[Atom, ...]:
        if place.var not in set(atom_vars(at)):
            return at
        distance = size_of_atom(at[-2]) - _size(row)
        return (*at[:-2], atom_of_size(distance * place.size + _size(number)))

    for k, stmt in enumerate(block):
        for inner in inner_blocks(stmt):
            _count_by(inner, number, row, place)
        if isinstance(stmt, Store):
            stmt.at = counted(stmt.at)
        elif is_load(stmt):
            array, *at = stmt.args
            block[k] = Let(stmt.targets, stmt.op, (array, *counted(tuple(at))), stmt.attrs, stmt.origin)


def raveled_arrays(block: Block) -> dict[tuple[Var, int], Var]:
    """The arrays whose rows loops go through, with numbers of places, and variables for what `ravel` gives of them."""
    found: dict[tuple[Var, int], Var] = {}
    for array, at in (each for stmt in block for each in accesses(stmt)):
        type: Any = array.type
        if len(at) < type.rank and (array, len(at)) not in found:
            found[array, len(at)] = Var(type.with_sizes(sizes_of_places(array, at)))
    return found
