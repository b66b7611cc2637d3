"""What is still needed after a statement of the nest form, in the iterations to come as well."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.grammar import If, Loop, Var
from ..core.walk import atom_vars, inner_targets
from .nests import (
    Block,
    Fold,
    Nest,
    all_uses,
    defined,
    inner_blocks,
    statements,
    uses_after,
    uses_before,
    writes,
)


class Mentions:
    """What statements use and define, with the blocks in them; looked up once for each, while none of them changes."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[frozenset[Var], frozenset[Var]]] = {}

    def used(self, stmt: Any) -> frozenset[Var]:
        """Every variable that it uses; arrays that are written count."""
        return self._of(stmt)[0]

    def made(self, stmt: Any) -> frozenset[Var]:
        """Every variable that is new in it, or behind it."""
        return self._of(stmt)[1]

    def _of(self, stmt: Any) -> tuple[frozenset[Var], frozenset[Var]]:
        found = self._found.get(id(stmt))
        if found is None:
            inside = [self._of(each) for block in inner_blocks(stmt) for each in block]
            used = frozenset((*uses_before(stmt), *uses_after(stmt))).union(*(each[0] for each in inside))
            made = frozenset((*defined(stmt), *inner_targets(stmt))).union(*(each[1] for each in inside))
            found = self._found[id(stmt)] = used, made
        return found


class Lifetimes:
    """`after[id(stmt)]` are the variables that are read after a statement of any block outside of nests."""

    def __init__(self, block: Block, results: Iterable[Any]) -> None:
        self.mentions = Mentions()
        self.after: dict[int, frozenset[Var]] = {}
        self._block(block, frozenset(atom_vars(tuple(results))))

    def is_needed_after(self, stmt: Any, var: Var) -> bool:
        return var in self.after[id(stmt)]

    def _block(self, block: Block, alive: frozenset[Var]) -> frozenset[Var]:
        for stmt in reversed(block):
            self.after[id(stmt)] = alive
            alive = self._before(stmt, alive)
        return alive

    def _before(self, stmt: Any, alive: frozenset[Var]) -> frozenset[Var]:
        match stmt:
            case If():
                then, orelse = (alive.union(atom_vars(tuple(getattr(merge, side) for merge in stmt.merges)))
                                for side in ("then", "orelse"))
                alive = self._block(stmt.then, then) | self._block(stmt.orelse, orelse)
            case Loop():
                alive = self._loop(stmt, alive)
            case Nest() | Fold():
                alive = alive.union(*map(self.mentions.used, stmt.body), uses_after(stmt))
        made, used = defined(stmt), uses_before(stmt)
        alive = alive if alive.isdisjoint(made) else alive.difference(made)
        return alive if alive.issuperset(used) else alive.union(used)

    def _loop(self, stmt: Any, alive: frozenset[Var]) -> frozenset[Var]:
        """What comes from outside of a loop is needed in every iteration."""
        body = (*getattr(stmt, "test", ()), *stmt.body)
        inside = frozenset(inner_targets(stmt)).union(*map(self.mentions.made, body))
        outer = frozenset(uses_after(stmt)).union(*map(self.mentions.used, body)) - inside
        end = alive | outer
        start = self._block(stmt.body, end.union(uses_after(stmt)))
        if isinstance(stmt, Loop):
            self._block(stmt.test, end | start)
        return end


def mentioned(stmt: Any) -> set[Var]:
    """Every variable that a statement and the blocks in it use; arrays that are written count."""
    return set(all_uses([stmt]))


def written(stmt: Any) -> set[Var]:
    """The arrays that a statement and the blocks in it write to."""
    return {array for each in statements([stmt]) for array in writes(each)}
