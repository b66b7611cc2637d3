"""Residuals: what a reverse sweep needs from inside the loops and branches of the forward sweep.

The reverse sweep is built first and mentions values of the forward sweep freely. Afterwards one minimum
cut over the function (`cut`) decides how each of them comes to where it is needed:

* computed again, from values that are there or come there;
* taken again from an array that still has it (`retaking`);
* kept: a loop records it, and a branch hands it on by a merge that is undefined on the other side.

A loop that is to be run again (`blocks`) records nothing in the forward sweep: its copy in the reverse
sweep does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache

from ..core.grammar import UNDEFINED, Atom, Block, Carry, Effect, If, Let, Loop, Merge, Read, Record, Stmt, Var
from ..core.guards import Assumptions
from ..core.sizes import Extent, replaced
from ..core.types import ArrayType, SeqType, Type
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
from ..ops.regions import is_basic
from .cut import Node, minimum_cut
from .memory import Needs, note
from .retaking import Retaking, plain
from .scopes import Scope, Scopes
from .touching import induction

Mirrors = dict[Stmt, Stmt]          # loops and branches of the forward sweep, and their reverses
LONG = 100.0                        # a size that is not known, where costs are compared
MOST_RECOMPUTED = 4                 # statements computed again rather than kept, outside of loops


def restore(body: Block, backwards: Block, mirrors: Mirrors, assumptions: Assumptions) -> Needs:
    """Makes the values of loops and branches of `body` that `backwards` mentions available there; tells
    how much memory that takes."""
    if not mirrors:
        return {}
    values = _Values(Scopes.of(body), assumptions)
    needed = [v for v in _mentioned(backwards) if values.scopes.is_inner(v)]
    recorded = minimum_cut(values.graph(needed))
    restorer = _Restorer(values, mirrors, recorded)
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


class _Values:
    """The values inside loops and branches, and how each can be had in the reverse sweep."""

    def __init__(self, scopes: Scopes, assumptions: Assumptions) -> None:
        self.scopes = scopes
        self.retaking = Retaking(scopes, assumptions)
        self.kept: dict[Var, Var] = {}
        for stmt in scopes.time:
            self.kept.update((var, outer) for var, outer in _kept_by(stmt) if scopes.scope(var).owner is stmt)
        self.later = cache(self._later)
        self.sources = cache(self._sources)

    def is_position(self, var: Var) -> bool:
        stmt = self.scopes.definition.get(var)
        return isinstance(stmt, Loop) and var is stmt.position

    def is_free(self, var: Var) -> bool:
        """Whether a value is at hand in the reverse sweep: outer ones, positions, what is kept anyway."""
        if not self.scopes.is_inner(var) or self.is_position(var):
            return True
        return var in self.kept and self.is_free(self.kept[var])

    def read_from(self, var: Var) -> Atom | None:
        """The sequence or array of which a variable of a loop is the element at its position."""
        stmt = self.scopes.definition.get(var)
        if isinstance(stmt, Loop):
            return next((read.source for read in stmt.reads if read.target is var), None)
        return None

    def run_again(self, var: Var) -> Loop | None:
        """The loop to run again for a value that it gives."""
        stmt = self.scopes.definition.get(var)
        given = isinstance(stmt, Loop) and stmt.again and self.scopes.scope_of[stmt] is self.scopes.scope(var)
        return stmt if given and self.scopes.is_inner(var) else None             # type: ignore[return-value]

    def _loops_run_again(self, var: Var) -> Iterator[Loop]:
        """The loops around a value that are run again to record it."""
        for scope in self.scopes.scope(var).path():
            if isinstance(scope.owner, Loop) and scope.owner.again and scope.parent is not self.scopes.top:
                yield scope.owner

    def _later(self, var: Var) -> tuple[Var, Let] | None:
        """The version of an array to take a value from again, and the statement that says where."""
        stmt = self.scopes.let(var)
        if stmt is None or isinstance(var.type, SeqType):
            return None
        version = self.retaking.of_read(stmt)
        if version is not None:
            return version, stmt
        found = self.retaking.of_written(var)
        if found is None or self.scopes.is_inner(found[0]) and self._computed_from(stmt) is not None:
            return None
        return found

    def _sources(self, var: Var) -> list[Var] | None:
        """What a value is computed again from, or taken from; None when it has to be kept."""
        loop = self.run_again(var)
        if loop is not None:
            return list(free_vars([loop]))
        source = self.read_from(var)
        if source is not None:
            return list(atom_vars(source))
        found = induction(self.scopes, var)
        if found is not None:
            return list(atom_vars(found))
        later = self.later(var)
        if later is not None:
            version, stmt = later
            return [version, *atom_vars((*_slots(stmt), stmt.attrs, var.type))]
        definition = self.scopes.let(var)
        return None if definition is None else self._computed_from(definition)

    def _computed_from(self, stmt: Let) -> list[Var] | None:
        if stmt.op.heavy or stmt.op.writes or isinstance(stmt.target.type, SeqType):
            return None
        if not self.scopes.scope_of[stmt].loops() and not self._is_little(stmt, set()):
            return None
        return list(dict.fromkeys(atom_vars((*stmt.args, stmt.attrs, stmt.target.type))))

    def _is_little(self, stmt: Let, seen: set[Let]) -> bool:
        """Whether computing a value again costs no more than keeping it: a little arithmetic on numbers
        and on elements of arrays."""
        seen.add(stmt)
        if stmt.target in self.kept or len(seen) > MOST_RECOMPUTED or not (is_cheap(stmt) or self._is_view(stmt)):
            return False
        inner = [self.scopes.let(v) for v in atom_vars(stmt.args) if self.scopes.is_inner(v)]
        return all(s is not None and (s in seen or self._is_little(s, seen)) for s in inner)

    def _is_view(self, stmt: Let) -> bool:
        """Whether a statement gives a part of an array that nobody writes to, which costs nothing."""
        base, lineage = stmt.args[0] if stmt.args else None, self.retaking.lineage
        return (stmt.op.name == "get" and isinstance(base, Var) and is_basic(stmt.attrs["index"], stmt.args[1:])
                and not lineage.writes.get(lineage.group(base)))

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
            nodes[var] = Node(var, self.weight(var), rest, var in goals)
            pending += rest or []
            for loop in self._loops_run_again(var):
                inputs = [v for v in free_vars([loop]) if not self.is_free(v)]
                goals.update(inputs)
                pending += inputs
        return list(nodes.values())

    def weight(self, var: Var) -> float:
        """What keeping a value costs: its elements, in every iteration of the loops around."""
        total = elements(var)
        for trips in self.trips_around(var):
            total *= LONG if trips is None else guessed(trips)
        return total

    def trips_around(self, var: Var) -> list[Extent | None]:
        """How often the loops around a value run that keep it; None where that is not known."""
        counts: list[Extent | None] = []
        for scope in reversed(self.scopes.scope(var).loops()):
            trips = scope.loop.trips
            counts.append(None if trips is None else self.retaking.touching.extent(trips))
            if getattr(scope.loop, "again", False) and scope.parent is not self.scopes.top:
                break
        return counts


def elements(var: Var) -> float:
    """How many elements a value has, guessed where that is symbolic."""
    type, total = var.type, 1.0
    while isinstance(type, SeqType):
        type, total = type.element, total * LONG
    for size in type.sizes:
        total *= guessed(size)
    return total


def guessed(size: Extent) -> float:
    """A size as a number, at least 1."""
    known = replaced(size, lambda leaf: int(LONG))
    assert isinstance(known, int)
    return float(max(known, 1))


def is_cheap(stmt: Let) -> bool:
    """Whether a statement is a little arithmetic on numbers, or takes an element of an array."""
    if not isinstance(stmt.target.type, ArrayType) or stmt.target.type.sizes:
        return False
    return stmt.op.symbol in CHEAP or stmt.op.name == "get"


CHEAP = ("+", "-", "*", "<", "<=", ">", ">=", "==", "!=")


def _kept_by(stmt: Stmt) -> Iterator[tuple[Var, Var]]:
    """The values of a loop or branch that leave it anyway, and as what."""
    match stmt:
        case Loop():
            yield from ((r.value, r.target) for r in stmt.records if isinstance(r.value, Var))
        case If():
            for merge in stmt.merges:
                yield from ((atom, merge.target) for atom in (merge.then, merge.orelse) if isinstance(atom, Var))


def without_effects(block: Block) -> None:
    """Drops what has happened in the forward sweep; in place."""
    block[:] = [stmt for stmt in block if not isinstance(stmt, Effect)]
    for stmt in block:
        for inner in blocks_of(stmt):
            without_effects(inner)


def _slots(stmt: Let) -> tuple[Atom, ...]:
    return stmt.args[1:] if stmt.op.name == "get" else stmt.args[2:]


class _Restorer:
    """Builds the prologues of reverse loops and branches: reads of what was kept, and statements that
    compute or take again."""

    def __init__(self, values: _Values, mirrors: Mirrors, recorded: set[Var]) -> None:
        self.values, self.scopes = values, values.scopes
        self.mirrors, self.recorded = mirrors, recorded
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
        pair = (var, UNDEFINED) if scope.side == "then" else (UNDEFINED, var)
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
        atoms = version, *_slots(stmt)
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
