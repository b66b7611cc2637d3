"""Lines of a few elements are sorted by comparisons that are the same whatever the elements are, so that a processor
sorts many lines at a time, and a GPU one with each thread:

    y = sort(x, axis=0), x.shape[0] == 3        nest j < n
                                                    a, b, c = x[0, j], x[1, j], x[2, j]
                                        →           a, c = ordered(a, c)
                                                    a, b = ordered(a, b)
                                                    b, c = ordered(b, c)
                                                    y[0, j], y[1, j], y[2, j] = a, b, c

As in NumPy, NaN are behind all numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.builder import current
from ...core.equations import guardable, value_of
from ...core.grammar import Let
from ...core.sizes import Extent, product
from ...ops.sorting import Sort
from ...ops.value import Value
from ..nest.access import Stored, running
from ..nest.nests import Allocate, Nest, emit
from .filling import stored

MOST = 16                              # elements of a line; there are 63 comparisons then
MANY = 64                              # lines, for which it pays to make code for one number of elements


def sorts_few(stmt: Let) -> bool:
    """Whether a statement sorts lines of a few real numbers. How many there are is known, or the same in all calls that
    this code is made for if there are many lines."""
    type: Any = getattr(stmt.target, "type", None) if stmt.op is Sort else None
    if type is None or type.dtype.kind not in "fiu":
        return False
    count = _count(stmt)
    if isinstance(count, int):
        return 1 < count <= MOST
    assumptions, axis = current().assumptions, _axis(stmt)
    known = value_of(count, assumptions.hints) if guardable(count) else None
    lines = product([*type.sizes[:axis], *type.sizes[axis + 1:]])
    return (known is not None and 1 < known <= MOST and assumptions.choose(lines, MANY)
            and assumptions.equal(count, known))


def sorted_by_comparisons(stmt: Let) -> None:
    """Emits memory, and the nest that fills it line by line."""
    builder, target, axis = current(), stmt.target, _axis(stmt)
    type: Any = target.type
    source, count = Stored(stmt.args[0]), _count(stmt)
    assert isinstance(count, int)
    emit(Allocate(target, stmt.op.name, builder.origin))
    with running((*type.sizes[:axis], *type.sizes[axis + 1:])) as (indices, at), builder.nested() as body:
        line = [(*at[:axis], k, *at[axis:]) for k in range(count)]
        for place, number in zip(line, _ordered([source[place] for place in line]), strict=True):
            emit(stored(target, place, number))
    if indices:
        emit(Nest(indices, body, builder.origin))
    else:
        for each in body:
            emit(each)


def _axis(stmt: Let) -> int:
    type: Any = stmt.target.type
    axis: int = stmt.attrs.get("axis", type.rank - 1)
    return axis


def _count(stmt: Let) -> Extent:
    """How many elements a line has."""
    type: Any = stmt.target.type
    return current().assumptions.normal(type.sizes[_axis(stmt)])


def _ordered(numbers: list[Value]) -> list[Any]:
    ordered: list[Any] = list(numbers)
    for low, high in comparisons(len(numbers)):
        a, b = ordered[low], ordered[high]
        is_behind = b < a if a.dtype.kind != "f" else (b < a) | (a != a)
        ordered[low], ordered[high] = np.where(is_behind, b, a), np.where(is_behind, a, b)
    return ordered


def comparisons(count: int) -> Iterator[tuple[int, int]]:
    """The places of which each pair is put in order, by Batcher's odd-even merging.

    >>> list(comparisons(3))
    [(0, 1), (0, 2), (1, 2)]
    """
    length = 1
    while length < count:
        distance = length
        while distance:
            for first in range(distance % length, count - distance, 2 * distance):
                for low in range(first, min(first + distance, count - distance)):
                    if low // (2 * length) == (low + distance) // (2 * length):
                        yield low, low + distance
            distance //= 2
        length *= 2
