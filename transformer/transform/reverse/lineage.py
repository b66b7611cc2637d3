"""The versions of arrays that are written in place: what each was before, and who writes to it.

A write gives a new version of the array it writes to. Versions are followed through branches that
return one array on both sides and through loops that hand an array on to themselves; where a loop
swaps two arrays, the lineage ends.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import assert_never

from ...core.grammar import Atom, Call, Carry, Effect, If, Let, Loop, Merge, Stmt, Var
from ..scopes import Scopes


class Lineage:
    """`before` is, for a version, the one that it was made from; versions of one `group` may share memory."""

    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes
        self.before: dict[Var, Var] = {}
        self.group_of: dict[Var, Var] = {}
        self.entries: dict[Var, Carry] = {}
        for stmt in scopes.time:
            if isinstance(stmt, Loop):
                self.entries.update((c.entry, c) for c in stmt.carries)
        for stmt in scopes.inner_first:
            self._note(stmt)

    def _note(self, stmt: Stmt) -> None:
        match stmt:
            case Let() if stmt.op.writes:
                self._follows(stmt.target, stmt.args[0])
            case If():
                for merge in stmt.merges:
                    self._note_merge(merge, stmt)
            case Loop():
                for carry in stmt.carries:
                    self._note_carry(carry)
            case Let() | Call() | Effect():
                pass
            case _:
                assert_never(stmt)

    def _note_merge(self, merge: Merge, stmt: If) -> None:
        ends = [self.start(atom, stmt) for atom in (merge.then, merge.orelse)]
        for atom in (merge.then, merge.orelse):
            self._join(merge.target, atom)
        if ends[0] is ends[1] and isinstance(ends[0], Var):
            self.before[merge.target] = ends[0]

    def _note_carry(self, carry: Carry) -> None:
        for atom in (carry.entry, carry.init, carry.next):
            self._join(carry.out, atom)
        if self.returns_to_itself(carry) and isinstance(carry.init, Var):
            self.before[carry.out] = carry.init

    def returns_to_itself(self, carry: Carry) -> bool:
        """Whether what a loop hands on is a version of what it was handed."""
        atom = carry.next
        while isinstance(atom, Var) and atom is not carry.entry and atom in self.before:
            atom = self.before[atom]
        return atom is carry.entry

    def start(self, atom: Atom, stmt: If) -> Atom:
        """The version that an atom of a branch was when the branch began."""
        while isinstance(atom, Var) and self._is_within(atom, stmt) and atom in self.before:
            atom = self.before[atom]
        return atom

    def _is_within(self, var: Var, stmt: If) -> bool:
        return any(scope.owner is stmt for scope in self.scopes.scope(var).path())

    def _follows(self, new: Var, old: Atom) -> None:
        self._join(new, old)
        if isinstance(old, Var):
            self.before[new] = old

    def _join(self, first: Atom, second: Atom) -> None:
        if isinstance(first, Var) and isinstance(second, Var):
            self.group_of[self.group(first)] = self.group(second)

    def group(self, var: Var) -> Var:
        """One version that stands for all that may share memory with `var`."""
        root = var
        while (up := self.group_of.get(root, root)) is not root:
            root = up
        while (up := self.group_of.get(var, root)) is not root and var is not root:
            self.group_of[var], var = root, up
        return root

    @cached_property
    def writes(self) -> dict[Var, list[Let]]:
        """All writes to the versions of a group, in order."""
        found = defaultdict(list)
        for stmt in self.scopes.time:
            if isinstance(stmt, Let) and stmt.op.writes:
                found[self.group(stmt.target)].append(stmt)
        return found

    @cached_property
    def after(self) -> dict[Var, list[Var]]:
        found = defaultdict(list)
        for new, old in self.before.items():
            found[old].append(new)
        return found

    def later(self, var: Var) -> list[Var]:
        """The versions made from `var` in its own scope, itself first."""
        home = self.scopes.scope(var)
        found = [var]
        for version in found:
            found += [v for v in self.after.get(version, ()) if self.scopes.scope(v) is home]
        return found

    def exits(self, var: Var) -> list[Var]:
        """What the versions made from `var` in its scope are called after that scope."""
        home = self.scopes.scope(var)
        versions: set[Atom] = set(self.later(var))
        match home.owner:
            case If() as owner:
                return [m.target for m in owner.merges if getattr(m, home.side) in versions]
            case Loop() as owner:
                return [c.out for c in owner.carries if c.next in versions and self.returns_to_itself(c)]
        return []

    def origin(self, var: Var) -> Atom | None:
        """The array of which `var` is a version, as it was made; None where the lineage ends before."""
        atom: Atom = var
        while isinstance(atom, Var):
            if atom in self.before:
                atom = self.before[atom]
            elif atom in self.entries:
                if not self.returns_to_itself(self.entries[atom]):
                    return None
                atom = self.entries[atom].init
            else:
                break
        is_handed_on = isinstance(self.scopes.definition.get(atom), (If, Loop))     # type: ignore[arg-type]
        return None if is_handed_on else atom

