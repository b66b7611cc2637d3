"""Products of matrices written to where they are copied anyway, as a reshape without axes of size 1 has them copied.

    product y, i, 0, j, …                       product z, i, j, …
    nest i < n, j < m                   →
        store z, i, j, load(y, i, 0, j)
"""

from __future__ import annotations

from typing import Any

from ...core.grammar import Atom, Const, Var
from ...core.walk import atom_vars
from ..nest.nest_walk import all_uses, inner_blocks, is_empty_memory, is_load, statements
from ..nest.nests import Allocate, Block, Nest, Part, Product
from .substitution import filled_arrays


def written_directly(block: Block, results: list[Atom]) -> Block:
    """The block without such copies, and without the arrays that nobody reads then."""
    for stmt in block:
        for inner in inner_blocks(stmt):
            inner[:] = written_directly(inner, results)
    made = [stmt for stmt in block if isinstance(stmt, Nest)]
    for nest in made:
        found = _copied(nest)
        if found is not None:
            block = _without_copy(block, nest, *found, results)
    return block


def _copied(nest: Nest) -> tuple[Var, Var, list[int]] | None:
    """The array that a nest copies and the one that it copies it to, element by element in their order, with the axes
    that these have in the first one; the others have one place."""
    stores = filled_arrays(nest)
    if len(stores) != 1 or len(nest.body) != 2 or not is_load(nest.body[0]):
        return None
    (target, store), load = next(iter(stores.items())), nest.body[0]
    source, at, sizes = load.args[0], load.args[1:], load.args[0].type.sizes
    axes = [axis for axis, k in enumerate(at) if not isinstance(k, Const)]
    ones = all(sizes[axis] == 1 for axis in range(len(at)) if axis not in axes)
    if store.value is not load.target or target.type.dtype != source.type.dtype:     # type: ignore[union-attr]
        return None
    return (source, target, axes) if ones and [at[axis] for axis in axes] == list(store.at) else None


def _without_copy(block: Block, nest: Nest, source: Var, target: Var, axes: list[int], results: list[Atom]) -> Block:
    memory = {stmt.target: stmt for stmt in block if is_empty_memory(stmt)}
    products = [stmt for stmt in statements(block) if isinstance(stmt, Product) and stmt.target.array is source]
    uses = sum(var is source for var in (*all_uses(block), *atom_vars(tuple(results))))
    if source not in memory or target not in memory or len(products) != 1 or uses != 2:
        return block
    if not set(atom_vars(target.type)) <= set(atom_vars(source.type)):
        return block
    part: Any = products[0].target
    products[0].target = Part(target, tuple(part.at[axis] for axis in axes))
    moved = Allocate(target, memory[source].maker, memory[source].origin)
    rest = [stmt for stmt in block if stmt is not nest and stmt is not memory[target]]
    return [moved if stmt is memory[source] else stmt for stmt in rest]
