"""A loop of sums around other loops goes inside of these, where much of what the innermost one computes is the same for
all of its iterations: that is computed once, before it.

    for j in range(3):                          for a in range(n):
        for a in range(n):                          moved = g[a] @ d[a]
            moved = g[a] @ d[a]           →         for j in range(3):
            y[a] += moved @ (d[a] * w[j])               y[a] += moved @ (d[a] * w[j])

Sums get their items in another order. An iteration writes to memory of its own, and adds to what nobody reads there.
The loop runs at least once, so that what raises does so as before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Effect, If, Let, Loop, Var
from ...core.walk import atom_vars, size_of_atom
from ..expand.checks import CHECK
from ..nest.copying import NestCopier
from ..nest.lifetimes import mentioned, written
from ..nest.nest_walk import defined, inner_blocks, is_empty_memory, is_load, statements
from ..nest.nests import Block, Fold, Nest, Product, Store
from ..threads.threads import used_by
from .interchange import only_writes

KNOWN = (Let, Store, Product, Nest, Fold, If, Effect)
Writes = Store | Product
RAISING = "assert", "raise", CHECK


def sink(block: Block, results: list[Atom]) -> Block:
    """The block with such loops moved inside, in place."""
    memory = {stmt.target for stmt in statements(block) if is_empty_memory(stmt)}.difference(atom_vars(results))
    _sink(block, block, memory)
    return block


def _sink(block: Block, whole: Block, memory: set[Var]) -> None:
    for k, stmt in enumerate(block):
        if isinstance(stmt, Loop):
            for depth in range(len(_chain(stmt)) - 2, -1, -1):
                block[k] = _sunk(_chain(block[k]), depth, whole, memory)
        for inner in inner_blocks(block[k]):
            _sink(inner, whole, memory)


def _chain(loop: Loop) -> list[Loop]:
    """A loop, the one that is all of its body but for numbers, and so on."""
    body: Block = loop.body
    inside = body and isinstance(body[-1], Loop) and all(isinstance(stmt, Let) for stmt in body[:-1])
    return [loop, *_chain(body[-1])] if inside else [loop]


def _sunk(chain: list[Loop], depth: int, whole: Block, memory: set[Var]) -> Loop:
    """The outermost of the loops, once the one at a depth is the innermost one, if that is possible and better."""
    if depth > len(chain) - 2 or not all(map(only_writes, chain[depth:])):
        return chain[0]
    loop, *inner = chain[depth:]
    if not current().assumptions.certainly_at_least(size_of_atom(loop.trips), 1):        # type: ignore[arg-type]
        return chain[0]
    parts = _Parts(loop, [*loop.body[:-1], *inner[-1].body], _own(chain[depth:], whole, memory))
    if not parts.may_be_inside(inner) or not parts.are_apart():
        return chain[0]
    inner[-1].body, loop.body = [*parts.steady(), loop], parts.varying()
    if depth:
        chain[depth - 1].body[-1] = inner[0]
    return chain[0] if depth else inner[0]


def _own(chain: list[Loop], whole: Block, memory: set[Var]) -> set[Var]:
    """Memory that nothing but one iteration uses at a time."""
    carried = {carry.entry for each in chain for carry in each.carries}
    inside, users = used_by([chain[0]]), used_by(whole)
    return {array for array in memory - carried if inside[array] == users[array]}


class _Parts:
    """What an iteration does, in what is the same for all positions of a loop, and the rest."""

    def __init__(self, loop: Loop, body: Block, own: set[Var]) -> None:
        self.loop, self.body, self.own = loop, body, own
        self.vars, self.arrays, self.stores = {loop.position}, set[Var](), set[Writes]()
        before = -1
        while before != (before := len(self.vars) + len(self.arrays) + len(self.stores)):
            self._note(body)

    def _note(self, block: Block) -> None:
        """Notes the variables, arrays and stores that vary."""
        for stmt in block:
            for inner in inner_blocks(stmt):
                self._note(inner)
            if isinstance(stmt, Writes):
                if stmt.adds or _target(stmt) not in self.own or self._varies(stmt):
                    self.stores.add(stmt)
                    self.arrays.add(_target(stmt))
            elif self._varies(stmt):
                self.vars.update(defined(stmt))

    def _varies(self, stmt: Any) -> bool:
        return not self.vars.isdisjoint(mentioned(stmt)) or not self.arrays.isdisjoint(mentioned(stmt))

    def may_be_inside(self, loops: list[Loop]) -> bool:
        """Whether loops, and the numbers that they begin with, are the same for all positions."""
        numbers = [stmt for each in loops[:-1] for stmt in each.body[:-1]]
        return self.vars.isdisjoint(atom_vars([each.trips for each in loops])) and not any(map(self._varies, numbers))

    def are_apart(self) -> bool:
        """Whether what varies may be done for all positions behind what does not, in any order, and it is worth it."""
        inside = list(statements(self.body))
        if not all(isinstance(stmt, KNOWN) for stmt in inside) or any(map(self._is_in_order, inside)):
            return False
        steady = Counter(array for stmt in self.body for array in written(stmt) - self.arrays)
        added = self.arrays - self.own
        return (all(count == 1 for count in steady.values()) and added.isdisjoint(_read(inside))
                and all(self._may_be_parted(stmt, ()) for stmt in self.body if isinstance(stmt, Nest))
                and all(stmt.adds for stmt in self.stores if _target(stmt) in added)
                and any(isinstance(stmt, (Nest, Product)) and self._has_steady(stmt) for stmt in self.body))

    def _is_in_order(self, stmt: Any) -> bool:
        """Whether a statement is done each time for what it does, or is a branch or a sum that writes."""
        if isinstance(stmt, Effect):
            return stmt.kind not in RAISING or self._varies(stmt)
        if isinstance(stmt, Nest):
            return any(isinstance(each, Effect) for each in statements([stmt]))
        if isinstance(stmt, If):
            raises = any(isinstance(each, Effect) for each in statements([stmt]))
            return raises and self._varies(stmt) or bool(written(stmt))
        return isinstance(stmt, Fold) and bool(written(stmt))

    def _has_steady(self, stmt: Any) -> bool:
        return any(isinstance(each, Writes) and each not in self.stores for each in statements([stmt]))

    def _may_be_parted(self, stmt: Any, places: tuple[Var, ...]) -> bool:
        """Whether what does not vary is all there behind a nest, if only some of what it writes varies."""
        if isinstance(stmt, Nest):
            if not places and self._is_of_one_kind(stmt):
                return True
            places = (*places, *(index.var for index in stmt.indices))
            return not stmt.ordered and all(self._may_be_parted(each, places) for each in stmt.body)
        if isinstance(stmt, Store) and stmt not in self.stores:
            return all(any(k is place for k in stmt.at) for place in places)
        return stmt in self.stores or not written(stmt)

    def _is_of_one_kind(self, nest: Nest) -> bool:
        return len({each in self.stores for each in statements([nest]) if isinstance(each, Writes)}) < 2

    # -- both parts ---------------------------------------------------------------------------------

    def steady(self) -> Block:
        return [part for stmt in self.body for part in self._part(stmt, varying=False)]

    def varying(self) -> Block:
        """What varies, with names of its own for what it computes again."""
        return [part for stmt in self.body for part in self._part(stmt, varying=True)]

    def _part(self, stmt: Any, varying: bool) -> Iterator[Any]:
        if not written(stmt):
            if self._varies(stmt) is varying:
                yield stmt
            return
        mine = {each for each in statements([stmt]) if isinstance(each, Writes) and (each in self.stores) is varying}
        if mine and isinstance(stmt, Nest) and not self._is_of_one_kind(stmt):
            kept = _with_stores(stmt, mine)
            yield NestCopier().stmt(kept) if varying else kept
        elif mine:
            yield stmt


def _target(stmt: Writes) -> Var:
    return stmt.array if isinstance(stmt, Store) else stmt.target.array


def _read(inside: list[Any]) -> set[Any]:
    """The arrays that statements read."""
    loads = {stmt.args[0] for stmt in inside if is_load(stmt)}
    return loads.union(part.array for stmt in inside if isinstance(stmt, Product) for part in (stmt.left, stmt.right))


def _with_stores(nest: Nest, stores: set[Writes]) -> Nest:
    """A nest without all other stores; numbers that nobody uses go later."""
    body: Block = []
    for stmt in nest.body:
        if isinstance(stmt, Nest):
            inner = _with_stores(stmt, stores)
            body += [inner] if written(inner) else []
        elif not isinstance(stmt, Writes) or stmt in stores:
            body.append(stmt)
    return Nest(nest.indices, body, nest.origin, nest.ordered, nest.apart)
