"""A contraction of two matrices in a loop, for a block of its iterations: which positions are rows, columns and summed,
and the product that a library computes, with loops that add it.

    for w in range(i + 1, n):                   np.dot(a[last:, i:last].T, b[last:], dot)
        for u in range(m):             →        for i, and w in range(i + 1, last): dot[i, u] += a[w, i] * b[w, u]
            c[i, u] += a[w, i] * b[w, u]        for i, u: c[i, u] += dot[i, u]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Const, Let, Var, type_of
from ...core.sizes import Extent, Size, Unknown, least, product
from ...core.types import INT, ArrayType
from ...core.walk import atom_of_size, atom_vars
from ..nest.dependence import Frame, is_above
from ..nest.nests import Allocate, Block, Index, Load, Named, Nest, Part, Product, Store
from .contractions import Read, Span, Term, moved, shifted, slope
from .explicit import loops, negated, number
from .triangles import filled_up, where_finite


@dataclass(slots=True)
class Rows:
    """A block of iterations: `first` is its first position, `count` how many there are (at `most`); `named` computes
    these."""

    block: Var
    first: Extent
    count: Extent
    most: int
    named: Block

    @staticmethod
    def of(frame: Frame, length: int) -> Rows:
        within = current().assumptions.within
        block, first, count = Var(INT, "block"), Var(INT, "first"), Var(INT, "rows")
        here = Size.of(Unknown(first))
        within(block, 0, (frame.trips + (length - 1)) // length - 1)
        within(first, 0, frame.trips - 1)
        within(count, 1, length)
        named: Block = [Let((first,), Named, (atom_of_size(Size.of(Unknown(block)) * length),)),
                        Let((count,), Named, (atom_of_size(least(length, frame.trips - here)),))]
        return Rows(block, here, Size.of(Unknown(count)), length, named)

    @property
    def last(self) -> Extent:
        return self.first + self.count - 1


@dataclass(slots=True)
class Contraction:
    """A term that is a product of matrices. `position` is that of the loop; `other` is among its positions the other
    one of the result, or one of them where the loop is what is summed over (`is_of_rows` is false then), `inner` the
    remaining one. `bounded` is the one whose span depends on the loop, if there is one."""

    term: Term
    position: Var
    other: Var
    inner: Var
    is_of_rows: bool
    bounded: Var | None
    most: Extent

    def products(self, rows: Rows) -> tuple[Block, Block]:
        """The product for a block of iterations, and what adds it to the array. Only the first reads what is
        multiplied, and only the second writes."""
        made, added = _of_rows(self, rows) if self.is_of_rows else _of_inner(self, rows)
        return [*self.term.steady, *made], added

    def added(self, rows: Rows) -> Block:
        """The product for a block of iterations, added to the array itself."""
        common = {var: self.span(var, rows) for var in self.term.spans}
        made = [*self.term.steady, *_added_product(self, rows, common)]
        if self.bounded is None:
            return made
        here, beyond = Var(INT), self.beyond(self.bounded, rows)
        if self.is_of_rows and self.bounded is self.other:
            block, added = _of_rows(self, rows, beyond)
            return [*made, *block, *added]
        place = rows.first + Size.of(Unknown(here))
        term = replace(self.term, at=tuple(moved(k, {self.position: place}) for k in self.term.at))
        own = _outside(self, self.bounded, common[self.bounded], place)
        rest = loops(_in_block(term, self.position, place, {
            here: (0, rows.count), **{var: own if var is self.bounded else common[var] for var in common}}), [here])
        return [*made, *self._of_triangle(rows, beyond, common, rest)]

    def _of_triangle(self, rows: Rows, beyond: Span, common: dict[Var, Span], rest: Block) -> Block:
        """What only some iterations of a block add: as a product, or the loops of the `rest`."""
        assert self.bounded is not None
        triangle = self.read(self.position, self.bounded)
        full = next(each for each in self.term.reads if each is not triangle)
        if _dtype(self.term).kind != "f":
            return rest
        here = rows.first, rows.first + rows.count
        spans = {**common, self.bounded: beyond}
        own = _outside(self, self.bounded, common[self.bounded], Size.of(Unknown(self.position)))
        block, filled = filled_up(triangle, self.position, self.bounded, here, own, beyond, rows.most)
        term = replace(self.term, reads=[filled if each is triangle else each for each in self.term.reads])
        product = _added_product(replace(self, term=term), rows, spans)
        read = {var: span for var, span in {**spans, self.position: here}.items() if var in atom_vars(full.at)}
        return where_finite(full, read, [*block, *product], rest)

    def beyond(self, var: Var, rows: Rows) -> Span:
        """The part of all spans of a position that not all of them have."""
        common, all_of_them = self.span(var, rows), self.span(var, rows, whole=True)
        return (all_of_them[0], common[0]) if common[1] == all_of_them[1] else (common[1], all_of_them[1])

    def span(self, var: Var, rows: Rows, whole: bool = False) -> Span:
        """What the spans of a position in the iterations of a block have in common, or (`whole`) all of them."""
        start, stop = self.term.spans[var]
        return (self.end(start, rows, not whole), self.end(stop, rows, whole))

    def end(self, bound: Extent, rows: Rows, largest: bool) -> Extent:
        """The smallest or largest value that a bound has in a block."""
        grows = slope(bound, self.position) > 0
        return moved(bound, {self.position: rows.last if grows is largest else rows.first})

    def read(self, *positions: Var) -> Read:
        """The factor with these positions."""
        return next(each for each in self.term.reads if set(positions) <= set(atom_vars(each.at)))


def contraction(term: Term, frame: Frame) -> Contraction | None:
    """A term as a product of matrices in blocks of the iterations of a loop, if it is one."""
    term = shifted(term)
    if len(term.reads) != 2 or len(term.spans) != 2 or not _is_of_one_dtype(term):
        return None
    position, (u, w) = frame.position, term.spans
    where = [_axes(at, [position, u, w]) for at in term.places]
    if None in where or any(sum(var in own for own in where) != 2 for var in (position, u, w)):  # type: ignore[operator]
        return None
    of_rows = position in where[0]                                       # type: ignore[operator]
    if of_rows and u not in where[0]:                                    # type: ignore[operator]
        u, w = w, u
    bounded = [var for var in (u, w) if position in atom_vars(term.spans[var])]
    ranges = {**frame.around, position: (0, frame.trips - 1)}
    if len(bounded) > 1 or not all(_is_simple(term.spans[var], position, ranges) for var in (u, w)):
        return None
    if not of_rows and w in bounded:
        u, w = w, u
    most = frame.trips * product(_longest(term.spans[var], position, frame) for var in (u, w))
    return Contraction(term, position, u, w, of_rows, bounded[0] if bounded else None, most)


def _axes(at: tuple[Extent, ...], positions: list[Var]) -> list[Var] | None:
    """The positions that two axes of an array run with, one each; None where it is otherwise."""
    found = []
    for k in at:
        own = [var for var in positions if var in atom_vars((k,))]
        if len(own) > 1 or own and (slope(k, own[0]) != 1 or own[0] in found or
                                    own[0] in atom_vars((k - Size.of(Unknown(own[0])),))):
            return None
        found += own
    return found if len(found) == 2 else None


def _is_simple(span: Span, position: Var, ranges: Any) -> bool:
    """Whether a span is not negative, and one of its ends at most depends on the loop, by as much as its position."""
    moving = [end for end in span if position in atom_vars((end,))]
    steady = all(abs(slope(end, position)) == 1 and position not in atom_vars((moved(end, {position: 0}),))
                 for end in moving)
    return len(moving) <= 1 and steady and is_above(span[1] - span[0], ranges, 0)


def _longest(span: Span, position: Var, frame: Frame) -> Extent:
    size = span[1] - span[0]
    return moved(size, {position: frame.trips - 1 if slope(size, position) > 0 else 0})


def _is_of_one_dtype(term: Term) -> bool:
    """Whether a library multiplies such numbers."""
    dtypes = {var.type.dtype for var in (term.array, *(read.array for read in term.reads))}      # type: ignore[union-attr]
    dtypes |= {type_of(atom).dtype for atom in (*term.before, *term.after)}                      # type: ignore[union-attr]
    return len(dtypes) == 1 and dtypes.pop().kind in "fc"


# -- what the loop becomes ------------------------------------------------------------------------


def _added_product(found: Contraction, rows: Rows, spans: dict[Var, Span]) -> Block:
    """The product over these spans, added to the array."""
    term = found.term
    indices = {found.position: Index(Var(INT), rows.count), **{var: _index(span) for var, span in spans.items()}}
    starts = {found.position: rows.first, **{var: start for var, (start, _) in spans.items()}}
    places = {var: _at(starts[var], index) for var, index in indices.items()}
    row, column = (next(var for var in indices if var in atom_vars((k,))) for k in term.at
                   if not indices.keys().isdisjoint(atom_vars((k,))))
    summed = next(var for var in indices if var not in (row, column))
    block, factor = _factor(term)
    left, right = _part(found.read(row, summed), places), _part(found.read(summed, column), places)
    target = _part(Read(term.array, term.at), places)
    axes = [indices[row]], [indices[column]], [indices[summed]]
    return [*block, Product(target, left, right, *axes, term.origin, factor, adds=True)]


def _factor(term: Term) -> tuple[Block, Atom]:
    """What a product is multiplied by."""
    if not term.before and not term.after:
        return [], Const(_dtype(term).type(-1 if term.negative else 1), ArrayType(_dtype(term)))
    block, atom = number([], [*term.before, *term.after], term)
    return negated(block, atom, term) if term.negative else (block, atom)


def _of_rows(found: Contraction, rows: Rows, columns: Span | None = None) -> tuple[Block, Block]:
    """Iterations are rows of the result; of all `columns`, or those given."""
    term, u, w = found.term, found.other, found.inner
    summed, whole = found.span(w, rows), found.span(u, rows, whole=True)
    columns = columns or whole
    target = Var(ArrayType(_dtype(term), (rows.count, columns[1] - columns[0])))
    own, at, behind = Index(Var(INT), rows.count), _index(columns), _index(summed)
    places = {found.position: _at(rows.first, own), u: _at(columns[0], at), w: _at(summed[0], behind)}
    left, right = _part(found.read(found.position, w), places), _part(found.read(u, w), places)
    made, factor = number([], term.before, term) if term.before else ([], None)
    block: Block = [*made, Allocate(target, "dot", term.origin),
                    Product(Part(target, (own.var, at.var)), left, right, [own], [at], [behind], term.origin, factor)]
    if found.bounded is w:
        block += _rest(found, rows, target, columns[0])
    row = Index(Var(INT, found.position.name), rows.count)
    here = _at(rows.first, row)
    start, stop = (moved(end, {found.position: here}) for end in term.spans[u])
    if columns != whole:
        start, stop = _outside(found, u, found.span(u, rows), here)
    column = _index((start, stop))
    value = _load(target, (_place(0, row), _place(start - columns[0], column)))
    store = _added(term, {found.position: here, u: _at(start, column)}, value)
    return block, [Nest([row], [Nest([column], [value, *store], term.origin)], term.origin)]


def _rest(found: Contraction, rows: Rows, target: Var, first: Extent) -> Block:
    """What only some iterations of a block sum up, added to the product."""
    own, term, u, w = Var(INT), found.term, found.other, found.inner
    here = rows.first + Size.of(Unknown(own))
    outside = _outside(found, w, found.span(w, rows), here)
    at = (Size.of(Unknown(own)), Size.of(Unknown(u)) - first)
    rest = replace(term, array=target, at=at, after=[], negative=False)
    return loops(_in_block(rest, found.position, here, {own: (0, rows.count), w: outside, u: term.spans[u]}), [own])


def _of_inner(found: Contraction, rows: Rows) -> tuple[Block, Block]:
    """Iterations are what is summed over."""
    term, u, w = found.term, found.other, found.inner
    spans = {u: found.span(u, rows), w: term.spans[w]}
    own, at = Index(Var(INT), rows.count), {var: _index(span) for var, span in spans.items()}
    places = {found.position: _at(rows.first, own), **{var: _at(span[0], at[var]) for var, span in spans.items()}}
    made, factor = number([], term.before, term) if term.before else ([], None)
    parts = {var: _part(found.read(found.position, var), places) for var in (w, u)}
    first, second = sorted((u, w), key=lambda var: next(k for k, at in enumerate(term.at) if var in atom_vars((at,))))
    target = Var(ArrayType(_dtype(term), (at[first].size, at[second].size)))
    block: Block = [*made, Allocate(target, "dot", term.origin),
                    Product(Part(target, (at[first].var, at[second].var)), parts[first], parts[second],
                            [at[first]], [at[second]], [own], term.origin, factor)]
    add = _whole_added(term, target, {var: spans[var] for var in (first, second)})
    if found.bounded is None:
        return block, [add]
    common, beyond = spans[u], found.beyond(u, rows)
    outer = {var: {**spans, u: beyond}[var] for var in (first, second)}
    rest = Var(ArrayType(_dtype(term), tuple(stop - start for start, stop in outer.values())))
    inside = Var(INT)
    here = rows.first + Size.of(Unknown(inside))
    ragged = {inside: (0, rows.count), u: _outside(found, u, common, here), w: spans[w]}
    at_rest = tuple(Size.of(Unknown(var)) - start for var, (start, _) in outer.items())
    added = replace(term, array=rest, at=at_rest, after=[], negative=False)
    return ([*block, Allocate(rest, "remainder", term.origin), _zeroed(rest, term),
             *loops(_in_block(added, found.position, here, ragged), [inside])],
            [add, _whole_added(term, rest, outer)])


def _whole_added(term: Term, source: Var, spans: dict[Var, Span]) -> Nest:
    """Adds all of an array, whose axes are positions in these spans."""
    row, column = both = tuple(map(_index, spans.values()))
    value = _load(source, tuple(each.var for each in both))
    here = {var: _at(start, each) for (var, (start, _)), each in zip(spans.items(), both, strict=True)}
    return Nest([row], [Nest([column], [value, *_added(term, here, value)], term.origin)], term.origin)


def _zeroed(array: Var, term: Term) -> Nest:
    type: Any = array.type
    row, column = (Index(Var(INT), size) for size in type.sizes)
    zero = Const(type.dtype.type(0), ArrayType(type.dtype))
    return Nest([row], [Nest([column], [Store(array, (row.var, column.var), zero)], term.origin)], term.origin)


def _in_block(term: Term, position: Var, here: Extent, spans: dict[Var, Span]) -> Term:
    """A term at a place in a block, over other spans."""
    reads = [Read(each.array, tuple(moved(k, {position: here}) for k in each.at)) for each in term.reads]
    return replace(term, spans=spans, reads=reads)


def _outside(found: Contraction, var: Var, common: Span, here: Extent) -> Span:
    """The part of a span, in an iteration, that it has for itself."""
    start, stop = (moved(end, {found.position: here}) for end in found.term.spans[var])
    return (start, common[0]) if start != common[0] else (common[1], stop)


def _added(term: Term, places: dict[Var, Extent], value: Let) -> Block:
    """What adds a number to the array."""
    body, atom = number([value.target], term.after, term)
    if term.negative:
        body, atom = negated(body, atom, term)
    at = tuple(atom_of_size(moved(k, places)) for k in term.at)
    return [*body, Store(term.array, at, atom, True, term.origin)]


def _part(read: Read, places: dict[Var, Extent]) -> Part:
    return Part(read.array, tuple(atom_of_size(moved(k, places)) for k in read.at))


def _load(array: Var, at: tuple[Atom, ...]) -> Let:
    return Let((Var(ArrayType(array.type.dtype)),), Load, (array, *at))  # type: ignore[union-attr]


def _index(span: Span) -> Index:
    return Index(Var(INT), span[1] - span[0])


def _at(first: Extent, index: Index) -> Extent:
    return first + Size.of(Unknown(index.var))


def _place(first: Extent, index: Index) -> Atom:
    return atom_of_size(_at(first, index))


def _dtype(term: Term) -> Any:
    return term.array.type.dtype                                         # type: ignore[union-attr]
