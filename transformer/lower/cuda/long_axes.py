"""Axes that are longer than `Place` counts: the driver looks before anything runs.

    n, m = x.shape
    check_places(n, m)

Sizes that are computed are looked at where a kernel goes along them: `check_places(2 * n)`. What is at most as long
as an axis of an argument is not looked at again.
"""

from __future__ import annotations

from typing import Any

from ...core.equations import only_atom
from ...core.sizes import Dim, Extent, Floor, Least, Size, least
from ...core.walk import atom_vars
from ..nest.nest_walk import statements
from ..nest.nests import Launch
from .private import made_inside

PER_PLACE = 2**20                      # what a size may be more than an axis: far less than `Place` has beyond `MOST`


def computed(stmt: Launch) -> list[Extent]:
    """The sizes along which a kernel goes, beside those for which it has threads, that may be longer than all axes of
    arguments."""
    inside, own = made_inside(stmt.body), {index.size for index in stmt.indices}
    sizes = {end: None for each in statements(stmt.body) for index in getattr(each, "indices", ())
             for end in _ends(index.size)}
    return [size for size in sizes if size not in own and not is_bounded(size)
            and inside.isdisjoint(atom_vars((size,)))]


def _ends(size: Extent) -> list[Extent]:
    """A size; of a part, `min(1024, 2*n - 1024*i)`, how long the whole is, as places may be those in the whole."""
    part = only_atom(size)
    return list(map(_without_less, (part.first, part.second))) if isinstance(part, Least) else [size]


def part_of(size: Extent) -> list[Extent]:
    """How long a part of an axis is at most, `min(1024, n)`; nothing where a size is none."""
    ends = _ends(size)
    return [least(*ends)] if len(ends) > 1 else []


def _without_less(size: Extent) -> Extent:
    if isinstance(size, int):
        return size
    return size - Size({monomial: count for monomial, count in size.terms.items() if count < 0})


def is_bounded(size: Extent, times: int = 1) -> bool:
    """Whether a size is at most so many `times` that of an axis, or little more."""
    if isinstance(size, int):
        return size < PER_PLACE
    more = {monomial: count for monomial, count in size.terms.items() if count > 0 and monomial}
    return size.constant < PER_PLACE and sum(more.values()) <= times and all(
        len(monomial) == 1 and _is_bounded(monomial[0]) for monomial in more)


def _is_bounded(atom: Any) -> bool:
    match atom:
        case Dim():
            return True
        case Floor():
            return is_bounded(atom.numerator, atom.denominator if isinstance(atom.denominator, int) else 1)
        case Least():
            return is_bounded(atom.first) or is_bounded(atom.second)
    return False


