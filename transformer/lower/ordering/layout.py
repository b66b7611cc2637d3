"""The order of the axes of arrays that nobody outside sees: the axis along which loops go is the last one.

    kept = empty (n, m, d)                          kept = empty (n, d, m)
    nest k < n, j < d, i < m                        nest k < n, j < d, i < m
        store kept, k, i, j, a[j, i]        →           store kept, k, j, i, a[j, i]

An array that only loads and stores touch may lie in any order. Those in the innermost loops decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from ...core.grammar import Atom, Let, Loop, Var
from ...core.types import ArrayType
from ...core.walk import atom_vars, size_of_atom
from ..fusion.shrinking import own_memory
from ..nest.nest_walk import inner_blocks, is_load
from ..nest.nests import Allocate, Block, Fold, Load, Nest, Store
from .contractions import slope

DEEPER = 100                           # iterations that a loop is thought to have


def free_arrays(block: Block, results: list[Atom], in_place: bool = False) -> set[Var]:
    """The arrays whose axes may lie in any order; `in_place` counts those that loops hand on as they are, too."""
    return {array for array in own_memory(block, results, in_place) if array.type.rank > 1}   # type: ignore[union-attr]


def laid_out(block: Block, results: list[Atom]) -> Block:
    """The block with the axes of such arrays in the order of its loops."""
    free, gains = free_arrays(block, results, in_place=True), defaultdict[Var, dict[int, int]](lambda: defaultdict(int))
    for array, at, around, is_innermost in _accesses(block, []):
        axis = _axis(at, around[-1]) if around and array in free else None
        if axis is not None:
            gains[array][axis] += DEEPER ** (len(around) - 1 + is_innermost)
    orders = {}
    for array, gain in gains.items():
        last = len(array.type.sizes) - 1                                 # type: ignore[union-attr]
        best = max(gain, key=lambda axis: (gain[axis], axis))
        if gain[best] > gain[last]:
            orders[array] = [*(axis for axis in range(last + 1) if axis != best), best]
    return _Order(orders).block(block) if orders else block


def _accesses(block: Block, around: list[Var]) -> Iterator[tuple[Any, tuple[Atom, ...], list[Var], bool]]:
    """Elements that are read and written, with the positions of the loops around them, and whether there is no loop
    beside them: one place after another is used at once then."""
    is_innermost = not any(isinstance(stmt, (Nest, Fold, Loop)) for stmt in block)
    for stmt in block:
        if isinstance(stmt, Store):
            yield stmt.array, stmt.at, around, is_innermost
        elif is_load(stmt):
            yield stmt.args[0], stmt.args[1:], around, is_innermost
        own: list[Var] = []
        if isinstance(stmt, (Nest, Fold)):
            own = [index.var for index in stmt.indices]
        elif isinstance(stmt, Loop):
            own = [stmt.position]
        for inner in inner_blocks(stmt):
            yield from _accesses(inner, [*around, *own])


def _axis(at: tuple[Atom, ...], position: Var) -> int | None:
    """The axis along which a position goes, if it is one alone, place by place."""
    moving = [axis for axis, k in enumerate(at) if position in atom_vars((k,))]
    return moving[0] if len(moving) == 1 and slope(size_of_atom(at[moving[0]]), position) == 1 else None


class _Order:
    """Other orders of the axes of some arrays."""

    def __init__(self, orders: dict[Var, list[int]]) -> None:
        self.orders = orders
        self.arrays = {array: Var(self._type(array), array.name) for array in orders}

    def _type(self, array: Any) -> ArrayType:
        return ArrayType(array.type.dtype, tuple(array.type.sizes[axis] for axis in self.orders[array]))

    def block(self, block: Block) -> Block:
        for k, stmt in enumerate(block):
            if isinstance(stmt, Allocate) and stmt.target in self.arrays:
                stmt.target = self.arrays[stmt.target]
            elif isinstance(stmt, Store) and stmt.array in self.arrays:
                array, at = self.arrays[stmt.array], self._turned(stmt.array, stmt.at)
                block[k] = Store(array, at, stmt.value, stmt.adds, stmt.origin)
            elif is_load(stmt) and stmt.args[0] in self.arrays:
                at = self._turned(stmt.args[0], stmt.args[1:])
                block[k] = Let(stmt.targets, Load, (self.arrays[stmt.args[0]], *at), {}, stmt.origin)
            for carry in getattr(stmt, "carries", ()):
                if carry.entry in self.arrays:
                    carry.init = carry.entry = carry.next = carry.out = self.arrays[carry.entry]
            for inner in inner_blocks(stmt):
                self.block(inner)
        return block

    def _turned(self, array: Any, at: tuple[Atom, ...]) -> tuple[Atom, ...]:
        return tuple(at[axis] for axis in self.orders[array])
