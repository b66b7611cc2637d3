"""Where in an array something is read and written: the same place, or never the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import combinations
from typing import Any

from ...core.builder import current
from ...core.equations import only_atom
from ...core.grammar import Atom, Const, If, Let, Var
from ...core.sizes import Extent, Size, Unknown, replaced
from ...core.walk import atom_vars, size_of_atom
from ...ops.integers import is_exact
from .nest_walk import statements
from .nests import Block

Place = tuple[Any, ...]
# Comparisons, and what they give of integers that are not equal:
DIFFER = {"not_equal": True, "equal": False, "less": True, "less_equal": False, "greater": True, "greater_equal": False}
MOST_COMPARED = 32                     # places that are compared with each other


def same_places(one: Place, other: Place) -> bool:
    """Whether two places in an array are the same in every iteration."""
    return all(size_of_atom(a) == size_of_atom(b) for a, b in zip(one, other, strict=True))


def sole(atom: Atom | Extent) -> Var | None:
    """The variable that a place, or a size, is, and nothing else."""
    found = only_atom(atom)
    return found.var if isinstance(found, Unknown) else atom if isinstance(atom, Var) else None


def never_meet(one: Place, other: Place, indices: list[Var], unequal: Sequence[Extent] = ()) -> bool:
    """Whether a place of one iteration is in none a place of another: along an axis they keep a distance, wherever the
    indices stand for either of them. `unequal` are sizes that are not 0."""
    both = list(zip(one, other, strict=True))
    moving = {index for index in indices if index in set(atom_vars((one, other)))}
    if any(_is_constant(a, b, moving) for a, b in both):
        return True
    with _twins(moving) as twins:
        return any(_differ(size_of_atom(a) - replaced(size_of_atom(b), twins.get), unequal) for a, b in both)


def _is_constant(a: Atom, b: Atom, moving: set[Var]) -> bool:
    distance = size_of_atom(a) - size_of_atom(b)
    return isinstance(distance, int) and distance != 0 and moving.isdisjoint(atom_vars((a, b)))


@contextmanager
def _twins(indices: set[Var]) -> Iterator[dict[Any, Extent]]:
    """Inside of the `with`, what is known of indices is known of those of another iteration."""
    ranges = current().assumptions.ranges
    twins: dict[Any, Extent] = {Unknown(index): Size.of(Unknown(Var(index.type, index.name))) for index in indices}
    copies: list[tuple[Any, Any]] = [(only_atom(twin), ranges[atom]) for atom, twin in twins.items() if atom in ranges]
    for copy, bounds in copies:
        low, high = (None if bound is None else replaced(bound, twins.get) for bound in bounds)
        ranges[copy] = low, high
    try:
        yield twins
    finally:
        for copy, _ in copies:
            del ranges[copy]


def _differ(distance: Extent, unequal: Sequence[Extent]) -> bool:
    """Whether a distance is certainly not 0."""
    if isinstance(distance, int):
        return distance != 0
    certainly = current().assumptions.certainly_at_least
    return distance in unequal or -distance in unequal or certainly(distance, 1) or certainly(-distance, 1)


class Comparisons:
    """What is known of integers on the sides of branches, by the comparisons that decide."""

    def __init__(self, block: Block) -> None:
        self.block = block

    @cached_property
    def made(self) -> dict[Any, Let]:
        return {target: stmt for stmt in statements(self.block) if isinstance(stmt, Let) for target in stmt.targets}

    def unequal(self, stmt: Any, side: Block) -> tuple[Extent, ...]:
        """Sizes that are not 0 in a block of a statement."""
        if not isinstance(stmt, If):
            return ()
        made = self.made.get(stmt.cond)
        if made is None or DIFFER.get(made.op.name) != (side is stmt.then) or not all(map(is_exact, made.args)):
            return ()
        left, right = map(size_of_atom, made.args)
        return (left - right,)


def common_axes(places: Sequence[Place]) -> int:
    """Along how many axes all of several places in an array count alone. Where they have different numbers of places,
    the last one of the fewest counts along several axes (`raveling`)."""
    counts = {len(at) for at in places}
    return min(counts) - (len(counts) > 1)


def are_apart(places: list[Any]) -> bool:
    """Whether no two of several stores or loads are of the same element, by their constant places."""
    def differ(k: Atom, other: Atom) -> bool:
        return isinstance(k, Const) and isinstance(other, Const) and k.value != other.value

    return len(places) <= MOST_COMPARED and all(any(map(differ, *pair)) for pair in combinations(places, 2))
