"""Numbers that are computed one at a time: outside of loops, around inner loops, and in recurrences.

Vector mathematics has no branches, so that LLVM computes it for eight numbers at once. For one number the
functions of C are faster, which look at it first.

    for i in range(1, n):
        y[i] = x[i] + math.sin(y[i - 1])        each waits for the one before
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.grammar import If, Let, Loop, Var
from .nest_walk import inner_blocks, is_load, statements
from .nests import Block, Fold, Nest, Store

BETTER = frozenset({"sin", "cos", "tan", "exp", "log", "log10", "power", "cbrt"})   # of C, for a single number
WRITTEN_OUT = 8                        # iterations, which a compiler does one after another without a loop


def alone(block: Block) -> Iterator[Let]:
    """The statements that are computed for one number at a time."""
    yield from _alone(block, True)


def _alone(block: Block, single: bool) -> Iterator[Let]:
    for stmt in block:
        if isinstance(stmt, Let) and single and stmt.op.name in BETTER:
            yield stmt
        own = single if isinstance(stmt, If) or not _is_loop(stmt) else not _is_innermost(stmt) or _is_sequential(stmt)
        for inner in inner_blocks(stmt):
            yield from _alone(inner, own)


def _is_loop(stmt: Any) -> bool:
    if isinstance(stmt, Nest | Fold):
        count: Any = 1
        for index in stmt.indices:
            count = count * index.size
        return not isinstance(count, int) or count > WRITTEN_OUT
    return isinstance(stmt, Loop)


def _is_innermost(stmt: Any) -> bool:
    return not any(_is_loop(each) for block in inner_blocks(stmt) for each in statements(block))


def _is_sequential(stmt: Any) -> bool:
    """Whether a loop hands on a number, or reads an array that it writes in another place than it writes."""
    if not isinstance(stmt, Loop):
        return False
    if stmt.trips is None or any(not getattr(carry.entry.type, "sizes", True) for carry in stmt.carries):
        return True
    places: dict[Var, list[Any]] = {}
    for each in statements(stmt.body):
        if isinstance(each, Store):
            places.setdefault(each.array, []).append(each.at)
    return any(is_load(each) and each.args[0] in places and any(each.args[1:] != at for at in places[each.args[0]])
               for each in statements(stmt.body))
