"""Where in an array the elements lie that a normal index selects: the loop form of indexing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.sizes import Extent, Size
from .arithmetic import converted
from .elements import Place, is_below, number, spread
from .elementwise import where
from .integers import affine, is_exact
from .regions import Index, Slot, block_of, entries
from .slices import clipped
from .value import Value


def source_place(at: Place, sizes: Any, slots: tuple[Any, ...], index: Index) -> Place:
    """The place in an array of shape `sizes` of what is at place `at` of the part selected."""
    block = block_of(index, slots)
    end = block.position + block.rank
    plain, joint = [*at[:block.position], *at[end:]], at[block.position:end]
    place: list[Any] = []
    for entry, axis, count in entries(index, slots):
        if entry is None:
            plain.pop(0)
        elif isinstance(entry, slice):
            step = 1 if entry.step is None else entry.step
            k = plain.pop(0)
            place.append(first_of(entry, sizes[axis], slots) + (k if step == 1 else k * step))
        elif count:
            place.append(_position(entry, sizes[axis], slots, joint))
    return tuple(place)


def _position(entry: Any, size: Extent, slots: tuple[Any, ...], joint: Place) -> Any:
    """A position on an axis that is indexed by an integer, fixed or computed."""
    if isinstance(entry, Slot):
        k = spread(slots[entry.k], joint)
        return k if getattr(slots[entry.k], "from_front", False) else from_front(k, size)
    return entry + size if entry < 0 else entry


def from_front(k: Any, size: Extent) -> Any:
    """A position counted from the front, of one that may be negative."""
    k = _wide(k)
    negative = is_below(k, 0)
    if not isinstance(negative, Value):
        return k + size if negative else k
    return where(negative, k + _wide(number(size)), k)


def _wide(k: Any) -> Any:
    """An integer in 64 bits with a sign: in 8 bits, the last of 300 places would be that of 44."""
    return converted(k, np.dtype(np.int64)) if isinstance(k, Value) and not is_exact(k.atom) else k


def first_of(cut: slice, size: Extent, slots: tuple[Any, ...]) -> Any:
    """The position at which a slice begins."""
    step = 1 if cut.step is None else cut.step
    bound = slots[cut.start.k][()] if isinstance(cut.start, Slot) else cut.start
    if bound is None:
        return 0 if step > 0 else size - 1
    if not any(isinstance(item, (Size, Value)) for item in (bound, size)):
        return slice(bound, None, step).indices(size)[0]                # type: ignore[arg-type]
    low, high = (0, size) if step > 0 else (-1, size - 1)
    position = clipped(affine(bound), size, low, high)
    return clipped_number(bound, size, low, high) if position is None else position


def clipped_number(bound: Any, size: Extent, low: Any, high: Any) -> Any:
    """The position that a bound of unknown sign stands for."""
    k = number(from_front(bound, size))
    return np.minimum(np.maximum(k, low), number(high))
