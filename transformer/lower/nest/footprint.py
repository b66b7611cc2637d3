"""How much memory a kernel makes for itself, beside its results."""

from __future__ import annotations

from ...core.equations import guardable
from ...core.sizes import Extent
from .nest_walk import statements
from .nests import Allocate, Lowered


def bytes_made(lowered: Lowered) -> Extent | None:
    """The bytes of all arrays that are allocated, those of loops once; None where calls do not decide their sizes."""
    total: Extent = 0
    for each in (lowered, *lowered.callees):
        made = [stmt.target for stmt in statements(each.body) if isinstance(stmt, Allocate)]
        for type in (array.type for array in made if array not in lowered.results):
            if not all(map(guardable, type.sizes)):                      # type: ignore[union-attr]
                return None
            total = total + type.elements * type.dtype.itemsize          # type: ignore[union-attr]
    return total
