"""What loops record, as arrays with a row for every iteration, written where the value is known.

    loop k < n                          allocate u_k
        …                               loop k < n
        record u_k = u                      nest i < m
                                                store u_k, k, i, load u, i

What a loop inside of a loop records lies in the array of the outer one. Where rows have different lengths, there
is room for the longest. Reading it again is reading an element. The records of a loop that nobody has counted
grow; `Loops` prints those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..core.builder import current
from ..core.errors import NotSupported
from ..core.grammar import UNDEFINED, Atom, Block, Function, If, Let, Loop, Read, Record, Var, type_of
from ..core.sizes import Extent
from ..core.types import ArrayType, SeqType
from ..core.walk import all_definitions, all_statements, atom_vars, size_of_atom, targets_of
from ..ops.identity import Same
from .access import loaded, running
from .filling import stored
from .nests import Allocate, Nest, Store, emit


@dataclass(slots=True)
class Home:
    """Where a sequence lies: the part of an array at a place of its first axes."""

    array: Var
    at: tuple[Atom, ...] = ()

    def row(self, position: Atom) -> Home:
        return Home(self.array, (*self.at, position))


class Recording:
    """Turns records and reads into stores and loads; `homes` says where every sequence lies."""

    def __init__(self, function: Function) -> None:
        self.defined = {*function.params, *all_definitions(function.body)}
        self.homes: dict[Any, Home] = {}
        self.grown: dict[Any, Var] = {}

    def prepare(self, loop: Loop) -> dict[Any, list[Record]]:
        """Emits memory for what a loop records; gives the records by the value that is kept."""
        found: dict[Any, list[Record]] = {}
        for record in loop.records:
            if record.target not in self.homes:
                self.homes[record.target] = self._memory(loop, record, [loop])
            if isinstance(type_of(record.value), SeqType):
                self.homes[record.value] = self.homes[record.target].row(loop.position)
            else:
                found.setdefault(record.value, []).append(record)
        return found

    def _memory(self, loop: Loop, record: Record, block: Block) -> Home:
        """Memory before a block; its size has to be known there."""
        before = self.defined - set(all_definitions(block))
        target = Var(_largest(self._type(loop, record), before), record.target.name)
        if not before.issuperset(atom_vars(target.type)):
            raise NotSupported("arrays whose size differs from one iteration of a loop to the next, kept for each "
                               "of them, have no compiled form where the largest is not known before", loop.origin)
        emit(Allocate(target, "record", loop.origin))
        return Home(target)

    def _type(self, loop: Loop, record: Record) -> ArrayType:
        row = type_of(record.value)
        if isinstance(row, SeqType):
            inner = next((stmt for stmt in all_statements(loop.body) if record.value in targets_of(stmt)), None)
            mine = next((r for r in getattr(inner, "records", ()) if r.target is record.value), None)
            if mine is None or inner.trips is None:                      # type: ignore[union-attr]
                raise NotSupported("what a while loop records inside of another loop has no compiled form")
            row = self._type(inner, mine)                                # type: ignore[arg-type]
        if not isinstance(row, ArrayType):
            raise NotSupported("what a loop keeps of the functions that it calls has no compiled form", loop.origin)
        if loop.trips is None:
            raise NotSupported("what a while loop in a branch records has no compiled form", loop.origin,
                               instead="Run it without jit.")
        length: Extent = size_of_atom(loop.trips)
        return ArrayType(row.dtype, (length, *row.sizes))

    def keep(self, loop: Loop, records: list[Record]) -> None:
        """Emits the stores of what is kept of an iteration, whose value is known here."""
        for record in records:
            home = self.homes[record.target].row(loop.position)
            value = record.value
            sizes = getattr(type_of(value), "sizes", ())
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
        row = home.row(position)
        if isinstance(read.target.type, SeqType):
            self.homes[read.target] = row
        else:
            self._fill(read.target, row)
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
        if not sizes:
            emit(Let((target,), Same, (loaded(row.array, row.at).atom,), {}, builder.origin))
            return
        emit(Allocate(target, "get", builder.origin))
        with running(sizes) as (indices, at), builder.nested() as body:
            number = loaded(row.array, (*row.at, *(_atom(k) for k in at)))
            emit(stored(target, at, number))
        emit(Nest(indices, body, builder.origin))

    def sequence(self, stmt: Let) -> bool:
        """An array as a sequence of its rows, or a sequence as an array."""
        source = stmt.args[0]
        if stmt.op.name == "unstacked":
            self.homes[stmt.target] = Home(source)                       # type: ignore[arg-type]
        elif source not in self.homes:
            return False
        elif self.homes[source].at:
            self._fill(stmt.target, self.homes[source])
        else:
            emit(Let(stmt.targets, Same, (self.homes[source].array,), {}, stmt.origin))
        return True

    def before(self, stmt: If) -> None:
        """Emits memory, before a branch, for what one side records and what is read behind it."""
        for merge in stmt.merges:
            if isinstance(merge.target.type, SeqType):
                side, block = (merge.then, stmt.then) if merge.orelse is UNDEFINED else (merge.orelse, stmt.orelse)
                loop, record = self._recorded(side, block)
                if record is None or UNDEFINED not in (merge.then, merge.orelse):
                    raise NotSupported("what only some branches record has no compiled form")
                self.homes[merge.target] = self.homes[side] = self._memory(loop, record, block)

    def _recorded(self, seq: Any, block: Block) -> tuple[Any, Any]:
        return next(((loop, record) for loop in all_statements(block) for record in getattr(loop, "records", ())
                     if record.target is seq), (None, None))


def _largest(type: ArrayType, before: set[Var]) -> ArrayType:
    """A type whose sizes are known with what is defined `before`: where the size of a row changes, the largest."""
    def known(size: Extent) -> Extent:
        bound = None if before.issuperset(atom_vars((size,))) else current().assumptions.highest(size)
        return size if bound is None else bound

    return type.with_sizes(tuple(map(known, type.sizes)))


def _atom(k: Any) -> Atom:
    from ..core.walk import atom_of_size
    from ..ops.integers import affine
    return atom_of_size(affine(k))


def by_definition(block: Block, records: dict[Any, list[Record]], keep: Callable[[list[Record]], None]
                  ) -> Iterator[Any]:
    """The statements of a block, with what is recorded kept right behind the one that defines it."""
    local = set(all_definitions(block))
    keep([record for value, mine in records.items() if value not in local for record in mine])
    for stmt in block:
        yield stmt
        keep([record for target in targets_of(stmt) for record in records.get(target, ())])
