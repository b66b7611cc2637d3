"""Sums and products of NumPy's int64 that may leave 64 bits, and wrap around there.

To numba they never do, and LLVM takes its word: `x * x % m` is a remainder of what is not negative, `x + 1 > x` is
true. Where it matters what they are, beyond their last 64 bits, they are computed without a sign:

    rest = x * x % m            rest = wrapping_mul(x, x) % m
    y[i] = 31 * x[i] + 7        as it is: 64 bits are stored, whatever was left out
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.builder import Builder, current
from ...core.grammar import UNDEFINED, If, Let, Loop, Var
from ...core.guards import Assumptions
from ...core.types import ArrayType
from ...core.walk import atom_vars
from ...ops import scalars
from ...ops.arithmetic import Add, Cast, Multiply, Negative, Positive, Subtract
from ...ops.base import Op
from ...ops.identity import Same
from ...ops.integers import PLACES, affine
from ...ops.logic import BitwiseAnd, BitwiseOr, BitwiseXor, Invert, LeftShift
from ...ops.selection import Where
from ..nest.nest_walk import defined, inner_blocks, statements, uses_after, uses_before, writes
from ..nest.nests import Allocate, Block, Fold, Launch, Library, Load, Store
from .magnitudes import COUNT, COUNTED, LARGEST_STEP, Magnitudes, is_within, is_within_64_bits

WORD = np.dtype("i8")
NUMBER = ArrayType(WORD)
STEP = -4 * LARGEST_STEP, 4 * LARGEST_STEP                               # of an iteration
DRIFTED = COUNTED[0] + STEP[0], COUNTED[1] + STEP[1]                     # after one


def _op(name: str, form: Any) -> Any:
    """An op on two numbers by a function of them; its results have the names that those of the op do."""
    return type(form.__name__, (Op,), {"name": name, "operands": ("a", "b"), "elementwise": True,
                                       "loop": staticmethod(form), "types": staticmethod(lambda a, b: a),
                                       "run": staticmethod(form)})


WRAPPING: dict[Any, Any] = {Add: _op("add", scalars.wrapping_add), Subtract: _op("subtract", scalars.wrapping_sub),
                            Multiply: _op("multiply", scalars.wrapping_mul)}
# Operands whose last bits decide those of the result.
OF_LAST_BITS: dict[Any, slice] = {
    **dict.fromkeys((Add, Subtract, Multiply, Negative, Positive, Same, Cast, Invert, BitwiseAnd, BitwiseOr,
                     BitwiseXor), slice(0, 2)),
    LeftShift: slice(0, 1), Where: slice(1, 3)}


def wrapped_around(block: Block, looked_at: Iterable[Any], assumptions: Assumptions) -> Block:
    """The block with such sums and products, in place: in the kernels, if it launches any, as the rest is Python then.
    `looked_at` are what else matters: the results of a function that compiled code calls."""
    if not any(map(_may_wrap, statements(block))):
        return block
    with Builder(assumptions).active() as builder:
        for stmt in statements(block):
            if isinstance(stmt, Let):
                builder.numbering.define(stmt)
        flows = _Flows(block)
        flows.seen.update(looked_at)
        seen, magnitudes = flows.looked_at(), flows.magnitudes()
        launches = [stmt for stmt in statements(block) if isinstance(stmt, Launch)]
        for stmt in launches:                # many threads may add to one element: what that is does wrap around
            stmt.body = _replaced(stmt.body, seen, magnitudes, may_store=False)
        return block if launches else _replaced(block, seen, magnitudes)


def _may_wrap(stmt: Any) -> bool:
    """Whether a statement makes a sum or a product of NumPy's; those of Python are tested."""
    if isinstance(stmt, Store):
        return stmt.adds is True and _is_word(stmt.array)
    return isinstance(stmt, Let) and stmt.op in WRAPPING and _is_word(stmt.target)


def _is_word(var: Any) -> bool:
    type: ArrayType = var.type
    return type.dtype == WORD and not type.weak


def _replaced(block: Block, seen: set[Any], magnitudes: Magnitudes, may_store: bool = True) -> Block:
    made: Block = []
    for stmt in block:
        for inner in inner_blocks(stmt):
            inner[:] = _replaced(inner, seen, magnitudes, may_store)
        wraps = _may_wrap(stmt) and (may_store or isinstance(stmt, Let))
        made += _wrapping(stmt, seen, magnitudes) if wraps else [stmt]
    return made


def _wrapping(stmt: Any, seen: set[Any], magnitudes: Magnitudes) -> Block:
    if isinstance(stmt, Store):
        if stmt.array not in seen or is_within(magnitudes.of(stmt.array), DRIFTED):
            return [stmt]
        before, after = Var(NUMBER), Var(NUMBER)
        return [Let((before,), Load, (stmt.array, *stmt.at), {}, stmt.origin),
                Let((after,), WRAPPING[Add], (before, stmt.value), {}, stmt.origin),
                Store(stmt.array, stmt.at, after, origin=stmt.origin)]
    if stmt.target not in seen or is_within_64_bits(magnitudes.exact(stmt)):
        return [stmt]
    return [Let(stmt.targets, WRAPPING[stmt.op], stmt.args, {}, stmt.origin)]


class _Flows:
    """What becomes of integers: from where a variable, or the elements of an array, have their last bits."""

    def __init__(self, block: Block) -> None:
        self.sources: dict[Any, list[Any]] = {}
        self.added: dict[Any, list[Any]] = {}
        self.unknown: set[Any] = set()       # what others compute, too
        self.counts: set[Any] = set()        # places and counts of elements
        self.seen: set[Any] = set()          # at more than the last bits of which something looks
        for stmt in statements(block):
            self._enter(stmt)

    def _enter(self, stmt: Any) -> None:
        match stmt:
            case Let() if stmt.op is Load:   # from places that were tested: there, nothing has left 64 bits
                self._flow(stmt.target, stmt.args[0])
            case Store():
                self._flow(stmt.array, stmt.value)
                if stmt.adds:
                    self.added.setdefault(stmt.array, []).append(stmt.value)
            case Let() if stmt.op in OF_LAST_BITS and _is_integer(stmt.target):
                bits = OF_LAST_BITS[stmt.op]
                self._flow(stmt.target, *stmt.args[bits])
                self.seen.update(atom_vars((*stmt.args[:bits.start], *stmt.args[bits.stop:])))
            case Allocate():
                self._flow(stmt.target, *([] if stmt.source is None else [stmt.source]))
                self.seen.update(atom_vars(stmt.target.type))
            case If():
                self.seen.update(atom_vars(stmt.cond))
                for merge in stmt.merges:
                    self._flow(merge.target, merge.then, merge.orelse)
            case Fold() | Loop():
                for carry in stmt.carries:
                    self._flow(carry.entry, carry.init, carry.next)
                    self._flow(carry.out, carry.init, carry.next)
                self._of_loop(stmt)
            case Library() if stmt.op.name in PLACES:
                self.counts.update(stmt.targets)
                self.seen.update(uses_before(stmt))
            case _:
                self.seen.update(uses_before(stmt), uses_after(stmt))
                self.unknown.update(defined(stmt), writes(stmt))

    def _of_loop(self, stmt: Any) -> None:
        if isinstance(stmt, Fold):
            self.seen.update(atom_vars([index.size for index in stmt.indices]))
            return
        if stmt.trips is not None:           # by the names that integers have by now
            assumptions = current().assumptions
            assumptions.within(stmt.position, 0, assumptions.if_any(affine(stmt.trips)) - 1)
        for read in stmt.reads:
            self._flow(read.target, read.source)
        for record in stmt.records:
            self._flow(record.target, record.value)
        self.seen.update(atom_vars((stmt.trips, stmt.cond)))

    def _flow(self, target: Any, *atoms: Any) -> None:
        self.sources.setdefault(target, []).extend(atom for atom in atoms if atom is not UNDEFINED)

    def looked_at(self) -> set[Any]:
        """The variables of which more than the last bits matter."""
        found: set[Any] = set()
        waiting = list(self.seen)
        while waiting:
            var = waiting.pop()
            if var not in found:
                found.add(var)
                waiting += self.sources.get(var, ())
        return found

    def magnitudes(self) -> Magnitudes:
        """Intervals of integers, in which what is counted in small steps stays within some bounds."""
        magnitudes = Magnitudes()
        definitions, supposed = current().numbering.definitions, magnitudes.supposed
        supposed.update((var, COUNTED) for var in self.sources
                        if _is_integer(var) and var not in definitions and var not in self.unknown)
        supposed.update((var, COUNT) for var in self.counts)
        while wrong := [var for var in supposed if not self._stays(var, magnitudes)]:
            for var in wrong:
                del supposed[var]
        return magnitudes

    def _stays(self, var: Any, magnitudes: Magnitudes) -> bool:
        """Whether an iteration takes what is supposed of a variable only a small step away."""
        return all(is_within(magnitudes.of(atom), DRIFTED) for atom in self.sources.get(var, ())) and all(
            is_within(magnitudes.of(atom), STEP) for atom in self.added.get(var, ()))


def _is_integer(var: Any) -> bool:
    return isinstance(var.type, ArrayType) and var.type.dtype.kind in "iu"
