"""Loops that go across memory inside of a loop that would go along it: each thing that an iteration does gets loops
of its own, the other way round, as far as their order does not matter.

    for i in range(n):                          for i in range(n):
        total = 0.0                                 r[i] = 0.0
        for j in range(m):                      for j in range(m):
            total += q[j] * a[j, i]                 for i in range(n):
        r[i] = total                    →               r[i] += q[j] * a[j, i]
        for j in range(m):                      for j in range(m):
            a[j, i] += -(q[j] * r[i])               for i in range(n):
                                                        a[j, i] += -(q[j] * r[i])

What is done for all iterations behind the loop (or before it) must not touch what the rest of an iteration in between
touches. Where the bounds of the inner loop depend on the outer position, they are turned as well: `k < j < n` is
`k < n` and `k < j < n`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ...core.builder import current
from ...core.grammar import Const, Let, Loop, Var
from ...core.sizes import Size, Unknown
from ...core.walk import atom_vars, size_of_atom
from ..nest.copying import NestCopier
from ..nest.dependence import Access, Frame, Ranges, accesses, as_nest, conflicts, is_above
from ..nest.nest_walk import all_uses, defined, is_load, uses_before
from ..nest.nests import Block, Fold, Index, Nest, Store
from ..nest.unchanged import are_apart, are_read_again, stay
from .contractions import Span, Term, slope, terms_of
from .explicit import along, along_memory, loops
from .reordering import SHORT


def distributed(loop: Loop, around: Ranges, free: set[Var]) -> Block | None:
    """A loop as several ones, if some then go along memory instead of across it; arrays that are `free` may lie in
    either order."""
    if as_nest(loop) is None:
        return None
    trips: Any = size_of_atom(loop.trips)                                # type: ignore[arg-type]
    if isinstance(trips, int) and trips < SHORT or not is_above(trips, around, 0):
        return None
    return _Distribution(loop, Frame(loop.position, trips, loop.down, around), free).blocks()


@dataclass(slots=True, eq=False)
class _Piece:
    """A part of an iteration with all that it reads and writes; `turned` are the loops that do it for all
    iterations, if there are better ones."""

    stmts: Block
    accesses: list[Access]
    turned: Any = None


class _Distribution:
    """One loop: its body in pieces that only touch memory, which of them are better turned, and which of these may be
    done for all iterations behind what stays, or else before it."""

    def __init__(self, loop: Loop, frame: Frame, free: set[Var]) -> None:
        self.loop, self.frame, self.free = loop, frame, free
        body: Block = loop.body
        self.body = [each for stmt in body for each in (_without_stores(stmt) if isinstance(stmt, Fold) else [stmt])]
        self.numbers = {target: stmt for stmt in self.body if isinstance(stmt, Let) for target in stmt.targets}

    def blocks(self) -> Block | None:
        """What takes the place of the loop; None where it stays."""
        pieces = self._pieces()
        if pieces is None or not any(piece.turned for piece in pieces):
            return None
        stays = list(pieces)
        behind: list[_Piece] = []
        before: list[_Piece] = []
        for piece in reversed(pieces):
            if piece.turned and self._may_leave(piece, stays, behind=True):
                stays.remove(piece)
                behind.insert(0, piece)
        for piece in list(stays):
            if piece.turned and self._may_leave(piece, stays, behind=False):
                stays.remove(piece)
                before.append(piece)
        if not behind and not before:
            return None
        body = [stmt for piece in stays for stmt in piece.stmts]
        rest = [] if all(isinstance(stmt, Let) for stmt in body) else [replace(self.loop, body=body)]
        return [*(stmt for piece in before for stmt in piece.turned()), *rest,
                *(stmt for piece in behind for stmt in piece.turned())]

    def _pieces(self) -> list[_Piece] | None:
        """The parts of an iteration; None where what they touch cannot be told."""
        pieces: list[_Piece] = []
        k = 0
        while k < len(self.body):
            count = self._sum(k) if isinstance(self.body[k], Fold) else 1
            stmts = self.body[k:k + count]
            found = accesses(stmts)
            if found is None:
                return None
            turned = self._turned(stmts, k) if self._are_alone(stmts) else None
            pieces.append(turned or _Piece(stmts, found))
            k += count
        return pieces

    def _sum(self, k: int) -> int:
        """How many statements store what a fold gives, which nobody else uses; else 1."""
        count = next((n for n, stmt in enumerate(self.body[k:], 1) if isinstance(stmt, Store)), 1)
        stmts = self.body[k:k + count]
        return count if self._are_alone(stmts) and all(isinstance(stmt, Let) for stmt in stmts[1:-1]) else 1

    def _are_alone(self, stmts: Block) -> bool:
        """Whether nobody else uses the numbers that statements give, and they are no such numbers themselves."""
        made = {var for stmt in stmts for var in defined(stmt)}
        others = [stmt for stmt in self.body if stmt not in stmts]
        return not isinstance(stmts[0], Let) and made.isdisjoint(all_uses(others))

    # -- the other way round ----------------------------------------------------------------------

    def _turned(self, stmts: Block, k: int) -> _Piece | None:
        return self._turned_terms(stmts, k) or self._turned_copies(stmts, k)

    def _turned_terms(self, stmts: Block, k: int) -> _Piece | None:
        """A piece that adds terms, each of which is better added along the position of the loop."""
        last = stmts[-1]
        begins = isinstance(last, Store) and not last.adds
        adding = [*stmts[:-1], replace(last, adds=True)] if begins else stmts
        found = terms_of(Nest([], adding), self.numbers, self.frame.position) or []
        if not found or begins and len(found) > 1:
            return None
        terms = [self._turned_term(term) for term in found]
        touched = [access for term in found for access in _of_term(term, adds=not begins)]
        if None in terms or not self._is_free(touched) or not are_apart(found, self.body):
            return None
        if not are_read_again(found, self.body, k, len(stmts), self.frame):
            return None

        def turned() -> Block:
            made = [stmt for term in terms for stmt in loops(term, last=self.frame.position)]   # type: ignore[arg-type]
            return [*(self._zeros(last) if begins else ()), *made]

        return _Piece(stmts, touched, turned)

    def _turned_term(self, term: Term) -> Term | None:
        position, innermost = self.frame.position, list(term.spans)[-1:]
        if not innermost or term.after or not 0 < len(term.reads) < 3:
            return None
        if along_memory(term, position, self.free) <= along_memory(term, innermost[0], self.free):
            return None
        spans = self._spans(term.spans)
        turned = None if spans is None else replace(term, spans=spans)
        return turned if turned and self._are_inside(turned) else None

    def _spans(self, spans: dict[Var, Span]) -> dict[Var, Span] | None:
        """The ranges of positions with that of the loop as the innermost one; none of them is negative."""
        position, trips, outside = self.frame.position, self.frame.trips, self.frame.around
        around = {**outside, position: (0, trips - 1)}
        own: Span = (0, trips)
        here, made = Size.of(Unknown(position)), dict[Var, Span]()
        for var, (start, stop) in spans.items():
            if not spans.keys().isdisjoint(atom_vars((start, stop))):
                return None
            slopes, place = (slope(start, position), slope(stop, position)), Size.of(Unknown(var))
            first, behind = start - here * slopes[0], stop - here * slopes[1]
            if position in atom_vars((first, behind)) or slopes != (0, 0) and own != (0, trips):
                return None
            if slopes == (0, 1) and is_above(start - behind + 1, around, 0):
                own, behind = (place - behind + 1, trips), behind + trips
                behind -= is_above(behind - 1 - first, outside, 0)
            elif slopes == (1, 0) and is_above(trips - stop + first, around, 0):
                own = 0, place - first + 1
            elif slopes != (0, 0):
                return None
            if not is_above(behind - first, outside, 0):
                return None
            made[var] = first, behind
        return {**made, position: own}

    def _are_inside(self, term: Term) -> bool:
        """Whether what is read before the innermost loop is certainly there, as that loop may run over nothing."""
        *others, innermost = term.spans
        ranges: Ranges = {**self.frame.around, **{var: (term.spans[var][0], term.spans[var][1] - 1) for var in others}}
        return all(is_above(k, ranges, 0) and is_above(size - k, ranges, decides=True)
                   for read in term.reads if innermost not in atom_vars(read.at)
                   for k, size in zip(read.at, read.array.type.sizes, strict=True))  # type: ignore[union-attr]

    def _zeros(self, store: Store) -> Block:
        """What sums begin with."""
        type = store.array.type
        zero = Const(type.dtype.type(0), type.with_sizes(()))            # type: ignore[union-attr]
        return [_copied(Nest([self._index()], [replace(store, value=zero)], store.origin))]

    def _index(self) -> Index:
        return Index(self.frame.position, self.frame.trips)

    def _turned_copies(self, stmts: Block, k: int) -> _Piece | None:
        """A nest that writes elements, each once, which is better done along the position of the loop."""
        nest, position = stmts[0], self.frame.position
        if not isinstance(nest, Nest) or nest.ordered or not all(
                isinstance(each, Let) or isinstance(each, Store) and not each.adds for each in nest.body):
            return None
        if position in atom_vars(tuple(index.size for index in nest.indices)):
            return None
        numbers = numbers_for([nest], self.body)
        others = {var for stmt in self.body if not isinstance(stmt, Let) for var in defined(stmt)}
        if not others.isdisjoint(all_uses([*numbers, nest])):
            return None
        found = accesses([*numbers, nest])
        if found is None or any(None in each.at for each in found) or not self._is_free(found, across=True):
            return None
        if not stay(numbers, self.body, k, self.frame):
            return None
        if self._along(found, position) <= self._along(found, nest.indices[-1].var):
            return None
        inside = Nest([*nest.indices, self._index()], [*numbers, *nest.body], nest.origin)
        return _Piece(stmts, found, lambda: [_copied(inside)])

    def _along(self, found: list[Access], var: Var) -> int:
        return sum((1 + each.writes) * along(each.at, var) for each in found if each.array not in self.free)

    # -- whether it may be --------------------------------------------------------------------------

    def _is_free(self, touched: list[Access], across: bool = False) -> bool:
        """Whether a piece may do what it does in any order: nothing is read that it writes. With `across`, nothing is
        written twice, either."""
        writes, reads = ([each for each in touched if each.writes is way] for way in (True, False))
        frame, twice = self.frame, [pair for pair in conflicts(writes, writes) if across]
        return not any(frame.meet(*pair) or frame.meet(*reversed(pair)) or frame.meet_in_one(*pair)
                       for pair in conflicts(writes, reads)) and not any(frame.meet(*pair) for pair in twice)

    def _may_leave(self, piece: _Piece, stays: list[_Piece], behind: bool) -> bool:
        """Whether all iterations may do a piece behind all that stays in the loop (or before it)."""
        own = stays.index(piece)
        for k, other in enumerate(stays):
            for a, b in conflicts(piece.accesses, other.accesses) if other is not piece else ():
                if self.frame.meet(a, b) if behind else self.frame.meet(b, a):
                    return False
                if (k > own) is behind and self.frame.meet_in_one(a, b):
                    return False
        return True


def _copied(nest: Nest) -> Nest:
    """A nest with positions of its own."""
    made: Nest = NestCopier().stmt(nest)
    for index in made.indices:
        current().assumptions.within(index.var, 0, index.size - 1)
    return made


def _of_term(term: Term, adds: bool) -> list[Access]:
    ranges: Ranges = {var: (start, stop - 1) for var, (start, stop) in term.spans.items()}
    return [Access(term.array, term.at, ranges, True, adds), *(Access(r.array, r.at, ranges) for r in term.reads)]


def _without_stores(fold: Fold) -> Block:
    """A fold that also writes to arrays, as a nest for that and the fold."""
    stores = [stmt for stmt in fold.body if isinstance(stmt, Store)]
    if not stores or not all(isinstance(stmt, (Let, Store)) for stmt in fold.body):
        return [fold]
    if not {stmt.array for stmt in stores}.isdisjoint(stmt.args[0] for stmt in fold.body if is_load(stmt)):
        return [fold]
    needed: Block = []
    used = {var for stmt in stores for var in uses_before(stmt)}
    for stmt in reversed(fold.body):
        if isinstance(stmt, Store) or not used.isdisjoint(stmt.targets):
            needed.insert(0, stmt)
            used.update(uses_before(stmt))
    if any(carry.entry in used for carry in fold.carries):
        return [fold]
    rest = [stmt for stmt in fold.body if not isinstance(stmt, Store)]
    return [NestCopier().stmt(Nest(fold.indices, needed, fold.origin)), replace(fold, body=rest)]


def numbers_for(block: Block, before: Block) -> Block:
    """The numbers that a block uses of those computed before it, in their order."""
    used = set(all_uses(block))
    needed: Block = []
    for stmt in reversed(before):
        if isinstance(stmt, Let) and not used.isdisjoint(stmt.targets):
            used.update(atom_vars((*stmt.args, stmt.attrs)))
            needed.append(stmt)
    return needed[::-1]
