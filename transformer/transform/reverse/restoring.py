"""Brings values of the forward sweep to where the reverse sweep needs them, as `residuals` decided: by prologues of
reverse loops and branches, which read what was kept, recompute, or take values again; by records and merges, which
keep; by copies of loops that are rerun.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import fields
from typing import Any

from ...core.grammar import (
    UNDEFINED,
    Atom,
    Block,
    Call,
    Const,
    Effect,
    If,
    Let,
    Loop,
    Merge,
    Read,
    Record,
    Stmt,
    Var,
)
from ...core.guards import Assumptions
from ...core.sizes import Dim, Extent
from ...core.types import SeqType, Type
from ...core.walk import (
    Copier,
    all_statements,
    atom_vars,
    blocks_of,
    head_uses,
    inner_targets,
    substitute,
    tail_uses,
    targets_of,
)
from ...ops.regions import slots_of
from ...ops.value import rule_attrs
from ..scopes import Scope, Scopes
from .lanes import cut, dead_loops
from .memory import Needs, note
from .ordering import in_order
from .repeated import take_repeated
from .residuals import Key, Mirrors, Values
from .touching import induction


def restore(body: Block, backwards: Block, mirrors: Mirrors, assumptions: Assumptions,
            asked: Iterable[Atom] = (), short: Iterable[Loop] = (), calls_again: bool = True,
            gone: Iterable[Var] = ()) -> Needs:
    """Makes the values of loops and branches of `body` that `backwards` mentions available there; tells
    how much memory that takes. `asked` is what is wanted of `body` besides; iterations of `short` of memory
    loops are run again even where they need what the one before left. In a function that calls itself,
    calls are not made again (`calls_again`): each level would make those of all levels below once more,
    and arrays in `gone` are not read again."""
    if not mirrors:
        return {}
    scopes = Scopes.of(body)
    take_repeated(scopes, backwards)
    values = Values(scopes, assumptions, calls_again, gone)
    mentioned = _mentioned(backwards)
    needed = [v for v in values.scopes.home if v in mentioned and values.scopes.is_inner(v)]
    recorded = cut(values, needed, mirrors, dead_loops(body, backwards, asked, mirrors), short)
    restorer = Restorer(values, mirrors, recorded)
    restorer.branches = restorer.branches_run_again(needed)
    for var in restorer.in_time(needed):
        restorer.restore(var)
    restorer.settle_sizes()
    for stmt in backwards:
        substitute(stmt, restorer.copier.mapping)
    restorer.run_again()
    restorer.place_prologues()
    return restorer.needs


def _mentioned(block: Block) -> set[Var]:
    """All variables that a block mentions: also as sizes of what is defined in it."""
    found: set[Var] = set()
    for stmt in all_statements(block):
        found.update(head_uses(stmt), tail_uses(stmt))
        for target in (*targets_of(stmt), *inner_targets(stmt)):
            found.update(atom_vars(_array_type(target.type)))
    return found


def _array_type(type: Type) -> Type:
    """The type of the arrays in a sequence."""
    while isinstance(type, SeqType):
        type = type.element
    return type


def without_effects(block: Block) -> None:
    """Drops what has happened in the forward sweep; in place."""
    block[:] = [stmt for stmt in block if not isinstance(stmt, Effect)]
    for stmt in block:
        for inner in blocks_of(stmt):
            without_effects(inner)


class Given(Copier):
    """A copier for which the replacements of some variables are given."""

    def __init__(self, mapping: dict[Var, Atom], given: Iterable[Var],
                 dims: Callable[[Dim], Extent | None] | None = None) -> None:
        super().__init__(mapping, dims)
        self.given: dict[Var, Any] = {var: mapping[var] for var in given}

    def fresh(self, var: Var) -> Var:
        if var not in self.given:
            return super().fresh(var)
        self.mapping[var] = self.given[var]
        return self.given[var]


class Restorer:
    """Builds the prologues of reverse loops and branches: reads of what was kept, and statements that
    compute or take again."""

    def __init__(self, values: Values, mirrors: Mirrors, recorded: set[Var]) -> None:
        self.values, self.scopes = values, values.scopes
        self.mirrors, self.recorded = mirrors, recorded
        # What a branch leaves undefined has no elements after it, so that its cotangent has a size.
        self.sizes = {size for var in recorded for size in atom_vars(_array_type(var.type))}
        self.prologues: dict[Scope, Block] = {}
        self.times: dict[Stmt, int] = {}                        # when what prologues make was made before
        self.copies: dict[Stmt, Any] = {}                       # statements run again, to be filled at the end
        self.asked: dict[Stmt, list[Var]] = {}                  # what they give
        self.branches: set[Stmt] = set()                        # run again as a whole, for what leaves them
        self.needs: Needs = {}
        positions = {s.position: m.position for s, m in mirrors.items()
                     if isinstance(s, Loop) and isinstance(m, Loop)}
        self.copier = Copier(dict(positions))

    def in_time(self, needed: list[Var]) -> list[Var]:
        """Values and what they come from, in the order in which the forward sweep makes them."""
        found, pending = set[Var](), list(needed)
        while pending:
            var = pending.pop()
            if var not in found and self.scopes.is_inner(var):
                found.add(var)
                pending += self._sources(var) or ()
        return [var for var in self.scopes.home if var in found]

    def restore(self, var: Var) -> None:
        """Makes a value available, after those that it comes from; not by recursion, as the body of a
        loop may be a long chain of statements."""
        pending = [var]
        while pending:
            waiting = pending[-1]
            missing = [] if self._is_there(waiting) else [
                v for v in self._sources(waiting) or () if not self._is_there(v)]
            if missing:
                pending += reversed(missing)
            elif not self._is_there(pending.pop()):
                self._restore_one(waiting)

    def _is_there(self, var: Var) -> bool:
        return var in self.copier.mapping or not self.scopes.is_inner(var)

    def _sources(self, var: Var) -> list[Var] | None:
        """What a value comes from again; None if it is kept."""
        kept = var in self.recorded or self.values.is_free(var) or self._leaves_branch(var)
        return None if kept else self.values.sources(var)

    def _leaves_branch(self, var: Var) -> bool:
        """Whether a branch that is run again makes a value, which it then hands on."""
        return self.scopes.scope(var).owner in self.branches and self.values.is_made_again(var)

    def branches_run_again(self, needed: list[Var]) -> set[Stmt]:
        """The branches that are run again as a whole, for what leaves them."""
        found: set[Stmt] = set()
        pending: list[Key] = list(needed)
        seen = set(pending)
        while pending:
            key = pending.pop()
            new = self.values.demands(key)
            if isinstance(key, Var) and (sources := self._sources(key)) is not None:
                new += sources
                if isinstance(stmt := self.values.run_again(key), If):
                    found.add(stmt)
            new = [other for other in new if other not in seen]
            seen.update(new)
            pending += new
        return found

    def _restore_one(self, var: Var) -> None:
        values = self.values
        if self._sources(var) is None:
            self._bring(var)
        elif (stmt := values.run_again(var)) is not None:
            self._run_again(var, stmt)
        elif (source := values.read_from(var)) is not None:
            self._read(var, source)
        elif (found := induction(self.scopes, var)) is not None:
            self._induct(var, *found)
        elif (later := values.later(var)) is not None:
            self._retake(var, *later)
        else:
            self._compute(var)

    def _bring(self, var: Var) -> None:
        """Keeps a value, and finds it again in the mirrored scope."""
        scope, outer = self.scopes.scope(var), self._kept(var)
        if isinstance(scope.owner, Loop):
            self._read(var, outer)
        else:
            self.restore(outer)
            self.copier.mapping[var] = self.copier.atom(outer)

    def _read(self, var: Var, source: Atom) -> None:
        for needed in atom_vars(source):
            self.restore(needed)
        mirror = self.mirrors[self.scopes.scope(var).owner]                        # type: ignore[index]
        assert isinstance(mirror, Loop)
        target = Var(var.type, var.name)
        mirror.reads.append(Read(target, self.copier.atom(source)))
        self.copier.mapping[var] = target

    def _kept(self, var: Var) -> Var:
        """The variable that has a value after its scope: a sequence, or the result of a merge."""
        if var not in self.values.kept:
            scope = self.scopes.scope(var)
            outer = self._recorded(var, scope) if isinstance(scope.owner, Loop) else self._merged(var, scope)
            self.values.kept[var] = outer
            assert scope.parent is not None
            self.scopes.home[outer], self.scopes.definition[outer] = scope.parent, scope.owner   # type: ignore
        return self.values.kept[var]

    def _recorded(self, var: Var, scope: Scope) -> Var:
        record = Record(Var(SeqType(var.type), var.name and f"{var.name}_k"), var, saved=True)
        scope.loop.records.append(record)
        trips = self.values.trips_around(var)
        outermost = scope.loops()[0].loop
        if isinstance(outermost, Loop) and not isinstance(var.type, SeqType):
            note(self.needs, outermost, var, trips)
        return record.target

    def _merged(self, var: Var, scope: Scope) -> Var:
        sizes = {size: self._kept(size) for size in atom_vars(var.type) if self.scopes.scope(size) is scope}
        target = Var(Copier(dict(sizes)).type(var.type), var.name)
        absent: Atom = UNDEFINED
        if var in self.sizes:
            absent = Const(0)
            self.sizes.add(target)
        pair = (var, absent) if scope.side == "then" else (absent, var)
        scope.owner.merges.append(Merge(target, *pair, saved=True))                # type: ignore[union-attr]
        return target

    def _induct(self, var: Var, init: Atom, step: Atom) -> None:
        from ...ops.arithmetic import Add, Multiply
        position = self.scopes.definition[var].position                            # type: ignore[union-attr]
        for needed in atom_vars((init, step)):
            self.restore(needed)
        scaled, target = Var(var.type), Var(var.type, var.name)
        self._add(var, Let((scaled,), Multiply, (self.copier.atom(step), self.copier.atom(position)), {}),
                  Let((target,), Add, (self.copier.atom(init), scaled), {}))
        self.copier.mapping[var] = target

    def _retake(self, var: Var, version: Var, stmt: Let) -> None:
        from ...ops.indexing import Get
        atoms = version, *slots_of(stmt)
        for needed in atom_vars((*atoms, stmt.attrs, var.type)):
            self.restore(needed)
        again = Let((var,), Get, atoms, rule_attrs(stmt), stmt.origin)
        self._add(var, self.copier.stmt(again))

    def _compute(self, var: Var) -> None:
        stmt = self.scopes.let(var)
        assert stmt is not None
        for needed in atom_vars((*stmt.args, stmt.attrs, *(t.type for t in stmt.targets))):
            self.restore(needed)
        self._add(var, self.copier.stmt(stmt))

    def _run_again(self, var: Var, stmt: If | Loop | Call) -> None:
        """Puts off making the copy of the statement, which gives what will have been asked for by then."""
        for needed in self.values.slices.inputs(stmt, var):
            self.restore(needed)
        if stmt not in self.copies:
            self.copies[stmt] = copy(stmt)
            self._add(var, self.copies[stmt])
        self.asked.setdefault(stmt, []).append(var)
        self.copier.mapping[var] = Var(self.copier.type(var.type), var.name)

    def run_again(self) -> None:
        for stmt, twin in self.copies.items():
            asked = self.asked[stmt]
            copier = Given(self.copier.mapping, asked)
            new = copier.stmt(self.values.slices.reduced(stmt, asked))
            for slot in fields(new):
                setattr(twin, slot.name, getattr(new, slot.name))
            if isinstance(stmt, Loop) and stmt.again:
                self._forget([self.copier.mapping[r.target] for r in stmt.records if r.target in asked], stmt)

    def _forget(self, records: list[Any], loop: Loop) -> None:
        """Gives the records of one block free before those of the next are made."""
        scope = self.scopes.scope_of[loop]
        mirror = self.mirrors[scope.owner]                                         # type: ignore[index]
        getattr(mirror, scope.side).extend(Effect("forget", (record,), {}, loop.origin) for record in records)

    def _add(self, var: Var, *statements: Stmt) -> None:
        """Adds what makes a value to the prologue of its scope."""
        scope = self.scopes.scope(var)
        self.prologues.setdefault(scope, []).extend(statements)
        if self.values.is_lane(scope):
            self.times.update(dict.fromkeys(statements, self.scopes.time[self.scopes.definition[var]]))

    def settle_sizes(self) -> None:
        """Sizes of what is read that rest on integers of loops: those of the reverse loops are meant."""
        for mirror in self.mirrors.values():
            if isinstance(mirror, Loop):
                for read in mirror.reads:               # grows by the integers that have to be kept
                    for var in atom_vars(read.target.type):
                        self.restore(var)
                    read.target.type = self.copier.type(read.target.type)

    def place_prologues(self) -> None:
        for scope, prologue in self.prologues.items():
            mirror = self.mirrors[scope.owner]                                     # type: ignore[index]
            getattr(mirror, scope.side)[:0] = in_order(prologue, self.times)
