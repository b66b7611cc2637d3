"""Branches: on what is known, with equal sides, and those that only hand the condition on.

>>> from .examples import shown
>>> shown(branches, '''
... function f(c: bool, x: f64)
...     if c
...         then
...             if c
...                 then
...                     t: f64 = sin(x)
...                 else
...                     u: f64 = cos(x)
...                 merge v: f64 = t, u
...         merge y: f64 = v, x
...         merge b: bool = True, False
...         merge d: bool = False, True
...         merge e: bool = True, c
...     if b
...         then
...             p: f64 = multiply(y, y)
...         else
...             q: f64 = multiply(y, y)
...         merge r: f64 = p, q
...     return r, d, e
... ''')
function f(c: bool, x: f64)
    if c
        then
            t: f64 = sin(x)
        merge y: f64 = t, x
    d: bool = logical_not(c)
    p: f64 = multiply(y, y)
    return p, d, c
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.grammar import UNDEFINED, Atom, Block, Const, Effect, Function, If, Let, Loop, Merge, Var, type_of
from ..core.guards import Assumptions
from ..core.types import BOOL
from ..ops.identity import Same
from ..ops.logic import LogicalNot
from .rewriter import Rewriter, same_atom
from .uses import Uses


def branches(function: Function, assumptions: Assumptions) -> bool:
    """Simplifies branches in place; says whether anything changed."""
    return Branches(function, assumptions).run()


class Branches(Rewriter):
    """`known` has the conditions that are decided here: those of the branches around it."""

    def __init__(self, function: Function, assumptions: Assumptions) -> None:
        super().__init__(function, assumptions)
        self.known: dict[Any, bool] = {}

    def branch(self, stmt: If) -> None:
        stmt.cond = self.atom(stmt.cond)
        value = bool(stmt.cond.value) if isinstance(stmt.cond, Const) else self.known.get(stmt.cond)
        if value is not None:
            self._decided(stmt, value)
        elif _alike(stmt):
            self._decided(stmt, True)
        else:
            self._open(stmt)

    def _decided(self, stmt: If, value: bool) -> None:
        """The statements of one side take the place of the branch, unless a name is read that this side leaves
        unbound: that raises, which the branch says."""
        if not all(self._may_stand(merge, merge.then if value else merge.orelse) for merge in stmt.merges):
            self._open(stmt)
            return
        self.changed = True
        self.visit(stmt.then if value else stmt.orelse)
        for merge in stmt.merges:
            self._handed_on(stmt, merge, self.atom(merge.then if value else merge.orelse))

    def _may_stand(self, merge: Merge, atom: Atom) -> bool:
        """Whether a value may stand for that of a merge: what is undefined only where branches hand it on."""
        if self.atom(atom) is not UNDEFINED:
            return True
        users = Uses(self.function).users[merge.target]
        return all(isinstance(user, If) and user.cond is not merge.target for user in users)

    def _handed_on(self, stmt: If, merge: Merge, atom: Atom) -> None:
        if atom is UNDEFINED or self.same_type(merge.target.type, type_of(atom)):
            self.replace(merge.target, atom)
        else:
            self.out.append(Let((merge.target,), Same, (atom,), {}, stmt.origin))

    def _open(self, stmt: If) -> None:
        stmt.then, stmt.orelse = self.side(stmt, True), self.side(stmt, False)
        after: Block = []
        for merge in list(stmt.merges):
            merge.then, merge.orelse = self.atom(merge.then), self.atom(merge.orelse)
            if self._is_condition(stmt, merge, after):
                self.changed = True
                stmt.merges.remove(merge)
        self.out += [stmt, *after]
        for truth, block in ((True, stmt.then), (False, stmt.orelse)):
            if any(isinstance(inner, Effect) and inner.kind == "raise" for inner in block):
                self.suppose(stmt.cond, not truth)

    def after_loop(self, stmt: Loop) -> None:
        super().after_loop(stmt)
        for flag, truth in _at_exit(stmt):
            self.suppose(flag, truth)

    def side(self, stmt: If, truth: bool) -> Block:
        """The statements of one side, in which the condition has this outcome."""
        outer = self.known
        self.suppose(stmt.cond, truth)
        made = self.nested(stmt.then if truth else stmt.orelse)
        self.known = outer
        return made

    def suppose(self, cond: Atom, truth: bool) -> None:
        """From here on in the block, a condition has this outcome."""
        self.known = {**self.known, cond: truth}

    def nested(self, block: Block) -> Block:
        outer = self.known
        made = super().nested(block)
        self.known = outer
        return made

    def _is_condition(self, stmt: If, merge: Merge, after: Block) -> bool:
        """Whether a merge gives the condition, or its opposite, which then comes `after`."""
        sides = [outcome if side is stmt.cond else
                 side.value if isinstance(side, Const) and side.type.dtype.kind == "b" else None
                 for side, outcome in ((merge.then, True), (merge.orelse, False))]
        if None in sides or sides[0] == sides[1] or type_of(stmt.cond) != merge.target.type:
            return False
        if sides[0]:
            self.replace(merge.target, stmt.cond)
        elif merge.target.type != BOOL:
            return False
        else:
            after.append(Let((merge.target,), LogicalNot, (stmt.cond,), {}, stmt.origin))
        return True


def _at_exit(stmt: Loop) -> Iterator[tuple[Var, bool]]:
    """A flag that a loop goes on for, or until it is set: what it is behind the loop."""
    if stmt.cond is None or stmt.trips is not None:
        return
    opposite = next((inner.args[0] for inner in stmt.test
                     if isinstance(inner, Let) and inner.op is LogicalNot and inner.target is stmt.cond), None)
    for carry in stmt.carries:
        if carry.entry.type == BOOL and (carry.entry is stmt.cond or carry.entry is opposite):
            yield carry.out, carry.entry is opposite


def _alike(stmt: If) -> bool:
    """Whether both sides compute the same by the same statements (without branches in them)."""
    if len(stmt.then) != len(stmt.orelse):
        return False
    twin: dict[Any, Var] = {}
    for one, other in zip(stmt.then, stmt.orelse, strict=True):
        if not isinstance(one, Let) or not isinstance(other, Let):
            return False
        if not _same_let(one, other, twin):
            return False
        twin.update(zip(other.targets, one.targets, strict=True))
    return all(same_atom(m.then, twin.get(m.orelse, m.orelse)) for m in stmt.merges)


def _same_let(one: Let, other: Let, twin: dict[Any, Var]) -> bool:
    if one.op is not other.op or one.attrs != other.attrs:
        return False
    if len(one.args) != len(other.args) or len(one.targets) != len(other.targets):
        return False
    return all(same_atom(a, twin.get(b, b)) for a, b in zip(one.args, other.args, strict=True))
