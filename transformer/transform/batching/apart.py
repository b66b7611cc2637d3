"""Statements that run for one lane after the other: those at which lanes diverge.

    while z > 1:                           for lane in range(n):
        z = z / 2                              z_lane = z[lane]
    s = z + 1                  becomes         while z_lane > 1:
                                                   z_lane = z_lane / 2
                                               ends[lane] = z_lane
                                           s = ends + 1

The loop over lanes has as few statements as possible: one that parts, and those that use what it gives and
cannot have a lane axis, such as records and arrays whose size differs. What is between two statements that part
and costs little is taken in. Where what a lane makes is needed outside of the block, the
statement around it parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...core.builder import Builder
from ...core.errors import NotSupported, Origin
from ...core.grammar import UNDEFINED, Atom, Block, Call, Carry, Effect, Let, Loop, Stmt, Var
from ...core.headings import is_about_loop
from ...core.naming import LANE, derived
from ...core.sizes import leaves
from ...core.types import INT, ArrayType
from ...core.walk import WRITES, Copier, all_definitions, all_statements, all_uses, atom_vars, targets_of
from ...ops.arithmetic import converted
from ...ops.creation import Shaped, zeros
from ...ops.indexing import Get, Put
from ...ops.regions import Slot
from ...ops.value import Value, value
from ..activity import flows
from .differing import is_decided, is_over

if TYPE_CHECKING:
    from .batching import Batching


PYTHONS: dict[str, Any] = {"f": float, "i": int, "b": bool, "c": complex}


class LanesPart(Exception):
    """A statement has no form for all lanes at once."""

    origin: Origin | None = None            # the innermost place in the user's program


class AlsoDiffer(Exception):
    """Variables that come from statements that run lane by lane have a lane axis, though they are equal."""

    def __init__(self, variables: Iterable[Var]) -> None:
        self.variables = list(variables)


class Apart:
    """A block on its way to all lanes. `starts` says for each statement what was emitted before it."""

    def __init__(self, batching: Batching, block: Block, ends: Iterable[Atom]) -> None:
        self.batching = batching
        self.builder: Builder = batching.builder
        self.statements = block
        self.ends = set(atom_vars(list(ends)))
        self.starts: list[int] = []

    def emit(self) -> None:
        k = 0
        while k < len(self.statements):
            k = self._next(k)

    def _next(self, k: int) -> int:
        """Emits statement k, with those that go with it; gives the place of the next one."""
        stmt = self.statements[k]
        self.starts[k:] = [len(self.builder.block)]
        if not self.batching.is_touched(stmt):
            self.builder.emit(stmt)
            self.batching.note_equal(stmt)
            return k + 1
        try:
            with self.builder.nested() as made:
                self.batching.statement(stmt)
        except LanesPart as reason:
            reason.origin = reason.origin or stmt.origin
            return self._apart(k, reason)
        self.builder.block += self._headed(k, made)
        return k + 1

    def _headed(self, k: int, made: Block) -> Block:
        """What a statement has become. The comment on a loop stays right above it, below what its carries begin as."""
        block = self.builder.block
        heading = block[-1] if block and made and isinstance(made[-1], Loop) else None
        if heading is None or not is_about_loop(heading):
            return made
        block.pop()
        self.starts[k] = len(block)
        return [*made[:-1], heading, made[-1]]

    # -- which statements --------------------------------------------------------------------

    def _apart(self, k: int, reason: LanesPart) -> int:
        first, last = self._region(k, reason)
        del self.builder.block[self.starts[first]:]
        self._over_lanes(self.statements[first:last + 1], self._given(first, last))
        self.starts += [len(self.builder.block)] * (last - len(self.starts) + 1)
        return last + 1

    def _region(self, k: int, reason: LanesPart) -> tuple[int, int]:
        """The statements that run lane by lane when statement k does."""
        first, last = k, self._onwards(k)
        while True:
            wider = self._first(first, last, reason), self._last(first, last, reason)
            wider = wider[0], self._onwards(wider[1])
            if wider == (first, last):
                return wider
            first, last = wider

    def _first(self, first: int, last: int, reason: LanesPart) -> int:
        """What has no lane axis is made in the lane."""
        needed = {var for var in self._used(first, last) if self.batching.differs(var) and not self._has_lanes(var)}
        makers = [k for k in range(first) if not needed.isdisjoint(targets_of(self.statements[k]))]
        if not needed <= {var for k in makers for var in targets_of(self.statements[k])}:
            raise reason                        # what a call saved is a parameter here, or from around this block
        first = min(makers, default=first)
        while first and self._is_for_these(self.statements[first - 1], first, last):
            first -= 1
        return first

    def _is_for_these(self, stmt: Stmt, first: int, last: int) -> bool:
        """Whether a statement computes a number that nothing else needs, such as a condition."""
        if not is_arithmetic(stmt) or not self.batching.is_touched(stmt):
            return False
        others = self.statements[:first] + self.statements[last + 1:]
        elsewhere = {var for other in others for var in _mentioned(other)} | self.ends
        return elsewhere.isdisjoint(targets_of(stmt))

    def _has_lanes(self, var: Var) -> bool:
        return isinstance(var.type, ArrayType) and var in self.batching.lanes

    def _last(self, first: int, last: int, reason: LanesPart) -> int:
        """What gets no lane axis is used in the lane."""
        loose = {var for var in self._given(first, last) if not self._is_stackable(var, first, last)}
        if not loose:
            return last
        users = [k for k in range(last + 1, len(self.statements))
                 if not loose.isdisjoint(_mentioned(self.statements[k]))]
        if not loose.isdisjoint(self.ends) or not users:
            raise reason
        return max(users)

    def _is_stackable(self, var: Var, first: int, last: int) -> bool:
        if not isinstance(var.type, ArrayType) or var in self.batching.unsure:
            return False
        own = set(all_definitions(self.statements[first:last + 1]))
        return own.isdisjoint(atom_vars(var.type.sizes)) and not self.batching.differs(var.type.sizes)

    def _onwards(self, last: int) -> int:
        """The last of the statements that part and follow, with nothing but arithmetic of numbers in between."""
        k = last + 1
        while k < len(self.statements) and is_arithmetic(self.statements[k]):
            k += 1
        if k < len(self.statements) and self._parts(self.statements[k]):
            return self._onwards(k)
        return last

    def _parts(self, stmt: Stmt) -> bool:
        differing = self.batching.differing
        if isinstance(stmt, Effect):
            return stmt.kind != "forget" and not differing.isdisjoint(all_uses(stmt))
        return isinstance(stmt, Loop) and is_decided(stmt, differing)

    def _used(self, first: int, last: int) -> set[Var]:
        """The variables from before that statements mention, in the types of what they make, too."""
        region = self.statements[first:last + 1]
        own = set(all_definitions(region))
        found = {var for stmt in region for var in _mentioned(stmt)} - own
        while True:
            more = {size for var in found for size in atom_vars(getattr(var.type, "sizes", ()))} - own - found
            if not more:
                return found
            found |= more

    def _given(self, first: int, last: int) -> list[Var]:
        """What statements define and later ones use."""
        later = {var for stmt in self.statements[last + 1:] for var in _mentioned(stmt)} | self.ends
        defined = (var for stmt in self.statements[first:last + 1] for var in targets_of(stmt))
        return [var for var in dict.fromkeys(defined) if var in later]

    # -- the loop over lanes -----------------------------------------------------------------

    def _over_lanes(self, region: Block, given: list[Var]) -> None:
        batching = self.batching
        first = self.statements.index(region[0])
        self._refuse_collectives(region)
        differing = [var for var in self._used(first, first + len(region) - 1) if batching.differs(var)]
        region, given = self._without_equal(region, given)
        equal = [var for var in given if not batching.differs(var)]
        if equal:
            raise AlsoDiffer(equal)
        starts = [zeros(batching.all_lanes(var.type)).atom for var in given]           # type: ignore[arg-type]
        entries = [Var(batching.all_lanes(var.type), var.name) for var in given]
        unsure = {var.name for var in batching.unsure}                  # errors have their names
        lane, copier = Var(INT, "lane"), InLane({var.name for var in (*differing, *given)} - unsure)
        uses = Counter(var for stmt in region for var in all_uses(stmt))
        with self.builder.nested() as body, self.builder.at(region[0].origin):
            for var in sorted(differing, key=lambda var: var.serial):
                copier.mapping[var] = self._one_lane(var, lane, copier, uses[var] > 1).atom
            self._copy(region, copier)
            ends = [copier.atom(var) for var in given]
            _leave_names_out(body, ends)
            nexts = [self._put(entry, end, lane) for entry, end in zip(entries, ends)]
        outs = [batching.twin(var) for var in given]
        carries = list(map(Carry, entries, starts, nexts, outs))
        count = value(batching.size).atom
        self.builder.emit(Loop(lane, count, carries, body, origin=region[0].origin, independent=True))

    def _refuse_collectives(self, region: Block) -> None:
        for stmt in all_statements(region):
            if isinstance(stmt, Let) and is_over(stmt, self.batching.axis_name):
                raise NotSupported(f"{stmt.op.name} over the axis {self.batching.axis_name!r} where its lanes diverge "
                                   "is not supported", stmt.origin, why="Some lanes may not reach it.",
                                   instead="Call it before the `if` or the loop whose condition differs between lanes.")

    def _without_equal(self, region: Block, given: list[Var]) -> tuple[Block, list[Var]]:
        """Emits the statements that are the same in all lanes; gives the others, and what these give. An array of
        zeros that each lane writes is made in each."""
        left: Block = []
        made: set[Var] = set()
        for stmt in region:
            if self.batching.is_touched(stmt) or not made.isdisjoint(_mentioned(stmt)) or is_creation(stmt):
                left.append(stmt)
                made.update(targets_of(stmt))
            else:
                self.builder.emit(stmt)
        return left, [var for var in given if var in made]

    def _one_lane(self, var: Var, lane: Var, copier: InLane, is_named: bool) -> Value:
        """The part of one lane: a number of Python's where it was one."""
        all_lanes = Value(self.batching.lanes[var])
        assert isinstance(var.type, ArrayType)
        sizes = {"sizes": tuple(map(copier.size, var.type.sizes))} if var.type.sizes else {}
        found: Value = Get.applied(all_lanes, Value(lane), index=row_index(all_lanes.ndim), **sizes)
        if var.type.weak:
            found = converted(found, PYTHONS[var.type.dtype.kind])
        if isinstance(found.atom, Var) and is_named:
            found.atom.name = found.atom.name or copier.name(var)
        return found

    def _copy(self, region: Block, copier: Copier) -> None:
        for stmt in copier.block(region):
            self.builder.emit(stmt)
            if isinstance(stmt, Let):
                self.builder.numbering.define(stmt)
        self.builder.assumptions.inherit(copier.mapping, copier.size)

    def _put(self, entry: Var, atom: Atom, lane: Var) -> Atom:
        index = row_index(len(entry.type.sizes))                               # type: ignore[union-attr]
        result: Value = Put.applied(Value(entry), Value(atom), Value(lane), index=index)
        return result.atom


def _leave_names_out(body: Block, ends: list[Atom]) -> None:
    """What a lane computes for all of them, and does not look at again, needs no name in front of its place."""
    used = {var for stmt in body for var in all_uses(stmt)}
    for stmt in body:
        is_expression = isinstance(stmt, Call) or isinstance(stmt, Let) and stmt.op.name not in WRITES
        if is_expression and len(targets_of(stmt)) == 1:
            (target,) = targets_of(stmt)
            if target not in used and ends.count(target) == 1:
                target.name = target.primal = None


class InLane(Copier):
    """Copies statements for one lane: what is called like something of all lanes is called after it."""

    def __init__(self, taken: set[str | None]) -> None:
        super().__init__()
        self.taken = taken

    def name(self, var: Var) -> str | None:
        is_taken = var.name is not None and var.name in self.taken and not var.name.endswith("_lane")
        return derived(var.name, LANE) if is_taken else var.name               # type: ignore[arg-type]

    def fresh(self, var: Var) -> Var:
        new = super().fresh(var)
        new.name = self.name(var)
        return new


def row_index(rank: int) -> tuple[Any, ...]:
    """The index of a row of an array of this rank; the row is the only slot."""
    return Slot(0), *[slice(None)] * (rank - 1)


def unsure_vars(block: Block) -> set[Var]:
    """The variables that have no value on some paths."""
    found: set[Any] = {UNDEFINED}
    before = 0
    while len(found) != before:
        before = len(found)
        for stmt in all_statements(block):
            found.update(target for target, source in flows(stmt) if source in found)
    return found - {UNDEFINED}


def is_creation(stmt: Stmt) -> bool:
    """Whether a statement makes an array of zeros, ones, or nothing in particular."""
    return isinstance(stmt, Let) and issubclass(stmt.op, Shaped) and bool(stmt.target.type.sizes)  # type: ignore[union-attr]


def is_arithmetic(stmt: Stmt) -> bool:
    """Whether a statement computes numbers from numbers."""
    return isinstance(stmt, Let) and stmt.op.elementwise and not any(
        getattr(target.type, "sizes", True) for target in stmt.targets)


def _mentioned(stmt: Stmt) -> Iterator[Var]:
    """The variables that a statement uses, in the sizes of what it defines, too."""
    yield from all_uses(stmt)
    for inner in all_statements([stmt]):
        for target in targets_of(inner):
            yield from (leaf.var for size in getattr(target.type, "sizes", ()) for leaf in leaves_of(size))


def leaves_of(size: Any) -> list[Any]:
    return [leaf for leaf in leaves(size) if hasattr(leaf, "var")] if not isinstance(size, int) else []
