"""Loop fusion: nests and folds over the same places become one.

    nest i < n                      nest i < n
        store y, i, a                   store y, i, a
    fold i < n, total = 0           fold …              becomes one fold that also stores
        item = load y, i

Two may run together as far as their outermost indices agree (`nest i, j` and `nest i { fold j }` share
`i`), what the second reads of the first is read where it was written in the same iteration, and nothing
between them stands in the way. What is inside of a common loop is fused again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...core.grammar import Atom, Effect, Var, is_array
from ...core.guards import Assumptions
from ...core.types import INT
from ...core.walk import Copier, atom_vars
from ..nest.clean import Renaming
from ..nest.nest_walk import (
    all_uses,
    defined,
    inner_blocks,
    is_empty_memory,
    is_load,
    statements,
    uses_after,
    uses_before,
    writes,
)
from ..nest.nests import Block, Fold, Library, Nest, Product, Store, split
from .columns import is_long

OUTSIDE = Var(INT)                     # what effects write to, and calls that may raise: their order stays
ENDING = "assert", "raise", "check"
MOST_LOOKED_AT = 60                    # statements before a nest that are tried
MOST_ARRAYS = 24                       # that one nest may touch: more streams than caches and registers bear


def merge_nests(block: Block, assumptions: Assumptions, for_gpu: bool) -> Block:
    """The block with its nests and folds fused, in the blocks inside of it as well; `for_gpu` but for those of
    products, which a library computes, and where fewer threads could share what is left."""
    for stmt in block:
        for inner in inner_blocks(stmt):
            inner[:] = merge_nests(inner, assumptions, for_gpu)
    return _Merging(assumptions, for_gpu).block(block)


@dataclass(slots=True)
class Facts:
    """What a statement and the blocks in it read, define and write. Nothing moves past what `ends` the
    function on some condition."""

    stmt: Any
    reads: frozenset[Var]
    writes: frozenset[Var]
    ends: bool = False

    def needs(self, other: Facts) -> bool:
        """Whether this has to stay behind another statement. What may end the function may do so before
        numbers are computed that nobody sees."""
        if other.ends or self.ends and OUTSIDE in other.writes:
            return True
        return not (self.reads.isdisjoint(other.writes) and self.writes.isdisjoint(other.writes))


def facts_of(stmt: Any) -> Facts:
    reads, made, ends = set[Var](), set(defined(stmt)), False
    for each in statements([stmt]):
        reads.update(uses_before(each), uses_after(each))
        made.update(writes(each))
        if isinstance(each, (Effect, Library)):
            made.add(OUTSIDE)
            ends = ends or isinstance(each, Effect) and each.kind in ENDING
    for array in made:                                                  # its memory is allocated right before
        reads.update(atom_vars(array.type))
    return Facts(stmt, frozenset(reads), frozenset(made), ends)


class _Merging:
    """Nests of a block go up to the nearest one before them that they fit, past what has nothing to do with them."""

    def __init__(self, assumptions: Assumptions, for_gpu: bool) -> None:
        self.assumptions, self.for_gpu = assumptions, for_gpu

    def block(self, block: Block) -> Block:
        memory = [stmt for stmt in block if is_empty_memory(stmt)]
        left = [facts_of(stmt) for stmt in block if not is_empty_memory(stmt)]
        made = self._placed(left)
        while len(made) < len(left):                                     # joined, they may have more in common
            left, made = made, self._placed(made, again=True)
        return _with_memory(memory, made)

    def _placed(self, facts: list[Facts], again: bool = False) -> list[Facts]:
        """Statements with those joined that fit; `again` those alone of which `_fit_again` says so."""
        made: list[Facts] = []
        for each in facts:
            self._place(each, made, again)
        return made

    def _place(self, new: Facts, made: list[Facts], again: bool) -> None:
        if isinstance(new.stmt, (Nest, Fold)) and new.stmt.indices:
            for k in range(len(made) - 1, max(-1, len(made) - MOST_LOOKED_AT), -1):
                depth = self._depth_in_common(made[k], new)
                if not depth or again and not _fit_again(made[k], new, depth):
                    continue
                before, behind = _sides(made[k], made[k + 1:])
                if not any(map(new.needs, behind)) and (not again or _have_long_rows(made[k].stmt, new.stmt)):
                    made[k:] = [*before, facts_of(_Joint(made[k].stmt, new.stmt, depth, self).stmt()), *behind]
                    return
        made.append(new)

    def _depth_in_common(self, first: Facts, second: Facts) -> int:
        """How many outermost indices two nests can share as one nest, if they may be one and it pays."""
        a, b = first.stmt, second.stmt
        if not isinstance(a, (Nest, Fold)) or not first.writes.isdisjoint(second.writes):
            return 0
        if self.for_gpu and (_multiplies(a) or _multiplies(b)):
            return 0
        common = (first.reads | first.writes) & (second.reads | second.writes)
        if not any(is_array(var) for var in common) or len(_arrays(first) | _arrays(second)) > MOST_ARRAYS:
            return 0
        if not set(defined(a)).isdisjoint(second.reads) or self.for_gpu and _is_shallow(a, b):
            return 0
        return self._common_depth(a, b, first.writes & second.reads)

    def _common_depth(self, a: Nest | Fold, b: Nest | Fold, handed: frozenset[Var]) -> int:
        """How many outermost indices two nests share; `handed` are arrays that go from one to the other."""
        normal = self.assumptions.normal
        depth = 0
        for one, other in zip(a.indices, b.indices):
            if normal(one.size) != normal(other.size) or not all(
                    _same_axis(array, a, one.var, b, other.var) for array in handed):
                break
            depth += 1
        return depth


def _fit_again(first: Facts, second: Facts, depth: int) -> bool:
    """Whether nests that have met others before are joined after all: those without loops inside, and two that go over
    the same rows, of which the second reads what the first makes. What goes over more than rows stays on its own, as it
    may go along memory in one piece."""
    if not _has_loops(first.stmt) and not _has_loops(second.stmt):
        return True
    hands_on = any(map(is_array, first.writes & second.reads))
    return hands_on and depth == len(first.stmt.indices) == len(second.stmt.indices)


def _have_long_rows(*nests: Nest | Fold) -> bool:
    """Whether what they have inside goes along long rows: several short ones are rather done at a time, for which the
    sums of all rows have to be apart (`ordering/turning.py`)."""
    return all(is_long(stmt) for nest in nests for stmt in nest.body if isinstance(stmt, (Nest, Fold)))


def _has_loops(stmt: Any) -> bool:
    return any(inner_blocks(each) for block in inner_blocks(stmt) for each in block)


def _multiplies(nest: Nest | Fold) -> bool:
    return any(isinstance(stmt, Product) for stmt in statements(nest.body))


def _is_shallow(a: Nest | Fold, b: Nest | Fold) -> bool:
    """Whether what one of two does is added up place by place, where the other one goes along rows: sums are those of
    few chunks, which would be all that threads share."""
    return _levels(a) != _levels(b) and isinstance(a if _levels(a) < _levels(b) else b, Fold)


def _levels(stmt: Any) -> int:
    inner = [each for block in inner_blocks(stmt) for each in block]
    return len(getattr(stmt, "indices", ())) + max(map(_levels, inner), default=0)


def _same_axis(array: Var, a: Any, i: Var, b: Any, k: Var) -> bool:
    """Whether along some axis of an array all is written at `i` and read at `k`."""
    places = [stmt.at for stmt in statements(a.body) if isinstance(stmt, Store) and stmt.array is array]
    reads = [stmt.args[1:] for stmt in statements(b.body) if is_load(stmt) and stmt.args[0] is array]
    used = sum(array in uses_before(stmt) for stmt in statements(b.body))
    if used > len(reads) or not places or not reads:
        return False
    return any(all(at[axis] is i for at in places) and all(at[axis] is k for at in reads)
               for axis in range(len(places[0])))


def _sides(first: Facts, others: list[Facts]) -> tuple[list[Facts], list[Facts]]:
    """Statements that may stand before another one which they follow, and those that have to stay behind."""
    before: list[Facts] = []
    behind = [first]
    for other in others:
        (behind if any(map(other.needs, behind)) else before).append(other)
    return before, behind[1:]


class _Joint:
    """Makes one statement of two nests or folds that share indices."""

    def __init__(self, a: Nest | Fold, b: Nest | Fold, depth: int, merging: _Merging) -> None:
        self.a, self.b, self.depth, self.merging = a, b, depth, merging

    def stmt(self) -> Nest | Fold:
        first, second = split(self.a, self.depth), split(self.b, self.depth)
        mapping: dict[Var, Atom] = {
            other.var: one.var for one, other in zip(first.indices, second.indices, strict=True)}
        renaming = Renaming(Copier(mapping))
        body = self.merging.block([*first.body, *renaming.block(second.body)])
        for carry in getattr(second, "carries", ()):
            carry.next = renaming.copier.atom(carry.next)
        carries = [*getattr(first, "carries", ()), *getattr(second, "carries", ())]
        if carries:
            return Fold(first.indices, carries, body, first.origin)
        ordered = getattr(first, "ordered", False) or getattr(second, "ordered", False)
        return Nest(first.indices, body, first.origin, ordered)


def _with_memory(memory: Block, facts: list[Facts]) -> Block:
    """Memory stands right before the first statement that writes to it."""
    waiting = {stmt.target: stmt for stmt in memory}
    made: Block = []
    for each in facts:
        for var in () if waiting.keys().isdisjoint(each.reads) else all_uses([each.stmt]):
            if var in waiting:
                made.append(waiting.pop(var))
        made.append(each.stmt)
    return [*made, *waiting.values()]


def _arrays(facts: Facts) -> set[Var]:
    return {var for var in facts.reads | facts.writes if is_array(var)}
