"""What a statement with blocks of its own needs from the program around it to compute certain values, and the statement
cut down to these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, assert_never

from ...core.grammar import Atom, Block, Call, Effect, If, Let, Loop, Stmt, Var
from ...core.walk import atom_vars, targets_of
from ..scopes import Scope, Scopes


class Slices:
    """Answers for one function, to which records and merges may be added meanwhile."""

    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes
        self.sources: dict[Var, list[Var]] = {}
        self.found: dict[tuple[Stmt, Var], list[Var]] = {}
        self.around: dict[Var, set[Stmt]] = {}

    def inputs(self, stmt: Stmt, var: Var) -> list[Var]:
        """What a statement takes from around it for a value that it gives, or that is made in it."""
        if (stmt, var) not in self.found:
            self.found[stmt, var] = [v for v in self.needed(stmt, [var]) if not self.is_within(v, stmt)]
        return self.found[stmt, var]

    def needed(self, stmt: Stmt, wanted: Iterable[Var]) -> dict[Var, None]:
        """All that the `wanted` values of a statement are made from: in it, and last what is around it."""
        found = dict.fromkeys(wanted)
        pending = list(found)
        while pending:
            new = [v for v in self.made_from(pending.pop(), stmt) if v not in found]
            found.update(dict.fromkeys(new))
            pending += [v for v in new if self.is_within(v, stmt)]
        return found

    def reduced(self, stmt: Stmt, wanted: Iterable[Var]) -> Any:
        """The statement with what the `wanted` values need alone, and without effects."""
        return _reduced(stmt, self.needed(stmt, wanted))

    def is_within(self, var: Var, stmt: Stmt) -> bool:
        """Whether a statement makes a value, or one in its blocks does."""
        if var not in self.around:
            self.around[var] = {scope.owner for scope in self.scopes.scope(var).path() if scope.owner is not None}
            self.around[var].update([self.scopes.definition[var]] if var in self.scopes.home else [])
        return stmt in self.around[var]

    def made_from(self, var: Var, stmt: Stmt) -> Iterator[Var]:
        """What a value is made from, and what decides whether it is made."""
        yield from self.direct(var)
        for scope in self.scopes.scope(var).path():
            if scope is self.scopes.scope_of[stmt]:
                return
            yield from _deciding(scope)

    def direct(self, var: Var) -> list[Var]:
        """What a value is made from at once."""
        if var not in self.sources:
            self.sources[var] = [*self._direct(var), *atom_vars(var.type)]
        return self.sources[var]

    def _direct(self, var: Var) -> list[Var]:
        definition: Any = self.scopes.definition[var]
        match definition:
            case Let():
                return atom_vars((definition.args, definition.attrs))
            case Call():
                return atom_vars(definition.args)
            case If():
                merge = next(m for m in definition.merges if m.target is var)
                return atom_vars((definition.cond, merge.then, merge.orelse))
        return _of_loop(definition, var)


def _of_loop(loop: Loop, var: Var) -> list[Var]:
    found: list[Atom | None] = []
    if var in targets_of(loop):
        found = [loop.trips, loop.cond]
    for carry in loop.carries:
        if var in (carry.entry, carry.out):
            found += [carry.init, carry.next]
    found += [read.source for read in loop.reads if read.target is var]
    found += [record.value for record in loop.records if record.target is var]
    return atom_vars(found)


def _deciding(scope: Scope) -> list[Var]:
    """What decides whether, or how often, a block runs."""
    match scope.owner:
        case If() as owner:
            return atom_vars(owner.cond)
        case Loop() as owner:
            return atom_vars([owner.trips, owner.cond])
    return []


def _reduced(stmt: Stmt, needed: dict[Var, None]) -> Any:
    match stmt:
        case If():
            merges = [m for m in stmt.merges if m.target in needed]
            return If(stmt.cond, _block(stmt.then, needed), _block(stmt.orelse, needed), merges, stmt.origin)
        case Loop():
            carries = [c for c in stmt.carries if c.entry in needed or c.out in needed]
            reads = [r for r in stmt.reads if r.target in needed]
            records = [r for r in stmt.records if r.target in needed]
            count = stmt.count if stmt.count in needed else None
            return replace(stmt, carries=carries, body=_block(stmt.body, needed), reads=reads, records=records,
                           test=_block(stmt.test, needed), count=count)
        case Let() | Call() | Effect():
            return stmt
        case _:
            assert_never(stmt)


def _block(block: Block, needed: dict[Var, None]) -> Block:
    return [_reduced(stmt, needed) for stmt in block if any(target in needed for target in targets_of(stmt))]
