"""Products of matrices written to where they are copied anyway: as a whole, as a part of a larger array, or turned.

    product y, i, 0, j, …                       product z, k, i, j, …
    nest i < n, j < m                   →
        store z, k, i, j, load(y, i, 0, j)

A product of which the columns come first in the copy is that of the turned matrices in their other order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ...core.grammar import Atom, If, Loop, Var
from ...core.walk import atom_vars
from ..nest.lifetimes import Mentions
from ..nest.nest_walk import all_uses, inner_blocks, is_empty_memory, is_load, statements
from ..nest.nests import Allocate, Block, Nest, Part, Product, Store
from ..nest.places import sole


def written_directly(block: Block, results: list[Atom]) -> Block:
    """The block without such copies, and without the arrays that nobody reads then."""
    return _Directly(block, results).run()


@dataclass(slots=True)
class Copied:
    """`target[at] = source`, of all places; `axes` has the axis of the source for each index of the target, and `at`
    the indices, and what else stands in front of them."""

    nest: Nest
    source: Var
    target: Var
    at: tuple[Atom, ...]
    axes: dict[Var, int]


class _Directly:
    def __init__(self, block: Block, results: list[Atom]) -> None:
        self.block = block
        self.uses = Counter((*all_uses(block), *atom_vars(tuple(results))))
        self.memory = {stmt.target: stmt for stmt in statements(block) if is_empty_memory(stmt)}
        self.several = handed_on(block)
        self.gone: set[Allocate] = set()

    def run(self) -> Block:
        return self._without_gone(self._block(self.block)) if self.memory else self.block

    def _without_gone(self, block: Block) -> Block:
        for stmt in block if self.gone else ():
            for inner in inner_blocks(stmt):
                inner[:] = self._without_gone(inner)
        return [stmt for stmt in block if stmt not in self.gone] if self.gone else block

    def _block(self, block: Block) -> Block:
        for stmt in block:
            for inner in inner_blocks(stmt):
                inner[:] = self._block(inner)
        products = {made.target.array: (stmt, made) for stmt in block if (made := _product_of(stmt)) is not None}
        for copy in filter(None, map(copied, block)):
            if copy.source in products and self._is_for_one(copy):
                block = self._without_copy(block, copy, *products[copy.source])
        return block

    def _is_for_one(self, copy: Copied) -> bool:
        """Whether nobody else has the source, and the target is memory of ours that has no other name."""
        is_known = copy.source in self.memory and copy.target in self.memory
        return is_known and self.uses[copy.source] == 2 and copy.target not in self.several

    def _without_copy(self, block: Block, copy: Copied, home: Any, made: Product) -> Block:
        first, last = (next(k for k, stmt in enumerate(block) if stmt is each) for each in (home, copy.nest))
        moved, between = self.memory[copy.target], block[first:last]
        needed = {copy.target, *atom_vars(copy.at)}
        if moved in between:
            needed |= {*atom_vars(copy.target.type)}
        mentions = Mentions()
        if any(copy.target in mentions.used(stmt) or not needed.isdisjoint(mentions.made(stmt))
               for stmt in between if stmt is not moved) or not _is_given_to(made, copy):
            return block
        self.gone.add(self.memory[copy.source])
        rest = [stmt for stmt in between if stmt is not moved]
        return [*block[:first], *[moved] * (moved in between), *rest, *block[last + 1:]]


def handed_on(block: Block) -> set[Any]:
    """Arrays whose memory has several names, as loops and branches hand it on."""
    found: set[Any] = set()
    for stmt in statements(block):
        if isinstance(stmt, Loop):
            names = [{carry.entry, carry.init, carry.next, carry.out} for carry in stmt.carries]
        elif isinstance(stmt, If):
            names = [{merge.target, merge.then, merge.orelse} for merge in stmt.merges]
        else:
            names = [{stmt.target, stmt.source}] if isinstance(stmt, Allocate) and stmt.source is not None else []
        found.update(name for each in names if len(each) > 1 for name in each)
    return found


def _product_of(stmt: Any) -> Product | None:
    """The product that a statement is, or the one of a nest over a stack."""
    while isinstance(stmt, Nest) and len(stmt.body) == 1:
        stmt = stmt.body[0]
    return stmt if isinstance(stmt, Product) and not stmt.adds else None


def copied(nest: Any) -> Copied | None:
    """What a nest copies, if it copies all of an array and does nothing else."""
    if not isinstance(nest, Nest) or len(nest.body) != 2 or not is_load(nest.body[0]):
        return None
    load, store = nest.body
    if not isinstance(store, Store) or store.adds or store.value is not load.target:
        return None
    source, sizes = load.args[0], {index.var: index.size for index in nest.indices}
    axes = {place: axis for axis, k in enumerate(load.args[1:]) if (place := sole(k)) in sizes}
    ones = all(source.type.sizes[axis] == 1 for axis in range(len(load.args) - 1) if axis not in axes.values())
    is_whole = ones and all(sizes[var] == source.type.sizes[axis] for var, axis in axes.items())
    if not is_whole or not _is_block(store, sizes) or len(axes) < len(sizes):
        return None
    return Copied(nest, source, store.array, store.at, axes) if store.array.type.dtype == source.type.dtype else None   # type: ignore[union-attr]


def _is_block(store: Store, sizes: dict[Any, Any]) -> bool:
    """Whether what is written lies together: first places that stand still, and all of the axes behind them."""
    moving = [sole(k) in sizes for k in store.at]
    first = moving.index(True) if True in moving else len(moving)
    ends = list(zip(map(sole, store.at), store.array.type.sizes))[first:]                # type: ignore[union-attr]
    still = set(sizes).isdisjoint(atom_vars(store.at[:first]))
    return still and all(place in sizes and sizes[place] == size for place, size in ends) and (
        len({place for place, _ in ends}) == len(ends) == len(sizes))


def _is_given_to(made: Product, copy: Copied) -> bool:
    """Makes a product one of what it is copied to; tells whether the rows and columns lie there as in a matrix."""
    part = made.target
    at = tuple(k if (place := sole(k)) not in copy.axes else part.at[copy.axes[place]] for k in copy.at)
    order = [place for k in at[len(at) - len(copy.axes):] if (place := sole(k)) is not None]
    rows, columns = ([index.var for index in group] for group in (made.rows, made.columns))
    last = order[len(order) - len(rows) - len(columns):]
    if len(order) < len(copy.axes) or last not in (rows + columns, columns + rows):
        return False
    made.target = Part(copy.target, at)
    if last != rows + columns:
        made.left, made.right, made.rows, made.columns = made.right, made.left, made.columns, made.rows
    return True
