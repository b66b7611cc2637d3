"""Where in an array something is read and written: the same place, or never the same."""

from __future__ import annotations

from typing import Any

from ..core.grammar import Var
from ..core.sizes import Extent
from ..core.walk import atom_vars, size_of_atom

Place = tuple[Any, ...]


def same_places(one: Place, other: Place) -> bool:
    """Whether two places in an array are the same in every iteration."""
    return all(size_of_atom(a) == size_of_atom(b) for a, b in zip(one, other, strict=True))


def never_meet(one: Place, other: Place, indices: list[Var]) -> bool:
    """Whether a place of one iteration is in none a place of another: along an axis that the indices do
    not move, both stand still at a distance."""
    for a, b in zip(one, other, strict=True):
        distance: Extent = size_of_atom(a) - size_of_atom(b)
        if isinstance(distance, int) and distance and set(indices).isdisjoint(atom_vars((a, b))):
            return True
    return False
