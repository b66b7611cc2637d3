"""Sizes that a function finds equal before it comes to its end, or else it raises:

    if 3 * d != n:
        raise ValueError("array split does not result in an equal division")
"""

from __future__ import annotations

from collections.abc import Iterator

from ..core.grammar import Block, Const, Effect, If, Let, Var
from ..core.sizes import Extent, Size


def tested_sizes(body: Block) -> Iterator[tuple[Extent, Extent]]:
    """Pairs of sizes that are equal behind a block."""
    unequal: dict[Var, tuple[Extent, Extent]] = {}
    for stmt in body:
        if isinstance(stmt, Let) and stmt.op.name == "not_equal":
            left, right = map(_size, stmt.args)
            if left is not None and right is not None:
                unequal[stmt.target] = left, right
        elif isinstance(stmt, If) and isinstance(stmt.cond, Var) and stmt.cond in unequal and _raises(stmt.then):
            yield unequal[stmt.cond]


def _size(atom: object) -> Extent | None:
    if isinstance(atom, Const) and isinstance(atom.value, int):
        return atom.value
    return atom if isinstance(atom, Size) else None


def _raises(block: Block) -> bool:
    return any(isinstance(stmt, Effect) and stmt.kind == "raise" for stmt in block)
