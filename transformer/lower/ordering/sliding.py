"""Rows of an array that a nest reads near its own place are made where they are read first: of the array, only
those that are still needed are kept.

    nest p < n: e[p, …] = …                 nest p < 2: kept[p, …] = …
    nest i < n - 2                          nest i < n - 2, in order
        y[i, …] = e[i, …] + e[i + 2, …]  →      kept[(i + 2) % 3, …] = …
                                                y[i, …] = kept[i % 3, …] + kept[(i + 2) % 3, …]

What is read has just been written, and no memory is needed for all of the array. Arrays are memory here.
"""

from __future__ import annotations

from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Const, Let, Var
from ...core.sizes import Extent, Size, Unknown, product
from ...core.types import INT, ArrayType
from ...core.walk import atom_of_size, atom_vars, size_of_atom
from ...ops.arithmetic import Remainder
from ..nest.copying import NestCopier
from ..nest.lifetimes import mentioned, written
from ..nest.nest_walk import accesses, inner_blocks, is_empty_memory, is_load, is_numeric, loaded, statements
from ..nest.nests import Allocate, Block, Fold, Index, Load, Nest, Store, split

SHORTEST = 16                          # elements of a row, for which it pays to do row by row
FARTHEST = 8                           # rows that are kept


def slide(block: Block, results: list[Atom]) -> Block:
    """The block with rows made where they are read, in place."""
    for stmt in block:
        for inner in inner_blocks(stmt):
            slide(inner, results)
    makers = _Makers()
    for reader in [stmt for stmt in reversed(block) if makers[stmt]]:
        if reader in block:
            _slide_into(reader, block, results, makers)
    return block


class _Makers(dict[Any, set[Var]]):
    """The arrays that nests by rows write to, found once for each; nothing for other statements."""

    def __missing__(self, stmt: Any) -> set[Var]:
        self[stmt] = written(stmt) if _is_by_rows(stmt) else set()
        return self[stmt]


def _is_by_rows(stmt: Any) -> bool:
    return is_numeric(stmt) and (len(stmt.indices) > 1 or any(isinstance(each, Nest) for each in stmt.body))


def _slide_into(reader: Nest, block: Block, results: list[Atom], makers: _Makers) -> None:
    """Takes the nests before a nest into it, the nearest first, as far as that goes."""
    read = loaded(reader)
    for maker in reversed(block[:block.index(reader)]):
        if not read.isdisjoint(makers[maker]):
            window = _Window(maker, reader, block)
            if window.fits(results):
                reader = window.joint()
                read = loaded(reader)


class _Window:
    """What a nest, the maker, makes row by row, and another one reads up to `reach` rows ahead."""

    def __init__(self, maker: Nest, reader: Nest, block: Block) -> None:
        self.maker, self.reader, self.block = maker, reader, block
        self.arrays = {stmt.array for stmt in statements(maker.body) if isinstance(stmt, Store)}
        self.reach = 0

    # -- whether it can be done -------------------------------------------------------------------

    def fits(self, results: list[Atom]) -> bool:
        start, end = self.block.index(self.maker), self.block.index(self.reader)
        between, normal = self.block[start + 1:end + 1], current().assumptions.normal
        if not self._is_read_near() or not self._are_made_here(results):
            return False
        if any(not written(stmt).isdisjoint(mentioned(self.maker)) for stmt in between):
            return False
        rows, needed = (normal(nest.indices[0].size) for nest in (self.maker, self.reader))
        return (current().assumptions.certainly_at_least(rows, needed + self.reach)
                and all(map(self._reads_first_rows, between[:-1]))
                and not any(self.arrays & mentioned(stmt) for stmt in self.block[end + 1:])
                and all(map(_has_long_rows, self.arrays)))

    def _are_made_here(self, results: list[Atom]) -> bool:
        """Whether the arrays have memory of their own, and every row of them is made by itself."""
        own = {stmt.target for stmt in self.block if is_empty_memory(stmt)}
        row = self.maker.indices[0].var
        return (self.arrays <= own and self.arrays.isdisjoint(atom_vars(tuple(results)))
                and not self.arrays & loaded(self.maker) and not any(
                    self.arrays & mentioned(stmt) for stmt in self.block[:self.block.index(self.maker)])
                and all(at[0] is row for array, at in accesses(self.maker) if array in self.arrays))

    def _is_read_near(self) -> bool:
        """Whether the reader reads at its row and at fixed distances ahead of it; notes the largest."""
        row, ahead = Size.of(Unknown(self.reader.indices[0].var)), []
        for array, at in accesses(self.reader):
            if array in self.arrays:
                distance = size_of_atom(at[0]) - row
                if not isinstance(distance, int) or not 0 <= distance < FARTHEST:
                    return False
                ahead.append(distance)
        self.reach = max(ahead, default=0)
        return bool(ahead)

    def _reads_first_rows(self, stmt: Any) -> bool:
        """Whether of the arrays a statement reads only rows that are made before the reader."""
        if not self.arrays & mentioned(stmt):
            return True
        return is_numeric(stmt) and self.arrays.isdisjoint(written(stmt)) and all(
            current().assumptions.certainly_at_least(self.reach - 1, size_of_atom(at[0]))
            for array, at in accesses(stmt) if array in self.arrays)

    # -- how it is done ---------------------------------------------------------------------------

    def joint(self) -> Nest:
        """The reader with the maker inside, which take the places of both in the block."""
        maker, reader = split(self.maker, 1), split(self.reader, 1)
        row = Size.of(Unknown(reader.indices[0].var))
        ahead = NestCopier({maker.indices[0].var: atom_of_size(row + self.reach)}).block(maker.body)
        kept = {array: _kept(array, self.reach + 1) for array in self.arrays}
        body = _turning([*ahead, *reader.body], kept, self.reach + 1)
        _note_ranges(body)
        joint = Nest(reader.indices, body, reader.origin, ordered=True)
        first = self._first_rows(maker)
        start, end = self.block.index(self.maker), self.block.index(self.reader)
        self.block[end:end + 1] = [joint]
        self.block[start:start + 1] = first
        for stmt in self.block[:end]:
            if isinstance(stmt, Allocate):
                stmt.target = kept.get(stmt.target, stmt.target)
            elif stmt is not joint:
                _renamed([stmt], kept)
        return joint

    def _first_rows(self, maker: Nest | Fold) -> Block:
        """What makes the rows that the reader does not make."""
        var = Var(INT, maker.indices[0].var.name)
        is_one = self.reach == 1 and all(isinstance(stmt, Nest) for stmt in maker.body)
        body = NestCopier({maker.indices[0].var: Const(0) if is_one else var}).block(maker.body)
        first: Block = body if is_one else [Nest([Index(var, self.reach)], body, maker.origin)] if self.reach else []
        _note_ranges(first)
        return first


def _has_long_rows(array: Var) -> bool:
    """Whether a row is long enough for a loop of its own; for calls where it is not, other code is made."""
    type, assumptions = array.type, current().assumptions
    assert isinstance(type, ArrayType)
    elements: Extent = assumptions.normal(product(type.sizes[1:]))
    return assumptions.certainly_at_least(elements, SHORTEST) or assumptions.choose(elements, SHORTEST)


def _kept(array: Var, rows: int) -> Var:
    type: Any = array.type
    return Var(type.with_sizes((rows, *type.sizes[1:])), array.name)


def _turning(block: Block, kept: dict[Var, Var], rows: int) -> Block:
    """The block with the rows of arrays in turns in those that are kept."""
    turns: dict[Atom, Var] = {}

    def turn(place: Atom) -> Atom:
        if rows == 1:
            return Const(0)
        return turns.setdefault(place, Var(INT, "row"))

    _renamed(block, kept, turn)
    return [*(Let((row,), Remainder, (place, Const(rows)), {}) for place, row in turns.items()), *block]


def _renamed(block: Block, kept: dict[Var, Var], turn: Any = lambda place: place) -> None:
    """Replaces arrays by what is kept of them, in place; of a place, the row is turned."""
    for k, stmt in enumerate(block):
        if isinstance(stmt, Store) and stmt.array in kept:
            block[k] = Store(kept[stmt.array], (turn(stmt.at[0]), *stmt.at[1:]), stmt.value, stmt.adds, stmt.origin)
        elif is_load(stmt) and stmt.args[0] in kept:
            array, place, *others = stmt.args
            block[k] = Let(stmt.targets, Load, (kept[array], turn(place), *others), {}, stmt.origin)
        for inner in inner_blocks(stmt):
            _renamed(inner, kept, turn)


def _note_ranges(block: Block) -> None:
    """Tells the indices of the nests inside of a block from those that they are copies of."""
    for stmt in statements(block):
        if isinstance(stmt, (Nest, Fold)):
            for index in stmt.indices:
                current().assumptions.within(index.var, 0, index.size - 1)
