"""Memory that each iteration of a nest has for itself, as rows of one array that is allocated before.

    allocate e, m                           allocate e, n, m
    nest i < n                              nest i < n
        nest j: store e, j, …        →          nest j: store e, i, j, …
        nest j: store y, i, j, e[j]             nest j: store y, i, j, e[i, j]

A kernel allocates nothing but a few numbers. Arrays of sizes that are known when it is made stay in its threads.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.errors import NotSupported
from ...core.grammar import Let, Var
from ...core.types import ArrayType
from ...core.walk import atom_vars, inner_targets
from ..nests import Allocate, Block, Index, Nest, Store, defined, inner_blocks, is_load, statements

MOST_LOCAL = 64                        # elements of an array that a thread keeps


def with_rows(nest: Nest, own: Iterable[Allocate], indices: list[Index]) -> Block:
    """What is allocated before a nest whose iterations over `indices` have this memory for themselves."""
    inner = [stmt for stmt in _inside(nest) if not is_local(stmt)]
    return [_as_row(stmt, nest, indices) for stmt in (*own, *inner)]


def _inside(nest: Nest) -> list[Allocate]:
    return [stmt for stmt in statements(nest.body) if isinstance(stmt, Allocate)]


def is_local(stmt: Allocate) -> bool:
    """Whether a thread may keep memory itself."""
    count: Any = 1
    for size in stmt.target.type.sizes:                                  # type: ignore[union-attr]
        count = count * size
    return isinstance(count, int) and count <= MOST_LOCAL and stmt.source is None


def made_inside(block: Block) -> set[Var]:
    """What statements define, and the indices of their loops."""
    found = {var for each in statements(block) for var in (*defined(each), *inner_targets(each))}
    found |= {carry.entry for each in statements(block) for carry in getattr(each, "carries", ())}
    return found | {index.var for each in statements(block) for index in getattr(each, "indices", ())}


def known_before(memory: Iterable[Allocate], nest: Nest) -> bool:
    """Whether the sizes of what a nest allocates are the same for all of its iterations."""
    inside = made_inside([nest])
    return all(stmt.source is None and inside.isdisjoint(atom_vars(stmt.target.type)) for stmt in memory)


def _as_row(stmt: Allocate, nest: Nest, indices: list[Index]) -> Allocate:
    type: Any = stmt.target.type
    if not known_before([stmt], nest):
        raise NotSupported("an array whose size differs from one iteration to the next has no form for GPUs",
                           stmt.origin)
    rows = Var(ArrayType(type.dtype, (*(index.size for index in indices), *type.sizes)), stmt.target.name)
    moved(nest.body, stmt, rows, tuple(index.var for index in indices))
    return Allocate(rows, stmt.maker, stmt.origin)


def moved(block: Block, made: Allocate, rows: Var, at: tuple[Any, ...]) -> None:
    """Reads and writes in a larger array in place of one, at these places along axes in front of its own; without its
    allocation."""
    for k, stmt in enumerate(block):
        if isinstance(stmt, Store) and stmt.array is made.target:
            block[k] = Store(rows, (*at, *stmt.at), stmt.value, stmt.adds, stmt.origin)
        elif is_load(stmt) and stmt.args[0] is made.target:
            block[k] = Let(stmt.targets, stmt.op, (rows, *at, *stmt.args[1:]), stmt.attrs, stmt.origin)
        for carry in getattr(stmt, "carries", ()):
            if carry.init is made.target:                                # which is written in place
                carry.entry = carry.init = carry.next = carry.out = rows
        for inner in inner_blocks(stmt):
            moved(inner, made, rows, at)
    block[:] = [stmt for stmt in block if stmt is not made]
