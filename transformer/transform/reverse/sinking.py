"""Values that only one side of a branch, or of a choice, uses: their reverse belongs to that side, too.

    r = np.sqrt(x @ x)
    y = x / r if r > 0 else x

On the other side `r` has no part in the result, and a cotangent of 0 that were handed on to the root would be
0 / 0 where `r` is 0. It is also work that this side need not do. In `np.where(x > 0, x / np.sqrt(x), 0)` both
sides are computed, and so are their cotangents; those that were not chosen are left out at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from ...core.grammar import Block, Effect, If, Let, Stmt, Var
from ...core.types import ArrayType
from ...core.walk import all_uses, free_vars
from .. import rules
from ..activity import differentiable_args
from ..custom.applied import is_ruled


class Sinking:
    """The statements of a block, in which derivatives pass through the variables `active`."""

    def __init__(self, block: Block, active: set[Var]) -> None:
        self.block = block
        self.active = active
        self.sunk: set[Stmt] = set()

    @cached_property
    def place(self) -> dict[Stmt, int]:
        return {stmt: k for k, stmt in enumerate(self.block)}

    @cached_property
    def definition(self) -> dict[Var, Stmt]:
        return {target: stmt for stmt in self.block if type(stmt) is Let for target in stmt.targets}

    @cached_property
    def users(self) -> dict[Var, list[Stmt]]:
        """The statements of the block that take a variable."""
        found: dict[Var, list[Stmt]] = {}
        for stmt in self.block:
            for var in set(self._takes(stmt)):
                found.setdefault(var, []).append(stmt)
        return found

    def into(self, branch: If, seeded: Collection[Any]) -> tuple[Block, Block]:
        """The statements before a branch that are reversed with its two sides, in order. What is `seeded` has a
        cotangent from elsewhere."""
        sides = [self._taken(block, [getattr(merge, side) for merge in branch.merges])
                 for side, block in (("then", branch.then), ("orelse", branch.orelse))]
        return self._sunk(branch, sides, seeded, _may_sink)

    def into_choice(self, choice: Let, seeded: Collection[Any]) -> tuple[Block, Block]:
        """The same for the two arrays of which a statement chooses, element by element, as those before it are."""
        sides = [{arg for arg in (given,) if isinstance(arg, Var) and arg in self.active and arg in self.definition}
                 for given in choice.args[1:]]
        sizes = rules.sizes_of(choice.target)

        def fits(stmt: Let) -> bool:
            return stmt.op.elementwise and _may_sink(stmt) and rules.sizes_of(stmt.target) == sizes

        return self._sunk(choice, sides, seeded, fits)

    def _sunk(self, user: Stmt, sides: list[set[Var]], seeded: Collection[Any], fits: Callable[[Let], bool]
              ) -> tuple[Block, Block]:
        if user not in self.place:
            return [], []
        found = [self._only_in(user, side, other, seeded, fits) for side, other in (sides, sides[::-1])]
        for statements in found:
            self.sunk.update(statements)
        return found[0], found[1]

    def _taken(self, block: Block, ends: list[Any]) -> set[Var]:
        """The active variables of this block that a side uses."""
        return {var for var in free_vars(block, [end for end in ends if isinstance(end, Var)])
                if var in self.active and var in self.definition}

    def _only_in(self, user: Stmt, taken: set[Var], others: set[Var], seeded: Collection[Any],
                 fits: Callable[[Let], bool]) -> Block:
        """What stands before a branch, or a choice, for one side alone, as far as that matters."""
        found: set[Stmt] = {user}
        pending = [-self.place[self.definition[var]] for var in taken]
        heapify(pending)
        while pending:
            stmt = self.block[-heappop(pending)]
            assert isinstance(stmt, Let)
            outside = [var for var in stmt.targets if var in self.active and (
                var in others or var in seeded or not found.issuperset(self.users.get(var, ())))]
            if stmt in found or outside or not fits(stmt):
                continue
            found.add(stmt)
            for var in self._takes(stmt):
                if var in self.definition:
                    heappush(pending, -self.place[self.definition[var]])
        return self._from_the_first_curved(sorted(found - {user}, key=self.place.__getitem__))

    def _from_the_first_curved(self, statements: Block) -> Block:
        """Without what comes before the first statement whose derivative may be without bound, but for what one
        variable goes through on the way there."""
        kept: set[Stmt] = set()
        moved: set[Var] = set()
        for stmt in statements:
            assert isinstance(stmt, Let)
            if not moved.isdisjoint(stmt.args) or _is_curved(stmt):
                kept.add(stmt)
                moved.update(stmt.targets)
        taken = {var for stmt in kept for var in self._takes(stmt)}
        for stmt in reversed(statements):
            assert isinstance(stmt, Let)
            sources = set(self._takes(stmt))
            if len(sources) == 1 and not taken.isdisjoint(stmt.targets):
                kept.add(stmt)
                taken |= sources
        return [stmt for stmt in statements if stmt in kept]

    def _takes(self, stmt: Stmt) -> list[Var]:
        """The active variables through which a derivative may pass into a statement."""
        if isinstance(stmt, Effect):
            return []
        if not isinstance(stmt, Let):
            return [var for var in all_uses(stmt) if var in self.active]
        if self.active.isdisjoint(stmt.targets):
            return []
        return [var for var in differentiable_args(stmt) if var in self.active]


def _may_sink(stmt: Let) -> bool:
    """Whether a statement has a reverse of its own, that makes new values of others."""
    op = stmt.op
    return not (is_ruled(stmt) or op.writes or rules.is_sparse(stmt) or "layout" in stmt.attrs) and all(
        isinstance(atom.type, ArrayType) for atom in (*stmt.targets, *differentiable_args(stmt)))


def _is_curved(stmt: Let) -> bool:
    """Whether the derivative of a statement depends on what it is taken at: by numbers, for elementwise ones."""
    if not stmt.op.elementwise:
        return not stmt.op.linear
    moving = [k for k, atom in enumerate(stmt.args) if isinstance(atom, Var) and atom in differentiable_args(stmt)]
    return any(_bends(stmt, places) for places in ([k] for k in moving)) or _bends(stmt, moving)


def _bends(stmt: Let, places: list[int]) -> bool:
    """Whether a statement is not linear where the operands in these places move together."""
    attrs = rules.rule_attrs(stmt)
    try:
        with np.errstate(all="ignore"):
            first, middle, last = (np.asarray(stmt.op.run(*(x if k in places else 0.7 for k in range(len(stmt.args))),
                                                          **attrs)) for x in (0.3, 0.45, 0.6))
            return not np.allclose(first + last, 2 * middle)
    except (TypeError, ValueError, ArithmeticError):
        return True
