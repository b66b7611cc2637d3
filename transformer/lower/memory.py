"""Where arrays live: writes are done in place, memory is used again, and loops take turns in two arrays.

    y = x with an element written           x is not needed any more: it is written
    u = step(u) in a loop                    u, spare = spare, u: what is read in one iteration
                                             is written in the next
    t = exp(x), x not needed afterwards      the same memory
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.grammar import Atom, Call, Carry, If, Loop, Var
from ..core.walk import Copier, atom_vars
from .clean import Renaming
from .lifetimes import Lifetimes, mentioned, written
from .nests import Allocate, Block, Fold, Nest, Store, inner_blocks, is_load, statements
from .ownership import Ownership
from .places import never_meet, same_places

MOST_ROUNDS = 200


def place(block: Block, results: list[Atom]) -> Block:
    """The block with every array in memory. `results` are renamed as well."""
    block = _Moves(block, results).run()
    block = _Sharing(block, results).run()
    _unite(block, results)
    return block


def _unite(block: Block, results: list[Atom]) -> None:
    """One variable for what a loop begins with and goes on with in the same memory."""
    ownership = Ownership(block, Lifetimes(block, results))
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


class _Moves:
    """Copies what a loop begins or ends an iteration with where it writes to it, and hands on the memory
    of what is replaced in every iteration."""

    def __init__(self, block: Block, results: list[Atom]) -> None:
        self.block, self.results = block, results

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
        return Ownership(self.block, Lifetimes(self.block, self.results))

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
        ends = [c.next for c in loop.carries]
        if ends.count(carry.next) > 1 or carry.entry in ends:
            return None
        return made

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


def _renamed(block: Block) -> set[Any]:
    """Arrays that get another name, which may live longer than the first."""
    found: set[Any] = set()
    for stmt in statements(block):
        if isinstance(stmt, If):
            found.update(side for merge in stmt.merges for side in (merge.then, merge.orelse))
        elif isinstance(stmt, Loop):
            found.update(carry.init for carry in stmt.carries)
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
    """Lets arrays live where others did, one after another."""

    def __init__(self, block: Block, results: list[Atom]) -> None:
        self.block, self.results = block, results

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
        ownership = Ownership(self.block, lifetimes)
        return self._in_block(self.block, lifetimes, ownership.owned - _renamed(self.block))

    def _in_block(self, block: Block, lifetimes: Lifetimes, owned: set[Var]) -> _Choice | None:
        for k, stmt in enumerate(block):
            if isinstance(stmt, Allocate):
                source: Any = stmt.source
                if source in owned and _may_be_written(
                        source, stmt.target, block[k:], lifetimes):
                    return _Choice(stmt, block, source)
            for inner in inner_blocks(stmt) if isinstance(stmt, (If, Loop)) else ():
                found = self._in_block(inner, lifetimes, owned)
                if found is not None:
                    return found
        return None


def _may_be_written(source: Var, target: Var, rest: Block, lifetimes: Lifetimes) -> bool:
    """Whether the memory of `source` may be that of `target` from the first statement of `rest` on: nobody
    reads the old array any more, but where it is written in the same step."""
    if not lifetimes.is_needed_after(rest[0], source):
        return True
    for stmt in rest[1:]:
        if source in mentioned(stmt):
            if not isinstance(stmt, (Nest, Fold, Store)) or not _read_before_written(stmt, source, target):
                return False
        if not lifetimes.is_needed_after(stmt, source):
            return True
        if target in mentioned(stmt):                                    # written, or handed on to be
            return False
    return False


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
