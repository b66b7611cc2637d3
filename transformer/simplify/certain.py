"""Conditions on integers whose outcome is certain where they stand: one side takes the place of the branch.

>>> from .examples import shown
>>> shown(certain, '''
... function f(n_1: int, x: f64)
...     loop i: int in n_1
...         carry a: f64 = x
...         body
...             b: bool = greater_equal(i, 0)
...             if b
...                 then
...                     t: f64 = sin(a)
...                 else
...                     u: f64 = cos(a)
...                 merge v: f64 = t, u
...             m: int = maximum(i, -1)
...             w: f64 = multiply(v, m)
...         next c: f64 = w
...     return c
... ''')
function f(n_1: int, x: f64)
    loop i: int in n_1
        carry a: f64 = x
        body
            b: bool = greater_equal(i, 0)
            t: f64 = sin(a)
            w: f64 = multiply(t, i)
        next c: f64 = w
    return c
"""

from __future__ import annotations

from typing import Any

from ..core.builder import Builder
from ..core.grammar import Atom, Block, Const, Effect, Function, If, Let, Loop, type_of
from ..core.guards import Assumptions
from ..core.walk import all_statements
from ..ops.arithmetic import Absolute
from ..ops.proofs import Ranges, is_integer
from ..ops.selection import Maximum, Minimum
from .branches import Branches


def certain(function: Function, assumptions: Assumptions) -> bool:
    """Takes the one side of such branches, in place; says whether anything changed. What is known of integers is
    found once, and not again for what becomes of them: apply it again."""
    if not any(isinstance(stmt, If) or _is_chosen(stmt) for stmt in all_statements(function.body)):
        return False
    with Builder(assumptions).active():      # which sees integers through to positions of loops
        return Certain(function, assumptions).run()


def _is_chosen(stmt: Any) -> bool:
    """Whether a statement gives one of some integers of Python."""
    return isinstance(stmt, Let) and stmt.op in (Absolute, Minimum, Maximum) and all(map(is_integer, stmt.args))


class Certain(Branches):
    """Goes through the function with what is known of its integers there."""

    def __init__(self, function: Function, assumptions: Assumptions) -> None:
        super().__init__(function, assumptions)
        self.ranges = Ranges(function, by_guards=False)

    def let(self, stmt: Let) -> None:
        same = self._operand(stmt)
        if same is None or type_of(same) != stmt.target.type:
            self.out.append(stmt)
        else:
            self.replace(stmt.target, same)

    def _operand(self, stmt: Let) -> Any:
        """The operand that an op on integers certainly gives."""
        if not _is_chosen(stmt):
            return None
        if stmt.op is Absolute:
            sides = (stmt.args[0], self.ranges.opposite(stmt.args[0]))
            return next((side for side in sides if side is not None and self.ranges.not_less(side, Const(0))), None)
        for one, other in (stmt.args, stmt.args[::-1]):
            if self.ranges.not_less(one, other):
                return one if stmt.op is Maximum else other
        return None

    def branch(self, stmt: If) -> None:
        stmt.cond = self.atom(stmt.cond)
        value = self.ranges.outcome(stmt.cond)
        if value is None:
            super().branch(stmt)
        else:
            self._decided(stmt, value)

    def side(self, stmt: If, truth: bool) -> Block:
        with self.ranges.block(stmt.cond, truth):
            return super().side(stmt, truth)

    def suppose(self, cond: Atom, truth: bool) -> None:
        super().suppose(cond, truth)
        self.ranges.suppose(cond, truth)

    def iteration(self, stmt: Loop) -> Block:
        with self.ranges.block(stmt.cond, loop=stmt):
            return super().iteration(stmt)

    def effect(self, stmt: Effect) -> None:
        super().effect(stmt)
        if stmt.kind == "assert":
            self.ranges.suppose(stmt.args[0])
