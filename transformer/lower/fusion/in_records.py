"""Arrays that a loop records whole, made where they are recorded.

    loop k                                      loop k
        allocate y                                  nest i: … store y_k, k, i, v
        nest i: … store y, i, v                     product z = y_k[k] * w
        product z = y * w               →
        nest i: store y_k, k, i, load(y, i)

Likewise where one nest stores the same number in both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ...core.grammar import Atom, If, Let, Loop, Var
from ...core.walk import atom_vars
from ..nest.lifetimes import Mentions, written
from ..nest.nest_walk import all_uses, inner_blocks, is_empty_memory, is_load, statements
from ..nest.nests import Block, Nest, Part, Product, Store
from .directly import copied, handed_on


def made_in_records(block: Block, results: list[Atom]) -> Block:
    """The block with such arrays in their records."""
    made = _InRecords(block, results)
    made.loops(block)
    return block


class _InRecords:
    def __init__(self, block: Block, results: list[Atom]) -> None:
        self.uses = Counter((*all_uses(block), *atom_vars(tuple(results))))
        self.memory = {stmt.target for stmt in statements(block) if is_empty_memory(stmt)}
        self.several = handed_on(block)

    def loops(self, block: Block) -> None:
        for stmt in block:
            if isinstance(stmt, (Loop, If)):
                for inner in inner_blocks(stmt):
                    self.loops(inner)
            if isinstance(stmt, Loop):
                self._body(stmt.body)

    def _body(self, body: Block) -> None:
        for stmt in [each for each in body if is_empty_memory(each)]:
            found = self._record(body, stmt.target)
            if found is not None:
                _replace(body, stmt.target, *found)
                body.remove(stmt)

    def _record(self, body: Block, array: Var) -> tuple[Store, Nest | None] | None:
        """The store that records an array, and the nest that does nothing else, if there is one."""
        known = [each for each in statements(body) if _is_access(each, array)]
        if sum(_count(each, array) for each in known) != self.uses[array]:
            return None
        stores = [each for each in known if isinstance(each, Store) and each.array is array]
        for store, copy in (*_copies(body, array), *_twins(body, stores)):
            if self._is_its_record(body, store, array):
                return store, copy
        return None

    def _is_its_record(self, body: Block, store: Store, array: Var) -> bool:
        """Whether a store is all that a loop does with an array in which there is a row for each iteration."""
        record, first = store.array, len(store.at) - array.type.rank                     # type: ignore[union-attr]
        mentions, fixed = Mentions(), set(atom_vars(store.at[:first]))
        return (first > 0 and record in self.memory and record not in self.several
                and record.type.dtype == array.type.dtype                                # type: ignore[union-attr]
                and record.type.sizes[first:] == array.type.sizes                        # type: ignore[union-attr]
                and list(all_uses(body)).count(record) == 1
                and all(record not in mentions.made(stmt) and fixed.isdisjoint(mentions.made(stmt)) for stmt in body))


def _is_access(stmt: Any, array: Var) -> bool:
    return _count(stmt, array) > 0


def _count(stmt: Any, array: Var) -> int:
    """How many times a statement reads or writes places of an array."""
    match stmt:
        case Let() if is_load(stmt):
            return int(stmt.args[0] is array)
        case Store():
            return int(stmt.array is array)
        case Product():
            return sum(part.array is array for part in stmt.parts)
    return 0


def _copies(body: Block, array: Var) -> Iterator[tuple[Store, Nest]]:
    """Nests that copy an array to a record, behind everything that writes to it."""
    for k, stmt in enumerate(body):
        found = copied(stmt)
        if found is not None and found.source is array and not any(array in written(each) for each in body[k:]):
            store = stmt.body[1]
            if list(found.axes.values()) == sorted(found.axes.values()) and (
                    stmt.body[0].args[1:] == store.at[-array.type.rank:]):               # type: ignore[union-attr]
                yield store, stmt


def _twins(body: Block, stores: list[Store]) -> Iterator[tuple[Store, None]]:
    """Stores of what the only store to an array stores, beside it."""
    if len(stores) != 1 or stores[0].adds:
        return
    (own,) = stores
    for block in [each for stmt in body for each in _blocks(stmt)]:
        if any(stmt is own for stmt in block):
            for stmt in block:
                if isinstance(stmt, Store) and stmt is not own and not stmt.adds and stmt.value is own.value and (
                        stmt.at[-len(own.at):] == own.at):
                    yield stmt, None


def _blocks(stmt: Any) -> Iterator[Block]:
    for inner in inner_blocks(stmt):
        yield inner
        for each in inner:
            yield from _blocks(each)


def _replace(body: Block, array: Var, store: Store, copy: Nest | None) -> None:
    """Puts the row of a record in the place of an array."""
    record, fixed = store.array, store.at[:len(store.at) - array.type.rank]              # type: ignore[union-attr]
    for stmt in list(statements(body)):
        match stmt:
            case Let() if is_load(stmt) and stmt.args[0] is array:
                stmt.args = (record, *fixed, *stmt.args[1:])
            case Store() if stmt.array is array:
                stmt.array, stmt.at = record, (*fixed, *stmt.at)
            case Product():
                stmt.target, stmt.left, stmt.right = (
                    Part(record, (*fixed, *part.at)) if part.array is array else part for part in stmt.parts)
    if copy is not None:
        body.remove(copy)
    else:
        for block in [each for stmt in body for each in _blocks(stmt)]:
            block[:] = [stmt for stmt in block if stmt is not store]
