"""Memory that is used again: an array lives where another one did that nobody reads any more.

    t = copy of x, with an element written      t in the memory of x, if x is not needed afterwards
    y = exp(t)                                  y in that of t: each element is read for the last time
                                                where it is written
    if c: y = x + 1, else: y = x                y in the memory of x, which is left alone where c does not hold
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...core.grammar import Atom, If, Let, Loop, Var, is_array
from ...core.sizes import Extent
from ...core.types import ArrayType
from ...core.walk import Copier, inner_targets
from ..nest.aliases import handed_in, renamings
from ..nest.clean import Renaming
from ..nest.lifetimes import Lifetimes
from ..nest.nest_walk import defined, inner_blocks, statements
from ..nest.nests import Allocate, Block, Fold, Nest, Store
from ..nest.ownership import Ownership
from ..nest.places import Comparisons
from .read_first import is_never_written, is_read_first
from .room import Rooms

MOST_ROUNDS = 200
NOWHERE: Counter[Any] = Counter()
Donated = dict[Var, ArrayType]         # parameters, with their types in sizes that are the same for equal ones


@dataclass(slots=True)
class _Choice:
    """An array that can live where another one did."""

    memory: Allocate
    block: Block
    source: Var


@dataclass(slots=True)
class _Site:
    """Where that may be: the statements from there on, and sizes that are not 0 there."""

    choice: _Choice
    rest: Block
    unequal: tuple[Extent, ...] = ()


class Sharing:
    """Lets arrays live where others did, one after another; results also where parameters did."""

    def __init__(self, block: Block, results: list[Atom], donated: Donated, rooms: Rooms) -> None:
        self.block, self.results, self.donated, self.rooms = block, results, donated, rooms

    def run(self) -> Block:
        for _ in range(MOST_ROUNDS):
            choices = self._choices()
            if not choices:
                break
            for choice in choices:
                at = next(k for k, stmt in enumerate(choice.block) if stmt is choice.memory)
                choice.block[at:at + 1] = self.rooms.shared(choice.memory)
            renaming = Renaming(Copier({choice.memory.target: choice.source for choice in choices}))
            self.block = renaming.block(self.block)
            self.results[:] = [renaming.copier.atom(atom) for atom in self.results]
        return self.block

    def _choices(self) -> list[_Choice]:
        """The arrays that can live where others did, as things are: of arrays that one choice has to do with, the
        next round tells what is left."""
        lifetimes, self.comparisons = Lifetimes(self.block, self.results), Comparisons(self.block)
        ownership, renamed = Ownership(self.block, lifetimes, self.donated), renamings(self.block)
        owned, named, touched = ownership.owned, _names_together(ownership), set[Any]()
        found = []
        for site in (*self._in_block(self.block, owned, renamed), *self._donated(owned - renamed.keys())):
            choice, target = site.choice, site.choice.memory.target
            pair = {named.get(choice.source, choice.source), named.get(target, target)}
            if not touched.isdisjoint(pair):
                touched |= pair
            elif may_be_written(choice.source, target, site.rest, lifetimes, site.unequal):
                touched |= pair
                found.append(choice)
        return found

    def _donated(self, owned: set[Var]) -> Iterator[_Site]:
        """Results that may live where a parameter of their type did."""
        for k, stmt in enumerate(self.block):
            if isinstance(stmt, Allocate) and stmt.source is None and stmt.target in self.results:
                for param, type in self.donated.items():
                    if param in owned and type == stmt.target.type:
                        yield _Site(_Choice(stmt, self.block, param), self.block[k:])

    def _in_block(self, block: Block, owned: set[Var], renamed: Counter[Any], kept: dict[Var, Any] | None = None,
                  elsewhere: Counter[Any] = NOWHERE, unequal: tuple[Extent, ...] = ()) -> Iterator[_Site]:
        """Copies that may live where their source did, and arrays where the one did that the other side of a branch
        has `kept`; `renamed` are arrays that get other names, of which some do so only `elsewhere`, not on the way
        here; `unequal` are sizes that are not 0 here."""
        for k, stmt in enumerate(block):
            if isinstance(stmt, Allocate):
                source: Any = stmt.source or (kept or {}).get(stmt.target)
                if source in owned and renamed[source] <= elsewhere[source]:
                    yield _Site(_Choice(stmt, block, source), block[k:], unequal)
            for inner, others in _ways(stmt):
                yield from self._in_block(inner, owned, renamed, _kept(stmt, inner), elsewhere + others,
                                          (*unequal, *self.comparisons.unequal(stmt, inner)))


def _names_together(ownership: Ownership) -> dict[Any, Any]:
    """For arrays that are handed on, one of all the names that have to do with each other by that."""
    found: dict[Any, Any] = {}
    for target, ways in ownership.handed.items():
        for value, *_ in ways:
            one, other = found.get(target, target), found.get(value, value)
            found.update({name: one for name, first in found.items() if first is other})
            found[target] = found[value] = found[other] = one
    return found


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
    if not any(map(is_array, uses)):
        return {}
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
