"""Where in an array something is read and written: the same place, or never the same."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from ..core.equations import only_atom
from ..core.grammar import Atom, Const, Var
from ..core.sizes import Extent, Unknown
from ..core.walk import atom_vars, size_of_atom

Place = tuple[Any, ...]
MOST_COMPARED = 32                     # places that are compared with each other


def same_places(one: Place, other: Place) -> bool:
    """Whether two places in an array are the same in every iteration."""
    return all(size_of_atom(a) == size_of_atom(b) for a, b in zip(one, other, strict=True))


def sole(atom: Atom | Extent) -> Var | None:
    """The variable that a place, or a size, is, and nothing else."""
    found = only_atom(atom)
    return found.var if isinstance(found, Unknown) else atom if isinstance(atom, Var) else None


def never_meet(one: Place, other: Place, indices: list[Var]) -> bool:
    """Whether a place of one iteration is in none a place of another: along an axis that the indices do
    not move, both stand still at a distance."""
    for a, b in zip(one, other, strict=True):
        distance: Extent = size_of_atom(a) - size_of_atom(b)
        if isinstance(distance, int) and distance and set(indices).isdisjoint(atom_vars((a, b))):
            return True
    return False


def are_apart(places: list[Any]) -> bool:
    """Whether no two of several stores or loads are of the same element, by their constant places."""
    def differ(k: Atom, other: Atom) -> bool:
        return isinstance(k, Const) and isinstance(other, Const) and k.value != other.value

    return len(places) <= MOST_COMPARED and all(any(map(differ, *pair)) for pair in combinations(places, 2))
