"""Memory that each iteration of a nest has for itself, as rows of one array that is allocated before.

    allocate e, m                           allocate e, n, m
    nest i < n                              nest i < n
        nest j: store e, j, …        →          nest j: store e, i, j, …
        nest j: store y, i, j, e[j]             nest j: store y, i, j, e[i, j]

Where each iteration is a thread's, the rows are columns: `e[j, i]`.

A kernel allocates nothing but a few numbers. Arrays of sizes that are known when it is made stay in its threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...core.errors import NotSupported
from ...core.grammar import Let, Var
from ...core.types import ArrayType
from ...core.walk import atom_vars, inner_targets
from ..nest.nest_walk import defined, inner_blocks, is_load, statements
from ..nest.nests import Allocate, Block, Index, Nest, Store

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
        raise NotSupported("an array whose size differs between iterations is not supported on GPUs",
                           stmt.origin)
    lanes = tuple(index.var for index in indices)
    places = _places(stmt, nest)
    own = [axis for axis in range(len(type.sizes)) if not any(
        places and all(at[axis] is lane for at in places) for lane in lanes)]      # the others tell iterations apart
    sizes = *(index.size for index in indices), *(type.sizes[axis] for axis in own)
    rows = Var(ArrayType(type.dtype, sizes), stmt.target.name)
    moved(nest.body, stmt, rows, lambda at: (*lanes, *(at[axis] for axis in own)))
    return Allocate(rows, stmt.maker, stmt.origin)


def _places(memory: Allocate, nest: Nest) -> list[tuple[Any, ...]]:
    """Where a nest reads and writes memory."""
    inside = list(statements(nest.body))
    places = [each.at for each in inside if isinstance(each, Store) and each.array is memory.target]
    return places + [each.args[1:] for each in inside if is_load(each) and each.args[0] is memory.target]


def is_of_lanes(memory: Allocate, nest: Nest, indices: list[Index]) -> bool:
    """Whether each iteration of a nest uses only what lies at its own place along the first axes of memory."""
    lanes = tuple(index.var for index in indices)
    return all(len(at) > len(lanes) and at[:len(lanes)] == lanes for at in _places(memory, nest))


def across_lanes(block: Block, rows: Iterable[Any], lanes: int) -> Block:
    """Memory whose first axes are those of so many indices of threads, with these last: what neighbouring threads touch
    at the same time lies side by side."""
    return [_turned(block, stmt, lanes) for stmt in rows]


def _turned(block: Block, stmt: Allocate, lanes: int) -> Allocate:
    type: Any = stmt.target.type
    turned = Var(ArrayType(type.dtype, (*type.sizes[lanes:], *type.sizes[:lanes])), stmt.target.name)
    moved(block, stmt, turned, lambda at: (*at[lanes:], *at[:lanes]))
    return Allocate(turned, stmt.maker, stmt.origin)


def moved(block: Block, made: Allocate, other: Var, placed: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> None:
    """Reads and writes in another array in place of one, at places that are made of its own; without its
    allocation."""
    for k, stmt in enumerate(block):
        if isinstance(stmt, Store) and stmt.array is made.target:
            block[k] = Store(other, placed(stmt.at), stmt.value, stmt.adds, stmt.origin)
        elif is_load(stmt) and stmt.args[0] is made.target:
            block[k] = Let(stmt.targets, stmt.op, (other, *placed(stmt.args[1:])), stmt.attrs, stmt.origin)
        for carry in getattr(stmt, "carries", ()):
            if carry.init is made.target:                                # which is written in place
                carry.entry = carry.init = carry.next = carry.out = other
        for inner in inner_blocks(stmt):
            moved(inner, made, other, placed)
    block[:] = [stmt for stmt in block if stmt is not made]
