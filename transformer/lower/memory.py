"""Where arrays live: writes are done in place, memory is used again, and loops take turns in two arrays.

    y = x with an element written           x is not needed any more: it is written
    u = step(u) in a loop                    u, spare = spare, u: what is read in one iteration
                                             is written in the next
    t = exp(x), x not needed afterwards      the same memory

Parameters that the caller donates are memory like what is made here, and results may live in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..core.grammar import Atom, Call, Carry, If, Loop, Var
from ..core.types import ArrayType
from ..core.walk import Copier, atom_vars, inner_targets
from .clean import Renaming
from .idle import without_idle
from .lifetimes import Lifetimes, mentioned, written
from .nests import Allocate, Block, Fold, Nest, Store, defined, inner_blocks, is_load, statements
from .ownership import Ownership
from .places import never_meet, same_places
from .rows import with_rows_kept

MOST_ROUNDS = 200
Donated = dict[Var, ArrayType]         # parameters, with their types in sizes that are the same for equal ones


def place(block: Block, results: list[Atom], donated: Donated | None = None) -> Block:
    """The block with every array in memory. `results` are renamed as well."""
    donated = donated or {}
    with_rows_kept(block, results)
    block = _Moves(block, results, donated).run()
    block = _Sharing(block, results, donated).run()
    _unite(block, results, donated)
    return without_idle(block)


def _unite(block: Block, results: list[Atom], donated: Donated) -> None:
    """One variable for what a loop begins with and goes on with in the same memory, and for what a branch gives
    either way."""
    _unite_branches(block, results)
    ownership = Ownership(block, Lifetimes(block, results), donated)
    mapping: dict[Var, Any] = {}
    loops = [stmt for stmt in statements(block) if isinstance(stmt, Loop)]
    for loop in loops:
        for carry in loop.carries:
            if _is_array(carry.entry) and isinstance(carry.init, Var) and ownership.is_moved(carry.init, loop, "init"):
                init: Any = mapping.get(carry.init, carry.init)
                init.name = init.name or carry.entry.name
                mapping[carry.entry] = mapping[carry.out] = init
    block[:] = Renaming(Copier(mapping)).block(block)
    for loop in loops:
        for carry in loop.carries:
            carry.entry, carry.out = mapping.get(carry.entry, carry.entry), mapping.get(carry.out, carry.out)
    results[:] = [mapping.get(atom, atom) if isinstance(atom, Var) else atom for atom in results]


def _unite_branches(block: Block, results: list[Atom]) -> None:
    mapping: dict[Any, Any] = {}
    for stmt in _innermost_first(block):
        if isinstance(stmt, If):
            sides = [tuple(mapping.get(side, side) for side in (merge.then, merge.orelse)) for merge in stmt.merges]
            same = {merge.target: then for merge, (then, orelse) in zip(stmt.merges, sides, strict=True)
                    if then is orelse and isinstance(then, Var) and _is_array(then)}
            mapping.update(same)
            stmt.merges[:] = [merge for merge in stmt.merges if merge.target not in same]
    block[:] = Renaming(Copier(mapping)).block(block)
    results[:] = [mapping.get(atom, atom) if isinstance(atom, Var) else atom for atom in results]


def _innermost_first(block: Block) -> Iterator[Any]:
    for stmt in block:
        for inner in inner_blocks(stmt):
            yield from _innermost_first(inner)
        yield stmt


class _Moves:
    """Copies what a loop begins or ends an iteration with where it writes to it, and hands on the memory
    of what is replaced in every iteration."""

    def __init__(self, block: Block, results: list[Atom], donated: Donated) -> None:
        self.block, self.results, self.donated = block, results, donated

    def run(self) -> Block:
        self._blocks(self.block)
        return self.block

    def _blocks(self, block: Block) -> None:
        for stmt in list(block):
            for inner in inner_blocks(stmt):
                self._blocks(inner)
            if isinstance(stmt, Loop):
                self._loop(stmt, block)

    def _loop(self, loop: Loop, block: Block) -> None:
        for carry in list(loop.carries):
            if not _is_array(carry.entry):
                continue
            fresh = self._replaced(loop, carry)
            if fresh is not None and self._fits_in_place(loop, carry, fresh):
                fresh.source = carry.entry
            elif fresh is not None:
                self._take_turns(loop, carry, fresh, block)
            if fresh is not None or _is_updated(loop, carry.entry):
                self._own(loop, carry, block)
        self._hoist(loop, block)

    def _ownership(self) -> Ownership:
        return Ownership(self.block, Lifetimes(self.block, self.results), self.donated)

    def _own(self, loop: Loop, carry: Carry, block: Block) -> None:
        """Copies what comes into a carry, where it is somebody else's."""
        ownership = self._ownership()
        if not ownership.is_moved(carry.init, loop, "init"):
            copy = Var(carry.entry.type, carry.entry.name)
            block.insert(_at(block, loop), Allocate(copy, "copy", loop.origin, carry.init))
            carry.init = copy
        if not self._ownership().is_moved(carry.next, loop, "next"):
            copy = Var(carry.entry.type)
            body_of(loop).append(Allocate(copy, "copy", loop.origin, carry.next))
            carry.next = copy

    def _replaced(self, loop: Loop, carry: Carry) -> Allocate | None:
        """The memory that a carry gets anew in every iteration, while the old one goes."""
        made = next((stmt for stmt in body_of(loop) if isinstance(stmt, Allocate) and stmt.target is carry.next), None)
        if made is None or made.source is not None or not _is_steady(made, loop):
            return None
        if not self._ownership().is_moved(made.target, loop, "next"):
            return None
        goes = _names_of(carry.entry, loop.body).isdisjoint(c.next for c in loop.carries)
        return made if goes else None

    def _fits_in_place(self, loop: Loop, carry: Carry, made: Allocate) -> bool:
        """Whether every element is read for the last time where it is replaced."""
        if made.target.type != carry.entry.type or carry.entry in _renamed(self.block):
            return False
        rest = loop.body[_at(loop.body, made):]
        return _may_be_written(carry.entry, made.target, rest, Lifetimes(self.block, self.results))

    def _take_turns(self, loop: Loop, carry: Carry, made: Allocate, block: Block) -> None:
        """Two arrays: one is read, the other one written; then the other way round."""
        name = carry.entry.name and f"{carry.entry.name}_next"
        first, spare = Var(made.target.type, name), Var(made.target.type, name)
        block.insert(_at(block, loop), Allocate(first, made.maker, made.origin))
        body_of(loop).remove(made)
        _rename(loop, {made.target: spare})
        loop.carries.append(Carry(spare, first, carry.entry, Var(made.target.type)))

    def _hoist(self, loop: Loop, block: Block) -> None:
        """Memory that an iteration does not hand on is the same for all."""
        handed = _handed_on(loop)
        for stmt in list(body_of(loop)):
            if isinstance(stmt, Allocate) and stmt.source is None and _is_steady(stmt, loop) and (
                    stmt.target not in handed):
                body_of(loop).remove(stmt)
                block.insert(_at(block, loop), stmt)


def is_written(array: Var, block: Block) -> bool:
    """Whether a block may write the memory that an array has at first, under whatever name."""
    names = _names_of(array, block)
    return any(names & written(stmt) for stmt in block)


def _names_of(array: Var, block: Block) -> set[Var]:
    """The names that the memory of an array may get in a block."""
    given = [pair for stmt in statements(block) for pair in names_given(stmt)]
    names = {array}
    while new := {name for name, value in given if value in names} - names:
        names |= new
    return names


def names_given(stmt: Any) -> list[tuple[Var, Any]]:
    """Pairs of a name and an array that it may stand for after or in a statement."""
    match stmt:
        case If():
            return [(merge.target, side) for merge in stmt.merges for side in (merge.then, merge.orelse)]
        case Loop():
            return [pair for carry in stmt.carries for pair in (
                (carry.entry, carry.init), (carry.entry, carry.next), (carry.out, carry.entry))]
        case Call():
            return [(target, arg) for target in stmt.targets for arg in stmt.args]
    return []


def _handed_on(loop: Loop) -> set[Any]:
    """Arrays that get other names in a loop, under which they may live on."""
    found: set[Any] = {carry.next for carry in loop.carries}
    for stmt in statements(loop.body):
        match stmt:
            case Allocate():
                found.add(stmt.source)
            case If():
                found.update(side for merge in stmt.merges for side in (merge.then, merge.orelse))
            case Loop():
                found.update(atom for carry in stmt.carries for atom in (carry.init, carry.next))
            case Call():
                found.update(stmt.args)
    return found


def _renamed(block: Block) -> Counter[Any]:
    """Arrays that get another name, which may live longer than the first, and how often they do."""
    found: Counter[Any] = Counter()
    for stmt in statements(block):
        if isinstance(stmt, If):
            found.update(side for merge in stmt.merges for side in (merge.then, merge.orelse))
        elif isinstance(stmt, Loop):
            found.update(carry.init for carry in stmt.carries)
        elif isinstance(stmt, Call):
            found.update(stmt.args)
    return found


def _is_updated(loop: Loop, entry: Var) -> bool:
    """Whether an iteration writes to what it begins with."""
    return any(isinstance(stmt, Allocate) and stmt.source is entry for stmt in statements(loop.body)) or any(
        isinstance(stmt, Loop) and any(c.init is entry and _is_updated(stmt, c.entry) for c in stmt.carries)
        for stmt in statements(loop.body))


def _is_steady(made: Allocate, loop: Loop) -> bool:
    """Whether the size of memory is known before a loop."""
    inside = {var for stmt in statements([loop]) for var in _defines(stmt)}
    return inside.isdisjoint(atom_vars(made.target.type))


def _defines(stmt: Any) -> set[Var]:
    from ..core.walk import inner_targets
    from .nests import defined
    return {*defined(stmt), *inner_targets(stmt)}


def body_of(loop: Any) -> Block:
    """The body of a loop of Core, in which there are statements of nests."""
    return loop.body


def _at(block: Block, stmt: Any) -> int:
    return next(k for k, each in enumerate(block) if each is stmt)


def _rename(loop: Loop, mapping: dict[Var, Any]) -> None:
    Renaming(Copier(mapping)).block([loop])


@dataclass(slots=True)
class _Choice:
    """An array that can live where another one did."""

    memory: Allocate
    block: Block
    source: Var


class _Sharing:
    """Lets arrays live where others did, one after another; results also where parameters did."""

    def __init__(self, block: Block, results: list[Atom], donated: Donated) -> None:
        self.block, self.results, self.donated = block, results, donated

    def run(self) -> Block:
        for _ in range(MOST_ROUNDS):
            choice = self._choice()
            if choice is None:
                break
            choice.block.remove(choice.memory)
            renaming = Renaming(Copier({choice.memory.target: choice.source}))
            self.block = renaming.block(self.block)
            self.results[:] = [renaming.copier.atom(atom) for atom in self.results]
        return self.block

    def _choice(self) -> _Choice | None:
        lifetimes = Lifetimes(self.block, self.results)
        owned, renamed = Ownership(self.block, lifetimes, self.donated).owned, _renamed(self.block)
        return (self._in_block(self.block, lifetimes, owned, renamed)
                or self._donated(lifetimes, owned - renamed.keys()))

    def _donated(self, lifetimes: Lifetimes, owned: set[Var]) -> _Choice | None:
        """A result that can live where a parameter of its type did."""
        for k, stmt in enumerate(self.block):
            if isinstance(stmt, Allocate) and stmt.source is None and stmt.target in self.results:
                for param, type in self.donated.items():
                    if param in owned and type == stmt.target.type and _may_be_written(
                            param, stmt.target, self.block[k:], lifetimes):
                        return _Choice(stmt, self.block, param)
        return None

    def _in_block(self, block: Block, lifetimes: Lifetimes, owned: set[Var], renamed: Counter[Any]
                  ) -> _Choice | None:
        """A copy that can live where its source did; `renamed` are arrays that get other names on the way here."""
        for k, stmt in enumerate(block):
            if isinstance(stmt, Allocate):
                source: Any = stmt.source
                if source in owned and not renamed[source] and _may_be_written(
                        source, stmt.target, block[k:], lifetimes):
                    return _Choice(stmt, block, source)
            for inner, elsewhere in _ways(stmt):
                found = self._in_block(inner, lifetimes, owned, renamed - elsewhere)
                if found is not None:
                    return found
        return None


def _ways(stmt: Any) -> list[tuple[Block, Counter[Any]]]:
    """The blocks of a branch or loop, each with the arrays that get another name only if it is not run."""
    if isinstance(stmt, If):
        then, orelse = (Counter(getattr(merge, side) for merge in stmt.merges) for side in ("then", "orelse"))
        return [(stmt.then, orelse + _renamed(stmt.orelse)), (stmt.orelse, then + _renamed(stmt.then))]
    return [(block, Counter()) for block in inner_blocks(stmt)] if isinstance(stmt, Loop) else []


def _may_be_written(source: Var, target: Var, rest: Block, lifetimes: Lifetimes) -> bool:
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
            if not isinstance(stmt, (Nest, Fold, Store)) or target in _handed_in(stmt):
                return False                                             # to where nobody knows what is written
            stores += [each.at for each in statements([stmt]) if isinstance(each, Store) and each.array is target]
    return False


def _never_written(stmt: Any, array: Var, stores: list[tuple[Any, ...]]) -> bool:
    """Whether a statement reads an array nowhere that has been written: along an axis, all reads keep a distance
    from all writes, whatever the indices are."""
    loads = [each.args[1:] for each in statements([stmt]) if is_load(each) and each.args[0] is array]
    uses = sum(array in _plain_uses(each) for each in statements([stmt]))
    own = {var for each in statements([stmt]) for var in (*defined(each), *inner_targets(each))}
    indices = [index.var for each in statements([stmt]) for index in getattr(each, "indices", ())]
    return uses == len(loads) and all(never_meet(load, store, [*indices, *own]) for load in loads for store in stores)


def _handed_in(stmt: Any) -> set[Any]:
    """The arrays that statements inside of one give other names."""
    return {value for each in statements([stmt]) for _, value in names_given(each)}


def _read_before_written(stmt: Any, source: Var, target: Var) -> bool:
    """Whether a nest that reads an array and writes another one in its memory gives the same."""
    if target not in written(stmt):
        return True
    accesses = [each for each in statements([stmt]) if _accesses(each, source, target)]
    stores = [each.at for each in accesses if isinstance(each, Store)]
    loads = [each.args[1:] for each in accesses if is_load(each)]
    uses = sum(source in _plain_uses(each) for each in statements([stmt]))
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


def _plain_uses(stmt: Any) -> set[Var]:
    from .nests import uses_before
    return set(uses_before(stmt))


def _is_array(var: Var) -> bool:
    return bool(getattr(var.type, "sizes", ()))
