"""Arrays that are read across their rows: a nest over tiles, in which what is fetched with a row of memory is
used before it is gone.

    nest i < n, j < m                       nest I < n/64, J < m/64
        y[i, j] = x[i, j] * x[j, i]    →        nest i < 64, j < 64
                                                    y[64 I + i, 64 J + j] = …
"""

from __future__ import annotations

from typing import Any

from ...core.builder import current
from ...core.grammar import Atom, Var
from ...core.sizes import Extent, Size, Unknown, least
from ...core.types import INT
from ...core.walk import Copier, atom_of_size, atom_vars
from ..nest.clean import Renaming
from ..nest.nest_walk import inner_blocks, is_load, statements
from ..nest.nests import Block, Fold, Index, Nest, Store

TILE = 128                             # places along each of two axes


def tile(block: Block) -> Block:
    """The block with nests that read across rows in tiles."""
    made: Block = []
    for stmt in block:
        for inner in inner_blocks(stmt):
            inner[:] = tile(inner)
        made.append(_tiled(stmt) if isinstance(stmt, Nest) and _reads_across(stmt) else stmt)
    return made


def _reads_across(nest: Nest) -> bool:
    """Whether the last index of a nest runs along the rows of some arrays and across those of others."""
    if len(nest.indices) < 2 or nest.ordered or any(isinstance(stmt, (Nest, Fold)) for stmt in statements(nest.body)):
        return False
    if any(isinstance(index.size, int) and index.size <= TILE for index in nest.indices[-2:]):
        return False
    outer, last = (index.var for index in nest.indices[-2:])
    across = along = False
    for stmt in statements(nest.body):
        at: Any = stmt.args[1:] if is_load(stmt) else stmt.at if isinstance(stmt, Store) else ()
        if len(at) > 1:
            row, place = set(atom_vars(at[:-1])), set(atom_vars(at[-1:]))
            across |= last in row and outer in place
            along |= outer in row and last in place
    return across and along


def _tiled(nest: Nest) -> Nest:
    inner: list[Index] = []
    outer: list[Index] = []
    mapping: dict[Var, Atom] = {}
    for index in nest.indices[-2:]:
        block, own = Var(INT), Var(INT, index.var.name)
        first = Size.of(Unknown(block)) * TILE
        count = least(TILE, index.size - first)
        blocks: Extent = (index.size + (TILE - 1)) // TILE
        current().assumptions.within(block, 0, blocks - 1)
        current().assumptions.within(own, 0, count - 1)
        outer.append(Index(block, blocks))
        inner.append(Index(own, count))
        mapping[index.var] = atom_of_size(first + Size.of(Unknown(own)))
    body = Renaming(Copier(mapping)).block(nest.body)
    return Nest([*nest.indices[:-2], *outer], [Nest(inner, body, nest.origin)], nest.origin)
