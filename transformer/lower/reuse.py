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

from ..core.grammar import Atom, If, Loop, Var, is_array
from ..core.types import ArrayType
from ..core.walk import Copier, atom_vars, inner_targets
from .aliases import handed_in, renamings
from .clean import Renaming
from .lifetimes import Lifetimes, mentioned, written
from .nests import Allocate, Block, Fold, Nest, Store, defined, inner_blocks, is_load, statements, uses_before
from .ownership import Ownership
from .places import never_meet, same_places
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
        lifetimes = Lifetimes(self.block, self.results)
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
                  kept: dict[Var, Any] | None = None) -> _Choice | None:
        """A copy that can live where its source did, or an array where the one did that the other side of a branch has
        `kept`; `renamed` are arrays that get other names on the way here."""
        for k, stmt in enumerate(block):
            if isinstance(stmt, Allocate):
                source: Any = stmt.source or (kept or {}).get(stmt.target)
                if source in owned and not renamed[source] and may_be_written(
                        source, stmt.target, block[k:], lifetimes):
                    return _Choice(stmt, block, source)
            for inner, elsewhere in _ways(stmt):
                found = self._in_block(inner, lifetimes, owned, renamed - elsewhere, _kept(stmt, inner))
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


def may_be_written(source: Var, target: Var, rest: Block, lifetimes: Lifetimes) -> bool:
    """Whether the memory of `source` may be that of `target` from the first statement of `rest` on: nobody
    reads the old array any more, but where it is written in the same step, or never."""
    if not lifetimes.is_needed_after(rest[0], source):
        return True
    stores: list[tuple[Any, ...]] = []
    for stmt in rest[1:]:
        if source in mentioned(stmt):
            if not isinstance(stmt, (Nest, Fold, Store)) or not _read_before_written(stmt, source, target):
                return False
            if stores and not _never_written(stmt, source, stores):
                return False
        if not lifetimes.is_needed_after(stmt, source):
            return True
        if target in mentioned(stmt):
            if not isinstance(stmt, (Nest, Fold, Store)) or target in handed_in(stmt):
                return False                                             # to where nobody knows what is written
            stores += [each.at for each in statements([stmt]) if isinstance(each, Store) and each.array is target]
    return False


def _never_written(stmt: Any, array: Var, stores: list[tuple[Any, ...]]) -> bool:
    """Whether a statement reads an array nowhere that has been written: along an axis, all reads keep a distance
    from all writes, whatever the indices are."""
    loads = [each.args[1:] for each in statements([stmt]) if is_load(each) and each.args[0] is array]
    uses = sum(array in uses_before(each) for each in statements([stmt]))
    own = {var for each in statements([stmt]) for var in (*defined(each), *inner_targets(each))}
    indices = [index.var for each in statements([stmt]) for index in getattr(each, "indices", ())]
    return uses == len(loads) and all(never_meet(load, store, [*indices, *own]) for load in loads for store in stores)


def _read_before_written(stmt: Any, source: Var, target: Var) -> bool:
    """Whether a nest that reads an array and writes another one in its memory gives the same."""
    if target not in written(stmt):
        return True
    accesses = [each for each in statements([stmt]) if _accesses(each, source, target)]
    stores = [each.at for each in accesses if isinstance(each, Store)]
    loads = [each.args[1:] for each in accesses if is_load(each)]
    uses = sum(source in uses_before(each) for each in statements([stmt]))
    if uses > len(loads) or not accesses or not isinstance(accesses[-1], Store):
        return False
    inner = [each for each in _around(stmt, target) if isinstance(each, (Nest, Fold))]
    if len(stores) != 1 or inner and not loads_of(source, inner[-1].body) == len(loads):
        return False
    indices = [index.var for each in inner for index in each.indices]
    # An iteration writes where no other one does:
    apart = not any(getattr(each, "ordered", False) for each in inner) and set(indices) <= set(atom_vars(stores[0]))
    return all(not indices or apart and same_places(load, stores[0]) or never_meet(load, stores[0], indices)
               for load in loads)


def _accesses(stmt: Any, source: Var, target: Var) -> bool:
    """Whether a statement reads the old array or writes the new one."""
    return is_load(stmt) and stmt.args[0] is source or isinstance(stmt, Store) and stmt.array is target


def _around(stmt: Any, target: Var) -> list[Any]:
    """A statement, the one in it that holds the store to an array, and so on to the innermost."""
    found = [stmt]
    while True:
        inside = [each for block in inner_blocks(found[-1]) for each in block if target in written(each)]
        if not inside or isinstance(inside[0], Store):
            return found
        found.append(inside[0])


def loads_of(array: Var, block: Block) -> int:
    """How often an array is read by the statements of a block that are not nests themselves."""
    return sum(is_load(each) and each.args[0] is array for stmt in block if not isinstance(stmt, (Nest, Fold))
               for each in statements([stmt]))
