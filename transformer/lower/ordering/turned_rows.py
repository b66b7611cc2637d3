"""Blocks of rows: a loop over rows as one over blocks of 64, in which each step is done for all rows before the next.

Which loops, and why: `turning`. Steps are what is done along a row (a nest or a fold), and numbers that are computed
before, between and behind these. Numbers that later steps need are kept, one of each row. An array of one row becomes
one of a block, with a row for each place; so do parts of other arrays, which are copied there and back.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Carry, Const, Let, Var
from ...core.sizes import Size, Unknown
from ...core.types import INT, ArrayType
from ...core.walk import Copier, atom_of_size, atom_vars
from ...ops.arithmetic import Add
from ..fusion.sums import combined
from ..nest.access import place_key
from ..nest.clean import Renaming
from ..nest.lifetimes import written
from ..nest.nest_walk import accesses, all_uses, defined, inner_blocks, is_load, statements
from ..nest.nests import Allocate, Block, Fold, Index, Load, Nest, Store, Turn
from ..printing.turns import WIDTH as ROWS
from .strips import part_of

NOTHING: frozenset[Var] = frozenset()


def columns_of(stmt: Nest | Fold) -> list[Any]:
    """What an iteration does along its row."""
    return [each for each in stmt.body if isinstance(each, (Nest, Fold))]


def handed_on(stmt: Nest | Fold) -> set[Var]:
    """The numbers of a row that rest on those of rows before."""
    found = {carry.entry for carry in getattr(stmt, "carries", ())}
    for each in stmt.body:
        if isinstance(each, Let) and not found.isdisjoint(atom_vars(each.args)):
            found.update(each.targets)
    return found


def many_rows(stmt: Nest | Fold, own: list[Allocate], threads: bool) -> Block:
    """The loop over blocks, and memory for one of them; `own` are the arrays of one row."""
    return _Blocks(stmt, own, threads).made()


@dataclass
class _Numbers:
    """Numbers of a row, what the fold behind them begins with, and what is handed on to the next row."""

    stmts: Block = field(default_factory=list)
    begins: dict[Var, Atom] = field(default_factory=dict)
    ends: tuple[Atom, ...] = ()

    def uses(self) -> Iterator[Var]:
        yield from all_uses(self.stmts)
        yield from atom_vars((*self.begins.values(), *self.ends))


@dataclass
class _Copied:
    """Rows of an array that are copied to memory of a block: they lie behind these places, and are read before they are
    written, and written."""

    places: tuple[Atom, ...]
    is_read: bool
    is_written: bool


class _Blocks:
    """A loop over rows on its way. `arrays` are the memory of a block for arrays, and `numbers` that for numbers, in
    whose places `here` is the row of the block. What `anew` says is read again by each step that needs it."""

    def __init__(self, stmt: Nest | Fold, own: list[Allocate], threads: bool) -> None:
        self.stmt, self.threads = stmt, threads
        self.row, self.here, self.length = stmt.indices[-1], Var(INT), columns_of(stmt)[0].indices[0].size
        self.inside = {self.row.var, *(var for each in statements([stmt]) for var in defined(each))}
        self.allocated: Block = []
        self.copied = dict(self._copied())
        self.arrays = {each.target: self._memory(each.target, each.maker, self.length, ROWS) for each in own}
        self.arrays.update((array, self._memory(_turned(array), "turned", self.length, ROWS)) for array in self.copied)
        self.numbers: dict[Var, Var] = {}
        self.anew = {each.target: each for each in stmt.body if self._is_read_anew(each)}

    def made(self) -> Block:
        block = Index(Var(INT, "block"), (self.row.size + (ROWS - 1)) // ROWS)
        current().assumptions.within(block.var, 0, block.size - 1)
        self.first, self.count, named = part_of(block.var, self.row.size, ROWS, self.threads)
        self._move(self.stmt.body, None)
        steps = self._steps()
        self._keep_numbers(steps)
        last = steps.pop() if isinstance(self.stmt, Fold) else None
        done = [*named, *self._copies(False), *(self._done(step) for step in steps if step != _Numbers()),
                *self._copies(True)]
        if self.threads and last is not None:                            # chunks of a fold have memory of their own
            return [self._around(block, [*self.allocated, *done], last)]
        return [*self.allocated, self._around(block, done, last)]

    def _around(self, block: Index, body: Block, last: Any) -> Nest | Fold:
        stmt = self.stmt
        if isinstance(stmt, Nest):
            return Nest([*stmt.indices[:-1], block], body, stmt.origin, apart=stmt.apart)
        outer = [Carry(Var(c.entry.type, c.entry.name), c.init, Var(c.out.type), c.out) for c in stmt.carries]
        index, renaming, numbers = self._computed(last)
        carries = [Carry(c.entry, o.entry, renaming.copier.atom(c.next), o.next)                # type: ignore[arg-type]
                   for c, o in zip(stmt.carries, outer, strict=True)]
        return Fold([block], outer, [*body, Fold([index], carries, numbers, stmt.origin)], stmt.origin)

    # -- arrays -----------------------------------------------------------------------------------

    def _memory(self, var: Var, maker: str, *sizes: Any) -> Var:
        """An array of these sizes for numbers like those that a variable is, or holds."""
        array = Var(ArrayType(var.type.dtype, sizes), var.name)          # type: ignore[union-attr]
        self.allocated.append(Allocate(array, maker, self.stmt.origin))
        return array

    def _is_read_anew(self, stmt: Any) -> bool:
        """Whether a statement reads an element that nobody writes, at a place that is the row, or the same for all."""
        if not is_load(stmt) or stmt.args[0] in self.copied:
            return False
        made = self.inside - {self.row.var}
        return stmt.args[0] not in written(self.stmt) and made.isdisjoint(atom_vars(stmt.args[1:]))

    def _copied(self) -> Iterator[tuple[Var, _Copied]]:
        """The arrays whose rows are gone along; those that are written in no other way."""
        uses: dict[Var, list[tuple[Any, tuple[Atom, ...], Var | None]]] = {}
        for stmt in self.stmt.body:
            place = stmt.indices[0].var if isinstance(stmt, (Nest, Fold)) else None
            for each in statements([stmt]):
                for array, at in () if inner_blocks(each) else accesses(each):
                    uses.setdefault(array, []).append((each, at, place))
        for array, found in uses.items():
            rows = [(at, place) for _, at, place in found if self._is_of_row(at, place)]
            is_written = any(isinstance(each, Store) for each, _, _ in found)
            if (len({place_key(at[:-2]) for at, _ in rows}) == 1 and any(at[-1] is place for at, place in rows)
                    and (not is_written or len(rows) == len(found))):
                first, at, place = found[0]
                is_filled = isinstance(first, Store) and not first.adds and at[-1] is place
                yield array, _Copied(rows[0][0][:-2], not is_filled, is_written)

    def _is_of_row(self, at: tuple[Atom, ...], place: Var | None) -> bool:
        """Whether a place is in the row, where that is gone along, or its first."""
        return (len(at) > 1 and at[-2] is self.row.var and self.inside.isdisjoint(atom_vars(at[:-2]))
                and (at[-1] is place or isinstance(at[-1], Const) and at[-1].value == 0))

    def _move(self, block: Block, place: Var | None) -> None:
        """Has statements read and write the memory of a block, in place."""
        for k, stmt in enumerate(block):
            for inner in inner_blocks(stmt):
                self._move(inner, stmt.indices[0].var)
            if isinstance(stmt, Store):
                stmt.array, stmt.at = self._moved(stmt.array, stmt.at, place)
            elif is_load(stmt):
                array, at = self._moved(stmt.args[0], stmt.args[1:], place)
                block[k] = Let(stmt.targets, Load, (array, *at), stmt.attrs, stmt.origin)

    def _moved(self, array: Var, at: tuple[Atom, ...], place: Var | None) -> tuple[Var, tuple[Atom, ...]]:
        if array in self.arrays and array not in self.copied:
            return self.arrays[array], (*at, self.here)
        if (array in self.copied and self._is_of_row(at, place)
                and place_key(at[:-2]) == place_key(self.copied[array].places)):
            return self.arrays[array], (at[-1], self.here)
        return array, at

    def _copies(self, back: bool) -> Iterator[Turn]:
        """The nests that copy rows to the memory of a block, or those that copy what is written back."""
        for array, how in self.copied.items():
            if how.is_written if back else how.is_read:
                here, place, item = self._row(), Var(INT), Var(ArrayType(array.type.dtype))     # type: ignore[union-attr]
                current().assumptions.within(place, 0, self.length - 1)
                ends = [(array, (*how.places, self._place(here), place)), (self.arrays[array], (place, here))]
                (source, at), (target, to) = reversed(ends) if back else ends
                yield Turn([Index(here, self.count), Index(place, self.length)], [
                    Let((item,), Load, (source, *at), {}, self.stmt.origin),
                    Store(target, to, item, False, self.stmt.origin)], self.stmt.origin)

    def _row(self) -> Var:
        """A row of a block."""
        here = Var(INT, self.row.var.name)
        current().assumptions.within(here, 0, self.count - 1)
        return here

    def _place(self, here: Var) -> Atom:
        return atom_of_size(self.first + Size.of(Unknown(here)))

    # -- steps ------------------------------------------------------------------------------------

    def _steps(self) -> list[Any]:
        """Numbers and what is done along a row, in turns; what rests on rows before comes last."""
        later = handed_on(self.stmt)
        steps: list[Any] = [_Numbers()]
        for stmt in sorted(self.stmt.body, key=lambda each: not later.isdisjoint(defined(each))):
            if isinstance(stmt, (Nest, Fold)):
                steps[-1].begins = {carry.entry: carry.init for carry in getattr(stmt, "carries", ())}
                steps += [stmt, _Numbers()]
            elif stmt not in self.anew.values():
                steps[-1].stmts.append(stmt)
        steps[-1].ends = tuple(carry.next for carry in getattr(self.stmt, "carries", ()))
        return steps

    def _keep_numbers(self, steps: list[Any]) -> None:
        """Memory for the numbers that steps leave to later ones."""
        known: dict[Var, tuple[Any, str]] = {}
        for step in steps:
            for carry in getattr(step, "carries", ()):
                maker = next((each.op.name for each in step.body if carry.next in defined(each)), "sum")
                self.numbers[carry.entry] = self.numbers[carry.out] = self._memory(carry.out, maker, ROWS)
            for var in step.uses() if isinstance(step, _Numbers) else all_uses([step]):
                before, maker = known.get(var, (step, ""))
                if before is not step and var not in self.numbers:
                    self.numbers[var] = self._memory(var, maker, ROWS)
            known.update((each.target, (step, each.op.name)) for each in getattr(step, "stmts", ())
                         if isinstance(each, Let))

    def _done(self, step: Any) -> Nest:
        """A step for all rows of a block."""
        if isinstance(step, _Numbers):
            index, _, body = self._computed(step)
            return Nest([index], body, self.stmt.origin)
        stores: Block = []
        for carry in getattr(step, "carries", ()):
            add = combined(carry, step, (Add,)) if carry.entry.type.dtype.kind != "b" else None
            if add is not None:
                step.body.remove(add)
            stores.append(Store(self.numbers[carry.entry], (self.here,), add.args[1] if add else carry.next,
                                add is not None, step.origin))
        index, _, body = self._of_block([*step.body, *stores])
        return Nest([*step.indices, index], body, step.origin, isinstance(step, Fold))

    def _computed(self, step: _Numbers) -> tuple[Index, Renaming, Block]:
        """The numbers of every row, which are kept if later steps need them."""
        made = [var for each in step.stmts for var in defined(each)]
        kept = {**{var: var for var in made if var in self.numbers}, **step.begins}
        stores = [Store(self.numbers[var], (self.here,), value, False, self.stmt.origin) for var, value in kept.items()]
        return self._of_block([*step.stmts, *stores], frozenset(made), step.ends)

    def _of_block(self, body: Block, made: Set[Var] = NOTHING, ends: tuple[Atom, ...] = ()
                  ) -> tuple[Index, Renaming, Block]:
        """Statements for every row of a block; what they use of other steps is read from its memory."""
        here = self._row()
        renaming = Renaming(Copier({self.row.var: self._place(here), self.here: here}))
        loads: Block = []
        for var in dict.fromkeys((*all_uses(body), *atom_vars(ends))):
            if var in self.anew or var in self.numbers and var not in made:
                lies = self.anew[var].args if var in self.anew else (self.numbers[var], self.here)
                loads.append(Let((number := Var(var.type),), Load, lies, {}, self.stmt.origin))
                renaming.copier.mapping[var] = number
        loads = renaming.block(loads)
        return Index(here, self.count), renaming, [*loads, *renaming.block(body)]


def _turned(array: Var) -> Var:
    return Var(array.type, f"{array.name}_turned" if array.name else None)
