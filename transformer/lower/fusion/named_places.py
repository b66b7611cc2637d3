"""Places by the names of the program: what it has computed is not written out again where it is an index or a bound.

    mid = (lo + hi) // 2                            mid = (lo + hi) // 2
    if not -n <= (lo + hi) // 2 < n:        →       if not -n <= mid < n:
        raise IndexError(…)                             raise IndexError(…)
"""

from __future__ import annotations

from typing import Any

from ...core.builder import Builder
from ...core.equations import guardable, single_atom
from ...core.grammar import Let
from ...core.guards import Assumptions
from ...core.sizes import Extent, Size, Unknown
from ...core.walk import Copier
from ...ops.integers import affine, is_exact
from ..nest.clean import Renaming
from ..nest.nest_walk import statements
from ..nest.nests import Block, Task


def by_names(block: Block, assumptions: Assumptions) -> Block:
    """The block with integers that have a name in the program in place of the sizes that they are, in place. What
    rests on dimensions and arguments alone has names already (`write/composites`)."""
    with Builder(assumptions).active() as builder:
        for stmt in statements(block):
            if isinstance(stmt, Let):
                builder.numbering.define(stmt)
        return _ByNames(_Known()).block(block)


class _Known(Copier):
    """Replaces sizes that are `known` by a name, as a whole or as a part."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[Any, Extent] = {}

    def size(self, size: Extent) -> Extent:
        return self.known.get(size) or super().size(size)

    def _leaf(self, leaf: Any) -> Extent | None:
        return self.known.get(Size.of(leaf)) or super()._leaf(leaf)


class _ByNames(Renaming):
    """Goes through blocks in order, as names hold in the rest of a block."""

    copier: _Known

    def block(self, block: Block) -> Block:
        outer, self.copier.known = self.copier.known, dict(self.copier.known)
        made = super().block(block)
        self.copier.known = outer
        return made

    def left(self, stmt: Any) -> Block:
        if isinstance(stmt, Let) and stmt.target.name is not None and is_exact(stmt.target):
            size = affine(stmt.target)
            if isinstance(size, Size) and not guardable(size) and single_atom(size) is None:
                self.copier.known.setdefault(size, Size.of(Unknown(stmt.target)))
        return [stmt]

    def stmt(self, stmt: Any) -> Any:
        return stmt if isinstance(stmt, Task) else super().stmt(stmt)    # which has its own names
