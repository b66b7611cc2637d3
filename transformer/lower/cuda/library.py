"""Arrays that CuPy makes, and that are taken as they are.

    order = cp.empty(n, np.int64)
    order[:] = cp.argsort(x)            →       order = cp.argsort(x)

What it gives has to be memory of its own, in C order, and of the dtype that NumPy's would have, and nobody may have
touched the memory before.
"""

from __future__ import annotations

from typing import Any

from ...core.grammar import Var
from ...ops.searching import Searchsorted
from ...ops.sorting import Argsort, Partition, Sort
from ..nest.lifetimes import mentioned
from ..nest.nests import Allocate, Block, Library


def taken_as_they_are(block: Block) -> set[Var]:
    """The arrays of a block that a library may make, in place of memory that is filled."""
    found: set[Var] = set()
    waiting: set[Any] = set()                                            # made, and not touched yet
    for stmt in block:
        if isinstance(stmt, Library) and _is_fresh(stmt):
            found |= waiting.intersection(stmt.targets)
        waiting -= mentioned(stmt)
        if isinstance(stmt, Allocate) and stmt.source is None:
            waiting.add(stmt.target)
    return found


def _is_fresh(stmt: Library) -> bool:
    """Whether CuPy gives a new array as NumPy does; the places of an order along other axes than the last are a
    view."""
    if stmt.op in (Sort, Partition, Searchsorted):
        return True
    rank = getattr(stmt.targets[0].type, "rank", 0)
    return stmt.op is Argsort and (rank == 1 or stmt.attrs.get("axis", -1) in (-1, rank - 1))
