"""Loops without tests on where they are: the first and last places, which differ, get loops of their own.

    nest i < n                              store y, 0, x[0]
        y[i] = s if 0 < i < n - 1      →    nest i < n - 2
               else x[i]                        y[i + 1] = s
                                            store y, n - 1, x[n - 1]

Of a nest over two indices the border rows keep their tests; where most of the places are, there are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.builder import current
from ...core.grammar import Let, Var
from ...core.sizes import Extent, Size, Unknown, greatest, least
from ...core.types import INT
from ...core.walk import atom_of_size, atom_vars, size_of_atom
from ...ops.identity import Same
from ..nest.conditions import resolve
from ..nest.copying import NestCopier
from ..nest.nest_walk import defined, inner_blocks, statements
from ..nest.nests import Block, Fold, Index, Nest, split
from ..nest.pieces import GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, Comparison, Places, comparisons, usual
from .passes import is_at_least

WIDEST = 8                             # a border of more places than these is no border


def peel(block: Block) -> Block:
    """The block with the borders of its nests apart."""
    made: Block = []
    for stmt in block:
        if isinstance(stmt, (Nest, Fold)) and stmt.indices:
            made += _peeled(stmt)
            continue
        for inner in inner_blocks(stmt):
            inner[:] = peel(inner)
        made.append(stmt)
    return made


def _peeled(stmt: Nest | Fold) -> Block:
    low, high = _borders(stmt)
    if not low and not high:
        return [_inside(stmt)]
    index, normal = stmt.indices[0], current().assumptions.normal
    size = normal(index.size)
    enough = is_at_least(size, low + high)
    first: Extent = low if enough or not low else least(low, size)
    last: Extent = size - high if enough or not high else greatest(first, size - high)
    parts = [(0, first), (first, last - first), (last, size - last)]
    sections: Block = []
    for k, (start, count) in enumerate(parts):
        if count == 0:
            continue
        part, = resolve([section(stmt, start, count)])
        sections.append(_inside(part) if k == 1 else part)
    _chain(stmt, sections)
    return [each for part in sections for each in without_loop(part)]


def _inside(stmt: Nest | Fold) -> Nest | Fold:
    """A nest whose inner indices are peeled, and the nests inside of it."""
    if len(stmt.indices) > 1 and any(map(_has_borders, _rests(stmt))):
        stmt = split(stmt, 1)
    stmt.body = peel(stmt.body)
    return stmt


def _rests(stmt: Nest | Fold) -> Iterator[Nest]:
    for depth in range(1, len(stmt.indices)):
        yield Nest(stmt.indices[depth:], stmt.body)


def _has_borders(stmt: Nest | Fold) -> bool:
    return _borders(stmt) != (0, 0)


def section(stmt: Nest | Fold, start: Extent, count: Extent) -> Nest | Fold:
    """The iterations of a nest from a place on."""
    old = stmt.indices[0]
    var = Var(INT, old.var.name)
    current().assumptions.within(var, 0, count - 1)
    copier = NestCopier({old.var: atom_of_size(Size.of(Unknown(var)) + start)})
    if isinstance(stmt, Nest):
        rest = copier.stmt(Nest(stmt.indices[1:], stmt.body, stmt.origin, stmt.ordered))
        new: Nest | Fold = Nest([Index(var, count), *rest.indices], rest.body, stmt.origin, stmt.ordered)
    else:
        rest = copier.stmt(Fold(stmt.indices[1:], stmt.carries, stmt.body, stmt.origin))
        new = Fold([Index(var, count), *rest.indices], rest.carries, rest.body, stmt.origin)
    for mine in new.indices[1:]:
        current().assumptions.within(mine.var, 0, mine.size - 1)
    return new


def _chain(stmt: Nest | Fold, sections: Block) -> None:
    """Hands the numbers of a fold from one section to the next."""
    if not isinstance(stmt, Fold):
        return
    for k, part in enumerate(sections):
        for n, (carry, mine) in enumerate(zip(stmt.carries, part.carries, strict=True)):
            mine.init = carry.init if k == 0 else sections[k - 1].carries[n].out
            if k == len(sections) - 1:
                mine.out = carry.out


def without_loop(stmt: Any) -> Block:
    """A nest or fold over one place without a loop."""
    if stmt.indices[0].size != 1:
        return [stmt]
    copier = NestCopier({stmt.indices[0].var: atom_of_size(0)})
    if isinstance(stmt, Nest):
        rest = copier.stmt(Nest(stmt.indices[1:], stmt.body, stmt.origin, stmt.ordered))
        return [rest] if rest.indices else rest.body
    if len(stmt.indices) > 1:
        return [stmt]
    begins = [Let((carry.entry,), Same, (carry.init,), {}, stmt.origin) for carry in stmt.carries]
    body = copier.block(stmt.body)
    ends = [Let((carry.out,), Same, (copier.atom(carry.next),), {}, stmt.origin) for carry in stmt.carries]
    return [*begins, *body, *ends]


def _borders(stmt: Nest | Fold) -> tuple[int, int]:
    """How many places at the beginning and at the end of the outermost index are told from the others."""
    index = stmt.indices[0]
    inside = {var for each in statements(stmt.body) for var in defined(each)}
    inside.update(other.var for other in stmt.indices[1:])
    low = high = 0
    for comparison in _comparisons(stmt.body, index.var):
        bound = _bound(*comparison, index.var, inside)
        if bound is None:
            continue
        before, behind = _width(bound), _width(current().assumptions.normal(index.size) - bound)
        if before:
            low = max(low, before)
        else:
            high = max(high, behind)
    return low, high


def _width(places: Extent) -> int:
    """How many places a border has: the most that it may have, where loops around move it; 0 if it is none."""
    fewest = current().assumptions.lower_bound(-places)
    return -fewest if fewest is not None and 0 < -fewest <= WIDEST else 0


def _comparisons(block: Block, index: Var) -> Iterator[Comparison]:
    """Of places in a block: those that it has, and those on which its places rest."""
    places = Places()
    for stmt in statements(block):
        sides = places.sides(stmt)
        if sides is not None:
            yield from comparisons(stmt, sides)
            places.note(stmt, usual(stmt, sides, lambda side: index in atom_vars((side,))))
        elif isinstance(stmt, Let) and stmt.op.name in MIRRORED and all(map(_is_place, stmt.args)):
            left, right = map(size_of_atom, stmt.args)
            yield stmt.op.name, left, right


def _is_place(atom: Any) -> bool:
    type = getattr(atom, "type", None)
    return type is None or not getattr(type, "sizes", ()) and type.dtype.kind == "i"


def _bound(name: str, left: Extent, right: Extent, index: Var, inside: set[Var]) -> Extent | None:
    """The first place at which a comparison with an index has another outcome."""
    difference = current().assumptions.normal(left) - current().assumptions.normal(right)
    if not isinstance(difference, Size):
        return None
    count = difference.terms.get((Unknown(index),), 0)
    rest = difference - Size.of(Unknown(index)) * count
    if not count or index in atom_vars((rest,)) or not inside.isdisjoint(atom_vars((rest,))):
        return None
    if count < 0:
        name, count, rest = MIRRORED[name], -count, -rest
    return _quotient(count - 1 - rest, count) if name in (LESS, GREATER_EQUAL) else _quotient(-rest, count) + 1


def _quotient(size: Extent, count: int) -> Extent:
    """Rounded down, term by term where these come out even."""
    if isinstance(size, int):
        return size // count
    return (size - size.constant) // count + size.constant // count


MIRRORED = {LESS: GREATER, GREATER: LESS, LESS_EQUAL: GREATER_EQUAL, GREATER_EQUAL: LESS_EQUAL}
