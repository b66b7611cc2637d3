"""Core to the nest form: every op on arrays becomes a nest of its own, by its loop form.

    elementwise     one nest over the result; the op itself on numbers
    element         one nest over the result; the rule says what an element is
    store           a copy of the array, and one nest over the part that is written
    step            one nest over the result, a fold inside over the axes that are gone
    contraction     the same, with the product of all operands as the item
    definition      the ops in it, one after another

Nothing is fused, and no array is written that anybody else still reads.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Set
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, assert_never

from ...core.builder import Builder, current
from ...core.errors import NotSupported
from ...core.grammar import UNDEFINED, Call, Carry, Effect, If, Let, Loop, Merge, Read, Record, Stmt, Var, type_of
from ...core.halves import PYTHON_KINDS, promoted
from ...core.sizes import Size, Unknown
from ...core.types import ArrayType, SeqType
from ...core.walk import Copier, all_definitions, atom_vars
from ...ops.arithmetic import Cast, converted
from ...ops.elements import spread, without
from ...ops.identity import Same
from ...ops.loops import missing
from ...ops.proofs import Ranges
from ...ops.saved import Pack, Unpack
from ...ops.value import Value, rule_attrs, value
from ..nest.access import Stored, fitted
from ..nest.levels import key_of
from ..nest.nests import Allocate, Block, Invoke, Length, emit
from . import checks, folds, integers, python_numbers, writes
from .effects import done
from .few_sorted import sorted_by_comparisons, sorts_few
from .filling import filled
from .handles import packed, unpacked
from .known_extremes import Key, extreme_at, extremes_of, goes_down_columns, place_of, places_asked, with_extreme
from .library import computed, is_of_library
from .magnitudes import Magnitudes
from .positions import found
from .products import multiplied
from .ragged import Ragged
from .recording import Recording, by_definition
from .rows_read import rows_of_computed_sizes, sizes_first

KEPT = ("stacked", "unstacked")        # what a loop records is an array


def own_copy(atom: Any) -> Any:
    """Emits an array for somebody else: a copy, or the array itself where nobody looks at that any more."""
    if not getattr(type_of(atom), "sizes", ()):
        return atom
    copy = Var(atom.type, atom.name)
    emit(Allocate(copy, "copy", current().origin, atom))
    return copy


class Expansion:
    """Goes through blocks; what statements become is emitted by the builder."""

    def __init__(self, builder: Builder, ragged: Ragged, ranges: Ranges, given: Set[Var], for_gpu: bool) -> None:
        self.builder = builder
        self.for_gpu = for_gpu
        self.given = given
        self.ranges = ranges
        self.magnitudes = Magnitudes(ranges)
        self.extremes = extremes_of(ragged.function)
        self.recording = Recording(ragged)
        self.known: list[dict[Hashable, Var]] = [{}]
        self.asked: dict[Key, Let] = {}          # the places of extremes that the block asks for
        self.computed: set[Var] = set()          # arrays that are computed place by place, and views of them
        self.makers: dict[Any, str] = {}         # the ops after which arrays are named

    def block(self, block: Block) -> Block:
        with self.nested(block) as made:
            for stmt in block:
                self.stmt(stmt)
        return made

    @contextmanager
    def nested(self, block: Block) -> Iterator[Block]:
        """What a block is made to; what is computed in it is known in it alone."""
        self.known.append({})
        outer, self.asked = self.asked, places_asked(block)
        with self.builder.nested() as made:
            yield made
        self.asked = outer
        self.known.pop()

    def earlier(self, stmt: Let) -> Var | None:
        """What has been computed before by the same op of the same operands."""
        key = key_of(stmt)
        if key is None:
            return None
        known = next((scope[key] for scope in self.known if key in scope), None)
        if known is None:
            self.known[-1][key] = stmt.target
        return known

    def stmt(self, stmt: Stmt) -> None:
        with self.builder.at(stmt.origin):
            match stmt:
                case Let():
                    self.let(stmt)
                case If():
                    self.branch(stmt)
                case Loop():
                    self.loop(stmt)
                case Call():
                    self.call(stmt)
                case Effect():
                    done(stmt)
                    if stmt.kind == "assert":
                        self.ranges.suppose(stmt.args[0])
                case _:
                    assert_never(stmt)

    def call(self, stmt: Call) -> None:
        """A call; an array that is given is one that nobody else looks at."""
        given = frozenset(k for k, param in enumerate(stmt.function.params) if param in self.given)
        args = tuple(own_copy(atom) if k in given else atom for k, atom in enumerate(stmt.args))
        emit(Invoke(stmt.targets, stmt.function, args, stmt.origin, given))

    def branch(self, stmt: If) -> None:
        self.recording.before(stmt)
        then, orelse = self.side(stmt, True), self.side(stmt, False)
        merges = [replace(merge) for merge in stmt.merges if not isinstance(merge.target.type, SeqType)]
        for merge in merges:
            for side, block in (("then", then), ("orelse", orelse)):
                if getattr(merge, side) is UNDEFINED and bool(getattr(merge.target.type, "sizes", ())):
                    nothing = Var(undefined_type(merge, stmt.merges, side))
                    if self.recording.defined.issuperset(atom_vars(nothing.type)):
                        block.append(Allocate(nothing, "result", stmt.origin))
                        setattr(merge, side, nothing)
        emit(replace(stmt, then=then, orelse=orelse, merges=merges))
        for merge in merges:
            self.measure(merge.target)

    def side(self, stmt: If, truth: bool) -> Block:
        """One of the blocks of a branch; behind one that raises, the condition has the other outcome."""
        with self.ranges.block(stmt.cond, truth):
            made = self.block(stmt.then if truth else stmt.orelse)
        if any(isinstance(inner, Effect) and inner.kind == "raise" for inner in made):
            self.ranges.suppose(stmt.cond, not truth)
        return made

    def measure(self, array: Var) -> None:
        """Emits the sizes of an array that nothing has computed."""
        for axis, size in enumerate(getattr(array.type, "sizes", ())):
            for var in atom_vars(size):
                if var not in self.recording.defined and size == Size.of(Unknown(var)):
                    self.recording.defined.add(var)
                    emit(Let((var,), Length, (array,), {"axis": axis}, self.builder.origin))

    def loop(self, stmt: Loop) -> None:
        records = self.recording.prepare(stmt)
        test = self.block(stmt.test)
        with self.ranges.block(stmt.cond, loop=stmt), self.nested(stmt.body) as body:
            for carry in stmt.carries:
                self.measure(carry.entry)
            late = rows_of_computed_sizes(stmt)
            reads = self.rows(stmt, [read for read in stmt.reads if read not in late])
            first, rest = sizes_first(stmt, late)
            behind = {read.target for read in late}.union(all_definitions(rest))
            self.recorded(stmt, first, {value: mine for value, mine in records.items() if value not in behind})
            reads += self.rows(stmt, late)
            self.recorded(stmt, rest, {value: mine for value, mine in records.items() if value in behind})
        kept = [self.recording.growing(record) for record in stmt.records if not self.recording.is_array(stmt, record)]
        emit(replace(stmt, test=test, body=body, reads=reads, records=kept, carries=self.begun(stmt)))
        for carry in stmt.carries:
            self.measure(carry.out)

    def rows(self, loop: Loop, reads: list[Read]) -> list[Read]:
        """Emits what a loop reads; gives what it still reads by itself."""
        left = [self.recording.growing_read(read) for read in reads if not self.recording.read(read, loop.position)]
        for read in reads:
            self.measure(read.target)
        return left

    def recorded(self, loop: Loop, block: Block, records: dict[Any, list[Record]]) -> None:
        """Statements of the body of a loop, and what it keeps of their values or has before."""
        for stmt in by_definition(block, records, partial(self.recording.keep, loop)):
            self.stmt(stmt)

    def begun(self, loop: Loop) -> list[Carry]:
        """The carries of a loop. An array that is not bound before has memory there, as an iteration may write
        where the one before did."""
        carries, inside = list(map(replace, loop.carries)), set(all_definitions([loop]))
        for carry in carries:
            sizes = getattr(carry.entry.type, "sizes", ())
            if carry.init is UNDEFINED and sizes and inside.isdisjoint(atom_vars(sizes)):
                carry.init = Var(carry.entry.type)
                emit(Allocate(carry.init, "result", loop.origin))
        return carries

    # -- ops ----------------------------------------------------------------------------------

    def let(self, stmt: Let) -> None:
        op = stmt.op
        if op.elementwise or op.view and stmt.args[0] in self.computed:
            self.computed.update(stmt.targets)
        if op is Same or op.name in KEPT and not self.recording.sequence(stmt):
            emit(stmt)
        elif op.name in KEPT:
            pass
        elif op is Pack:
            packed(stmt, self.recording)
        elif op is Unpack:
            for array in unpacked(stmt, self.recording):
                self.measure(array)
        elif op.of_sequences:
            raise NotSupported(f"{op.name} of values recorded by a loop cannot be compiled",
                               instead="Run it without jit.")
        elif sorts_few(stmt):
            sorted_by_comparisons(stmt)
        elif missing(op) is None and self._has_definition(op) and self._defined(stmt):
            pass
        elif is_of_library(stmt):
            computed(stmt)
        else:
            self._as_nests(stmt)

    def _as_nests(self, stmt: Let) -> None:
        """An op by its loop form."""
        op = stmt.op
        if op.elementwise:
            integers.before(stmt, self.magnitudes)
            self._elementwise(stmt)
        elif op.store is not None:
            integers.before(stmt, self.magnitudes)
            writes.written(stmt, checks.operands(stmt, self.ranges))
        elif op.step is not None:
            self._folded(stmt)
        elif op.contraction is not None:
            if not multiplied(stmt, self.stmt, self.computed):
                folds.contracted(stmt)
        elif op.element is not None:
            integers.before(stmt, self.magnitudes)
            self._elements(stmt)
        elif op.found is not None:
            earlier = self.earlier(stmt)
            emit(Let(stmt.targets, Same, (earlier,), {}, stmt.origin)) if earlier else found(stmt)
        else:
            raise NotSupported(f"{op.name} cannot be compiled")

    def _has_definition(self, op: Any) -> bool:
        return op.definition is not None and not (self.for_gpu and op.alone_on_gpus)

    def _defined(self, stmt: Let) -> bool:
        """Expands the definition of an op, unless it has none for these operands."""
        with self.builder.nested() as block:
            result = stmt.op.definition(*map(Value, stmt.args), **rule_attrs(stmt))
        if result is None:
            return False
        for inner in block:
            self.stmt(inner)
        results = result if isinstance(result, tuple) else (result,)
        for target, each in zip(stmt.targets, results, strict=True):
            self.stmt(Let((target,), Same, (self._fitted(value(each), target).atom,), {}, stmt.origin))
        return True

    def _fitted(self, result: Value, target: Any) -> Value:
        with self.builder.nested() as block:
            result = fitted(result, target.type)
        for inner in block:
            self.stmt(inner)
        return result

    def _elementwise(self, stmt: Let) -> None:
        if not stmt.target.type.sizes:                                   # type: ignore[union-attr]
            python_numbers.before(stmt, self.ranges)
            emit(stmt)
            python_numbers.after(stmt, self.magnitudes)
            return

        def element(at: Any) -> Any:
            atoms = tuple(spread(Stored(atom), at).atom for atom in stmt.args)
            types = [type_of(stmt.target).with_sizes(())]               # type: ignore[union-attr]
            return Value(self.builder.let(stmt.op, atoms, stmt.attrs, types)[0])

        maker = self.makers.get(stmt.args[0]) if stmt.op is Cast else None   # which is named after its operand
        self.makers[stmt.target] = maker or stmt.op.name
        filled(stmt, element, maker)

    def _folded(self, stmt: Let) -> None:
        """A reduction, which is done once, with or without the axes that it leaves."""
        if not stmt.attrs.get("keepdims"):
            earlier = self.earlier(replace(stmt, attrs=rule_attrs(stmt)))
            extreme = None if earlier or self.for_gpu else extreme_at(stmt, self.extremes)
            if extreme is not None and goes_down_columns(stmt) and self.earlier(extreme) is None:
                with_extreme(stmt, extreme)
            elif extreme is not None:
                self._folded(extreme)
                place_of(stmt, extreme)
            elif not earlier and not self.for_gpu and (place := self._place_behind(stmt)) is not None:
                with_extreme(place, stmt)
                self.earlier(place)
            else:
                emit(Let(stmt.targets, Same, (earlier,), {}, stmt.origin)) if earlier else folds.folded(stmt)
            return
        gone = folds.axes_of(stmt)
        type: Any = stmt.target.type
        plain = Var(type.with_sizes(without(type.sizes, gone)))
        attrs = {key: item for key, item in stmt.attrs.items() if key != "keepdims"}
        self._folded(Let((plain,), stmt.op, stmt.args, attrs, stmt.origin))
        filled(stmt, lambda at: Stored(plain)[without(at, gone)])

    def _place_behind(self, stmt: Let) -> Let | None:
        """The place of an extreme of columns that the block asks for behind it."""
        asked = self.asked.get((stmt.op, stmt.args[0], folds.axes_of(stmt)))
        if asked is None or not goes_down_columns(asked) or extreme_at(asked, self.extremes) is None:
            return None
        type: Any = asked.target.type
        place = Var(ArrayType(type.dtype, stmt.target.type.sizes), asked.target.name)    # type: ignore[union-attr]
        attrs = {key: item for key, item in rule_attrs(asked).items() if key != "keepdims"}
        return Let((place,), asked.op, asked.args, attrs, asked.origin)

    def _elements(self, stmt: Let) -> None:
        operands = checks.operands(stmt, self.ranges)
        if "index" not in stmt.attrs:
            operands = of_arrays(operands, stmt.target.type)                # type: ignore[arg-type]
        filled(stmt, lambda at: stmt.op.element(at, *operands, **rule_attrs(stmt)))


def of_arrays(operands: list[Stored], type: ArrayType) -> list[Stored]:
    """The operands, with the dtype of the result where they are numbers of Python's that count as arrays: beside uint8,
    -1 is int64 for ``np.array([x[0], -1])``, and no uint8 as for ``x[0] * -1``."""
    if not any(each.type.weak for each in operands):
        return operands
    kinds = [PYTHON_KINDS.get(each.dtype.kind, each.dtype) if each.type.weak else each.dtype for each in operands]
    as_arrays = promoted(each.dtype for each in operands)
    if type.dtype != as_arrays or as_arrays == promoted(kinds):
        return operands
    return [Stored(converted(Value(each.atom), type.dtype).atom) if each.type.weak else each for each in operands]


def undefined_type(merge: Merge, merges: list[Merge], side: str) -> ArrayType:
    """The type of memory for an array that a branch leaves undefined, in sizes that are known there."""
    known = {each.target: getattr(each, side) for each in merges if getattr(each, side) is not UNDEFINED}
    return Copier(known).type(merge.target.type)                         # type: ignore[return-value]
