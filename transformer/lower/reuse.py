"""Memory that is used again: an array lives where another one did that nobody reads any more.

    t = copy of x, with an element written      t in the memory of x, if x is not needed afterwards
    y = exp(t)                                  y in that of t: each element is read for the last time
                                                where it is written
    if c: y = x + 1, else: y = x                y in the memory of x, which is left alone where c does not hold
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ..core.grammar import Atom, If, Let, Loop, Var, is_array
from ..core.sizes import Extent
from ..core.types import ArrayType
from ..core.walk import Copier, inner_targets
from .aliases import handed_in, renamings
from .clean import Renaming
from .lifetimes import Lifetimes
from .nests import Allocate, Block, Fold, Nest, Store, defined, inner_blocks, statements
from .ownership import Ownership
from .places import Comparisons
from .read_first import is_never_written, is_read_first
from .room import Rooms

MOST_ROUNDS = 200
Donated = dict[Var, ArrayType]         # parameters, with their types in sizes that are the same for equal ones


@dataclass(slots=True)
class _Choice:
    """An array that can live where another one did."""

    memory: Allocate
    block: Block
    source: Var


class Sharing:
    """Lets arrays live where others did, one after another; results also where parameters did."""

    def __init__(self, block: Block, results: list[Atom], donated: Donated, rooms: Rooms) -> None:
        self.block, self.results, self.donated, self.rooms = block, results, donated, rooms

    def run(self) -> Block:
        for _ in range(MOST_ROUNDS):
            choice = self._choice()
            if choice is None:
                break
            at = choice.block.index(choice.memory)
            choice.block[at:at + 1] = self.rooms.shared(choice.memory)
            renaming = Renaming(Copier({choice.memory.target: choice.source}))
            self.block = renaming.block(self.block)
            self.results[:] = [renaming.copier.atom(atom) for atom in self.results]
        return self.block

    def _choice(self) -> _Choice | None:
        lifetimes, self.comparisons = Lifetimes(self.block, self.results), Comparisons(self.block)
        owned, renamed = Ownership(self.block, lifetimes, self.donated).owned, renamings(self.block)
        return (self._in_block(self.block, lifetimes, owned, renamed)
                or self._donated(lifetimes, owned - renamed.keys()))

    def _donated(self, lifetimes: Lifetimes, owned: set[Var]) -> _Choice | None:
        """A result that can live where a parameter of its type did."""
        for k, stmt in enumerate(self.block):
            if isinstance(stmt, Allocate) and stmt.source is None and stmt.target in self.results:
                for param, type in self.donated.items():
                    if param in owned and type == stmt.target.type and may_be_written(
                            param, stmt.target, self.block[k:], lifetimes):
                        return _Choice(stmt, self.block, param)
        return None

    def _in_block(self, block: Block, lifetimes: Lifetimes, owned: set[Var], renamed: Counter[Any],
                  kept: dict[Var, Any] | None = None, unequal: tuple[Extent, ...] = ()) -> _Choice | None:
        """A copy that can live where its source did, or an array where the one did that the other side of a branch has
        `kept`; `renamed` are arrays that get other names on the way here, `unequal` sizes that are not 0 here."""
        for k, stmt in enumerate(block):
            if isinstance(stmt, Allocate):
                source: Any = stmt.source or (kept or {}).get(stmt.target)
                if source in owned and not renamed[source] and may_be_written(
                        source, stmt.target, block[k:], lifetimes, unequal):
                    return _Choice(stmt, block, source)
            for inner, elsewhere in _ways(stmt):
                found = self._in_block(inner, lifetimes, owned, renamed - elsewhere, _kept(stmt, inner),
                                       (*unequal, *self.comparisons.unequal(stmt, inner)))
                if found is not None:
                    return found
        return None


def _ways(stmt: Any) -> list[tuple[Block, Counter[Any]]]:
    """The blocks of a branch or loop, each with the arrays that get another name only if it is not run."""
    if isinstance(stmt, If):
        then, orelse = (Counter(getattr(merge, side) for merge in stmt.merges) for side in ("then", "orelse"))
        return [(stmt.then, orelse + renamings(stmt.orelse)), (stmt.orelse, then + renamings(stmt.then))]
    return [(block, Counter()) for block in inner_blocks(stmt)] if isinstance(stmt, Loop) else []


def _kept(stmt: Any, side: Block) -> dict[Var, Any]:
    """For arrays that leave one side of a branch those from before it that leave the other one, of the same type."""
    if not isinstance(stmt, If):
        return {}
    pairs = [(merge.then, merge.orelse) if side is stmt.then else (merge.orelse, merge.then) for merge in stmt.merges]
    uses = Counter(atom for pair in pairs for atom in pair)
    inside = {var for each in statements([stmt]) for var in (*defined(each), *inner_targets(each))}
    return {here: there for here, there in pairs if uses[here] == uses[there] == 1 and is_array(here)
            and is_array(there) and there not in inside and here.type == there.type}


def may_be_written(source: Var, target: Var, rest: Block, lifetimes: Lifetimes,
                   unequal: tuple[Extent, ...] = ()) -> bool:
    """Whether the memory of `source` may be that of `target` from the first statement of `rest` on: nobody
    reads the old array any more, but where it is written in the same step, or never. `unequal` are sizes that are not
    0."""
    if not lifetimes.is_needed_after(rest[0], source):
        return True
    stores: list[tuple[Any, ...]] = []
    for stmt in rest[1:]:
        used = lifetimes.mentions.used(stmt)
        if source in used:
            if not isinstance(stmt, (Let, Nest, Fold, Store)) or not is_read_first(stmt, source, target, unequal):
                return False
            if stores and not is_never_written(stmt, source, stores, unequal):
                return False
        if not lifetimes.is_needed_after(stmt, source):
            return True
        if target in used:
            if not isinstance(stmt, (Nest, Fold, Store)) or target in handed_in(stmt):
                return False                                             # to where nobody knows what is written
            stores += [each.at for each in statements([stmt]) if isinstance(each, Store) and each.array is target]
    return False
