"""What loops record, as arrays with a row for every iteration, written where the value is known.

    loop k < n                          allocate u_k
        …                               loop k < n
        record u_k = u                      nest i < m
                                                store u_k, k, i, load u, i

What a loop inside of a loop records lies in the array of the outer one. Where rows have different lengths, there
is room for the longest. Reading it again is reading an element. The records of a loop that nobody has counted
grow; `Loops` prints those. Where nobody knows the lengths of rows (`ragged`), they lie one behind the other in an array
that is made longer when it is full:

    loop k in none                      loop k in none
        …                                   …
        record u_k = u                      effect room u_k, begin + k + 1
                                            store u_k, begin + k, u

Rows of which nobody knows before how large they become are items of a list (`handles`); the array says which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...core.builder import current
from ...core.errors import NotSupported
from ...core.grammar import UNDEFINED, Atom, Block, Const, Effect, If, Let, Loop, Merge, Read, Record, Var, type_of
from ...core.sizes import Extent, Size, Unknown, greatest
from ...core.types import INT, ArrayType, SeqType
from ...core.walk import (
    all_definitions,
    all_statements,
    atom_of_size,
    atom_vars,
    blocks_of,
    inner_targets,
    size_of_atom,
    targets_of,
)
from ...ops.identity import Same
from ...ops.saved import Layout
from ..nest.access import loaded, running
from ..nest.nests import ROOM, Allocate, Named, Nest, Store, emit
from .filling import stored
from .handles import keep, look_up
from .ragged import Ragged, largest

FIRST_ROWS = 16                        # of memory that grows
ONE_OF_TWO = "a value that two branches in a loop record in different ways cannot be compiled"


@dataclass(slots=True)
class Home:
    """Where a sequence lies: the part of an array at a place of its first axes, from its row `begin` on. With a
    `layout`, rows are items of the list of that, and the array says which."""

    array: Var
    at: tuple[Atom, ...] = ()
    begin: Atom = Const(0)
    layout: Layout | None = None

    def row(self, position: Atom) -> Home:
        place = atom_of_size(size_of_atom(self.begin) + size_of_atom(position))
        return Home(self.array, (*self.at, place), layout=self.layout)


class Recording:
    """Turns records and reads into stores and loads; `homes` says where every sequence lies."""

    def __init__(self, ragged: Ragged) -> None:
        function, self.ragged = ragged.function, ragged
        self.defined = {*function.params, *all_definitions(function.body)}
        self.around: dict[Any, tuple[Any, ...]] = {}
        self._note_scopes(function.body, ())
        self.homes: dict[Any, Home] = {}
        self.grown: dict[Any, Var] = {}

    def _note_scopes(self, block: Block, around: tuple[Any, ...]) -> None:
        """Notes which loops and branches every variable is in, and every loop and branch itself."""
        for stmt in block:
            self.around[stmt] = around
            self.around.update(dict.fromkeys(targets_of(stmt), around))
            self.around.update(dict.fromkeys(inner_targets(stmt), (*around, stmt)))
            for inner in blocks_of(stmt):
                self._note_scopes(inner, (*around, stmt))

    def _before(self, stmt: Any) -> set[Any]:
        """What is defined where a statement is, or further out, and not by itself. (The type of a sequence may speak of
        the position of another loop, which has the same rows.)"""
        around = self.around[stmt]
        known = {var for var in self.defined if (places := self.around.get(var, ())) == around[:len(places)]}
        return known.difference(targets_of(stmt))

    def prepare(self, loop: Loop) -> dict[Any, list[Record]]:
        """Emits memory for what a loop records; gives the records by the value that is kept."""
        found: dict[Any, list[Record]] = {}
        for record in filter(partial(self.is_array, loop), loop.records):
            if record.target not in self.homes:
                self.homes[record.target] = self._memory(loop, record, loop)
            home = self.homes[record.target]
            if isinstance(type_of(record.value), SeqType):
                self.homes[record.value] = self._part(record.value, home, loop.position)
                continue
            found.setdefault(record.value, []).append(record)
            if record.target in self.ragged.begins and not _ends_early(loop):
                _make_room(home.row(loop.trips))                         # type: ignore[arg-type]
        return found

    def is_array(self, loop: Loop, record: Record) -> bool:
        """Whether a record is an array that is made before the loop, or before one around it."""
        return loop.trips is not None or record.target in self.ragged.sequences

    def _part(self, seq: Any, home: Home, position: Atom) -> Home:
        """Where the sequence at a position of another one lies."""
        if seq in self.ragged.sequences:
            return Home(home.array, begin=self.ragged.begins.get(seq, Const(0)), layout=home.layout)
        return home.row(position)

    def _memory(self, loop: Any, record: Record | Merge, stmt: Any) -> Home:
        """Memory before a loop or branch; its size has to be known there."""
        before = self._before(stmt)
        is_ragged = record.target in self.ragged.sequences
        type = _type_of_rows(record.target.type) if is_ragged else self._type(loop, record)   # type: ignore[arg-type]
        origin = current().origin
        sizes = (largest(size, before) for size in type.sizes)
        target = Var(type.with_sizes(tuple(map(_room, sizes) if stmt is not loop else sizes)), record.target.name)
        layout = None
        if not before.issuperset(atom_vars(target.type)):
            layout = Layout(record.target.name or "rows", -record.target.serial, (True,), ("get",))
            lengths = target.type.sizes[:type.rank - _type_of_rows(record.target.type).rank]   # type: ignore[union-attr]
            target = Var(ArrayType(INT.dtype, lengths), target.name)
            if not before.issuperset(atom_vars(target.type)):
                raise NotSupported("recording arrays whose number and sizes are both unknown in advance, in nested "
                                   "loops, cannot be compiled", origin)
        if is_ragged:
            rows = Var(INT, "rows")
            emit(Let((rows,), Named, (Const(FIRST_ROWS),), {}, origin))
            target.type = target.type.with_sizes((Size.of(Unknown(rows)), *target.type.sizes))   # type: ignore[union-attr]
        emit(Allocate(target, "record", origin))
        return Home(target, layout=layout)

    def _type(self, loop: Loop, record: Record) -> ArrayType:
        row = type_of(record.value)
        if isinstance(row, SeqType):
            inner = next((stmt for stmt in all_statements(loop.body) if record.value in targets_of(stmt)), None)
            mine = next((r for r in getattr(inner, "records", ()) if r.target is record.value), None)
            if mine is None or inner.trips is None:                      # type: ignore[union-attr]
                raise NotSupported(ONE_OF_TWO, loop.origin)
            row = self._type(inner, mine)                                # type: ignore[arg-type]
        assert isinstance(row, ArrayType)
        if loop.trips is None:
            raise NotSupported("values recorded by a while loop in a branch cannot be compiled", loop.origin,
                               instead="Run it without jit.")
        length: Extent = size_of_atom(loop.trips)
        return ArrayType(row.dtype, (length, *row.sizes))

    def keep(self, loop: Loop, records: list[Record]) -> None:
        """Emits the stores of what is kept of an iteration, whose value is known here."""
        for record in records:
            home, value = self.homes[record.target].row(loop.position), record.value
            if record.target in self.ragged.begins and _ends_early(loop):
                _make_room(self.homes[record.target].row(Size.of(Unknown(loop.position)) + 1))   # type: ignore[arg-type]
            sizes = getattr(type_of(value), "sizes", ())
            if home.layout is not None:
                item = Var(INT, "item")
                keep(item, (value,), home.layout)
                value, sizes = item, ()
            if not sizes:
                emit(Store(home.array, home.at, value, False, loop.origin))
                continue
            with running(sizes) as (indices, at), current().nested() as body:
                number = loaded(value, tuple(_atom(k) for k in at))
                place = stored(home.array, at, number)
                place.at = (*home.at, *place.at)
                emit(place)
            emit(Nest(indices, body, loop.origin))

    def read(self, read: Read, position: Var) -> bool:
        """Emits what a loop reads at the beginning of an iteration; False if it is not in an array."""
        home = self._home_of(read.source)
        if home is None:
            return False
        if isinstance(read.target.type, SeqType):
            self.homes[read.target] = self._part(read.target, home, position)
        else:
            self._fill(read.target, home.row(position))
        return True

    def growing(self, record: Record) -> Record:
        """What an uncounted loop records: of a loop inside of it, the array."""
        home = self.homes.get(record.value)
        if home is None or home.at:
            return Record(record.target, record.value, saved=record.saved)
        self.grown[record.target] = Var(SeqType(home.array.type), record.target.name)
        return Record(self.grown[record.target], home.array, saved=record.saved)

    def growing_read(self, read: Read) -> Read:
        """A row of what an uncounted loop has recorded."""
        if read.source not in self.grown:
            return Read(read.target, read.source)
        source = self.grown[read.source]
        target = Var(source.type.element, read.target.name)              # type: ignore[union-attr]
        self.homes[read.target] = Home(target)
        return Read(target, source)

    def _home_of(self, source: Any) -> Home | None:
        if source in self.homes:
            return self.homes[source]
        return Home(source) if isinstance(type_of(source), ArrayType) else None

    def _fill(self, target: Var, row: Home) -> None:
        """A number or an array that is read; arrays that cost nothing to read are not kept."""
        builder = current()
        sizes = target.type.sizes                                        # type: ignore[union-attr]
        if row.layout is not None:
            look_up((target,), loaded(row.array, row.at).atom, row.layout)
            return
        if not sizes:
            emit(Let((target,), Same, (loaded(row.array, row.at).atom,), {}, builder.origin))
            return
        emit(Allocate(target, "get", builder.origin))
        with running(sizes) as (indices, at), builder.nested() as body:
            first, *rest = map(_atom, at)
            number = loaded(row.array, (*row.row(first).at, *rest))
            emit(stored(target, at, number))
        emit(Nest(indices, body, builder.origin))

    def sequence(self, stmt: Let) -> bool:
        """An array as a sequence of its rows, or a sequence as an array."""
        source = stmt.args[0]
        if stmt.op.name == "unstacked":
            self.homes[stmt.target] = Home(source)                       # type: ignore[arg-type]
        elif source not in self.homes or self.homes[source].layout is not None:
            return False
        elif self.homes[source].at or source in self.ragged.sequences or self._has_room_left(stmt):
            self._fill(stmt.target, self.homes[source])
        else:
            emit(Let(stmt.targets, Same, (self.homes[source].array,), {}, stmt.origin))
        return True

    def _has_room_left(self, stmt: Let) -> bool:
        """Whether a loop that may end early has recorded fewer rows than there is room for."""
        target, array = stmt.target.type, self.homes[stmt.args[0]].array.type
        return target.sizes != array.sizes                               # type: ignore[union-attr]

    def array_of(self, seq: Any) -> Any:
        """The array that a sequence lies in, as a whole. Raises `NotSupported` where it is a part of one."""
        home = self.homes.get(seq)
        if home is None:
            return self.grown.get(seq, seq)
        nested = seq in self.ragged.sequences and isinstance(seq.type.element, SeqType)
        if home.at or nested or home.layout is not None or not isinstance(home.begin, Const):
            raise NotSupported("rows of different lengths, recorded for the derivative of a recursion, cannot be "
                               "compiled", current().origin)
        return home.array

    def as_array(self, seq: Var) -> Var:
        """The array in which a sequence comes that was kept elsewhere."""
        sizes: list[Extent] = []
        row: Any = seq.type
        while isinstance(row, SeqType):
            sizes.append(Size.of(Unknown(Var(INT))))
            row = row.element
        array = Var(row.with_sizes((*sizes, *row.sizes)), seq.name)
        self.homes[seq] = Home(array)
        return array

    def before(self, stmt: If) -> None:
        """Emits memory, before a branch, for what one side records and what is read behind it."""
        for merge in stmt.merges:
            if isinstance(merge.target.type, SeqType):
                side, block = (merge.then, stmt.then) if merge.orelse is UNDEFINED else (merge.orelse, stmt.orelse)
                if merge.target not in self.homes:
                    loop, record = self._recorded(merge, side, block)
                    if record is None or UNDEFINED not in (merge.then, merge.orelse):
                        raise NotSupported("values that only some branches record cannot be compiled")
                    self.homes[merge.target] = self._memory(loop, record, stmt)
                self.homes[side] = self.homes[merge.target]

    def _recorded(self, merge: Merge, seq: Any, block: Block) -> tuple[Any, Any]:
        """The loop and the record that a sequence is, which may leave branches inside of the block."""
        for stmt in all_statements(block):
            for record in getattr(stmt, "records", ()):
                if record.target is seq:
                    return stmt, record
            for inner in getattr(stmt, "merges", ()):
                if inner.target is seq and UNDEFINED in (inner.then, inner.orelse):
                    return self._recorded(inner, inner.then if inner.orelse is UNDEFINED else inner.orelse, block)
        return None, merge if merge.target in self.ragged.sequences else None


def _type_of_rows(type: Any) -> ArrayType:
    """The type of the rows that a sequence consists of, in the end."""
    return _type_of_rows(type.element) if isinstance(type, SeqType) else type


def _room(size: Extent) -> Extent:
    """Room for what a branch records, made before it is known whether that is taken: if not, a size may be below 0."""
    return size if current().assumptions.certainly_at_least(size, 0) else greatest(size, 0)


def _ends_early(loop: Loop) -> bool:
    return loop.trips is None or loop.cond is not None


def _make_room(end: Home) -> None:
    """Emits that an array has rows up to an end."""
    emit(Effect(ROOM, (end.array, *end.at), {}, current().origin))


def _atom(k: Any) -> Atom:
    from ...core.walk import atom_of_size
    from ...ops.integers import affine
    return atom_of_size(affine(k))


def by_definition(block: Block, records: dict[Any, list[Record]], keep: Callable[[list[Record]], None]
                  ) -> Iterator[Any]:
    """The statements of a block, with what is recorded kept right behind the one that defines it."""
    local = set(all_definitions(block))
    keep([record for value, mine in records.items() if value not in local for record in mine])
    for stmt in block:
        yield stmt
        keep([record for target in targets_of(stmt) for record in records.get(target, ())])
