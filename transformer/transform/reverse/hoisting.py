"""Elements of arrays that a loop reads, and never overwrites before, are read before the loop.

    for j in range(n):                              row = a[i, i:]
        if j != i:                                  for j in range(n):
            row = a[i, i:]                    →         if j != i:
            a[j, i:] -= a[j, i] / row[0] * row              a[j, i:] -= a[j, i] / row[0] * row

What is read there is recorded once, and not for each iteration. What can be taken from the array in the reverse sweep
again stays where it is (`retaking`): nothing is recorded of it.
"""

from __future__ import annotations

from typing import Any

from ...core.grammar import Block, Let, Loop, Var
from ...core.guards import Assumptions
from ...core.walk import atom_vars, substitute
from ...ops.integers import is_exact
from ..scopes import Scope, Scopes
from .retaking import Retaking

SUMS = ("add", "subtract", "multiply", "negative")


def hoist(block: Block, assumptions: Assumptions) -> None:
    """Moves such reads out of as many loops as possible."""
    while any(isinstance(stmt, Loop) for stmt in block) and _Hoisting(block, assumptions).move():
        pass


class _Hoisting:
    def __init__(self, block: Block, assumptions: Assumptions) -> None:
        self.block = block
        self.scopes = Scopes.of(block)
        self.retaking = Retaking(self.scopes, assumptions)

    def move(self) -> bool:
        """Moves reads out of the loops they are in, one loop each; True if there are any."""
        reads = [stmt for stmt in self.scopes.time if isinstance(stmt, Let) and stmt.op.name == "get"
                 and self.scopes.scope_of[stmt].loops() and isinstance(stmt.args[0], Var)]
        moved = [stmt for stmt in reads if self._move(stmt)]
        return bool(moved)

    def _move(self, stmt: Let) -> bool:
        body = self.scopes.scope_of[stmt].loops()[-1]
        before, needed = self._before(stmt, body), self._computing(stmt, body)
        if before is None or needed is None or self._may_be_written(stmt, body) or self._can_be_retaken(stmt) or (
                not self.retaking.touching.is_inside(stmt)):
            return False
        for each in needed:
            self._put_before(each, body)
        stmt.args = (before, *stmt.args[1:])
        self._put_before(stmt, body)
        return True

    def _put_before(self, stmt: Let, body: Scope) -> None:
        """Moves a statement to where the loop begins, or takes the value of one like it that is there."""
        assert body.parent is not None
        self.scopes.scope_of[stmt].block.remove(stmt)
        around = body.parent.block
        place = around.index(body.loop)
        same = next((each for each in around[:place] if isinstance(each, Let) and _are_alike(each, stmt)), None)
        if same is not None:
            for each in self.block:
                substitute(each, {stmt.target: same.target})
            return
        around.insert(place, stmt)
        self.scopes.scope_of[stmt] = self.scopes.home[stmt.target] = body.parent

    def _before(self, stmt: Let, body: Scope) -> Var | None:
        """The array that is read, as it was before the loop, if that one changes it."""
        lineage = self.retaking.lineage
        version: Any = stmt.args[0]
        while isinstance(version, Var) and version in lineage.before and self.scopes.scope(version).is_inside(body):
            version = lineage.before[version]
        carry = lineage.entries.get(version)
        if carry is None or self.scopes.definition.get(version) is not body.loop or not isinstance(carry.init, Var):
            return None
        return carry.init if lineage.returns_to_itself(carry) else None

    def _computing(self, stmt: Let, body: Scope) -> list[Let] | None:
        """The sums of integers in the loop of which a statement's index is made, in order; None where the index
        changes from one iteration to the next."""
        needed: dict[Let, None] = {}
        operands = stmt.args[1:] if stmt.op.name == "get" else stmt.args
        for var in atom_vars((*operands, stmt.attrs, stmt.target.type)):
            if self.scopes.scope(var).is_inside(body):
                made = self.scopes.let(var)
                if made is None or made.op.name not in SUMS or not all(map(is_exact, made.args)):
                    return None
                inner = self._computing(made, body)
                if inner is None:
                    return None
                needed.update(dict.fromkeys([*inner, made]))
        return list(needed)

    def _may_be_written(self, stmt: Let, body: Scope) -> bool:
        retaking, around = self.retaking, body.parent
        assert around is not None
        access = retaking.touching.access(stmt)
        array: Any = stmt.args[0]
        return any(retaking.touching.may_touch(write, access, pairing)
                   for write in retaking.lineage.writes[retaking.lineage.group(array)]
                   if self.scopes.scope_of[write].is_inside(body)
                   for pairing in retaking.earlier(write, stmt, around))

    def _can_be_retaken(self, stmt: Let) -> bool:
        version = self.retaking.of_read(stmt)
        return version is not None and not self.scopes.is_inner(version)


def _are_alike(one: Let, other: Let) -> bool:
    return one.op is other.op and one.args == other.args and repr(one.attrs) == repr(other.attrs)
