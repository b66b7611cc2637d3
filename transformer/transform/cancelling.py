"""What cancels: variables that results are computed from, but do not depend on.

    top = np.max(x)                     a term of itself
    e = np.exp(x - top)                 a factor exp(-top) of what does not depend on `top`
    total = np.sum(e)                   the same factor
    p = e / total                       does not depend on `top`

So no derivative goes by way of `top`: it is nothing but the choice that keeps the exponentials finite. A person who
writes the derivative of a softmax leaves it out, where the rules of `max`, `exp` and `/` give terms whose sum is zero
but for rounding.

A variable v is tried in two forms, as a term and as a factor, and what is computed with it is followed: each value is
``free + weight * v`` or ``free * v ** weight`` element by element, or it ends the trial. The exponential makes
a factor exp(weight * v) of a term, the logarithm a term of a factor. The elements of v go with those of a value: `axes`
says for each axis of a value which one of v it is, as a sum may only go over others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from heapq import heappop, heappush
from typing import Any

from ..core.builder import current
from ..core.grammar import Atom, Block, Const, Effect, Let, Stmt, Var, type_of
from ..core.types import ArrayType
from ..core.walk import all_uses, blocks_of, tail_uses
from ..ops.identity import StopGradient
from ..ops.regions import Slot, block_of, entries
from ..ops.value import rule_attrs
from .activity import Summaries, active_vars, differentiable_args, flows
from .dependence import RULES, Axes, Dependence, Depends, Given, only, product


def hold(block: Block, inputs: Iterable[Var], results: Iterable[object], summaries: Summaries | None = None) -> None:
    """Makes constants, for derivatives of `results` with respect to `inputs`, of what cancels in a block and in those
    nested in it; in place."""
    results = list(results)
    _hold(block, active_vars(block, inputs, results, summaries), {each for each in results if isinstance(each, Var)})


def _hold(block: Block, active: Collection[Var], ends: set[Var]) -> None:
    for stmt in block:
        inner = {source for _, source in flows(stmt) if isinstance(source, Var)}
        for nested in blocks_of(stmt):
            _hold(nested, active, inner)
    trial = Trial(block, active, ends)
    held = [stmt for stmt in reversed(block) if isinstance(stmt, Let) and trial.cancels(stmt)]
    for stmt in held:
        block.insert(block.index(stmt) + 1, constant_after(stmt))


def constant_after(stmt: Let) -> Let:
    """What makes the result of a statement a constant, of a variable that is now the statement's result."""
    var = stmt.target
    stmt.targets = (Var(var.type),)
    return Let((var,), StopGradient, stmt.targets, {}, stmt.origin)


class Trial:
    """The statements of one block, by what they use."""

    def __init__(self, block: Block, active: Collection[Var], ends: set[Var]) -> None:
        self.block = block
        self.active = active
        self.ends = ends
        self.users: dict[Var, list[int]] = {}
        self.lost: set[tuple[Var, bool]] = set()            # values that do not cancel as a term, or as a factor
        self.made = {target: stmt for stmt in block if isinstance(stmt, Let) for target in stmt.targets}
        for place, stmt in enumerate(block):
            for var in dict.fromkeys((*all_uses(stmt), *tail_uses(stmt))):
                self.users.setdefault(var, []).append(place)

    def cancels(self, stmt: Let) -> bool:
        """Whether nothing that leaves the block depends on the result of a statement, be it a term or a factor of what
        is made of it."""
        var = stmt.targets[0]
        if var not in self.active or var in self.ends or len(stmt.targets) > 1:
            return False
        if not isinstance(var.type, ArrayType) or var.type.dtype.kind != "f":
            return False
        return any(self._vanishes(var, Dependence(is_factor, 1, _own_axes(var))) for is_factor in (False, True))

    def _vanishes(self, var: Var, dependence: Dependence) -> bool:
        """Whether all that depends on a variable cancels. Where all goes by way of one value that is known not to, that
        decides, so that a long sum is not followed to its end from each of its terms."""
        known, alone = {var: dependence}, {var}
        waiting = list(self.users.get(var, ()))
        while waiting:
            stmt = self.block[heappop(waiting)]
            try:
                target, found = self._result(stmt, known)
            except Depends:
                return self._lose(var, dependence)
            if target is None or target in known:
                continue
            if alone.issuperset(atom for atom in all_uses(stmt) if atom in self.active):
                alone.add(target)                       # it rests on nothing else
            if found is None and target in alone:
                return False                            # `y / y` is nan where y is 0, and so is its derivative
            if found is not None:
                if target in self.ends or not waiting and self._is_lost(target, found):
                    return self._lose(var, dependence)
                known[target] = found
                for user in self.users.get(target, ()):
                    heappush(waiting, user)
        return True

    def _lose(self, var: Var, dependence: Dependence) -> bool:
        self.lost.add((var, dependence.is_factor))
        return False

    def _is_lost(self, var: Var, dependence: Dependence) -> bool:
        return (var, dependence.is_factor) in self.lost and dependence.axes == _own_axes(var)

    def _result(self, stmt: Stmt, known: dict[Var, Dependence]) -> tuple[Var | None, Dependence | None]:
        """What a statement gives, with how it depends; nothing if no derivative passes through it."""
        if isinstance(stmt, Effect):
            return None, None
        if not isinstance(stmt, Let):
            raise Depends
        if self._is_idle(stmt, known):
            return None, None
        given = [known.get(atom) for atom in stmt.args]                                # type: ignore[arg-type]
        return stmt.target, self._rule(stmt)(replace(stmt, args=tuple(map(self._folded, stmt.args))), given)

    def _folded(self, atom: Atom) -> Atom:
        """A constant for its negative, as in ``-np.inf``; any other atom as it is."""
        made = self.made.get(atom) if isinstance(atom, Var) else None
        if made is not None and made.op.name == "negative" and isinstance(made.args[0], Const):
            return Const(-made.args[0].value)
        return atom

    def _is_idle(self, stmt: Let, known: dict[Var, Dependence]) -> bool:
        passing = differentiable_args(stmt)
        return not any(t in self.active for t in stmt.targets) or all(atom not in known for atom in passing)

    def _rule(self, stmt: Let) -> Callable[[Let, Given], Dependence | None]:
        if len(stmt.targets) > 1:
            raise Depends
        if stmt.op.name == "get":
            return self._get
        rule = RULES.get(stmt.op.name) or (product if stmt.op.contraction else None)
        if rule is None:
            raise Depends
        return rule

    def _get(self, stmt: Let, given: Given) -> Dependence:
        """A part of an array that has all elements of the variable, in their order."""
        whole = only(given[:1])
        operands = tuple(map(type_of, stmt.args[1:]))
        block = block_of(stmt.attrs["index"], operands)
        beside: list[int | None] = []
        joint: list[int | None] = []
        for entry, axis, count in entries(stmt.attrs["index"], operands):
            own = [each for each in whole.axes[axis:axis + count] if each is not None]
            if entry is None or isinstance(entry, slice):
                beside += own or [None]
            else:
                joint += own
            if own and entry != slice(None) and not self._counts(stmt, entry, axis):
                raise Depends
        if joint and (block.rank, len(joint)) != (1, 1):
            raise Depends
        joint = joint or [None] * block.rank
        return replace(whole, axes=(*beside[:block.position], *joint, *beside[block.position:]))

    def _counts(self, stmt: Let, entry: Any, axis: int) -> bool:
        """Whether an entry of an index is ``np.arange`` of an axis."""
        index = stmt.args[1 + entry.k] if isinstance(entry, Slot) else None
        made = self.made.get(index) if isinstance(index, Var) else None
        type: Any = type_of(stmt.args[0])
        return made is not None and made.op.name == "arange" and rule_attrs(made).keys() == {"stop"} and (
            current().assumptions.equal(made.attrs["stop"], type.sizes[axis]))


def _own_axes(var: Var) -> Axes:
    """The axes of a variable as its own."""
    return tuple(None if size == 1 else k for k, size in enumerate(var.type.sizes))   # type: ignore[union-attr]


