"""Arrays that are filled with the same numbers at the same places: one of them is enough.

    nest k < n                          nest k < n
        r = divide total, n                 r = divide total, n
        store mean, k, r                    store mean, k, r
        store centre, 0, k, r      →
    …                                   …
    load centre, 0, k                   load mean, k
"""

from __future__ import annotations

from typing import Any

from ...core.grammar import Atom, Const, Let, Var
from ...core.walk import atom_vars
from ..nest.nest_walk import inner_blocks, is_empty_memory, is_load, statements, uses_after, uses_before, writes
from ..nest.nests import Block, Store
from .substitution import filled_arrays


def one_of_each(block: Block, results: list[Atom]) -> Block:
    """The block without arrays that are as others, which are read in their place."""
    found = _Alike(block, results)
    found.visit(block)
    return found.without(block) if found.instead else block


class _Alike:
    """`instead` are the arrays that go, with those that stay."""

    def __init__(self, block: Block, results: list[Atom]) -> None:
        self.instead: dict[Any, Var] = {}
        self.kept = set(atom_vars(tuple(results)))
        self.read = _read_by_elements(block)

    def visit(self, block: Block) -> None:
        memory = {stmt.target for stmt in block if is_empty_memory(stmt)}
        for stmt in block:
            for inner in inner_blocks(stmt):
                self.visit(inner)
            stores = filled_arrays(stmt)
            self._merge([store for array, store in stores.items() if array in memory and array in self.read])

    def _merge(self, stores: list[Store]) -> None:
        """Of stores of one number at one place, the first stays, or that in a result."""
        first: dict[Any, Store] = {}
        for store in sorted(stores, key=lambda store: store.array not in self.kept):
            type: Any = store.array.type
            kept = first.setdefault((store.value, _long_axes(store.array, store.at), type.dtype), store)
            if kept is not store and store.array not in self.kept:
                self.instead[store.array] = kept.array

    def without(self, block: Block) -> Block:
        """The block without the arrays that go: their memory, what is stored there, and what is read."""
        made: Block = []
        for stmt in block:
            for inner in inner_blocks(stmt):
                inner[:] = self.without(inner)
            if is_load(stmt) and stmt.args[0] in self.instead:
                made.append(Let(stmt.targets, stmt.op, self._place(*stmt.args), stmt.attrs, stmt.origin))
            elif not (is_empty_memory(stmt) and stmt.target in self.instead
                      or isinstance(stmt, Store) and stmt.array in self.instead):
                made.append(stmt)
        return made

    def _place(self, array: Any, *at: Atom) -> tuple[Atom, ...]:
        """The array that stays, and the place in it."""
        kept = self.instead[array]
        long = iter(_long_axes(array, at))
        return kept, *(Const(0) if size == 1 else next(long) for size in kept.type.sizes)   # type: ignore[union-attr]


def _long_axes(array: Any, at: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """Of a place, what is along axes that are not of one element."""
    return tuple(k for k, size in zip(at, array.type.sizes, strict=True) if size != 1)


def _read_by_elements(block: Block) -> set[Var]:
    """The arrays that are stored to in one place, and are nothing else but read element by element. Others may be
    written later, for which each needs memory of its own."""
    found: set[Var] = set()
    others: set[Var] = set()
    for stmt in statements(block):
        written = set(writes(stmt))
        others |= found & written
        found |= written if isinstance(stmt, Store) else set()
        others |= _used_otherwise(stmt)
    return found - others


def _used_otherwise(stmt: Any) -> set[Var]:
    """What a statement itself uses, but for the array of which it reads or stores an element."""
    used = {*uses_before(stmt), *uses_after(stmt)}
    if isinstance(stmt, Store):
        return used - {stmt.array}
    return used - {stmt.args[0]} if is_load(stmt) else used
