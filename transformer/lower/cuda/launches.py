"""A function cut into kernels: what stays in the driver, and what it launches.

    allocate y                                  allocate y, allocate cell
    total = fold x over i                       launch a block: total = …, store cell
    half = total / 2                                            half = …, store cell
    nest i: store y, i, x[i] * half      →      launch threads over i: half = load cell
                                                                       nest i: store y, i, x[i] * half

Numbers that a kernel leaves to another one, or to the driver, lie in arrays of one element. The driver reads one
where it decides something, which waits for the device.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ...core.grammar import UNDEFINED, Atom, If, Let, Loop, Var
from ...core.types import ArrayType
from ...core.walk import Copier, atom_vars
from ...ops.identity import Same
from ..nest.clean import Renaming
from ..nest.lifetimes import mentioned, written
from ..nest.nest_walk import defined, statements, uses_after, uses_before
from ..nest.nests import Allocate, Block, Fold, Index, Launch, Library, Load, Nest, Store
from ..threads.threads import own_memory, used_by
from .placing import is_for_kernel, is_for_one_block, is_launched, is_number, is_small, is_test, numbers_of, on_device
from .private import across_lanes, is_local, is_of_lanes, with_rows
from .shares import (
    added_to,
    along_memory,
    as_loop,
    as_shared,
    flattened,
    free_indices,
    has_shares,
    is_for_blocks,
    is_scattered,
    is_together,
    shared_indices,
)
from .tiles import tiles
from .totals import before_loop

CELL = "cell"                          # makes memory for a number


def launched(body: Block, results: list[Atom]) -> tuple[Block, set[Var]]:
    """The block with kernels in it, and the arrays of one element that stand for numbers; `results` that only the
    device knows become such arrays."""
    cut = _Cut(body, results)
    made = cut.block(body)
    results[:] = [cut.cell_of(atom) for atom in results]
    return made, {*cut.cells.values()}


class _Cut:
    """Goes through the driver's blocks in order. Statements that one block of threads does wait until something else
    has to run, so that they share one launch; numbers of `device` are passed on in `cells`, and `fetched` is what the
    driver knows of them where it has come to, as it reads each at most once on its way."""

    def __init__(self, body: Block, results: list[Atom]) -> None:
        self.device = on_device(body)
        self.cells: dict[Var, Var] = {}          # where a number of the device lies
        self.fetched: dict[Var, Atom] = {}       # what the driver has read of them
        self.around: list[Block] = []            # what has been made of the blocks around
        self.uses = Counter(var for stmt in statements(body) for var in _used(stmt))
        self.uses.update(atom_vars(tuple(results)))
        self.statements = used_by(body)          # how many use a variable
        self.statements.update(set(atom_vars(tuple(results))))

    # -- statements of the driver -----------------------------------------------------------

    def block(self, block: Block) -> Block:
        fetched, self.fetched = self.fetched, dict(self.fetched)
        made: Block = []
        self.around.append(made)
        waiting: Block = []                      # for a kernel of one block
        for stmt in block:
            if self._is_of_device(stmt):
                waiting.append(stmt)
            elif self._is_of_driver(stmt):
                made += self._fetch(stmt)
                made.append(self._renamed(stmt))
            else:
                if not _may_wait(waiting, stmt):
                    made += self._together(waiting)
                    waiting = []
                made += self._driven(stmt)
        made += self._together(waiting)
        self.fetched = fetched
        return self.around.pop()

    def _is_of_device(self, stmt: Any) -> bool:
        """Whether one block had better do a statement alone, or can only do so."""
        match stmt:
            case Let():
                return not self.device.isdisjoint(stmt.targets)
            case Store():
                return True
            case Fold():
                return is_for_kernel(stmt)
            case Nest():
                return is_for_kernel(stmt) and (is_small(stmt) or not self._is_shared(stmt))
            case If() | Loop():
                return is_for_one_block(stmt, self.device) and not (
                    (nest := as_shared(stmt)) is not None and self._is_shared(nest))
        return False

    def _is_of_driver(self, stmt: Any) -> bool:
        """Whether it does not matter which kernels have run."""
        if isinstance(stmt, Allocate):
            return stmt.source is None and self.device.isdisjoint(atom_vars(stmt.target.type))
        return isinstance(stmt, Let)

    def _driven(self, stmt: Any) -> Block:
        match stmt:
            case Nest() | Loop() if (nest := as_shared(stmt)) is not None:
                is_for_threads = self._is_shared(nest)
                found = self._tiles(stmt)
                if found is not None and (found[0] or not is_for_threads):
                    return self._over_blocks(*found)
                if is_for_threads:
                    return self._over_threads(nest)
                return self._loop(stmt) if isinstance(stmt, Loop) else self._nest(stmt)
            case Loop():
                return self._loop(stmt)
            case Fold():
                return self._loop(as_loop(stmt))
            case If():
                return self._if(stmt)
            case Library():
                return self._library(stmt)
        return [*self._fetch(stmt), self._renamed(stmt)]

    def _library(self, stmt: Library) -> Block:
        """A call of a library, which fills memory for the numbers that it gives."""
        numbers = numbers_of(stmt)
        made = [*self._fetch(stmt), *(Allocate(self._cell(var), CELL) for var in numbers)]
        stmt = self._renamed(stmt)
        stmt.targets = tuple(self.cells[var] if var in numbers else var for var in stmt.targets)
        return [*made, stmt]

    def _renamed(self, stmt: Any) -> Any:
        renaming = Renaming(Copier(dict(self.fetched)))
        if isinstance(stmt, Allocate):
            stmt.target.type = renaming.copier.type(stmt.target.type)
        return renaming.stmt(stmt)

    def _fetch(self, stmt: Any) -> Block:
        """Reads the numbers that the driver needs for a statement."""
        return self._read(uses_before(stmt))

    def _read(self, variables: Iterable[Var]) -> Block:
        made: Block = []
        for var in dict.fromkeys(variables):
            if var in self.cells and var not in self.fetched:
                self.fetched[var] = known = Var(var.type, var.name)
                made.append(Let((known,), Load, (self.cells[var], 0), {}))   # type: ignore[arg-type]
        return made

    # -- kernels ----------------------------------------------------------------------------

    def _own(self, nest: Nest) -> list[Allocate]:
        """Memory that only the iterations of a nest use, also if it is made before the loops around."""
        return own_memory(nest, [stmt for block in self.around for stmt in block], self.statements)

    def _forget(self, memory: Iterable[Any]) -> None:
        for block in self.around:
            block[:] = [each for each in block if each not in memory]

    def _indices(self, nest: Nest, added: Iterable[Var] = ()) -> list[Index]:
        """The indices over which threads may share a nest; several may write to what is `added` to."""
        own = self._own(nest)
        return shared_indices(flattened(nest), [*(each.target for each in own), *added])

    def _is_shared(self, nest: Nest) -> bool:
        return is_launched(nest) and bool(self._indices(nest, added_to(nest)))

    def _over_threads(self, stmt: Nest) -> Block:
        """A kernel for a nest; memory before it that only its iterations use is one for each of them."""
        own = self._own(stmt)
        nest, apart, indices = flattened(stmt), self._indices(stmt), self._indices(stmt, added_to(stmt))
        at_once = not apart or len(indices) > len(apart) and is_scattered(nest)
        added, indices = (added_to(nest), indices) if at_once else (set(), apart)
        own = own if [*shared_indices(nest, added)] != indices else []
        self._forget(own)
        indices = along_memory(indices, nest)
        sizes = self._read(var for index in indices for var in atom_vars((index.size,)))
        if not is_for_blocks(nest):
            nest.body[:0] = [each for each in own if is_local(each)]
        rows = with_rows(nest, [each for each in own if each not in nest.body], indices)
        form = "blocks" if is_for_blocks(nest) else "threads"
        if form == "threads":
            rows = [*rows, *(each for each in self._own(stmt) if is_of_lanes(each, nest, indices))]
            self._forget(rows)
            rows = across_lanes(nest.body, rows, len(indices))
        if not rows:                             # which there would be more of
            indices = [*(index for index in free_indices(nest, added) if index not in indices), *indices]
        launch = self._launch([nest], form, indices)
        launch.added = added
        return [*sizes, *rows, launch]

    def _tiles(self, stmt: Nest | Loop) -> tuple[Block, Nest] | None:
        """The memory and the nest of a promised loop that blocks of threads do."""
        if not getattr(stmt, "independent", False):
            return None
        return tiles(stmt, self._own(Nest([], stmt.body, stmt.origin)))   # type: ignore

    def _over_blocks(self, memory: Block, nest: Nest) -> Block:
        """A kernel of which each block does an iteration, with memory that its threads share."""
        self._forget(memory)
        sizes = self._read(var for index in nest.indices for var in atom_vars((index.size,)))
        return [*sizes, self._launch([*memory, nest], "blocks", nest.indices)]

    def _together(self, block: Block) -> Block:
        """One kernel of one block, and memory for the numbers that it leaves."""
        if not block:
            return []
        made = {var: None for stmt in block for var in defined(stmt) if is_number(var)}
        inside = Counter(var for stmt in statements(block) for var in _used(stmt))
        left = [var for var in made if self.uses[var] > inside[var]]
        memory: Block = []
        stores: Block = []
        for var in left:
            cell = self._cell(var)
            memory.append(Allocate(cell, CELL))
            stores.append(Store(cell, (0,), var))                        # type: ignore[arg-type]
        form = "block" if is_together(block) and has_shares(block) else "thread"
        launch = self._launch([*block, *stores], form, [])
        return [*memory, launch]

    def cell_of(self, atom: Any) -> Any:
        """Where a number of the device lies; others and arrays are what they are."""
        return self.cells.get(atom, atom)

    def _cell(self, var: Var) -> Var:
        dtype = var.type.dtype                                           # type: ignore[union-attr]
        self.cells[var] = cell = Var(ArrayType(dtype, (1,)), var.name)
        return cell

    def _launch(self, body: Block, form: str, indices: list[Any]) -> Launch:
        """A kernel; numbers that others have left are read first."""
        known = {var for stmt in statements(body) for var in defined(stmt)}
        needed = [var for var in dict.fromkeys(v for stmt in body for v in mentioned(stmt))
                  if var in self.cells and var not in known]
        sized = {var for index in indices for var in atom_vars((index.size,))}
        loads: Block = []
        mapping: dict[Var, Atom] = {}
        for var in needed:
            if var in self.fetched:
                mapping[var] = self.fetched[var]
                continue
            assert var not in sized
            mapping[var] = inner = Var(var.type, var.name)
            loads.append(Let((inner,), Load, (self.cells[var], 0), {}))  # type: ignore[arg-type]
        renaming = Renaming(Copier(mapping))
        return Launch([*loads, *renaming.block(body)], form, indices)

    # -- branches and loops -----------------------------------------------------------------

    def _nest(self, stmt: Nest) -> Block:
        """Iterations of which each has kernels of its own."""
        sizes = self._read(var for index in stmt.indices for var in atom_vars((index.size,)))
        for index in stmt.indices:
            index.size = Copier(dict(self.fetched)).size(index.size)
        stmt.body = self.block(stmt.body)
        return [*sizes, stmt]

    def _if(self, stmt: If) -> Block:
        made = self._read(atom_vars((stmt.cond,)))
        stmt.cond = Copier(dict(self.fetched)).atom(stmt.cond)
        if is_test(stmt):
            return [*made, self._test(stmt)]
        left = [merge for merge in stmt.merges if merge.target in self.device]
        self.uses.subtract(_used(stmt))
        made += [Allocate(self._cell(merge.target), CELL) for merge in left]
        stmt.merges = [merge for merge in stmt.merges if merge not in left]
        self.uses.update(_used(stmt))
        stmt.then = self._side(stmt.then, [(merge.target, merge.then) for merge in left])
        stmt.orelse = self._side(stmt.orelse, [(merge.target, merge.orelse) for merge in left])
        return [*made, stmt]

    def _test(self, stmt: If) -> If:
        """What tells which place is wrong reads it where one is."""
        outer, self.fetched = self.fetched, dict(self.fetched)
        read = self._read(var for each in stmt.then for var in mentioned(each))
        stmt = Renaming(Copier(dict(self.fetched))).stmt(stmt)
        stmt.then = [*read, *stmt.then]
        self.fetched = outer
        return stmt

    def _side(self, block: Block, values: list[tuple[Var, Any]]) -> Block:
        return self.block([*block, *self._kept(values)])

    def _kept(self, values: Iterable[tuple[Var, Any]]) -> Block:
        """Writes numbers where others of the device lie."""
        made: Block = [Store(self.cells[var], (0,), value) for var, value in values   # type: ignore[arg-type]
                       if value is not UNDEFINED]
        self.uses.update(var for stmt in made for var in _used(stmt))
        return made

    def _record_before(self, handed: set[Var], stmt: Loop) -> None:
        """Numbers recorded as an iteration begins lie in places of their own: theirs are written at its end."""
        for record in stmt.records:
            if record.value in handed:
                kept = Var(record.value.type)                            # type: ignore[union-attr]
                self.device.add(kept)
                stmt.body.insert(0, Let((kept,), Same, (record.value,), {}, stmt.origin))
                record.value = kept

    def _loop(self, stmt: Loop) -> Block:
        left = [carry for carry in stmt.carries if carry.entry in self.device]
        made: Block = []
        self.uses.subtract(_used(stmt))
        self._record_before({carry.entry for carry in left}, stmt)
        for carry in left:
            cell = self._cell(carry.entry)
            self.cells[carry.out] = cell
            made.append(Allocate(cell, CELL))
        made += self.block(self._kept((carry.entry, carry.init) for carry in left))
        made += self._read(atom_vars(stmt.trips) if stmt.trips is not None else ())
        stmt.trips = Copier(dict(self.fetched)).atom(stmt.trips)
        stmt.carries = [carry for carry in stmt.carries if carry not in left]
        self.uses.update(_used(stmt))
        outer, self.fetched = self.fetched, dict(self.fetched)
        for read in stmt.reads:
            if is_number(read.target):
                read.target = self._cell(read.target)
        stmt.test = self.block(stmt.test)
        if stmt.cond is not None:
            stmt.test += self._read(atom_vars((stmt.cond,)))
            stmt.cond = Copier(dict(self.fetched)).atom(stmt.cond)
        stmt.body = self.block([*stmt.body, *self._kept((carry.entry, carry.next) for carry in left)])
        for record in stmt.records:
            record.value = self.cell_of(record.value)
        self.fetched = outer
        return [*made, *before_loop(stmt, CELL), stmt]


def _may_wait(waiting: Block, stmt: Any) -> bool:
    """Whether a nest has nothing to do with statements before it, which may then share a kernel with some behind it."""
    if not isinstance(stmt, Nest):
        return False
    made = {var for each in waiting for var in (*defined(each), *written(each))}
    used = {var for each in waiting for var in mentioned(each)}
    return made.isdisjoint(mentioned(stmt)) and used.isdisjoint(written(stmt))


def _used(stmt: Any) -> set[Var]:
    """What a statement itself uses."""
    return {*uses_before(stmt), *uses_after(stmt)}
