"""Axes that a reshape has made of two, as two again: nothing is divided at every place.

    nest i < n, k < m * d                       nest i < n, j < m, l < d
        a = floor_divide k, d
        b = remainder k, d               →
        x_k = load x, a, i, b                       x_k = load x, j, i, l
        store y, i, k, x_k                          store y, i, d * j + l, x_k
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...core.builder import current
from ...core.grammar import Const, Let, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import INT
from ...core.walk import Copier, atom_of_size, atom_vars, size_of_atom
from ...ops.arithmetic import Add, FloorDivide, Remainder
from ...ops.elements import by_multiples, is_place
from ...ops.identity import Same
from ...ops.integers import is_exact
from ..nest.clean import Renaming
from ..nest.nest_walk import defined, inner_blocks, is_load, statements
from ..nest.nests import Block, Fold, Index, Nest
from ..nest.places import sole

PAIR = 2                               # what is divided by it is shifted, which takes less time than to add up pairs
WRAPPING = 2**63                       # what int64 has no room for


@dataclass
class Parts:
    """An index that is `slow` times `size` plus `fast`: one of them has `count` places, the other one `size`."""

    index: Index
    count: Extent
    size: Extent

    def __post_init__(self) -> None:
        self.slow, self.fast = Var(INT), Var(INT)
        current().assumptions.within(self.slow, 0, self.count - 1)
        current().assumptions.within(self.fast, 0, self.size - 1)

    @property
    def place(self) -> Extent:
        return Size.of(Unknown(self.slow)) * self.size + Size.of(Unknown(self.fast))

    def of_division(self, stmt: Let) -> Block:
        """A division of the index, by `size` or a multiple of it."""
        times = _quotient(size_of_atom(stmt.args[1]), self.size)
        assert times is not None
        if times == 1:
            return [Let(stmt.targets, Same, (self.slow if stmt.op is FloorDivide else self.fast,), {}, stmt.origin)]
        if stmt.op is FloorDivide:
            return [Let(stmt.targets, FloorDivide, (self.slow, atom_of_size(times)), {}, stmt.origin)]
        rest = Var(INT)
        place = Size.of(Unknown(rest)) * self.size + Size.of(Unknown(self.fast))
        return [Let((rest,), Remainder, (self.slow, atom_of_size(times)), {}, stmt.origin),
                Let(stmt.targets, Same, (atom_of_size(place),), {}, stmt.origin)]


def part(block: Block) -> bool:
    """Puts such indices in place of those that are divided; tells whether there were any."""
    changed = undivided(block)
    for stmt in block:
        if isinstance(stmt, (Nest, Fold)):
            while (parts := _parts(stmt)) is not None:
                _part(stmt, parts)
                changed = True
        for inner in inner_blocks(stmt):
            changed |= part(inner)
    return changed


def undivided(block: Block) -> bool:
    """Divides nothing that is seen to be a multiple of what it is divided by, ``(m*i + j) // m`` for one; tells
    whether there was any."""
    made: Block = []
    for stmt in block:
        made += _without_multiples(stmt) if _divides(stmt) else [_added_up(stmt)]
        for inner in inner_blocks(stmt):
            undivided(inner)
    changed = len(made) != len(block) or any(new is not old for new, old in zip(made, block, strict=True))
    block[:] = made
    return changed


def _added_up(stmt: Any) -> Any:
    """What unrolling leaves of a sum: i + 0, 1 + 2."""
    if not isinstance(stmt, Let) or stmt.op is not Add or not is_exact(stmt.target):
        return stmt
    known = [int(atom.value) for atom in stmt.args if isinstance(atom, Const)]
    others = [atom for atom in stmt.args if not isinstance(atom, Const)]
    if not others and abs(sum(known)) < WRAPPING:
        return Let(stmt.targets, Same, (atom_of_size(sum(known)),), {}, stmt.origin)
    if known == [0] and (isinstance(others[0], Size) or is_exact(others[0])):
        return Let(stmt.targets, Same, (others[0],), {}, stmt.origin)
    return stmt


def _without_multiples(stmt: Let) -> Block:
    place, size = map(size_of_atom, stmt.args)
    whole, rest = by_multiples(place, size)
    if whole == 0 and not is_place(rest, size):
        return [stmt]
    if is_place(rest, size):
        known = whole if stmt.op is FloorDivide else rest
        return [Let(stmt.targets, Same, (atom_of_size(known),), {}, stmt.origin)]
    if stmt.op is FloorDivide and not current().assumptions.certainly_at_least(size, 1):
        return [stmt]                                                    # by 0 it is 0, whatever is divided
    left = Let((Var(INT),), stmt.op, (atom_of_size(rest), stmt.args[1]), {}, stmt.origin)
    found = Size.of(Unknown(left.target))
    known = found + whole if stmt.op is FloorDivide else found
    return [left, Let(stmt.targets, Same, (atom_of_size(known),), {}, stmt.origin)]


def _parts(stmt: Nest | Fold) -> Parts | None:
    """How to part an index of a nest, if one is divided by a size that comes out even, and by multiples of that."""
    inside = {var for each in statements(stmt.body) for var in defined(each)} | {index.var for index in stmt.indices}
    for index in stmt.indices:
        divisions = list(_divisions(stmt.body, index.var))
        sizes = [size_of_atom(each.args[1]) for each in divisions]
        if not inside.isdisjoint(atom_vars(tuple(sizes))):
            continue
        for size in sizes:
            if size == 1 or _is_of_pairs(stmt, size):
                continue
            count = _count(stmt, index, size, divisions)
            if count is not None and all(_quotient(other, size) is not None for other in sizes):
                return Parts(index, count, size)
    return None


def _is_of_pairs(stmt: Nest | Fold, size: Extent) -> bool:
    """Whether a fold in two would have totals of pairs, and totals of these."""
    return isinstance(stmt, Fold) and size == PAIR


def _divisions(block: Block, var: Var) -> Iterator[Let]:
    for stmt in statements(block):
        if _divides(stmt) and sole(stmt.args[0]) is var:
            yield stmt


def _divides(stmt: Any) -> bool:
    """Whether a statement divides integers that are places, or could be."""
    return isinstance(stmt, Let) and stmt.op in (FloorDivide, Remainder) and all(map(is_exact, (
        stmt.target, *(atom for atom in stmt.args if not isinstance(atom, Size)))))


def _count(stmt: Nest | Fold, index: Index, size: Extent, divisions: list[Let]) -> Extent | None:
    """How many times a size goes into that of an index; it may be known as that of an axis alone, along which the
    quotient is the place."""
    normal = current().assumptions.normal
    quotients = {each.target for each in divisions if each.op is FloorDivide}
    axes = [axis for each in statements(stmt.body) if is_load(each)
            for k, axis in zip(each.args[1:], each.args[0].type.sizes, strict=True) if sole(k) in quotients]
    counts = [count for count in (_quotient(index.size, size), *axes) if count is not None]
    return next((count for count in counts if normal(count * size) == normal(index.size)), None)


def _quotient(size: Extent, divisor: Extent) -> Extent | None:
    """One size divided by another, if that comes out even."""
    if divisor == 0:
        return None
    found = size // divisor
    normal = current().assumptions.normal
    return found if normal(found * divisor) == normal(size) else None


def _part(stmt: Nest | Fold, parts: Parts) -> None:
    """Does it, in place."""
    _divided(stmt.body, parts)
    renaming = Renaming(Copier({parts.index.var: atom_of_size(parts.place)}))
    stmt.body = renaming.block(stmt.body)
    for carry in getattr(stmt, "carries", ()):
        carry.next = renaming.copier.atom(carry.next)
    at = stmt.indices.index(parts.index)
    stmt.indices[at:at + 1] = [Index(parts.slow, parts.count), Index(parts.fast, parts.size)]


def _divided(block: Block, parts: Parts) -> None:
    found = set(map(id, _divisions(block, parts.index.var)))
    made: Block = []
    for stmt in block:
        made += parts.of_division(stmt) if id(stmt) in found else [stmt]
        for inner in inner_blocks(stmt):
            _divided(inner, parts)
    block[:] = made


