"""Residuals: what a reverse sweep needs from inside a branch or loop of the forward sweep.

The reverse body is built first and mentions values of the forward body freely. Afterwards

* values of a branch leave it through a merge that is undefined on the other side;
* values of a loop body are recorded, or computed again from what is recorded, from the position,
  and from outside: a minimum cut (`cut`) decides which.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..core.grammar import UNDEFINED, Atom, Block, Carry, Const, If, Let, Loop, Merge, Read, Record, Stmt, Var
from ..core.types import ArrayType, SeqType
from ..core.walk import Copier, all_statements, atom_vars, free_vars, inner_targets, substitute, targets_of
from .cut import Node, minimum_cut


def restore_branch(primal: If, reverse: If, versions: set[Var]) -> None:
    """Makes the values of the branches of `primal` that the branches of `reverse` use available there:
    computed again where that costs next to nothing, exported otherwise. `versions` are arrays of which
    other versions exist: an element of one is exported, so that the array need not be kept for it."""
    for side, block in (("then", reverse.then), ("orelse", reverse.orelse)):
        defined = {t: stmt for stmt in getattr(primal, side) for t in targets_of(stmt)}
        ends = _vars([getattr(m, side) for m in reverse.merges])
        copier = Copier()
        prologue: Block = []
        for var in [v for v in free_vars(block, ends) if v in defined]:
            _restore_in_branch(var, primal, side, defined, versions, copier, prologue)
        if copier.mapping:
            _replace(block, copier.mapping)
            block[:0] = prologue
            for merge in reverse.merges:
                setattr(merge, side, copier.atom(getattr(merge, side)))


def _restore_in_branch(var: Var, primal: If, side: str, defined: dict[Var, Stmt], versions: set[Var],
                       copier: Copier, prologue: Block) -> None:
    if var in copier.mapping:
        return
    leaving = {atom for m in primal.merges for atom in (m.then, m.orelse)}
    again = _cheap_statements(var, defined, leaving, versions)
    if again is None:
        for size in atom_vars(var.type):                # what leaves with a size needs that outside, too
            if size in defined and size not in copier.mapping:
                copier.mapping[size] = _exported(primal, side, size, copier)
        copier.mapping[var] = _exported(primal, side, var, copier)
        return
    prologue += [copier.stmt(stmt) for stmt in again if stmt.targets[0] not in copier.mapping]


def _cheap_statements(var: Var, defined: dict[Var, Stmt], leaving: set[Atom], versions: set[Var]
                      ) -> list[Let] | None:
    """The statements that compute a branch's value from outside it; None if it is worth exporting,
    or leaves the branch anyway."""
    stmt = defined.get(var)
    if stmt is None:
        return []
    if var in leaving or not isinstance(stmt, Let) or not is_cheap(stmt, versions):
        return None
    found: list[Let] = []
    for source in atom_vars((*stmt.args, stmt.attrs, var.type)):
        before = _cheap_statements(source, defined, leaving, versions)
        if before is None or len(found) + len(before) >= MOST_RECOMPUTED:
            return None
        found += [s for s in before if s not in found]
    return [*found, stmt]


MOST_RECOMPUTED = 4


def is_cheap(stmt: Let, versions: set[Var]) -> bool:
    """Whether a statement costs no more than looking its result up: arithmetic on numbers, elements of
    arrays that stay as they are."""
    if not isinstance(stmt.target.type, ArrayType) or stmt.target.type.sizes:
        return False
    return stmt.op.symbol in ("+", "-", "*") or stmt.op.name == "get" and stmt.args[0] not in versions


def array_versions(block: Block) -> set[Var]:
    """Arrays that are one of several versions: written, handed from iteration to iteration, or merged."""
    found: list[Atom] = []
    for stmt in all_statements(block):
        match stmt:
            case Let() if stmt.op.writes:
                found += [stmt.args[0], stmt.target]
            case If():
                found += [atom for m in stmt.merges for atom in (m.target, m.then, m.orelse)]
            case Loop():
                found += [atom for c in stmt.carries for atom in (c.entry, c.init, c.next, c.out)]
    return {atom for atom in found if isinstance(atom, Var)}


def _exported(primal: If, side: str, var: Var, copier: Copier) -> Var:
    """The variable that holds `var` after the branch; shared with a merge that hands it on anyway."""
    for merge in primal.merges:
        if getattr(merge, side) is var:
            return merge.target
    target = Var(copier.type(var.type), var.name)
    primal.merges.append(Merge(target, var, UNDEFINED) if side == "then" else Merge(target, UNDEFINED, var))
    return target


def _vars(atoms: Iterable[Atom | None]) -> list[Var]:
    return [var for atom in atoms if atom is not None for var in atom_vars(atom)]


def _replace(block: Block, mapping: dict[Var, Atom]) -> None:
    for stmt in block:
        substitute(stmt, mapping)


def restore_loop(primal: Loop, reverse: Loop) -> None:
    """Makes the values of `primal`'s body that `reverse`'s body uses available in it."""
    values = _Values(primal)
    ends = [c.next for c in reverse.carries] + [r.value for r in reverse.records]
    needed = [v for v in free_vars(reverse.body, _vars(ends)) if v in values.inside]
    recorded = minimum_cut(values.graph(needed))
    restorer = _Restorer(values, primal, reverse, recorded)
    for var in needed:
        restorer.restore(var)
    restorer.rename_sizes()
    mapping = restorer.copier.mapping
    _replace(reverse.body, mapping)
    reverse.body[:0] = restorer.prologue
    for carry in reverse.carries:
        carry.next = restorer.copier.atom(carry.next)
    for record in reverse.records:
        record.value = restorer.copier.atom(record.value)


class _Values:
    """The values inside a loop body and how each can be had in the reverse body."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.reads = {read.target: read for read in loop.reads}
        self.records = {r.value: r for r in loop.records if isinstance(r.value, Var)}
        self.definition: dict[Var, Stmt] = {t: s for s in loop.body for t in targets_of(s)}
        self.inside = set(self.definition) | set(inner_targets(loop))
        self.inductions = {c.entry: step for c in loop.carries if (step := self._step(c)) is not None}

    def _step(self, carry: Carry) -> Atom | None:
        """The step of an integer that every iteration adds the same number to; None for others."""
        definition = self.definition.get(carry.next) if isinstance(carry.next, Var) else None
        if carry.entry.type.is_inexact or not isinstance(definition, Let) or definition.op.name != "add":
            return None
        first, second = definition.args
        step = second if first is carry.entry else first if second is carry.entry else None
        known = isinstance(step, Const) or (isinstance(step, Var) and step not in self.inside)
        return step if known else None

    def is_free(self, var: Var) -> bool:
        """Whether a value is at hand in the reverse body without recording anything for it."""
        return (var not in self.inside or var is self.loop.position or var in self.reads
                or var in self.records or var in self.inductions)

    def sources(self, var: Var) -> list[Var] | None:
        """What a value is computed again from; None when it has to be recorded."""
        stmt = self.definition.get(var)
        if not isinstance(stmt, Let) or stmt.op.heavy or stmt.op.writes:
            return None
        if isinstance(var.type, SeqType):
            return None
        return list(dict.fromkeys(atom_vars((*stmt.args, stmt.attrs, var.type))))

    def graph(self, needed: list[Var]) -> list[Node]:
        """The nodes of the cut: everything that is needed and not free, and what it comes from."""
        nodes: dict[Var, Node] = {}
        pending = [v for v in needed if not self.is_free(v)]
        goals = set(pending)
        while pending:
            var = pending.pop()
            if var in nodes:
                continue
            sources = self.sources(var)
            rest = None if sources is None else [s for s in sources if not self.is_free(s)]
            nodes[var] = Node(var, weight(var), rest, var in goals)
            pending += rest or []
        return list(nodes.values())


def weight(var: Var) -> float:
    """What recording a value costs per iteration: its number of elements (guessed where symbolic)."""
    if isinstance(var.type, SeqType):
        return 1000.0
    assert isinstance(var.type, ArrayType)
    total = 1.0
    for size in var.type.sizes:
        total *= size if isinstance(size, int) else 100.0
    return max(total, 1.0)


class _Restorer:
    """Builds the prologue of the reverse body: reads of records and statements computed again."""

    def __init__(self, values: _Values, primal: Loop, reverse: Loop, recorded: set[Var]) -> None:
        self.values, self.primal, self.reverse = values, primal, reverse
        self.recorded = recorded
        self.prologue: Block = []
        self.copier = Copier({primal.position: reverse.position})

    def restore(self, var: Var) -> None:
        if var in self.copier.mapping or var not in self.values.inside:
            return
        if var in self.values.reads:
            self._read(var, self.values.reads[var].source)
        elif var in self.values.records:
            self._read(var, self.values.records[var].target)
        elif var in self.values.inductions:
            self._induct(var)
        elif var in self.recorded:
            self._record(var)
        else:
            self._compute(var)

    def _read(self, var: Var, source: Atom) -> None:
        target = Var(var.type, var.name)
        self.reverse.reads.append(Read(target, source))
        self.copier.mapping[var] = target

    def rename_sizes(self) -> None:
        """Sizes of what is read that rest on integers of the loop: those of the reverse loop are meant."""
        for read in self.reverse.reads:                 # grows by the integers that have to be recorded
            for var in atom_vars(read.target.type):
                if self.values.is_free(var) or var in self.recorded:
                    self.restore(var)
                elif var not in self.copier.mapping:
                    self._record(var)
            read.target.type = self.copier.type(read.target.type)

    def _record(self, var: Var) -> None:
        record = Record(Var(SeqType(var.type), var.name and f"{var.name}_k"), var)
        self.primal.records.append(record)
        self.values.records[var] = record
        self._read(var, record.target)

    def _induct(self, var: Var) -> None:
        from ..ops.arithmetic import Add, Multiply
        carry = next(c for c in self.primal.carries if c.entry is var)
        scaled = Var(var.type)
        target = Var(var.type, var.name)
        self.prologue += [
            Let((scaled,), Multiply, (self.values.inductions[var], self.reverse.position), {}),
            Let((target,), Add, (carry.init, scaled), {})]
        self.copier.mapping[var] = target

    def _compute(self, var: Var) -> None:
        stmt = self.values.definition[var]
        assert isinstance(stmt, Let)
        for source in atom_vars((*stmt.args, stmt.attrs, var.type)):
            self.restore(source)
        self.prologue.append(self.copier.stmt(stmt))
