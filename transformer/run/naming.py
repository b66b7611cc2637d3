"""Short names for the sizes of an example, as a person would declare them.

A call is described with dimensions named by their place (``x.shape[0]``), so that one can be asked
for. In a file of its own `x: f64[n, d]` reads better, and dimensions that have to be equal share a
name.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import count
from typing import Any

from .. import tree
from ..core.equations import single_atom
from ..core.guards import Assumptions
from ..core.sizes import Dim, Extent, Size, leaves, replaced
from ..core.types import ArrayType
from .signature import Description

NAMES = ("n", "m", "d", "p", "q", "r", "s")


def with_named_sizes(
    described: Description, assumptions: Assumptions, taken: Container[str]
) -> Description:
    """The description in short names; those that reading found to be equal are one."""
    free = free_names(taken)
    chosen: dict[Dim, Dim] = {}
    for dim in dimensions(described):
        known = representative(dim, assumptions)
        if known not in chosen:
            chosen[known] = Dim(next(free))
        chosen[dim] = chosen[known]

    def renamed(leaf: Any) -> Any:
        return _renamed(leaf, chosen) if isinstance(leaf, ArrayType) else leaf

    args, kwargs = tree.map(renamed, (described.args, described.kwargs))
    hints = {chosen.get(dim, dim): size for dim, size in described.hints.items()}
    return Description(args, kwargs, hints)


def apart(described: Description) -> Description:
    """The description with twins for dimensions that occur again, so that a file tests only those
    whose equality matters."""
    seen: dict[Dim, int] = {}
    hints = dict(described.hints)

    def twin(atom: Any) -> Extent | None:
        if not isinstance(atom, Dim):
            return None
        new = Dim(atom.name, seen.setdefault(atom, 0))
        seen[atom] += 1
        if atom in hints:
            hints[new] = hints[atom]
        return Size.of(new)

    def told_apart(leaf: Any) -> Any:
        if not isinstance(leaf, ArrayType):
            return leaf
        return leaf.with_sizes(tuple(replaced(s, twin) if single_atom(s) else s for s in leaf.sizes))

    args, kwargs = tree.map(told_apart, (described.args, described.kwargs))
    return Description(args, kwargs, hints)


def _renamed(type: ArrayType, chosen: dict[Dim, Dim]) -> ArrayType:
    def new(atom: Any) -> Extent | None:
        return Size.of(chosen[atom]) if atom in chosen else None

    return type.with_sizes(tuple(replaced(size, new) for size in type.sizes))


def free_names(taken: Container[str]) -> Iterator[str]:
    """n, m, d, …, then n2, n3, …, without those that are taken."""
    yield from (name for name in NAMES if name not in taken)
    yield from (f"n{k}" for k in count(2) if f"n{k}" not in taken)


def dimensions(described: Description) -> list[Dim]:
    """The dimensions of the arguments, in the order in which they occur."""
    types = [t for t in tree.leaves((described.args, described.kwargs)) if isinstance(t, ArrayType)]
    found = [leaf for type in types for size in type.sizes for leaf in leaves(size)]
    return [leaf for leaf in dict.fromkeys(found) if isinstance(leaf, Dim)]


def representative(dim: Dim, assumptions: Assumptions) -> Dim:
    """The dimension that stands for all that are equal to this one."""
    found = single_atom(assumptions.normal(Size.of(dim)))
    return found if isinstance(found, Dim) else dim
