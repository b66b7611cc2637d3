"""Contractions in loops, for a block of iterations at a time: a library multiplies matrices.

    for i in range(n):                          for b in range((n + 31) // 32):
        for j in range(i + 1):                      rows = min(32, n - 32 * b)
            c[i, j] = c[i, j] * beta                for i in range(rows):
        for k in range(m):              →               for j in range(32 * b + i + 1):
            for j in range(i + 1):                          c[32 * b + i, j] = c[32 * b + i, j] * beta
                c[i, j] += a[i, k] * a[j, k]        dot = np.empty((rows, 32 * b + rows))
                                                    np.dot(a[32 * b:32 * b + rows], a[:32 * b + rows].T, dot)
                                                    for i in range(rows):
                                                        for j in range(32 * b + i + 1):
                                                            c[32 * b + i, j] += dot[i, j]

An iteration does first what is before the contraction, then that, then what is behind it; now a block of iterations
does each of them in turn. That is done where no element that one of them writes is touched by another one in an
iteration in between. Bounds that depend on the iteration (a triangle) make the product one that is too large, of
which the part inside of the bounds is added; or, where the sum itself is bounded, one of what all iterations of the
block have in common, and loops for the rest: what is outside is not multiplied by 0, as it may be nan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...core.builder import current
from ...core.grammar import Carry, Let, Loop, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import INT
from ...core.walk import Copier, atom_of_size, size_of_atom
from ..nest.clean import Renaming
from ..nest.copying import NestCopier
from ..nest.dependence import Access, Frame, Ranges, accesses, as_nest, conflicts
from ..nest.nest_walk import inner_blocks, is_load
from ..nest.nests import Allocate, Block, Fold, Index, Nest
from .contractions import slope, terms_of
from .distribution import distributed, numbers_for
from .multiplying import Contraction, Rows, contraction
from .pulling import pulled
from .pushing import pushed
from .reordering import reordered
from .rowwise import of_a_block, with_rows

BLOCK = 32                             # iterations that are done together
WORTH_BLOCKS = 1 << 15                 # multiplications in all


def by_blocks(block: Block, free: set[Var], around: Ranges | None = None) -> Block:
    """The block with contractions in its loops as products of matrices, or as loops in a better order; the axes of
    arrays that are `free` may lie in any order."""
    made: Block = []
    for stmt in block:
        made += _blocked(stmt, free, around or {})
    return made


def _blocked(stmt: Any, free: set[Var], around: Ranges) -> Block:
    """A loop by blocks, or the loops in it, or in a better order."""
    nest = as_nest(stmt) if isinstance(stmt, Loop) else stmt if isinstance(stmt, Nest) else None
    found: Block | None = None
    if nest is not None and nest.indices:
        found = _of_nest(nest, stmt, around) or reordered(stmt, around)
    if found:
        return found
    if isinstance(stmt, Loop) and nest is not None:
        found = _along_memory(stmt, free, around)
        if found:
            return by_blocks(found, free, around)
    own = {index.var: (0, index.size - 1) for index in nest.indices} if nest is not None else {}
    for inside in inner_blocks(stmt):
        if not isinstance(stmt, Fold):
            inside[:] = by_blocks(inside, free, {**around, **own})
    return [stmt]


def _along_memory(loop: Loop, free: set[Var], around: Ranges) -> Block | None:
    """A loop as loops that go more along memory; where its places count backwards, it is turned first."""
    if not _counts_down(loop.body, loop.position):
        return _as_others(loop, free, around)
    turned, last = Var(INT, loop.position.name), size_of_atom(loop.trips) - 1        # type: ignore[arg-type]
    body = _renamed(loop.body, loop.position, last - Size.of(Unknown(turned)))
    found = _as_others(replace(loop, position=turned, down=not loop.down, body=body), free, around)
    if not found:
        _renamed(body, turned, last - Size.of(Unknown(loop.position)))
    return found


def _as_others(loop: Loop, free: set[Var], around: Ranges) -> Block | None:
    found = distributed(loop, around, free)
    other = None if found else pushed(loop, around) or pulled(loop, around)
    return [other] if other else found


def _of_nest(nest: Nest, stmt: Any, around: Ranges) -> Block | None:
    """A loop or nest by blocks of its first index; where this counts backwards, it is turned first."""
    outer, *inner = nest.indices
    body: Block = [Nest(inner, nest.body, nest.origin, nest.ordered)] if inner else nest.body
    frame = Frame(outer.var, outer.size, getattr(stmt, "down", False), around)
    rows = with_rows(body, frame)
    if rows is not None:
        return _Loop(frame, rows[1], stmt, rows[0]).blocks()
    if not _counts_down(body, outer.var):
        return _Loop(frame, body, stmt).blocks()
    turned = Var(INT, outer.var.name)
    body = _renamed(body, outer.var, outer.size - 1 - Size.of(Unknown(turned)))
    found = _Loop(Frame(turned, outer.size, not frame.down, around), body, stmt).blocks()
    if not found:
        _renamed(body, turned, outer.size - 1 - Size.of(Unknown(outer.var)))
    return found


def _renamed(body: Block, position: Var, place: Extent) -> Block:
    """A body with another place for a position, in place as far as that goes."""
    body[:] = Renaming(Copier({position: atom_of_size(place)})).block(body)
    return body


def _counts_down(body: Block, position: Var) -> bool:
    """Whether places in arrays become smaller while a position grows."""
    found = accesses(body) or ()
    return any(slope(k, position) < 0 for access in found for k in access.at if k is not None)


class _Loop:
    """A loop whose iterations are done in blocks."""

    def __init__(self, frame: Frame, body: Block, stmt: Any, own: Sequence[Allocate] = ()) -> None:
        self.frame, self.body, self.stmt, self.own = frame, body, stmt, list(own)
        self.numbers = {target: each for each in body if isinstance(each, Let) for target in each.targets}
        self.pieces: list[_Piece] = []

    def blocks(self) -> Block | None:
        if not (self._has_pieces() and self._may_be_apart() and self._are_worth_it()):
            return None
        rows = Rows.of(self.frame, BLOCK)
        body = list(rows.named)
        for piece in self.pieces:
            body += piece.emitted(rows, self)
        own = of_a_block(body, self.own, rows.first, BLOCK)
        carries = [Carry(c.entry, c.init, c.next, c.out) for c in getattr(self.stmt, "carries", ())]
        count = (self.frame.trips + (BLOCK - 1)) // BLOCK
        blocks = Loop(rows.block, atom_of_size(count), carries, body, down=self.frame.down, origin=self.stmt.origin)
        return [*own, blocks]

    def _has_pieces(self) -> bool:
        """Divides the body into contractions and what is between them; tells whether there are any."""
        for stmt in self.body:
            if isinstance(stmt, Let):
                continue
            found = self._contractions(stmt)
            if found is None and self.pieces and self.pieces[-1].contractions is None:
                self.pieces[-1].body.append(stmt)
            else:
                self.pieces.append(_Piece([stmt], found))
        return any(piece.contractions is not None for piece in self.pieces)

    def _contractions(self, stmt: Any) -> list[Contraction] | None:
        found = [contraction(term, self.frame) for term in terms_of(stmt, self.numbers, self.frame.position) or ()]
        return None if not found or None in found else found             # type: ignore[return-value]

    def _are_worth_it(self) -> bool:
        """Whether the sizes of the call are; for others, other code is made."""
        most = [each.most for piece in self.pieces for each in piece.contractions or ()]
        return any(current().assumptions.choose(size, WORTH_BLOCKS) for size in most)

    def _may_be_apart(self) -> bool:
        """Whether all iterations of a block may do one piece before one of them does the next."""
        for piece in self.pieces:
            piece.numbers = numbers_for(piece.body, self.body)
            found = accesses([*piece.numbers, *piece.body])
            if found is None or not self._are_unchanged(piece):
                return False
            piece.accesses = found
        for k, late in enumerate(self.pieces):
            if late.contractions is not None and not late.may_be_at_once(self.frame):
                return False
            if any(self.frame.meet(b, a) for early in self.pieces[:k]
                   for a, b in conflicts(early.accesses, late.accesses)):
                return False
        return True

    def _are_unchanged(self, piece: _Piece) -> bool:
        """Whether the numbers of the iteration that a piece uses are read from what the iteration does not write
        before."""
        written = {access.array for each in self.pieces for access in accesses(each.body) or () if access.writes}
        return not any(is_load(each) and each.args[0] in written for each in piece.numbers) or len(self.pieces) == 1


class _Piece:
    """A part of an iteration: contractions, or something else."""

    def __init__(self, body: Block, contractions: list[Contraction] | None) -> None:
        self.body, self.contractions = body, contractions
        self.numbers: Block = []
        self.accesses: list[Access] = []
        self.is_apart = False          # nothing is read that is written, by any iteration

    def may_be_at_once(self, frame: Frame) -> bool:
        """Whether a block of iterations may read all that it multiplies before it writes anything."""
        writes = [access for access in self.accesses if access.writes]
        reads = [access for access in self.accesses if not access.writes]
        pairs = list(conflicts(writes, reads))
        self.is_apart = not any(frame.meet(read, write) for write, read in pairs)
        return not any(frame.meet(*pair) or frame.meet_in_one(*pair) for pair in pairs)

    def emitted(self, rows: Rows, loop: _Loop) -> Block:
        if self.contractions is not None and self.is_apart:
            return [stmt for each in self.contractions for stmt in each.added(rows)]
        if self.contractions is not None:
            made = [each.products(rows) for each in self.contractions]
            return [stmt for k in range(2) for each in made for stmt in each[k]]
        own = Var(INT, loop.frame.position.name)
        current().assumptions.within(own, 0, rows.count - 1)
        numbers = NestCopier()
        body = [*numbers.block(self.numbers), *self.body]
        place = rows.first + Size.of(Unknown(own))
        body = Renaming(Copier({**numbers.mapping, loop.frame.position: atom_of_size(place)})).block(body)
        if isinstance(loop.stmt, Nest):
            return [Nest([Index(own, rows.count)], body, loop.stmt.origin, loop.stmt.ordered)]
        carries = [Carry(c.entry, c.init, c.next, c.out) for c in loop.stmt.carries]
        return [Loop(own, atom_of_size(rows.count), carries, body, down=loop.frame.down, origin=loop.stmt.origin)]
