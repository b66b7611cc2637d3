"""What brings values of the forward sweep to where the reverse sweep needs them, as `residuals` decided:
prologues of reverse loops and branches that read what was kept, compute and take again; records and
merges that keep; copies of loops that are run again.
"""

from __future__ import annotations

from dataclasses import fields

from ..core.grammar import UNDEFINED, Atom, Block, Carry, Const, Effect, Let, Loop, Merge, Read, Record, Var
from ..core.guards import Assumptions
from ..core.types import SeqType, Type
from ..core.walk import (
    Copier,
    all_statements,
    atom_vars,
    blocks_of,
    free_vars,
    head_uses,
    inner_targets,
    substitute,
    tail_uses,
    targets_of,
)
from .cut import minimum_cut
from .memory import Needs, note
from .residuals import Mirrors, Values, slots_of
from .retaking import plain
from .scopes import Scope, Scopes
from .touching import induction


def restore(body: Block, backwards: Block, mirrors: Mirrors, assumptions: Assumptions) -> Needs:
    """Makes the values of loops and branches of `body` that `backwards` mentions available there; tells
    how much memory that takes."""
    if not mirrors:
        return {}
    values = Values(Scopes.of(body), assumptions)
    needed = [v for v in _mentioned(backwards) if values.scopes.is_inner(v)]
    recorded = minimum_cut(values.graph(needed))
    restorer = Restorer(values, mirrors, recorded)
    for var in needed:
        restorer.restore(var)
    restorer.settle_sizes()
    for stmt in backwards:
        substitute(stmt, restorer.copier.mapping)
    restorer.place_prologues()
    restorer.run_again()
    return restorer.needs


def _mentioned(block: Block) -> dict[Var, None]:
    """All variables that a block mentions, in order: also as sizes of what is defined in it."""
    found: dict[Var, None] = {}
    for stmt in all_statements(block):
        found.update((var, None) for var in (*head_uses(stmt), *tail_uses(stmt)))
        for target in (*targets_of(stmt), *inner_targets(stmt)):
            found.update((var, None) for var in atom_vars(_array_type(target.type)))
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


class Restorer:
    """Builds the prologues of reverse loops and branches: reads of what was kept, and statements that
    compute or take again."""

    def __init__(self, values: Values, mirrors: Mirrors, recorded: set[Var]) -> None:
        self.values, self.scopes = values, values.scopes
        self.mirrors, self.recorded = mirrors, recorded
        # What a branch leaves undefined has no elements after it, so that its cotangent has a size.
        self.sizes = {size for var in recorded for size in atom_vars(_array_type(var.type))}
        self.prologues: dict[Scope, Block] = {}
        self.copies: dict[Loop, Loop] = {}
        self.needs: Needs = {}
        positions = {s.position: m.position for s, m in mirrors.items()
                     if isinstance(s, Loop) and isinstance(m, Loop)}
        self.copier = Copier(dict(positions))

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
        return None if var in self.recorded or self.values.is_free(var) else self.values.sources(var)

    def _restore_one(self, var: Var) -> None:
        values = self.values
        if self._sources(var) is None:
            self._bring(var)
        elif (loop := values.run_again(var)) is not None:
            self._run_again(var, loop)
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
        record = Record(Var(SeqType(var.type), var.name and f"{var.name}_k"), var)
        scope.loop.records.append(record)
        trips = self.values.trips_around(var)
        outermost = scope.loops()[0].loop
        if None not in trips and isinstance(outermost, Loop) and not isinstance(var.type, SeqType):
            note(self.needs, outermost, var, trips)                                # type: ignore[arg-type]
        return record.target

    def _merged(self, var: Var, scope: Scope) -> Var:
        sizes = {size: self._kept(size) for size in atom_vars(var.type) if self.scopes.scope(size) is scope}
        target = Var(Copier(dict(sizes)).type(var.type), var.name)
        absent = Const(0) if var in self.sizes else UNDEFINED
        pair = (var, absent) if scope.side == "then" else (absent, var)
        scope.owner.merges.append(Merge(target, *pair))                            # type: ignore[union-attr]
        return target

    def _induct(self, var: Var, init: Atom, step: Atom) -> None:
        from ..ops.arithmetic import Add, Multiply
        position = self.scopes.definition[var].position                            # type: ignore[union-attr]
        for needed in atom_vars((init, step)):
            self.restore(needed)
        scaled, target = Var(var.type), Var(var.type, var.name)
        self._prologue(var).extend([
            Let((scaled,), Multiply, (self.copier.atom(step), self.copier.atom(position)), {}),
            Let((target,), Add, (self.copier.atom(init), scaled), {})])
        self.copier.mapping[var] = target

    def _retake(self, var: Var, version: Var, stmt: Let) -> None:
        from ..ops.indexing import Get
        atoms = version, *slots_of(stmt)
        for needed in atom_vars((*atoms, stmt.attrs, var.type)):
            self.restore(needed)
        again = Let((var,), Get, atoms, plain(stmt), stmt.origin)
        self._prologue(var).append(self.copier.stmt(again))

    def _compute(self, var: Var) -> None:
        stmt = self.scopes.let(var)
        assert stmt is not None
        for needed in atom_vars((*stmt.args, stmt.attrs, *(t.type for t in stmt.targets))):
            self.restore(needed)
        self._prologue(var).append(self.copier.stmt(stmt))

    def _run_again(self, var: Var, loop: Loop) -> None:
        """Puts off making the copy of the loop, which records what will have been asked for by then."""
        if loop not in self.copies:
            for needed in free_vars([loop]):
                self.restore(needed)
            self.copies[loop] = Loop(loop.position, loop.trips, [], [], origin=loop.origin)
            self._prologue(var).append(self.copies[loop])
        self.copier.mapping[var] = Var(self.copier.type(var.type), var.name)

    def run_again(self) -> None:
        for loop, copy in self.copies.items():
            copier = Copier(self.copier.mapping)
            given = [self.copier.mapping.get(target) for target in targets_of(loop)]
            new = copier.stmt(loop)
            assert isinstance(new, Loop)
            names = {old: var for old, var in zip(targets_of(new), given) if isinstance(var, Var)}
            for holder in (*new.carries, *new.records):
                field = "out" if isinstance(holder, Carry) else "target"
                setattr(holder, field, names.get(getattr(holder, field), getattr(holder, field)))
            without_effects(new.body)
            for slot in fields(Loop):
                setattr(copy, slot.name, getattr(new, slot.name))
            self._forget([r.target for r in copy.records if r.target in names.values()], loop)

    def _forget(self, records: list[Var], loop: Loop) -> None:
        """Gives the records of one block free before those of the next are made."""
        scope = self.scopes.scope_of[loop]
        mirror = self.mirrors[scope.owner]                                         # type: ignore[index]
        getattr(mirror, scope.side).extend(Effect("forget", (record,), {}, loop.origin) for record in records)

    def _prologue(self, var: Var) -> Block:
        return self.prologues.setdefault(self.scopes.scope(var), [])

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
            getattr(mirror, scope.side)[:0] = prologue
