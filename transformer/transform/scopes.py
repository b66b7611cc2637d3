"""Where the values of a function live: the blocks of its loops and branches as a tree of scopes.

Times number statements in the order in which one pass through the program meets them, so that a value
was made before a statement runs, within the same iterations, exactly if its time is smaller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

from ..core.grammar import Atom, Block, Call, Effect, If, Let, Loop, Stmt, Var
from ..core.walk import inner_targets, targets_of


@dataclass(eq=False, slots=True)
class Scope:
    """One block: that of the function, of a loop (`side` is ``"body"`` or ``"test"``) or of a branch
    (``"then"``, ``"orelse"``). `began` is the time at which its owner begins."""

    owner: If | Loop | None
    side: str
    block: Block
    parent: Scope | None
    began: int = 0

    @property
    def is_loop(self) -> bool:
        return self.side == "body"

    @property
    def loop(self) -> Loop:
        """The loop whose body this is."""
        assert isinstance(self.owner, Loop)
        return self.owner

    def path(self) -> Iterator[Scope]:
        """This scope and those around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def loops(self, within: Scope | None = None) -> list[Scope]:
        """The bodies of loops that this scope lies in, outermost first, up to the scope `within`."""
        found = []
        for scope in self.path():
            if scope is within:
                break
            if scope.is_loop:
                found.append(scope)
        return found[::-1]

    def is_inside(self, other: Scope) -> bool:
        return any(scope is other for scope in self.path())


@dataclass(slots=True)
class Scopes:
    """For every variable defined in a block: its scope (`home`), the statement that defines it, and the
    time from which it is there (`made`); for every statement its scope and its time. `inner_first` lists
    statements before those that hold them."""

    top: Scope
    home: dict[Var, Scope] = field(default_factory=dict)
    definition: dict[Var, Stmt] = field(default_factory=dict)
    made: dict[Var, int] = field(default_factory=dict)
    scope_of: dict[Stmt, Scope] = field(default_factory=dict)
    time: dict[Stmt, int] = field(default_factory=dict)
    inner_first: list[Stmt] = field(default_factory=list)
    clock: int = 0

    @staticmethod
    def of(block: Block) -> Scopes:
        scopes = Scopes(Scope(None, "top", block, None))
        scopes._enter(scopes.top)
        return scopes

    def scope(self, var: Var) -> Scope:
        """The scope of a variable; parameters belong to the function's."""
        return self.home.get(var, self.top)

    def is_inner(self, atom: Atom) -> bool:
        """Whether an atom is a variable of a loop or branch, out of reach after it."""
        return isinstance(atom, Var) and self.scope(atom) is not self.top

    def _enter(self, scope: Scope) -> None:
        for stmt in scope.block:
            self.clock += 1
            self.scope_of[stmt], self.time[stmt] = scope, self.clock
            for inner in _scopes_in(stmt, scope):
                inner.began = self.time[stmt]
                if inner.side in ("body", "test"):
                    self._define(inner_targets(stmt), stmt, inner)
                self._enter(inner)
            self.clock += 1
            self.inner_first.append(stmt)
            self._define(targets_of(stmt), stmt, scope)

    def _define(self, targets: tuple[Var, ...], stmt: Stmt, scope: Scope) -> None:
        for target in targets:
            self.home[target], self.definition[target], self.made[target] = scope, stmt, self.clock

    def level(self, scope: Scope, outer: Scope) -> int:
        """The time at which the statement of `outer` begins in which `scope` lies."""
        inner = next(s for s in scope.path() if s.parent is outer)
        return inner.began

    def let(self, atom: Atom) -> Let | None:
        """The simple statement that defines a variable."""
        stmt = self.definition.get(atom) if isinstance(atom, Var) else None
        return stmt if isinstance(stmt, Let) else None


def _scopes_in(stmt: Stmt, scope: Scope) -> list[Scope]:
    match stmt:
        case If():
            return [Scope(stmt, "then", stmt.then, scope), Scope(stmt, "orelse", stmt.orelse, scope)]
        case Loop():
            return [Scope(stmt, "test", stmt.test, scope), Scope(stmt, "body", stmt.body, scope)]
        case Let() | Call() | Effect():
            return []
        case _:
            assert_never(stmt)
