"""What is done once where loops go strip by strip: tests of numbers before all strips, and behind them what rests on
sums over all places, of which each strip leaves its part.

    for k in range(m):                       for k in range(m):
        test c[k]                                test c[k]
        total = fold i < n                   nest block < blocks
            y[i] = y[i] * c[k]                   for k in range(m):
            … total + y[i]                           parts[k, block] = fold i < count
        mean += total * w[k]            →                y[first + i] = y[first + i] * c[k]
                                                         … total + y[first + i]
                                             for k in range(m):
                                                 total = fold block < blocks
                                                     … total + parts[k, block]
                                                 mean += total * w[k]

No place may need what is known only behind: the sum of one iteration is none of the next one's numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Carry, Effect, If, Let, Loop, Var, is_array
from ...core.sizes import Extent, greatest
from ...core.types import ArrayType
from ...core.walk import atom_vars, size_of_atom
from ..nest.combinations import CHUNKS, IN_ANY_ORDER, Combined, combinations, dtype_of, of_parts
from ..nest.copying import NestCopier
from ..nest.nest_walk import all_uses, defined, inner_blocks, statements, uses_before
from ..nest.nests import Allocate, Block, Fold, Nest, Store


def has_parts(stmt: Fold) -> bool:
    """Whether a fold over places is of sums and extremes alone, so that strips can leave parts of them."""
    found = combinations(stmt) if len(stmt.indices) == 1 else None
    return bool(found) and all(
        isinstance(each, Combined) and each.step.op in IN_ANY_ORDER and each.carry.entry in each.step.args
        for each in found or ())


def known_behind(block: Block) -> set[Var]:
    """The numbers of a block that are known behind all strips: what folds over places and whole loops give, and what
    rests on these."""
    found = {carry.out for stmt in block if isinstance(stmt, Loop) for carry in _numbers(stmt)}
    before = -1
    while before != len(found):
        before = len(found)
        for stmt in outside_of_nests(block):
            found.update(_resting(stmt, found))
    return found


def _resting(stmt: Any, known: set[Var]) -> Iterator[Var]:
    """The numbers that a statement makes of those."""
    match stmt:
        case Fold():
            yield from (carry.out for carry in stmt.carries)
        case Let() if not known.isdisjoint(uses_before(stmt)):
            yield from stmt.targets
        case If():
            for merge in stmt.merges:
                if not known.isdisjoint(atom_vars((stmt.cond, merge.then, merge.orelse))):
                    yield merge.target
        case Loop():
            for carry in stmt.carries:
                if not known.isdisjoint(atom_vars((carry.init, carry.next))):
                    yield from (carry.entry, carry.out)


def outside_of_nests(block: Block) -> Iterator[Any]:
    """Every statement of a block that is done for all places, and each nest and fold as a whole."""
    for stmt in block:
        yield stmt
        if not isinstance(stmt, (Nest, Fold)):
            for inner in inner_blocks(stmt):
                yield from outside_of_nests(inner)


def needed_in_strips(block: Block) -> Iterator[Var]:
    """What strips need: for their places, and for how often and whether anything is done."""
    for stmt in block:
        match stmt:
            case Fold():
                yield from all_uses(stmt.body)
                yield from atom_vars(tuple(begin for each in combinations(stmt) or () for begin in each.begins()))
            case Loop():
                yield from atom_vars((stmt.trips, stmt.cond))
                yield from all_uses(stmt.test)
                for each in stmt.body:
                    yield from needed_in_strips([each]) if not isinstance(each, Loop) else all_uses([each])
            case Let():
                pass
            case If() if all(isinstance(each, (Let, If)) for each in statements([stmt])):
                pass
            case _:
                yield from all_uses([stmt])


def has_effects(stmt: Any) -> bool:
    return any(isinstance(each, Effect) for each in statements([stmt]))


class Parted:
    """Statements in three: what is done `inside` of the nest over strips, whose index is `strip`, what is done `before`
    it, with the memory for parts, and what is done `behind`. `uses` counts how often variables are used in all."""

    def __init__(self, strip: Var, strips: Extent, uses: Counter[Var]) -> None:
        self.strip, self.strips, self.uses = strip, strips, uses
        self.before: Block = []
        self.arrays: dict[Fold, dict[Carry, Var]] = {}
        self.inside: Block = []
        self.behind: Block = []

    def add(self, stmt: Any) -> None:
        match stmt:
            case Fold():
                self.inside += self._part(stmt)
                self.behind.append(self._whole(stmt))
            case Loop():
                self._add_loop(stmt)
            case Let():
                self.behind.append(stmt)
            case _:
                self.inside.append(stmt)

    def _add_loop(self, loop: Loop) -> None:
        body: Block = loop.body
        handed = {carry.entry for carry in _numbers(loop) if self.uses[carry.out]}
        if has_effects(loop):
            known = known_behind([loop])
            tests = [stmt for stmt in _of_numbers(body) if known.isdisjoint(defined(stmt))]
            self.before.append(_again(loop, tests, {var for stmt in tests if has_effects(stmt)
                                                    for var in all_uses([stmt])}))
            _drop_effects(body)
        if handed or any(isinstance(stmt, Fold) for stmt in body):
            whole: Block = [self._whole(stmt, loop) if isinstance(stmt, Fold) else stmt for stmt in body]
            self.behind.append(_again(loop, _of_numbers(whole), handed, hands_back=True))
            self._leave_parts(loop)
        self.inside.append(loop)

    def _leave_parts(self, loop: Loop) -> None:
        """Leaves of a loop what it does for places, with the numbers that it needs for that."""
        known = known_behind([loop])
        body: Block = loop.body
        loop.body = []
        for stmt in body:
            if isinstance(stmt, Fold):
                loop.body += self._part(stmt, loop)
            elif known.isdisjoint(defined(stmt)):
                loop.body.append(stmt)
        loop.carries = [carry if is_array(carry.out) else
                        Carry(carry.entry, carry.init, carry.next, Var(carry.out.type))
                        for carry in loop.carries if carry.entry not in known]

    def _part(self, stmt: Fold, loop: Loop | None = None) -> Block:
        """A fold over the places of a strip, and what keeps its results, for each iteration."""
        arrays = self._arrays(stmt, loop)
        begins = {carry: begin for each in combinations(stmt) or ()
                  for carry, begin in zip(each.carries, each.begins(), strict=True)}
        carries = [Carry(carry.entry, begins[carry], carry.next, Var(carry.out.type)) for carry in stmt.carries]
        stores = [Store(array, (*_at(loop), self.strip), carry.out, False, stmt.origin)
                  for array, carry in zip(arrays.values(), carries, strict=True)]
        return [Fold(stmt.indices, carries, stmt.body, stmt.origin), *stores]

    def _whole(self, stmt: Fold, loop: Loop | None = None) -> Fold:
        return of_parts(stmt, combinations(stmt) or [], self._arrays(stmt, loop), self.strips, _at(loop))

    def _arrays(self, stmt: Fold, loop: Loop | None) -> dict[Carry, Var]:
        """The memory for the parts of a fold."""
        if stmt not in self.arrays:
            room = () if loop is None else (_room(loop),)
            self.arrays[stmt] = {carry: Var(ArrayType(dtype_of(carry), (*room, self.strips)), "parts")
                                 for carry in stmt.carries}
            self.before += [Allocate(array, CHUNKS, stmt.origin) for array in self.arrays[stmt].values()]
        return self.arrays[stmt]


def _again(loop: Loop, body: Block, needed: set[Var], hands_back: bool = False) -> Loop:
    """A copy of a loop with this body, which computes numbers; it hands on what `needed` ones rest on. What it gives is
    what the loop gave, if it `hands_back`."""
    carries = _handed_on(loop, body, needed)
    copy: Loop = NestCopier().stmt(Loop(loop.position, loop.trips, carries, body, down=loop.down, test=loop.test,
                                        cond=loop.cond, origin=loop.origin))
    for made, carry in zip(copy.carries, carries, strict=True):
        made.out = carry.out if hands_back else made.out
    return copy


def _handed_on(loop: Loop, body: Block, needed: set[Var]) -> list[Carry]:
    """What a loop hands on of which numbers that are needed rest."""
    found = {*needed, *all_uses(loop.test)}
    before = -1
    while before != len(found):
        before = len(found)
        found.update(var for carry in loop.carries if carry.entry in found for var in atom_vars(carry.next))
        found.update(var for stmt in body if not found.isdisjoint(defined(stmt)) for var in all_uses([stmt]))
    return [carry for carry in _numbers(loop) if carry.entry in found]


def _of_numbers(block: Block) -> Block:
    """What a block computes and tests of numbers, without what it does for places. Folds over parts stay."""
    made: Block = []
    for stmt in block:
        match stmt:
            case Nest() | Allocate():
                pass
            case Loop():
                made.append(replace(stmt, body=_of_numbers(stmt.body), carries=_numbers(stmt)))
            case If():
                made.append(replace(stmt, then=_of_numbers(stmt.then), orelse=_of_numbers(stmt.orelse)))
            case _:
                made.append(stmt)
    return made


def _drop_effects(block: Block) -> None:
    """Takes tests out of a block, and the branches that do nothing but to raise."""
    for stmt in list(block):
        for inner in inner_blocks(stmt):
            _drop_effects(inner)
        if isinstance(stmt, Effect) or isinstance(stmt, If) and not (stmt.then or stmt.orelse or stmt.merges):
            block.remove(stmt)


def _room(loop: Loop) -> Extent:
    """How many iterations a loop has at most."""
    trips = size_of_atom(loop.trips)                                     # type: ignore[arg-type]
    return trips if current().assumptions.certainly_at_least(trips, 0) else greatest(trips, 0)


def _at(loop: Loop | None) -> tuple[Atom, ...]:
    return () if loop is None else (loop.position,)


def _numbers(loop: Loop) -> list[Carry]:
    return [carry for carry in loop.carries if not is_array(carry.out)]
