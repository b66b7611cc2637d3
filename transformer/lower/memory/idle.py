"""Writes of what is there already.

    v_0 = load u, 0
    store u, 0, v_0                 nothing
"""

from __future__ import annotations

from typing import Any

from ..nest.nest_walk import inner_blocks, is_load
from ..nest.nests import Block, Nest, Store


def without_idle(block: Block) -> Block:
    """The block without stores of an element to where it was read just before, and without nests that did no more."""
    made: Block = []
    for stmt in block:
        if made and _is_idle(stmt, made[-1]):
            continue
        for inner in inner_blocks(stmt):
            inner[:] = without_idle(inner)
        if not (isinstance(stmt, Nest) and all(map(is_load, stmt.body))):
            made.append(stmt)
    return made


def _is_idle(stmt: Any, before: Any) -> bool:
    return (isinstance(stmt, Store) and is_load(before) and not stmt.adds and stmt.value is before.target
            and before.args == (stmt.array, *stmt.at))
