"""What is still needed after a statement of the nest form, in the iterations to come as well."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.grammar import If, Loop, Var
from ..core.walk import atom_vars, inner_targets
from .nests import Block, Fold, Nest, all_uses, defined, statements, uses_after, uses_before, writes


class Lifetimes:
    """`after[id(stmt)]` are the variables that are read after a statement of any block outside of nests."""

    def __init__(self, block: Block, results: Iterable[Any]) -> None:
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
                alive = alive.union(*map(mentioned, stmt.body), uses_after(stmt))
        return (alive - set(defined(stmt))).union(uses_before(stmt))

    def _loop(self, stmt: Any, alive: frozenset[Var]) -> frozenset[Var]:
        """What comes from outside of a loop is needed in every iteration."""
        inside = set(inner_targets(stmt)) | {var for each in (*getattr(stmt, "test", ()), *stmt.body)
                                             for inner in statements([each])
                                             for var in (*defined(inner), *inner_targets(inner))}
        used = {var for each in (*getattr(stmt, "test", ()), *stmt.body) for var in mentioned(each)}
        outer = frozenset((used | set(uses_after(stmt))) - inside)
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
