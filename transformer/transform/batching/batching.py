"""Batches of Core: statements that compute all lanes at once.

    y = np.sin(x)                          y = np.sin(x)                   # of all lanes
    z = w @ y                  becomes     z = y @ w.T
    while z > 1:                           for lane in range(n):
        z = z / 2                              z_lane = z[lane]
                                               while z_lane > 1: …

What differs from lane to lane has its lanes along a new first axis; everything else stays as it is. A statement
goes by the rule of its op. Where lanes part, at a condition or a trip count that differs, or where an op has
no rule, the statement is run for one lane after the other, as it was written (`apart`).
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.builder import Builder
from ...core.dims import dims_of
from ...core.errors import NotSupported
from ...core.grammar import (
    UNDEFINED,
    Atom,
    Block,
    Call,
    Carry,
    Const,
    Effect,
    Function,
    If,
    Let,
    Loop,
    Merge,
    Read,
    Record,
    Stmt,
    Var,
    type_of,
)
from ...core.sizes import Dim, Extent, Size
from ...core.types import FLOAT, INT, ArrayType, SeqType, Type
from ...core.walk import METHODS, Copier, atom_vars, calls_itself
from ...ops.identity import Same
from ...ops.indexing import Get
from ...ops.ruled import Ruled
from ...ops.saved import AddSaved, Pack, Unpack, ZerosLikeSaved
from ...ops.selection import Where
from ...ops.value import Value, emit, hands_on, value
from ...read.raising.demand import static
from .. import rules
from ..custom.applied import is_ruled
from .apart import Apart, LanesPart, is_creation, row_index, unsure_vars
from .batched_rules import use_of_lanes
from .differing import differing_vars, is_decided, is_over, is_touched, leading
from .lane_sizes import lanes_of_size
from .lane_writes import write_in_all_lanes


class Batching:
    """Emits the statements of a block for all lanes. `lanes` has, for a variable that differs, the variable
    with all its lanes; `size` is how many there are, on each of so many `devices`."""

    def __init__(self, builder: Builder, size: Extent, axis_name: Any, devices: int,
                 functions: dict[Any, Function] | None = None) -> None:
        self.builder = builder
        self.size = size
        self.axis_name = axis_name
        self.devices = devices
        self.functions = {} if functions is None else functions
        self.lanes: dict[Var, Var] = {}
        self.also: set[Var] = set()
        self.differing: set[Var] = set()
        self.unsure: set[Var] = set()           # may be without a value
        self.created: dict[Any, Let] = {}       # arrays of zeros, or ones, that are the same in all lanes

    def start(self, block: Block, lanes: dict[Var, Var], results: Iterable[Atom], also: Iterable[Var] = ()) -> None:
        """Says what differs from the beginning, what has a value in the end, and what else is to have lanes."""
        self.lanes.update(lanes)
        self.also = set(also)
        self.differing = differing_vars(block, [*lanes, *self.also], self.axis_name)
        if write_in_all_lanes(block, self.differing, self.builder):
            self.differing = differing_vars(block, [*lanes, *self.also], self.axis_name)
        self.unsure = unsure_vars(block) - set(atom_vars(list(results)))

    def block(self, block: Block, ends: Iterable[Atom] = ()) -> None:
        """Emits a block; `ends` is what is used of it after its last statement."""
        Apart(self, block, ends).emit()

    def statement(self, stmt: Stmt) -> None:
        """Emits one statement for all lanes. Raises `LanesPart` where that is not possible."""
        with self.builder.at(stmt.origin):
            getattr(self, METHODS[type(stmt)])(stmt)

    def note_equal(self, stmt: Stmt) -> None:
        """Remembers what a statement that is the same in all lanes makes."""
        if is_creation(stmt):
            self.created[stmt.target] = stmt                                   # type: ignore[union-attr, assignment]

    def is_touched(self, stmt: Stmt) -> bool:
        return is_touched(stmt, self.differing, self.axis_name)

    # -- values ------------------------------------------------------------------------------

    def differs(self, *atoms: Any) -> bool:
        return not self.differing.isdisjoint(atom_vars(atoms))

    def all_lanes(self, type: Type) -> Type:
        """The type of all lanes of what has this type in each."""
        if isinstance(type, SeqType):
            return SeqType(self.all_lanes(type.element))
        if isinstance(type, ArrayType):
            if self.differs(type.sizes):
                names = {var.name: None for var in atom_vars(type.sizes) if var in self.differing and var.name}
                differ = "".join(f", as {name} differs" for name in names)
                raise LanesPart(f"the size of an array differs from lane to lane{differ}")
            return ArrayType(type.dtype, (self.size, *type.sizes))
        return type

    def all_of(self, atom: Atom) -> Atom:
        """All lanes of an atom that differs."""
        if isinstance(atom, Size):
            return lanes_of_size(atom, lambda var: self.lanes.get(var, var)).atom
        return self.lanes[atom]                                                # type: ignore[index]

    def whole(self, atom: Atom) -> Atom:
        """All lanes of an atom, also where they are equal."""
        if atom is UNDEFINED:
            return atom
        if self.differs(atom):
            return self.all_of(atom)
        type = type_of(atom)
        if not isinstance(type, ArrayType):
            raise LanesPart("a record is the same in all lanes")
        if atom in self.created:
            made = self.created[atom]
            shape = self.all_lanes(type).sizes                                 # type: ignore[union-attr]
            return emit(made.op, (), {**rules.rule_attrs(made), "shape": shape}).atom
        return rules.full(Value(atom), self.all_lanes(type)).atom

    def twin(self, var: Var) -> Var:
        """A fresh variable for all lanes of one."""
        new = Var(self.all_lanes(var.type), var.name)
        if var.primal is not None:
            new.primal, new.pattern = self.lanes.get(var.primal, var.primal), var.pattern
        self.lanes[var] = new
        return new

    def note(self, target: Var, result: Any) -> None:
        """Enters what holds all lanes of a target, in its dtype."""
        result = value(result)
        type = self.all_lanes(target.type)
        if isinstance(type, ArrayType):
            result = rules.full(rules.cast(result, type), type)
        if not isinstance(result.atom, Var):
            raise LanesPart("a constant differs")
        if result.atom.name is None:
            result.atom.name = target.name
        if result.atom.primal is None and target.primal is not None:
            result.atom.primal, result.atom.pattern = self.lanes.get(target.primal, target.primal), target.pattern
        self.lanes[target] = result.atom

    # -- statements --------------------------------------------------------------------------

    def _let(self, stmt: Let) -> None:
        for target in stmt.targets:
            self.all_lanes(target.type)
        if self.differs(stmt.attrs):
            raise LanesPart("a size or an attribute differs from lane to lane")
        if is_ruled(stmt):
            return self._ruled(stmt)
        if stmt.op in OF_SAVED:
            return self._saved(stmt)
        if is_over(stmt, self.axis_name):
            return self._over_lanes(stmt)
        if stmt.op.batch is None and stmt.op.definition is not None:
            return self._expanded(stmt)
        results = self._by_rule(stmt)
        for target, result in zip(stmt.targets, results, strict=True):
            self.note(target, result)

    def _by_rule(self, stmt: Let) -> tuple[Any, ...]:
        if stmt.op.batch is None:
            raise LanesPart(f"{stmt.op.name} has no rule for batches")
        if stmt.op.name in OF_INTEGERS and stmt.target.type == INT:
            raise LanesPart("Python's integers have no bounds, and raise where NumPy's give 0")
        lead = tuple(self.differs(atom) for atom in stmt.args)
        operands = [Value(self.all_of(atom) if on else atom) for on, atom in zip(lead, stmt.args)]
        if stmt.op.writes and not lead[0] and stmt.args[0] in self.created:
            lead, operands[0] = (True, *lead[1:]), Value(self.whole(stmt.args[0]))
        if stmt.op.elementwise and stmt.op is not Where and stmt.target.type == INT:
            operands = list(map(as_integer, operands))
        if stmt.target.type == FLOAT and (stmt.attrs.get("spelling") or "").startswith("math."):
            operands = list(map(as_double, operands))
        try:
            if hands_on(stmt) and stmt.op.name in PYTHONS_CHOICE:
                result = self._chosen(stmt.op, lead, operands)
            else:
                result = of_lanes(stmt.op, lead, *operands, **rules.rule_attrs(stmt))
        except NotSupported as refusal:
            raise LanesPart(str(refusal)) from None
        return result if isinstance(result, tuple) else (result,)

    def _chosen(self, op: Any, lead: tuple[bool, ...], operands: list[Value]) -> Any:
        """Python's `max` and `min` give the first operand unless the second one is better, which makes a difference
        for nan."""
        first, second = operands
        if first.dtype.kind in "iu" and second.dtype == first.dtype:
            return of_lanes(op, lead, *map(as_plain, operands))
        chosen = PYTHONS_CHOICE[op.name](second, first)
        return of_lanes(Where, (True, *reversed(lead)), chosen, second, first)

    def _ruled(self, stmt: Let) -> None:
        """What a function with a rule of its own gave: so it does for all lanes."""
        count = stmt.attrs["count"]
        lead = (*[True] * count, *map(self.differs, stmt.args[count:]))
        args = tuple(self.whole(atom) if on else atom for atom, on in zip(stmt.args, lead))
        attrs = {"count": count, "use": use_of_lanes(stmt, lead, self.size, self.axis_name)}
        self.builder.emit(Let(tuple(map(self.twin, stmt.targets)), Ruled, args, attrs, stmt.origin))

    def _saved(self, stmt: Let) -> None:
        """What a call saved for all lanes is each of its fields for all lanes."""
        args = tuple(map(self.whole, stmt.args))
        self.builder.emit(Let(tuple(map(self.twin, stmt.targets)), stmt.op, args, stmt.attrs, stmt.origin))

    def _over_lanes(self, stmt: Let) -> None:
        operands = [Value(self.whole(atom)) for atom in stmt.args]
        type = stmt.target.type
        assert isinstance(type, ArrayType)
        attrs = {key: item for key, item in stmt.attrs.items() if key != "axis_name"}
        if self.devices == 1:
            found = stmt.op.over_lanes(self.size, *operands, **attrs)
        else:
            size = static(self.builder.reader, self.size, "the number of examples on a device") \
                if stmt.op.counts_lanes else self.size
            found = stmt.op.over_devices(size, self.axis_name, self.devices, *operands, **attrs)
        result = rules.cast(value(found), type)
        if stmt.op.differs:
            return self.note(stmt.target, result)
        self.builder.emit(Let(stmt.targets, Same, (result.atom,), {}, stmt.origin))

    def _expanded(self, stmt: Let) -> None:
        with self.builder.nested() as inner:
            results = rules.expand(stmt, self.builder)
        self.differing |= differing_vars(inner, self.differing, self.axis_name)
        self.block(inner, results)
        for target, result in zip(stmt.targets, results):
            self.note(target, Value(self.whole(result)))

    def _effect(self, stmt: Effect) -> None:
        if stmt.kind != "forget":
            raise LanesPart("an effect is of one lane")
        self.builder.emit(Effect(stmt.kind, tuple(map(self.whole, stmt.args)), stmt.attrs, stmt.origin))

    def _call(self, stmt: Call) -> None:
        lead = leading(stmt, self.differing)
        args = tuple(self.whole(atom) if on else atom for atom, on in zip(stmt.args, lead))
        function = self.function(stmt.function, lead)
        targets = tuple(self.twin(target) if self.differs(target) else target for target in stmt.targets)
        self.builder.emit(Call(targets, function, args, stmt.origin))

    def function(self, function: Function, lead: tuple[bool, ...]) -> Function:
        """The function of all lanes, for these parameters that differ. Of what calls itself, all results have lanes."""
        key = function, lead
        if key not in self.functions:
            new = Function(f"{function.name}_vmap", [], [], [], {}, function.guards, function.origin, function.role,
                           function.size_names, source=function.source)
            self.functions[key] = new
            try:
                self._fill(new, function, lead)
            except BaseException:
                del self.functions[key]
                raise
        return self.functions[key]

    def _fill(self, new: Function, function: Function, lead: tuple[bool, ...]) -> None:
        size = lanes_inside(self.size, new)
        inner = Batching(self.builder, size, self.axis_name, self.devices, self.functions)
        copier = Copier()                       # no variable is of two functions
        params = [copier.fresh(param) for param in function.params]
        for param, old in zip(params, function.params):       # whose sizes rest on others of them
            param.type = copier.type(old.type)
        block, results = copier.block(function.body), copier.args(function.results)
        lanes = {p: Var(inner.all_lanes(p.type), p.name, is_parameter=True) for p, on in zip(params, lead) if on}
        new.params = [lanes.get(param, param) for param in params]
        new.dims = dims_of(new.params)
        inner.start(block, lanes, results, [copier.atom(var) for var in self.also])
        with self.builder.apart() as body:
            inner.block(block, results)
            everything = calls_itself(function)
            new.results = [inner.whole(result) if everything or inner.differs(result) else result for result in results]
        new.body = body

    def _if(self, stmt: If) -> None:
        if is_decided(stmt, self.differing):
            return self._select(stmt)
        with self.builder.nested() as then:
            self.block(stmt.then, [merge.then for merge in stmt.merges])
        with self.builder.nested() as orelse:
            self.block(stmt.orelse, [merge.orelse for merge in stmt.merges])
        merges = [self._merge(merge, then, orelse) for merge in stmt.merges]
        self.builder.emit(If(stmt.cond, then, orelse, merges, stmt.origin))

    def _merge(self, merge: Merge, then: Block, orelse: Block) -> Merge:
        if not self.differs(merge.target):
            return merge
        sides = []
        for block, atom in ((then, merge.then), (orelse, merge.orelse)):
            with self.builder.resumed(block):
                sides.append(self.whole(atom))
        return Merge(self.twin(merge.target), *sides, saved=merge.saved)

    def _select(self, stmt: If) -> None:
        """Both branches for all lanes, and of each lane the one that it takes."""
        if not is_cheap(stmt):
            raise LanesPart("a condition differs from lane to lane")
        self.block(stmt.then, [merge.then for merge in stmt.merges])
        self.block(stmt.orelse, [merge.orelse for merge in stmt.merges])
        chosen = self.lanes[stmt.cond]                                        # type: ignore[index]
        for merge in stmt.merges:
            sides = [atom for atom in (merge.then, merge.orelse) if atom is not UNDEFINED]
            if len(sides) < 2 or not self.unsure.isdisjoint(atom_vars(sides)):
                raise LanesPart("a name is bound in some lanes only")
            self.all_lanes(merge.target.type)                                  # which has no size of its own in each
            lead = tuple(map(self.differs, sides))
            operands = [Value(self.all_of(atom) if on else atom) for atom, on in zip(sides, lead)]
            self.note(merge.target, of_lanes(Where, (True, *lead), Value(chosen), *operands))

    def _loop(self, stmt: Loop) -> None:
        if is_decided(stmt, self.differing):
            raise LanesPart("a loop ends in another iteration in each lane")
        inits = {c: self.whole(c.init) for c in stmt.carries if self.differs(c.entry)}
        entries = {c: self.twin(c.entry) for c in inits}
        rows = {read: self.twin(read.target) for read in stmt.reads
                if self.differs(read.source) and isinstance(type_of(read.source), SeqType)}
        with self.builder.nested() as test:
            self.block(stmt.test, [stmt.cond] if stmt.cond is not None else [])
        with self.builder.nested() as body:
            self._read_arrays(stmt)
            self.block(stmt.body, [c.next for c in stmt.carries] + [r.value for r in stmt.records])
            nexts = {c: self.whole(c.next) for c in inits}
            values = {r: self.whole(r.value) for r in stmt.records if self.differs(r.target)}
        carries = [Carry(entries[c], inits[c], nexts[c], self.twin(c.out)) if c in inits else c for c in stmt.carries]
        reads = [Read(rows[read], self.lanes[read.source]) if read in rows else read       # type: ignore[index]
                 for read in stmt.reads if read in rows or not self.differs(read.source)]
        records = [Record(self.twin(r.target), values[r], saved=r.saved) if r in values else r for r in stmt.records]
        self.builder.emit(replace(stmt, carries=carries, body=body, reads=reads, records=records, test=test))

    def _read_arrays(self, stmt: Loop) -> None:
        """The rows that an iteration takes of arrays that differ."""
        for read in stmt.reads:
            if self.differs(read.source) and isinstance(type_of(read.source), ArrayType):
                source = Value(self.lanes[read.source])                       # type: ignore[index]
                row = of_lanes(Get, (True, False), source, Value(stmt.position), index=row_index(source.ndim - 1))
                self.note(read.target, row)


def lanes_inside(size: Extent, function: Function) -> Extent:
    """How many lanes there are, as a function says it: a computed size is a dimension of its parameters."""
    if not isinstance(size, Size) or any(size == Size.of(atom) for atom in size.atoms() if isinstance(atom, Dim)):
        return size
    return Size.of(Dim(f"lanes of {function.name}", inner=True))


OF_SAVED = frozenset({Pack, Unpack, AddSaved, ZerosLikeSaved})
OF_INTEGERS = frozenset({"multiply", "power", "floor_divide", "remainder", "divmod", "left_shift"})
PYTHONS_CHOICE = {"maximum": operator.gt, "minimum": operator.lt}


def as_integer(operand: Value) -> Value:
    """An operand of Python's arithmetic, which is done with truth values as with 0 and 1: NumPy has `True + True` as
    True, and no `-True`."""
    return operand.astype(int) if operand.dtype.kind == "b" else operand


def as_plain(operand: Value) -> Value:
    """An operand beside others of its dtype, without it where it is a known number: `np.maximum(k, 0)`."""
    return Value(Const(operand.atom.value)) if isinstance(operand.atom, Const) else operand


def as_double(operand: Value) -> Value:
    """An operand of a function of `math`, which computes in doubles; NumPy's computes in the dtype of what it takes."""
    narrow = operand.dtype.kind in "biuf" and (operand.dtype.itemsize < 4 or operand.dtype == np.float32)
    return operand.astype(float) if narrow else operand


def of_lanes(op: Any, lead: tuple[bool, ...], *operands: Value, **attrs: Any) -> Any:
    """What an op gives for all lanes of those operands that `lead` marks."""
    return op.batch(lead, *operands, **attrs)


def is_cheap(stmt: If) -> bool:
    """Whether both branches may be computed: nothing in them can fail, also in a derivative."""
    for inner in (*stmt.then, *stmt.orelse):
        if isinstance(inner, If) and is_cheap(inner):
            continue
        if not isinstance(inner, Let) or not (inner.op is Same or is_total(inner)):
            return False
    return True


def is_total(stmt: Let) -> bool:
    total = stmt.op.is_total
    return bool(total(*rules.operands_of(stmt)) if callable(total) else total)
