"""Small arrays of which every element is read and written by its number become plain numbers.

    x = empty(3); x[0] = a; x[1] = b; x[2] = c          x0, x1, x2 = a, b, c
    loop x                                              loop x0, x1, x2
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

from ...core.grammar import UNDEFINED, Atom, Carry, Const, If, Let, Loop, Merge, Var
from ...core.types import ArrayType
from ...core.walk import atom_vars
from ...ops.arithmetic import Add
from ...ops.identity import Same
from ..nest.nest_walk import inner_blocks, is_load, uses_after, uses_before
from ..nest.nests import Allocate, Block, Load, Nest, Store

MOST_CELLS = 16
Place = tuple[int, ...]


def as_cells(block: Block, results: list[Atom]) -> Block:
    """The block with small arrays as numbers; results stay arrays, which are filled at the end."""
    arrays = _Candidates(block).found
    if not arrays:
        return block
    return _Cells(arrays).whole(block, results)


def places_of(type: Any) -> list[Place]:
    return list(product(*(range(size) for size in type.sizes)))


class _Candidates:
    """The arrays that can be numbers: of few elements, written outside of nests at fixed places, read at
    fixed ones, and handed on by loops and branches only."""

    def __init__(self, block: Block) -> None:
        self.found: set[Any] = set()
        self.lost: set[Any] = set()
        self.tied: list[tuple[Any, Any]] = []
        self.homes: dict[Any, int] = {}
        self._block(block, id(block))
        self.found -= self.lost
        self._settle()

    def _settle(self) -> None:
        while lost := {one for one, other in self.tied if one in self.found and other not in self.found}:
            self.found -= lost

    def _tie(self, one: Any, other: Any) -> None:
        """Both are numbers, or none is."""
        self.tied += [(one, other), (other, one)]

    def _make(self, var: Any) -> None:
        type = getattr(var, "type", None)
        sizes = getattr(type, "sizes", ())
        if sizes and all(isinstance(size, int) for size in sizes) and prod(sizes) <= MOST_CELLS:
            self.found.add(var)
        else:
            self.lost.add(var)

    def _block(self, block: Block, home: int) -> None:
        """`home` is the block in which the array has to be made that is written here."""
        for stmt in block:
            self._stmt(stmt, home)
            for inner in inner_blocks(stmt):
                self._block(inner, home if isinstance(stmt, Nest) and not stmt.indices else id(inner))
            if not isinstance(stmt, (If, Loop)):
                self.lost.update(uses_after(stmt))

    def _stmt(self, stmt: Any, home: int) -> None:
        match stmt:
            case Allocate():
                self._make(stmt.target)
                self.homes[stmt.target] = home
                self.lost.update(atom_vars(stmt.target.type))
                if stmt.source is not None and stmt.source not in self.found:
                    self.lost.add(stmt.target)
                if stmt.source is not None:
                    self._tie(stmt.source, stmt.target)
            case Store():
                if self.homes.get(stmt.array) != home or not _is_fixed(stmt.at):
                    self.lost.add(stmt.array)
                self.lost.update(atom_vars((*stmt.at, stmt.value)))
            case Let() if is_load(stmt):
                if not _is_fixed(stmt.args[1:]):
                    self.lost.add(stmt.args[0])
                self.lost.update(atom_vars(stmt.args[1:]))
            case Loop():
                self._loop(stmt)
            case If():
                self._if(stmt)
            case _:
                self.lost.update(uses_before(stmt))

    def _loop(self, stmt: Loop) -> None:
        for carry in stmt.carries:
            self._make(carry.entry)
            self._make(carry.out)
            self._tie(carry.entry, carry.out)
            self._tie(carry.entry, carry.next)
            if not isinstance(carry.init, Var):
                self.lost.add(carry.entry)
            self.tied.append((carry.init, carry.entry))                  # an array may be read into numbers
        self.lost.update(record.value for record in stmt.records)
        self.lost.update(read.source for read in stmt.reads)

    def _if(self, stmt: If) -> None:
        for merge in stmt.merges:
            self._make(merge.target)
            for side in (merge.then, merge.orelse):
                if side is not UNDEFINED:
                    self._tie(merge.target, side)


def _is_fixed(at: Any) -> bool:
    return all(isinstance(k, Const) for k in at)


class _Cells:
    """Rewrites; `cells` are the numbers that every small array consists of where code is being made."""

    def __init__(self, arrays: set[Any]) -> None:
        self.arrays = arrays
        self.cells: dict[Any, dict[Place, Atom]] = {}

    def whole(self, block: Block, results: list[Atom]) -> Block:
        made = self.block(block)
        for array in dict.fromkeys(results):
            if array in self.arrays:
                made.append(Allocate(array))                              # type: ignore[arg-type]
                made += [Store(array, tuple(map(Const, place)), self._cell(array, place))   # type: ignore[arg-type]
                         for place in places_of(array.type)]             # type: ignore[union-attr]
        return made

    def _cell(self, array: Any, place: Place) -> Atom:
        return self.cells[array].get(place, Const(array.type.dtype.type(0), ArrayType(array.type.dtype)))

    def block(self, block: Block) -> Block:
        made: Block = []
        for stmt in block:
            match stmt:
                case Allocate() if stmt.target in self.arrays:
                    self.cells[stmt.target] = dict(self.cells[stmt.source]) if stmt.source is not None else {}
                case Store() if stmt.array in self.arrays:
                    self._store(stmt, made)
                case Let() if is_load(stmt) and stmt.args[0] in self.arrays:
                    value = self._cell(stmt.args[0], _place(stmt.args[1:]))
                    made.append(Let(stmt.targets, Same, (value,), {}, stmt.origin))
                case Loop():
                    made += self._loop(stmt)
                case If():
                    self._if(stmt)
                    made.append(stmt)
                case _:
                    for inner in inner_blocks(stmt):
                        inner[:] = self.block(inner)
                    made.append(stmt)
        return made

    def _store(self, stmt: Store, made: Block) -> None:
        place, value = _place(stmt.at), stmt.value
        if stmt.adds:
            total = Var(ArrayType(stmt.array.type.dtype))                # type: ignore[union-attr]
            made.append(Let((total,), Add, (self._cell(stmt.array, place), value), {}, stmt.origin))
            value = total
        self.cells[stmt.array][place] = value

    def _loop(self, stmt: Loop) -> Block:
        small = [carry for carry in stmt.carries if carry.entry in self.arrays]
        before: Block = []
        carries: dict[Carry, dict[Place, Carry]] = {}
        for carry in small:
            carries[carry] = {place: self._carry(carry, place, before) for place in places_of(carry.entry.type)}
            self.cells[carry.entry] = {place: one.entry for place, one in carries[carry].items()}
        stmt.test, stmt.body = self.block(stmt.test), self.block(stmt.body)
        for carry, cells in carries.items():
            for place, one in cells.items():
                one.next = self._cell(carry.next, place)
            self.cells[carry.out] = {place: one.out for place, one in cells.items()}
        stmt.carries = [one for carry in stmt.carries
                        for one in (carries[carry].values() if carry in carries else [carry])]
        return [*before, stmt]

    def _carry(self, carry: Carry, place: Place, before: Block) -> Carry:
        type = ArrayType(carry.entry.type.dtype)                         # type: ignore[union-attr]
        if carry.init in self.arrays:
            init = self._cell(carry.init, place)
        else:
            init = Var(type)
            before.append(Let((init,), Load, (carry.init, *map(Const, place)), {}))
        name = carry.entry.name and carry.entry.name + "_" + "".join(map(str, place))
        return Carry(Var(type, name), init, init, Var(type, name))

    def _if(self, stmt: If) -> None:
        stmt.then, stmt.orelse = self.block(stmt.then), self.block(stmt.orelse)
        merges: list[Merge] = []
        for merge in stmt.merges:
            if merge.target not in self.arrays:
                merges.append(merge)
                continue
            self.cells[merge.target] = {}
            for place in places_of(merge.target.type):
                target = Var(ArrayType(merge.target.type.dtype))         # type: ignore[union-attr]
                sides = [side if side is UNDEFINED else self._cell(side, place) for side in (merge.then, merge.orelse)]
                merges.append(Merge(target, *sides))
                self.cells[merge.target][place] = target
        stmt.merges = merges


def _place(at: Any) -> Place:
    return tuple(int(k.value) for k in at)

