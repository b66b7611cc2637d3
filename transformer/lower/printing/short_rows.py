"""Arrays of short rows, of which machine code knows how far the rows are apart.

    out[i, 0], out[i, 1], out[i, 2] = …                 out[3*i], out[3*i + 1], out[3*i + 2] = …

It takes several rows at once then, if these are so short that their elements are in few vectors. Of longer rows it
would gather every single one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from math import prod
from typing import Any

from ...core.grammar import Const, Var
from ..nest.nest_walk import accesses
from ..nest.nests import Block

MOST_APART = 4
Sizes = tuple[int | None, ...]


def known_sizes(params: list[Var | None], body: Block) -> dict[int, Sizes]:
    """The sizes of arrays of short rows, as far as they are numbers, by where they are among the parameters of a
    function; none, where columns of longer rows are read or written anywhere in the `body` of all."""
    found = {k: numbers_of(array.type) for k, array in enumerate(params) if array is not None}
    short = {k: sizes for k, sizes in found.items() if _are_short(sizes)}
    return short if short and all(map(_are_short, _of_columns(body))) else {}


def numbers_of(type: Any) -> Sizes:
    return tuple(size if isinstance(size, int) else None for size in getattr(type, "sizes", ()))


def _are_short(sizes: Sizes) -> bool:
    known = takewhile(lambda size: size is not None, reversed(sizes))
    return None in sizes and 1 < prod(size for size in known if size is not None) <= MOST_APART


def _of_columns(body: Block) -> Iterator[Sizes]:
    """The sizes of arrays that are read or written at a place that is the same in each row."""
    for array, at in (each for stmt in body for each in accesses(stmt)):
        if len(at) == array.type.rank > 1 and isinstance(at[-1], Const) and not isinstance(at[-2], Const):
            yield numbers_of(array.type)
