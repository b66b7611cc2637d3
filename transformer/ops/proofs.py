"""What is certain of the integers of a function, so that nobody need test them.

An integer is followed to what it was made of: positions of loops, sizes, sums, remainders, `np.clip`; what a
loop carries by induction; inside of a branch and of a loop its condition is known to hold, and behind a test
what it tested. Of an array of integers, all elements are meant.

    for i in range(1, n - 1):       i is at least 1 and at most n - 2
        while k < i:                k is at most i - 1
            x[k % 3]                … at least 0 and at most 2
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, assert_never

import numpy as np

from ..core.bounds import LARGEST
from ..core.builder import current
from ..core.grammar import (
    UNDEFINED,
    Atom,
    Call,
    Carry,
    Const,
    Effect,
    Function,
    If,
    Let,
    Loop,
    Merge,
    Read,
    Stmt,
    Var,
    type_of,
)
from ..core.sizes import Dim, Extent, Size, Unknown, leaves
from ..core.types import ArrayType
from ..core.walk import all_definitions, all_statements
from .integers import affine, definition_of, is_exact
from .proof_rules import ABOVE, BELOW, RULES, Proof, may_wrap

DEEPEST = 24                           # how far an integer is followed


@dataclass(slots=True)
class _Scope:
    """What holds in a block: sizes that are not negative, and bounds of variables that were tested."""

    facts: list[Extent] = field(default_factory=list)
    bounds: list[tuple[Any, int, Extent]] = field(default_factory=list)
    number: int = field(default_factory=itertools.count().__next__)      # no two scopes have the same


class Ranges:
    """What is certain at the place that a pass over a function has come to. Made while a builder is
    current, which from there on knows how the integers of the function came about."""

    def __init__(self, function: Function, by_guards: bool = True) -> None:
        self.by_guards = by_guards       # whether what the caller tests of shapes may be relied on
        self.sources: dict[Var, Any] = {}
        self.scopes = [_Scope()]
        self.entered: dict[Loop, int] = {}
        self.decides = False             # whether shapes of the call being read may decide
        self.shapes: set[Any] = set()    # integers of the program that are sizes of its arrays
        self.tried: dict[tuple[Any, ...], int] = {}                      # what did not follow, with the depth left
        for stmt in all_statements(function.body):
            self._enter(stmt)
        loops = [stmt for stmt in all_statements(function.body) if isinstance(stmt, Loop)]
        for loop in loops:
            count_steps(loop)
        for loop in loops:
            self._note_least(loop)

    def _enter(self, stmt: Stmt) -> None:
        match stmt:
            case Let():
                current().numbering.define(stmt)
                self.shapes.update(leaf for var in stmt.targets for size in getattr(var.type, "sizes", ())
                                   for leaf in leaves(size) if isinstance(leaf, Unknown))
            case If():
                self.sources.update((merge.target, (stmt, merge)) for merge in stmt.merges)
            case Loop():
                assumptions = current().assumptions
                last = None if stmt.trips is None else assumptions.if_any(affine(stmt.trips)) - 1
                assumptions.within(stmt.position, 0, last)
                self.sources.update((read.target, (stmt, read)) for read in stmt.reads)
                for carry in stmt.carries:
                    self.sources[carry.entry] = self.sources[carry.out] = stmt, carry
            case Call() | Effect():
                pass
            case _:
                assert_never(stmt)

    def _note_least(self, loop: Loop) -> None:
        """An integer that a loop begins with, and that no iteration makes smaller, is the least of them all. Of one
        that is not known, 0 may be."""
        assumptions = current().assumptions
        for carry in loop.carries:
            if is_exact(carry.entry):
                least = int(carry.init.value) if isinstance(carry.init, Const) else 0
                low, high = assumptions.ranges.get(Unknown(carry.entry), (None, None))
                if (low is None or isinstance(low, int) and low < least) and self._holds(
                        carry.entry, ABOVE, least, DEEPEST):
                    for var in (carry.entry, carry.out):
                        assumptions.within(var, least, LARGEST if high is None else high)

    # -- what holds where ---------------------------------------------------------------------

    @contextmanager
    def block(self, cond: Any = None, truth: bool = True, loop: Loop | None = None) -> Iterator[None]:
        """Inside of the `with` a condition has this outcome; of a loop, in every iteration."""
        if loop is not None:
            self.entered[loop] = len(self.scopes)
        self.scopes.append(_Scope())
        self.suppose(cond, truth)
        try:
            yield
        finally:
            self.scopes.pop()
            if loop is not None:
                del self.entered[loop]

    def suppose(self, cond: Any, truth: bool = True) -> None:
        """From here on in the block, a condition has this outcome."""
        self.scopes[-1].facts += self._facts(cond, truth)

    def note(self, integer: Atom, low: Extent, high: Extent) -> None:
        """From here on in the block, an integer, or every element of an array, is in `low..high`."""
        if not isinstance(integer, Var):
            return
        self.scopes[-1].bounds += [(integer, ABOVE, low), (integer, BELOW, high)]
        if is_exact(integer):
            self.scopes[-1].facts += [affine(integer) - low, high - affine(integer)]

    def differ(self, integer: Atom, number: int) -> None:
        """From here on in the block, an integer is not this one."""
        if is_exact(integer):
            self.scopes[-1].facts += self._apart(affine(integer), number)

    def _facts(self, cond: Any, truth: bool) -> list[Extent]:
        """Sizes that are not negative where a condition has this outcome."""
        stmt = definition_of(cond)
        if stmt is not None and stmt.op.name in COMPARISONS and all(map(is_exact, stmt.args)):
            left, right = map(affine, stmt.args)
            return COMPARISONS[stmt.op.name](left, right, truth) or self._apart(left, right)
        if stmt is not None and stmt.op.name in JOINED and JOINED[stmt.op.name] == truth:
            return [fact for side in stmt.args for fact in self._facts(side, truth)]
        if stmt is not None and stmt.op.name == "logical_not":
            return self._facts(stmt.args[0], not truth)
        return self._facts_of_merge(cond, truth)

    def _apart(self, left: Extent, right: Extent) -> list[Extent]:
        """What holds of two sizes that are not equal, if it is known which one is greater."""
        return next(([gap - 1] for gap in (left - right, right - left) if self._follows(gap)), [])

    def _facts_of_merge(self, cond: Any, truth: bool) -> list[Extent]:
        """Of `a and b` if it holds, of `a or b` if it does not."""
        branch, merge = self.sources.get(cond, (None, None))
        if not isinstance(merge, Merge):
            return []
        side, other = (merge.then, merge.orelse) if truth else (merge.orelse, merge.then)
        if other is branch.cond or isinstance(other, Const) and bool(other.value) is not truth:
            return [*self._facts(branch.cond, truth), *self._facts(side, truth)]
        return []

    # -- proofs -------------------------------------------------------------------------------

    def at_least(self, integer: Atom, low: Extent) -> bool:
        """Whether an integer, or every element of an array, is not below a size in any call that this code is
        made for."""
        return self._is_certain(integer, ABOVE, low)

    def at_most(self, integer: Atom, high: Extent) -> bool:
        """Whether it is not above a size."""
        return self._is_certain(integer, BELOW, high)

    def not_less(self, left: Atom, right: Atom) -> bool:
        """Whether an integer is certainly not less than another one, whatever the shapes of a call."""
        return is_exact(right) and self._holds(left, ABOVE, affine(right), DEEPEST) or (
            is_exact(left) and self._holds(right, BELOW, affine(left), DEEPEST))

    def less(self, left: Atom, right: Atom) -> bool:
        """Whether it is certainly less."""
        return is_exact(right) and self._holds(left, BELOW, affine(right) - 1, DEEPEST) or (
            is_exact(left) and self._holds(right, ABOVE, affine(left) + 1, DEEPEST))

    def facts(self) -> list[Extent]:
        """Sizes that are certainly not negative here."""
        return [fact for scope in self.scopes for fact in scope.facts]

    def opposite(self, integer: Any) -> Atom | None:
        """What an integer is the negative of."""
        stmt = definition_of(integer)
        return stmt.args[0] if stmt is not None and stmt.op.name == "negative" else None

    def outcome(self, cond: Any) -> bool | None:
        """What a condition certainly gives; None if it may give either."""
        stmt = definition_of(cond)
        if stmt is None or not all(map(is_integer, stmt.args)):
            return None
        if stmt.op.name not in ORDERED:
            return self._is_same(stmt) if stmt.op.name in SAME else None
        turned, strict = ORDERED[stmt.op.name]
        left, right = stmt.args[::-1] if turned else stmt.args
        holds = self.less(left, right) if strict else self.not_less(right, left)
        fails = self.not_less(left, right) if strict else self.less(right, left)
        return True if holds else False if fails else None

    def _is_same(self, stmt: Let) -> bool | None:
        left, right = stmt.args
        if self.less(left, right) or self.less(right, left):
            return stmt.op.name == "not_equal"
        return stmt.op.name == "equal" if self.not_less(left, right) and self.not_less(right, left) else None

    def _is_certain(self, integer: Atom, side: int, bound: Extent) -> bool:
        if self._holds(integer, side, bound, DEEPEST):
            return True
        assumptions = current().assumptions
        count, self.decides = len(assumptions.guards), True
        try:
            if self._holds(integer, side, bound, DEEPEST):
                return True
        finally:
            self.decides = False
        assumptions.drop_guards(count)
        return False

    def _holds(self, atom: Any, side: int, bound: Extent, depth: int) -> bool:
        if depth == 0 or atom is UNDEFINED:
            return depth > 0             # its use raises before
        if is_exact(atom) and self._follows((affine(atom) - bound) * side):
            return True
        if not isinstance(atom, Var) or not isinstance(atom.type, ArrayType):
            return False
        if any(atom is known and self._follows((limit - bound) * side)
               for scope in self.scopes for known, way, limit in scope.bounds if way == side):
            return True
        if atom.type.dtype.kind in "ub" and side == ABOVE and self._follows(-bound):
            return True

        return self._is_proved(atom, side, bound, depth)

    def _is_proved(self, atom: Var, side: int, bound: Extent, depth: int) -> bool:
        """The same, by what the integer is made of. What has been tried in vain, or is being tried, is not tried once
        more: branches that meet would double the ways again and again."""
        if depth == DEEPEST:
            self.tried = {}
        key = atom, side, bound, self.scopes[-1].number
        if self.tried.get(key, 0) >= depth:
            return False
        self.tried[key] = depth
        holds = self._is_made(atom, side, bound, lambda other, way, limit: self._holds(other, way, limit, depth - 1))
        if holds:
            del self.tried[key]
        return holds

    def _is_made(self, atom: Var, side: int, bound: Extent, proof: Proof) -> bool:
        stmt = definition_of(atom)
        if stmt is not None:
            rule = RULES.get(stmt.op.name)
            return rule is not None and rule(stmt, atom, side, bound, proof) and self._fits(stmt, atom, proof)
        place, part = self.sources.get(atom, (None, None))
        if isinstance(part, Merge):
            return proof(part.then, side, bound) and proof(part.orelse, side, bound)
        if isinstance(part, Read):
            return proof(part.source, side, bound)
        return isinstance(part, Carry) and self._is_kept(place, part, side, bound, proof)

    def _fits(self, stmt: Let, target: Var, proof: Proof) -> bool:
        """Whether what NumPy computes certainly does not wrap around. What a loop carries on is taken to end before."""
        type: Any = target.type
        if not may_wrap(stmt, target):
            return True
        if type.dtype == np.int64 and any(isinstance(self.sources.get(arg, (None, None))[1], Carry) for arg in stmt.args
                                          if isinstance(arg, Var)):
            return True
        limits, rule = np.iinfo(type.dtype), RULES[stmt.op.name]
        return rule(stmt, target, ABOVE, int(limits.min), proof) and rule(stmt, target, BELOW, int(limits.max), proof)

    def _follows(self, size: Extent) -> bool:
        """Whether a size is certainly not negative."""
        if isinstance(size, int):
            return size >= 0
        if _is_far(size):
            return True
        assumptions = current().assumptions
        follows = assumptions.follows if self.by_guards else assumptions.certainly_at_least
        return follows(size, 0) or any(
            assumptions.certainly_at_least(size, fact) for scope in self.scopes for fact in scope.facts) or (
            self.decides and assumptions.decide(size, self.shapes))

    def _is_kept(self, loop: Loop, carry: Carry, side: int, bound: Extent, proof: Proof) -> bool:
        """Whether a loop begins with a bound kept, and an iteration keeps it. What is known of the iteration
        that is being lowered is not known of the others."""
        if not set(all_definitions([loop])).isdisjoint(getattr(leaf, "var", None) for leaf in leaves(bound)):
            return False
        with self.before(loop):
            if not proof(carry.init, side, bound):
                return False
            with self.block(loop.cond):
                self.scopes[-1].bounds.append((carry.entry, side, bound))
                return proof(carry.next, side, bound)

    @contextmanager
    def before(self, loop: Loop) -> Iterator[None]:
        """Inside of the `with` is known what was known before a loop began."""
        here = self.scopes
        self.scopes = here[:self.entered.get(loop, len(here))]
        try:
            yield
        finally:
            self.scopes = here


def _is_far(size: Extent) -> bool:
    """Whether a size is a number near the largest ones, less what memory or a range holds."""
    if not isinstance(size, Size) or size.constant < LARGEST // 2:
        return False
    ranges = current().assumptions.ranges
    return all(isinstance(leaf, Dim) or ranges.get(leaf, (None, None))[1] is not None for leaf in leaves(size))


def is_integer(atom: Any) -> bool:
    """Whether an atom is one integer of Python's, such as a size."""
    type: Any = type_of(atom)
    return isinstance(type, ArrayType) and not type.sizes and type.weak and type.dtype.kind == "i"


def count_steps(loop: Loop) -> None:
    """Integers that grow by the same in every iteration are seen in terms of the position."""
    numbering = current().numbering
    if loop.trips is None:
        return
    for carry in loop.carries:
        if not all(map(is_exact, (carry.entry, carry.init, carry.next))):
            continue
        before = dict(numbering.sizes)
        step = affine(carry.next) - Size.of(Unknown(carry.entry))
        numbering.sizes = before
        if isinstance(step, int):
            trips = affine(loop.trips)
            done = trips - 1 - Size.of(Unknown(loop.position)) if loop.down else Size.of(Unknown(loop.position))
            numbering.sizes[carry.entry] = affine(carry.init) + done * step


# -- comparisons: sizes that are not negative where one holds, or does not ------------------------

def _order(strict: int, turned: bool) -> Callable[[Extent, Extent, bool], list[Extent]]:
    def facts(left: Extent, right: Extent, truth: bool) -> list[Extent]:
        low, high = (right, left) if turned else (left, right)
        return [high - low - strict] if truth else [low - high - (1 - strict)]

    return facts


def _same(left: Extent, right: Extent, truth: bool) -> list[Extent]:
    return [left - right, right - left] if truth else []


COMPARISONS = {"less": _order(1, False), "less_equal": _order(0, False), "greater": _order(1, True),
               "greater_equal": _order(0, True), "equal": _same,
               "not_equal": lambda left, right, truth: _same(left, right, not truth)}
ORDERED = {"less": (False, True), "less_equal": (False, False), "greater": (True, True),
           "greater_equal": (True, False)}                               # turned around, strict
SAME = frozenset(("equal", "not_equal"))
JOINED = {"logical_and": True, "bitwise_and": True, "logical_or": False, "bitwise_or": False}
