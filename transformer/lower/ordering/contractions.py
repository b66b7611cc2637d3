"""Sums of products that loops add to the elements of an array, found whatever loops they are written with.

    for k in range(m):                      c[i, j] += alpha * a[i, k] * a[j, k]        j <= i, k < m
        scaled = alpha * a[i, k]       →
        for j in range(i + 1):
            c[i, j] += scaled * a[j, k]

A `Term` is one product of numbers that are read, and of numbers that are known before; several that are added up, or
added to several arrays, are terms of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.errors import Origin
from ...core.grammar import Atom, Const, Let, Loop, Var
from ...core.sizes import Extent, Size, Unknown, replaced
from ...core.walk import atom_vars, size_of_atom
from ...ops.arithmetic import Add, Multiply, Negative, Subtract
from ..fusion.sums import added
from ..nest.copying import NestCopier
from ..nest.dependence import counted_by
from ..nest.nest_walk import is_load
from ..nest.nests import Block, Fold, Nest, Store

MOST_TERMS = 8

Span = tuple[Extent, Extent]           # the first position, and the one behind the last


@dataclass(slots=True)
class Read:
    """An element that is read: a factor of a product."""

    array: Var
    at: tuple[Extent, ...]


@dataclass(slots=True)
class Term:
    """`array[at] += (± before * reads) * after`, for all positions of `spans`, outer ones first. `steady` are the
    numbers among `before` and `after` that the loop computes of what is known outside."""

    array: Var
    at: tuple[Extent, ...]
    spans: dict[Var, Span]
    reads: list[Read]
    before: list[Atom] = field(default_factory=list)
    after: list[Atom] = field(default_factory=list)
    negative: bool = False
    origin: Origin | None = None
    steady: list[Let] = field(default_factory=list)

    @property
    def places(self) -> list[tuple[Extent, ...]]:
        return [self.at, *(read.at for read in self.reads)]


@dataclass(slots=True)
class _Product:
    """A summand of a number: numbers that are read, and others; `spans` are those over which it is summed."""

    reads: list[Read]
    numbers: list[Atom]
    after: list[Atom] = field(default_factory=list)
    negative: bool = False
    spans: dict[Var, Span] = field(default_factory=dict)


def terms_of(stmt: Any, known: Mapping[Var, Let], position: Var | None = None) -> list[Term] | None:
    """The terms that a loop adds, if it does nothing else and gives no number; `known` are numbers that are computed
    before it, in the iteration of a loop around it, which is at a `position`."""
    finder = _Finder(dict(known), {position})
    found = isinstance(stmt, (Nest, Loop)) and finder.stmt(stmt, {})
    return finder.terms if found and 0 < len(finder.terms) <= MOST_TERMS else None


class _Finder:
    """Collects the terms of a loop; its methods tell whether a statement does nothing else than add such terms."""

    def __init__(self, made: dict[Var, Any], positions: set[Any]) -> None:
        self.made = made               # what computes a number: a statement, or what a fold adds up
        self.positions = positions     # which no factor is made of
        self.terms: list[Term] = []

    def stmt(self, stmt: Any, spans: dict[Var, Span]) -> bool:
        self.positions |= spans.keys()
        match stmt:
            case Let():
                self.made.update(dict.fromkeys(stmt.targets, stmt))
                return True
            case Store():
                return bool(stmt.adds) and self._store(stmt, spans)
            case Nest() | Loop():
                counted = counted_by(stmt)
                return counted is not None and self._block(stmt.body, {**spans, **_spans(counted)})
            case Fold():
                return self._fold(stmt, spans)
        return False

    def _block(self, block: Block, spans: dict[Var, Span]) -> bool:
        return all(self.stmt(stmt, spans) for stmt in block)

    def _fold(self, stmt: Fold, spans: dict[Var, Span]) -> bool:
        """What a fold adds up, if it begins with 0."""
        own = _spans(stmt.indices)
        self.positions |= own.keys()
        if not self._block(stmt.body, {**spans, **own}):
            return False
        for carry in stmt.carries:
            step = added(carry, stmt)
            if step is None or not isinstance(carry.init, Const) or carry.init.value != 0:
                return False
            self.made[carry.out] = (step.args[1], own)
        return True

    def _store(self, stmt: Store, spans: dict[Var, Span]) -> bool:
        at = _places(stmt.at)
        products = self._products(stmt.value)
        if products is None or at is None or any(var in self.made for k in at for var in atom_vars((k,))):
            return False
        for each in products:
            before, after = (each.numbers, each.after) if each.spans else ([*each.numbers, *each.after], [])
            copier = NestCopier()
            steady: Block = copier.block(self._computed([*before, *after]))
            self.terms.append(Term(stmt.array, at, {**spans, **each.spans}, each.reads, list(copier.args(before)),
                                   list(copier.args(after)), each.negative, stmt.origin, steady))
        return True

    def _computed(self, atoms: Sequence[Atom]) -> Block:
        """The statements that compute numbers, in order."""
        found: dict[Any, None] = {}
        for atom in atoms:
            if atom in self.made:
                made = self.made[atom]                                   # type: ignore[index]
                found.update(dict.fromkeys([*self._computed(made.args), made]))
        return list(found)

    def _is_steady(self, atom: Any) -> bool:
        """Whether a number is computed of what is known outside of the loop."""
        made = self.made.get(atom) if isinstance(atom, Var) else None
        if made is None:
            return self.positions.isdisjoint(atom_vars((atom,)))
        return (isinstance(made, Let) and made.op.elementwise and all(map(self._is_steady, made.args)))

    # -- numbers as sums of products --------------------------------------------------------------

    def _products(self, atom: Any) -> list[_Product] | None:
        if self._is_steady(atom):
            return [_Product([], [atom])]
        made = self.made.get(atom) if isinstance(atom, Var) else None
        if made is None:
            return None
        if isinstance(made, tuple):
            summands = self._products(made[0])
            alone = summands is not None and not any(each.spans for each in summands)
            return [replace(each, spans=made[1]) for each in summands or ()] if alone else None
        if is_load(made):
            at = _places(made.args[1:])
            safe = at is not None and not any(var in self.made for k in at for var in atom_vars((k,)))
            return [_Product([Read(made.args[0], at)], [])] if safe else None        # type: ignore[arg-type]
        if made.op not in (Add, Subtract, Multiply, Negative):
            return None
        sides = [self._products(arg) for arg in made.args]
        if None in sides:
            return None
        return self._combined(made.op, *sides)                           # type: ignore[arg-type]

    def _combined(self, op: Any, first: list[_Product], second: list[_Product] | None = None) -> list[_Product] | None:
        if op is Negative:
            return list(map(_negated, first))
        assert second is not None
        if op is Multiply:
            return _multiplied(first, second)
        return [*first, *(second if op is Add else map(_negated, second))]


def _multiplied(first: list[_Product], second: list[_Product]) -> list[_Product] | None:
    """A product of two numbers: of products, or of a sum with what is not read."""
    if not _is_plain(first) or not _is_plain(second) and first[0].reads:
        first, second = second, first
    (one, *others) = first
    if others or one.spans or one.reads and not _is_plain(second):
        return None
    return [_scaled(each, one) for each in second]


def _is_plain(products: list[_Product]) -> bool:
    """Whether a number is one product, which is not summed."""
    return len(products) == 1 and not products[0].spans


def _scaled(each: _Product, one: _Product) -> _Product:
    negative = each.negative is not one.negative
    if each.spans:
        return replace(each, after=[*each.after, *one.numbers], negative=negative)
    return _Product([*each.reads, *one.reads], [*each.numbers, *one.numbers], [], negative)


def _negated(each: _Product) -> _Product:
    return replace(each, negative=not each.negative)


def _spans(indices: Any) -> dict[Var, Span]:
    return {index.var: (0, index.size) for index in indices}


def _places(at: Any) -> tuple[Extent, ...] | None:
    return tuple(map(size_of_atom, at))


# -- positions ------------------------------------------------------------------------------------


def slope(size: Extent, var: Var) -> int:
    """By how much a size grows with a position."""
    return size.terms.get((Unknown(var),), 0) if isinstance(size, Size) else 0


def moved(size: Extent, places: Mapping[Var, Extent]) -> Extent:
    """A size with other places for positions."""
    return replaced(size, lambda leaf: places.get(leaf.var) if isinstance(leaf, Unknown) else None)


def shifted(term: Term) -> Term:
    """A term whose positions are places of arrays: ``c[i, j]`` with j from i on, not ``c[i, i + j]``."""
    for var in term.spans:
        own = next((k for at in term.places for k in at if slope(k, var) == 1), None)
        if own is None:
            continue
        offset = own - Size.of(Unknown(var))
        if not term.spans.keys().isdisjoint(atom_vars((offset,))):
            continue
        places = {var: Size.of(Unknown(var)) - offset}
        start, stop = term.spans[var]
        spans = {**term.spans, var: (start + offset, stop + offset)}
        at, *reads = (tuple(moved(k, places) for k in at) for at in term.places)
        term = replace(term, at=at, spans=spans, reads=[
            Read(read.array, own) for read, own in zip(term.reads, reads, strict=True)])
    return term
