"""Where arrays live: writes are done in place, memory is used again, and loops take turns in two arrays.

    y = x with an element written           x is not needed any more: it is written
    u = step(u) in a loop                    u, spare = spare, u: what is read in one iteration
                                             is written in the next
    t = exp(x), x not needed afterwards      the same memory

Parameters that the caller donates are memory like what is made here, and results may live in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Carry, If, Loop, Var, is_array, type_of
from ...core.walk import Copier, atom_vars, inner_targets
from ..nest.aliases import handed_on, names_of, renamings
from ..nest.clean import Renaming
from ..nest.lifetimes import Lifetimes
from ..nest.nest_walk import defined, inner_blocks, statements
from ..nest.nests import Allocate, Block
from ..nest.ownership import Ownership
from .idle import without_idle
from .reuse import Donated, Sharing, may_be_written
from .room import Rooms
from .rows import with_rows_kept


def place(block: Block, results: list[Atom], donated: Donated | None = None, resizes: bool = True) -> Block:
    """The block with every array in memory, which may have room for more rows than the array if that `resizes`.
    `results` are renamed as well."""
    donated = donated or {}
    rooms = Rooms.made(block, results) if resizes else Rooms()
    with_rows_kept(block, results, resizes)
    block = _Moves(block, results, donated).run()
    block = rooms.settled(Sharing(block, results, donated, rooms).run())
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
            if is_array(carry.entry) and isinstance(carry.init, Var) and ownership.is_moved(carry.init, loop, "init"):
                init: Any = mapping.get(carry.init, carry.init)
                init.name = init.name or carry.entry.name
                mapping[carry.entry] = mapping[carry.out] = init
    block[:] = Renaming(Copier(mapping)).block(block)
    for loop in loops:
        for carry in loop.carries:
            carry.entry, carry.out = mapping.get(carry.entry, carry.entry), mapping.get(carry.out, carry.out)
    results[:] = [mapping.get(atom, atom) if isinstance(atom, Var) else atom for atom in results]
    _unite_branches(block, results)                                     # with loops inside that go on in one memory


def _unite_branches(block: Block, results: list[Atom]) -> None:
    mapping: dict[Any, Any] = {}
    for stmt in _innermost_first(block):
        if isinstance(stmt, If):
            sides = [tuple(mapping.get(side, side) for side in (merge.then, merge.orelse)) for merge in stmt.merges]
            same = {merge.target: then for merge, (then, orelse) in zip(stmt.merges, sides, strict=True)
                    if then is orelse and isinstance(then, Var) and is_array(then)}
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
    of what is replaced in every iteration. Who owns which memory is found anew when a statement was `changed`."""

    def __init__(self, block: Block, results: list[Atom], donated: Donated) -> None:
        self.block, self.results, self.donated = block, results, donated
        self._found: Ownership | None = None

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
            if not is_array(carry.entry):
                continue
            made, is_updated = self._replaced(loop, carry), _is_updated(loop, carry.entry)
            in_place = bool(made) and all(self._fits_in_place(carry, each, around) for each, around in made)
            takes_turns = bool(made) and not in_place and not is_updated and (   # else the old one is used up
                made[0][1] is body_of(loop) and made[0][0].target is carry.next and _are_alike(carry, made[0][0]))
            if in_place:
                for each, _ in made:
                    each.source = carry.entry
                self._changed()
            elif takes_turns:
                self._take_turns(loop, carry, made[0][0], block)
            if in_place or takes_turns or is_updated:
                self._own(loop, carry, block)
        self._hoist(loop, block)

    def _ownership(self) -> Ownership:
        if self._found is None:
            self._found = Ownership(self.block, Lifetimes(self.block, self.results), self.donated)
        return self._found

    def _changed(self) -> None:
        self._found = None

    def _own(self, loop: Loop, carry: Carry, block: Block) -> None:
        """Copies what comes into a carry, where it is somebody else's."""
        ownership = self._ownership()
        if not ownership.is_moved(carry.init, loop, "init"):
            copy = Var(type_of(carry.init), carry.entry.name)
            block.insert(_at(block, loop), Allocate(copy, "copy", loop.origin, carry.init))
            carry.init = copy
            self._changed()
            ownership = self._ownership()
        if not ownership.is_moved(carry.next, loop, "next"):
            copy = Var(type_of(carry.next))
            body_of(loop).append(Allocate(copy, "copy", loop.origin, carry.next))
            carry.next = copy
            self._changed()

    def _replaced(self, loop: Loop, carry: Carry) -> list[tuple[Allocate, Block]]:
        """The memory that a carry gets anew in every iteration, while the old one goes, and the blocks that allocate
        it; none, if it does not."""
        made = _makers(carry.next, loop.body)
        if not all(each.source is None and _is_steady(each, loop) for each, _ in made):
            return []
        if not made or not self._ownership().is_moved(carry.next, loop, "next"):
            return []
        goes = names_of(carry.entry, loop.body).isdisjoint(c.next for c in loop.carries)
        return made if goes else []

    def _fits_in_place(self, carry: Carry, made: Allocate, block: Block) -> bool:
        """Whether every element is read for the last time where it is replaced."""
        if made.target.type != carry.entry.type or carry.entry in renamings(self.block):
            return False
        rest = block[_at(block, made):]
        return may_be_written(carry.entry, made.target, rest, self._ownership().lifetimes)

    def _take_turns(self, loop: Loop, carry: Carry, made: Allocate, block: Block) -> None:
        """Two arrays: one is read, the other one written; then the other way round."""
        name = carry.entry.name and f"{carry.entry.name}_next"
        first, spare = Var(made.target.type, name), Var(made.target.type, name)
        block.insert(_at(block, loop), Allocate(first, made.maker, made.origin))
        body_of(loop).remove(made)
        _rename(loop, {made.target: spare})
        loop.carries.append(Carry(spare, first, carry.entry, Var(made.target.type)))
        self._changed()

    def _hoist(self, loop: Loop, block: Block) -> None:
        """Memory that an iteration does not hand on is the same for all."""
        handed = handed_on(loop)
        for stmt in list(body_of(loop)):
            if isinstance(stmt, Allocate) and stmt.source is None and _is_steady(stmt, loop) and (
                    stmt.target not in handed):
                body_of(loop).remove(stmt)
                block.insert(_at(block, loop), stmt)
                self._changed()


def _are_alike(carry: Carry, made: Allocate) -> bool:
    """Whether what a loop begins an iteration with has room for what it goes on with."""
    entry, new = carry.entry.type, made.target.type
    return entry == new or all(map(current().assumptions.equal, entry.sizes, new.sizes))  # type: ignore[union-attr]


def _makers(value: Any, block: Block) -> list[tuple[Allocate, Block]]:
    """What allocates the memory of an array, with the block around: there, or in both branches that it leaves, and
    loops may go on with it; nothing, if it is not made anew in all cases."""
    for stmt in block:
        match stmt:
            case Allocate() if stmt.target is value:
                return [(stmt, block)]
            case Loop():
                for carry in stmt.carries:
                    if carry.out is value:
                        return _makers(carry.init, block)
            case If():
                for merge in stmt.merges:
                    if merge.target is value:
                        sides = _makers(merge.then, stmt.then), _makers(merge.orelse, stmt.orelse)
                        return [*sides[0], *sides[1]] if all(sides) else []
    return []


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
    return {*defined(stmt), *inner_targets(stmt)}


def body_of(loop: Any) -> Block:
    """The body of a loop of Core, in which there are statements of nests."""
    return loop.body


def _at(block: Block, stmt: Any) -> int:
    return next(k for k, each in enumerate(block) if each is stmt)


def _rename(loop: Loop, mapping: dict[Var, Any]) -> None:
    Renaming(Copier(mapping)).block([loop])
