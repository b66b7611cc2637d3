"""What changes inside of a nest, and whether the places of different iterations always differ.

    64*i + j, j < 64                each i has 64 places for itself
    n*d*i + d*j + k, j < n, k < d   i, j and k are the digits of a place: each has its own
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.grammar import Loop, Var
from ...core.sizes import Extent, Size, Unknown, product
from ...core.walk import atom_vars, inner_targets, size_of_atom
from ..fusion.sums import at_most
from .nest_walk import defined
from .nests import Fold, Nest
from .places import common_axes


class Changing:
    """What changes inside of a nest: indices with their sizes, and numbers that are computed."""

    def __init__(self, stmt: Nest | Fold, inside: list[Any]) -> None:
        self.sizes = dict(pair for each in [stmt, *inside] for pair in counted(each))
        self.others = set(defined_inside(inside)) - self.sizes.keys()

    def are_apart(self, places: list[tuple[Any, ...]], outer: Var) -> bool:
        """Whether places of different iterations always differ, along one axis."""
        for axis in range(common_axes(places)):
            widths = {self._part(size_of_atom(at[axis]), outer) for at in places}
            if len(widths) == 1 and None not in widths:
                return True
        return False

    def _part(self, place: Extent, outer: Var) -> tuple[Extent, Extent] | None:
        """How many places an iteration has for itself (in each round of all iterations, if there are several), and
        where its part begins but for that."""
        return self._width(place, outer) or self._digit(place, outer)

    def _digit(self, place: Extent, outer: Var) -> tuple[Extent, Extent] | None:
        """The same where indices are the digits of a place: ``n*d*i + d*j + k`` with j below n, k below d."""
        if not isinstance(place, Size) or outer not in self.sizes:
            return None
        counts = {var: count for var in self.sizes if (count := _coefficient(place, var)) != 0}
        start: Extent = place
        for var, count in counts.items():
            start = start - Size.of(Unknown(var)) * count
        if outer not in counts or not {*self.sizes, *self.others}.isdisjoint(atom_vars((start, *counts.values()))):
            return None
        width = counts.pop(outer)
        left, whole = width, width * self.sizes[outer]
        lower = {var: count for var, count in counts.items() if (count // whole) * whole != count}
        while lower:
            fits = [var for var, count in lower.items() if count * self.sizes[var] == left]
            if not fits:
                return None
            left = lower.pop(fits[0])
        return width, start

    def _width(self, place: Extent, outer: Var) -> tuple[int, Extent] | None:
        """How many places along an axis an iteration has for itself, and where its part begins but for that: 64 and
        0 for ``64*i + j`` with j below 64."""
        width = place.terms.get((Unknown(outer),), 0) if isinstance(place, Size) else 0
        rest = place - Size.of(Unknown(outer)) * width
        if not width or outer in atom_vars((rest,)):
            return None
        reach, start = 0, rest
        for var, size in self.sizes.items():
            count = rest.terms.get((Unknown(var),), 0) if isinstance(rest, Size) else 0
            longest = at_most(size)
            if count < 0 or count and longest is None:
                return None
            reach += count * ((longest or 1) - 1)
            start = start - Size.of(Unknown(var)) * count
        fixed = {*self.sizes, *self.others}.isdisjoint(atom_vars((start,)))
        return (width, start) if reach < abs(width) and fixed else None


def _coefficient(place: Size, var: Var) -> Extent:
    """What a variable is multiplied by in a place."""
    atom = Unknown(var)
    found: Extent = 0
    for monomial, count in place.terms.items():
        if atom in monomial:
            rest = list(monomial)
            rest.remove(atom)
            found = found + product(map(Size.of, rest)) * count
    return found


def defined_inside(inside: list[Any]) -> Iterator[Var]:
    """The variables that statements define."""
    for each in inside:
        yield from (*defined(each), *inner_targets(each))
        if isinstance(each, Loop) and each.count is not None:
            yield each.count


def counted(stmt: Any) -> list[tuple[Var, Extent]]:
    """The indices of a statement, with how often they are counted."""
    if isinstance(stmt, Loop):
        return [] if stmt.trips is None else [(stmt.position, size_of_atom(stmt.trips))]
    return [(index.var, index.size) for index in getattr(stmt, "indices", ())]
