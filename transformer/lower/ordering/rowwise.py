"""Memory that each iteration of a loop makes for itself, as a row of memory that is made once.

    for i in range(m):                      r = np.empty((m, m))
        r = np.empty(m - i)                 for i in range(m):
        for j in range(m - i):        →         for j in range(m - i):
            r[j] = a[i, i + j] / d                  r[i, i + j] = a[i, i + j] / d

Then iterations may be done in blocks (`blocking`), one thing after another, and the rows of a block are a matrix. Where
an array becomes shorter from iteration to iteration, its elements keep their distance from the end.
"""

from __future__ import annotations

from typing import Any

from ...core.grammar import Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import ArrayType
from ...core.walk import atom_of_size, atom_vars, size_of_atom
from ..fusion.shrinking import own_memory
from ..nest.copying import NestCopier
from ..nest.dependence import Frame, is_above
from ..nest.nest_walk import is_load, statements
from ..nest.nests import Allocate, Block, Part, Product, Store
from .contractions import moved, slope


def with_rows(body: Block, frame: Frame) -> tuple[list[Allocate], Block] | None:
    """A copy of the body of a loop without memory of its own, and memory with a row for each iteration, if the body
    makes memory in which elements are only stored and loaded."""
    made = [stmt for stmt in body if isinstance(stmt, Allocate)]
    own = own_memory(body, [])
    rows = {stmt.target: _Rows(stmt, frame) for stmt in made if stmt.target in own}
    if not made or len(rows) < len(made) or not all(each.is_simple() for each in rows.values()):
        return None
    copied = _InPlace({carry.entry for stmt in statements(body) for carry in getattr(stmt, "carries", ())
                       if carry.entry is carry.init is carry.next is carry.out})
    copy: Block = copied.block(body)
    by_copy = {copied.atom(array): each for array, each in rows.items()}
    for stmt in statements(copy):
        _in_rows(stmt, by_copy)
    left: Block = [stmt for stmt in copy if not isinstance(stmt, Allocate)]
    return [each.allocated for each in rows.values()], left


class _InPlace(NestCopier):
    """Copies what loops do with arrays that they write in place, and not these."""

    def __init__(self, arrays: set[Var]) -> None:
        super().__init__()
        self.arrays = arrays

    def fresh(self, var: Var) -> Var:
        return var if var in self.arrays else super().fresh(var)


class _Rows:
    """What one array of an iteration becomes."""

    def __init__(self, stmt: Allocate, frame: Frame) -> None:
        type: Any = stmt.target.type
        self.sizes: tuple[Extent, ...] = type.sizes
        self.position, self.last, self.around = frame.position, frame.trips - 1, frame.around
        whole = (frame.trips, *(self._longest(size) for size in self.sizes))
        self.array = Var(ArrayType(type.dtype, whole), stmt.target.name)
        self.allocated = Allocate(self.array, stmt.maker, stmt.origin)

    def is_simple(self) -> bool:
        """Whether sizes grow or shrink with the position by as much as that, if at all, and none is below 0 where there
        are no iterations."""
        whole: Any = self.array.type
        steady = (size - Size.of(Unknown(self.position)) * slope(size, self.position) for size in self.sizes)
        return (all(slope(size, self.position) in (-1, 0, 1) for size in self.sizes)
                and self.position not in atom_vars(tuple(steady))
                and all(is_above(size, self.around, 0, decides=True) for size in whole.sizes[1:]))

    def at(self, places: Any) -> tuple[Any, ...]:
        """Where an element is."""
        here = Size.of(Unknown(self.position))
        return (self.position, *(atom_of_size(size_of_atom(place) + here) if slope(size, self.position) < 0 else place
                                 for place, size in zip(places, self.sizes, strict=True)))

    def _longest(self, size: Extent) -> Extent:
        growing = slope(size, self.position)
        if growing < 0:
            return size + Size.of(Unknown(self.position))
        return moved(size, {self.position: self.last}) if growing else size


def _in_rows(stmt: Any, rows: dict[Any, _Rows]) -> None:
    if isinstance(stmt, Store) and stmt.array in rows:
        found = rows[stmt.array]
        stmt.array, stmt.at = found.array, found.at(stmt.at)
    elif is_load(stmt) and stmt.args[0] in rows:
        found = rows[stmt.args[0]]
        stmt.args = (found.array, *found.at(stmt.args[1:]))


def of_a_block(block: Block, made: list[Allocate], first: Extent, count: int) -> list[Allocate]:
    """Has the rows of one block of iterations in the memory that was for all of them; `first` is its first one, `count`
    how many there are at most. Gives what allocates it."""
    smaller = {stmt.target: _shorter(stmt.target, count) for stmt in made}
    for stmt in statements(block):
        if isinstance(stmt, Store) and stmt.array in smaller:
            stmt.array, stmt.at = smaller[stmt.array], _below(stmt.at, first)
        elif is_load(stmt) and stmt.args[0] in smaller:
            stmt.args = (smaller[stmt.args[0]], *_below(stmt.args[1:], first))
        elif isinstance(stmt, Product):
            stmt.target, stmt.left, stmt.right = (
                Part(smaller[part.array], _below(part.at, first)) if part.array in smaller else part
                for part in stmt.parts)
    return [Allocate(smaller[stmt.target], stmt.maker, stmt.origin) for stmt in made]


def _shorter(array: Var, count: int) -> Var:
    type: Any = array.type
    return Var(ArrayType(type.dtype, (count, *type.sizes[1:])), array.name)


def _below(at: Any, first: Extent) -> tuple[Any, ...]:
    place, *others = at
    return (atom_of_size(size_of_atom(place) - first), *others)
