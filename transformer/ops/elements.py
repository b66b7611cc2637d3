"""What element rules are written with: places, and elements that depend on where they are.

A place is a tuple of whole numbers, one for each axis. Rules see `Value`s for them when code is
made, and plain integers when they are called on arrays, as any other rule:

>>> import numpy as np
>>> x = np.arange(6.0).reshape(2, 3)
>>> [float(choose(i < 2, lambda: x[0, i], lambda: 9.0)) for i in range(4)]
[0.0, 1.0, 9.0, 9.0]
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core.builder import current
from ..core.equations import only_atom
from ..core.grammar import If, Merge, Var
from ..core.halves import of_core, promoted
from ..core.sizes import Extent, Size, Unknown, leaves, product, quotient
from ..core.types import ArrayType
from ..core.walk import atom_of_size
from .arithmetic import converted
from .integers import affine
from .value import Value, value

Place = tuple[Any, ...]


def spread(x: Any, at: Place) -> Any:
    """The element of `x` that broadcasts to a place of the result."""
    own = at[len(at) - x.ndim:]
    return x[tuple(0 if size == 1 else k for size, k in zip(x.shape, own, strict=True))]


def permuted(x: Any, at: Place, order: Sequence[int]) -> Any:
    """The element of `x` whose axes stand in `order` in the result."""
    own = dict(zip(order, at, strict=True))
    return x[tuple(own[k] for k in range(x.ndim))]


def without(at: Place, axes: Any) -> Place:
    """A place without some of its axes."""
    gone = (axes,) if isinstance(axes, int) else axes
    return tuple(k for axis, k in enumerate(at) if axis not in gone)


def moved(at: Place, axis: int, k: Any) -> Place:
    """A place with another number along one axis."""
    return (*at[:axis], k, *at[axis + 1:])


def is_below(k: Any, bound: Any) -> Any:
    """Whether `k < bound`: a bool where that is certain, else a `Value`."""
    if not any(isinstance(item, (Value, Size)) for item in (k, bound)):
        return k < bound
    certain = current().assumptions.certainly_at_least
    low, high = affine(k), affine(bound)
    if certain(high - 1, low):
        return True
    if certain(low, high):
        return False
    moving, rest = _split(low)
    return number(moving) < number(high - rest)


def _split(k: Extent) -> tuple[Extent, Extent]:
    """The part of a whole number that rests on integers of the program, and the rest."""
    if not isinstance(k, Size):
        return 0, k
    moving = {monomial: count for monomial, count in k.terms.items()
              if any(isinstance(leaf, Unknown) for leaf in leaves(Size({monomial: 1})))}
    return (Size(moving), k - Size(moving)) if moving else (0, k)


def number(k: Any) -> Any:
    """A whole number for comparisons and divisions: sizes have no operators of their own for them."""
    return Value(atom_of_size(k)) if isinstance(k, Size) else k


def both(first: Any, second: Any) -> Any:
    """`first and second`."""
    if isinstance(first, Value) and isinstance(second, Value):
        return operator.and_(first, second)
    if isinstance(first, Value):
        first, second = second, first
    return second if first else False


def choose(condition: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """`then()` where the condition holds, else `orelse()`: only that one is looked at, so the other
    may be outside of an array."""
    if not isinstance(condition, Value):
        return then() if condition else orelse()
    builder = current()
    with builder.nested() as first:
        left = value(then())
    with builder.nested() as second:
        right = value(orelse())
    if left.type != right.type:
        dtype = of_core(promoted(_promoting(side.type) for side in (left, right)))
        with builder.nested() as tail:
            left = converted(left, dtype)
        first += tail
        with builder.nested() as tail:
            right = converted(right, dtype)
        second += tail
    target = Var(left.type)
    builder.emit(If(condition.atom, first, second, [Merge(target, left.atom, right.atom)],
                    builder.origin))
    return Value(target)


def one_of(items: Sequence[Callable[[], Any]], k: Any) -> Any:
    """Item `k` of several, of which only that one is looked at."""
    if len(items) == 1:
        return items[0]()
    return choose(is_below(k, 1), items[0], lambda: one_of(items[1:], k - 1))


def _promoting(type: ArrayType) -> Any:
    return type.dtype.type(0).item() if type.weak else type.dtype


def flat_place(at: Place, sizes: Sequence[Extent]) -> Any:
    """The number of a place when all are counted in C order."""
    flat: Any = None
    for k, size in zip(at, sizes, strict=True):
        if size != 1:
            flat = k if flat is None else flat * size + k
    return 0 if flat is None else flat


def place_of(flat: Any, sizes: Sequence[Extent]) -> Place:
    """The place that has a number in C order; one for an array without elements, too."""
    if 0 in sizes:
        return (0,) * len(sizes)
    long = [axis for axis, size in enumerate(sizes) if size != 1]
    place: list[Any] = [0] * len(sizes)
    for axis in reversed(long[1:]):
        flat, place[axis] = _parted(flat, sizes[axis])
    for axis in long[:1]:
        place[axis] = flat
    return tuple(place)


def _parted(place: Any, size: Extent) -> tuple[Any, Any]:
    """``place // size`` and ``place % size``. Of what is seen to be a multiple, nothing is divided."""
    whole, rest = by_multiples(affine(place), size)
    if whole == 0:
        return _parted_by_rows(place, rest, size)
    if is_place(rest, size):
        return number(whole), number(rest)
    return number(whole) + number(rest) // number(size), number(rest) % number(size)


def _parted_by_rows(place: Any, known: Extent, size: Extent) -> tuple[Any, Any]:
    """The same of a place that is seen to be one in a row: ``(h*i + j) // (m*h)`` is ``i // m``."""
    for row, rest, count, length in rows_of(known, size):
        if is_place(rest, length):
            return number(row) // number(count), number(row) % number(count) * number(length) + number(rest)
    return place // number(size), place % number(size)


def by_multiples(place: Extent, size: Extent) -> tuple[Extent, Extent]:
    """A place as what is seen to be so many times a size, and the rest: ``m*i + j`` as i times m, and j."""
    if isinstance(place, int) and isinstance(size, int) and size:
        return divmod(place, size)
    whole: Extent = 0
    for atoms, count in place.terms.items() if isinstance(place, Size) else ():
        part = quotient(product(map(Size.of, atoms)) * count, size)
        whole = whole if part is None else whole + part
    return whole, place - whole * size


def is_place(rest: Extent, size: Extent) -> bool:
    """Whether a number is certainly one of the places of an axis."""
    if isinstance(rest, int):
        return 0 <= rest < (size if isinstance(size, int) else current().assumptions.lower_bound(size) or 0)
    assumptions = current().assumptions
    first, last = assumptions.ranges.get(only_atom(rest), (None, None))              # type: ignore[arg-type]
    if last is None:
        return any(is_place(row, count) and is_place(place, n) for row, place, count, n in rows_of(rest, size))
    return first == 0 and assumptions.normal(last + 1) == assumptions.normal(size)


def rows_of(place: Extent, size: Extent) -> Iterator[tuple[Extent, Extent, Extent, Extent]]:
    """A place among `count` rows of a length, for each way to see a size so: the row, the place in it, and both."""
    for atom in dict.fromkeys(size.atoms() if isinstance(size, Size) else ()):
        count = Size.of(atom)
        length = quotient(size, count)
        row, rest = (0, place) if length is None else by_multiples(place, length)
        if length not in (None, 1) and row != 0:
            yield row, rest, count, length


def regrouped(at: Place, sizes: Sequence[Extent], others: Sequence[Extent]) -> Place:
    """The place in an array of shape `others` of what is at a place of one of shape `sizes`, with
    the same elements in C order. Axes that both have are taken over, so nothing is divided there."""
    place: list[Any] = []
    i = j = 0
    while i < len(sizes) or j < len(others):
        stop, end = _matching(sizes, others, i, j)
        if others[j:end] == sizes[i:stop]:
            place += at[i:stop]
        else:
            place += place_of(flat_place(at[i:stop], sizes[i:stop]), others[j:end])
        i, j = stop, end
    return tuple(place)


def _count(sizes: Sequence[Extent]) -> Extent:
    """How many elements there are, where divisions are known to come out even, too."""
    count = product(sizes)
    return current().assumptions.normal(count) if isinstance(count, Size) else count


def _matching(sizes: Sequence[Extent], others: Sequence[Extent], i: int, j: int) -> tuple[int, int]:
    """The ends of the shortest parts of two shapes, from `i` and `j` on, with equally many elements."""
    for stop in range(i, len(sizes) + 1):
        for end in range(j, len(others) + 1):
            if (stop > i or end > j) and _count(sizes[i:stop]) == _count(others[j:end]):
                if stop > i and end > j or _count(sizes[i:stop]) == 1:
                    return stop, end
    return len(sizes), len(others)
