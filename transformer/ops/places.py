"""From an index as Python has it to a normal one: what the brackets of ``x[…]`` may hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.equations import guardable
from ..core.errors import ShapeError
from ..core.grammar import Const
from ..core.sizes import Extent, Size, Unknown, leaves
from ..core.walk import atom_of_size
from .arguments import not_known
from .distinct import are_distinct
from .elementwise import size_text
from .integers import affine, as_size, count_of, shared
from .regions import BadIndex, Index, Sizes, Slot, is_mask, region
from .slices import is_negative, length
from .value import Value, call

NOT_AN_INDEX = ("only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer "
                "or boolean arrays are valid indices")


@dataclass(frozen=True)
class Picked:
    """An array in an index. `count` is how many elements a mask picks; `distinct` says that
    integers certainly pick no element twice."""

    value: Value
    count: Extent | None = None
    distinct: bool = False


class Place:
    """The part of `x` that an index means: the normal index, its operands, the sizes of the part.

    `attrs` is what `get`, `put` and `addat` are told: ``index``; ``sizes`` where they rest on more
    than the types of the operands; ``distinct`` if integer arrays pick no element twice.
    """

    def __init__(self, x: Value, index: Any) -> None:
        self.shape = x.shape
        self.operands: list[Value] = []
        self.open_sizes: dict[int, Extent] = {}
        items = [canonical(item) for item in (index if isinstance(index, tuple) else (index,))]
        items = whole(items, x.ndim)
        self.index: Index = tuple(self._entries(items))
        self.sizes: Sizes = region(self.shape, self.index, tuple(self.operands), self.open_sizes)
        self.attrs: dict[str, Any] = {"index": self.index}
        if self.open_sizes:
            self.attrs["sizes"] = self.sizes
        arrays = [item for item in items if isinstance(item, Picked)]
        if pick_distinct(arrays):
            self.attrs["distinct"] = True

    def _entries(self, items: list[Any]) -> Any:
        axis = 0
        for place, item in enumerate(items):
            yield self._entry(item, axis, place)
            axis += axes_of(item)

    def _entry(self, item: Any, axis: int, place: int) -> Any:
        if item is None:
            return None
        if isinstance(item, Picked):
            if item.count is not None:
                self.open_sizes[place] = item.count
            return self._slot(item.value)
        if isinstance(item, slice):
            return self._slice(item, self.shape[axis], place)
        if isinstance(item, Value):
            return self._slot(item)
        inside = check_position(item, self.shape[axis], axis)
        return item if inside and isinstance(item, int) else self._slot(Value(atom_of_size(item)))

    def _slot(self, operand: Value) -> Slot:
        self.operands.append(operand)
        return Slot(len(self.operands) - 1)

    def _slice(self, item: slice, size: Extent, place: int) -> slice:
        start, stop = (b if b is None else affine(b) for b in (item.start, item.stop))
        step = 1 if item.step is None else item.step
        if step == 1 and start in (None, 0) and (stop is None or isinstance(size, Size) and stop == size):
            return slice(None)
        entry = slice(self._bound(item.start, start), self._bound(item.stop, stop), item.step)
        if not any(isinstance(s, Size) for s in (size, start, stop)) or start is stop is None:
            return entry
        taken = length(size, start, stop, step)
        self.open_sizes[place] = self._length_of(size, entry) if taken is None else current().assumptions.normal(taken)
        return entry

    def _bound(self, given: Any, bound: Extent | None) -> Any:
        """A bound in the index: an integer that the program computes goes by its own variable."""
        computed = bound is not None and any(isinstance(leaf, Unknown) for leaf in leaves(bound))
        if not computed:
            return bound
        return self._slot(given if isinstance(given, Value) else Value(atom_of_size(given)))

    def _length_of(self, size: Extent, entry: slice) -> Extent:
        """The length of a slice about whose bounds too little is known, computed by the program."""
        from .searching import SliceLength
        bounds = [Value(atom_of_size(size))]

        def own(slot: Slot) -> Slot:
            bounds.append(self.operands[slot.k])
            return Slot(len(bounds) - 2)

        start, stop = (own(b) if isinstance(b, Slot) else b for b in (entry.start, entry.stop))
        cut = slice(start, stop, entry.step)
        return as_size(shared(SliceLength, tuple(bounds), {"cut": cut}), size)


def axes_of(item: Any) -> int:
    """How many axes of the array a canonical item of an index stands for."""
    if item is None:
        return 0
    return item.value.ndim if isinstance(item, Picked) and is_mask(item.value) else 1


def whole(items: list[Any], rank: int) -> list[Any]:
    """The items with the ellipsis written out, and full slices for axes that are not mentioned."""
    dots = [k for k, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise BadIndex("an index can only have a single ellipsis ('...')")
    used = sum(axes_of(item) for item in items if item is not Ellipsis)
    if used > rank:
        if rank == 0:
            raise BadIndex("invalid index to scalar variable.")
        raise BadIndex(f"too many indices for array: array is {rank}-dimensional, but {used} were "
                       "indexed")
    place = dots[0] if dots else len(items)
    return [*items[:place], *[slice(None)] * (rank - used), *items[place + 1:]]


def canonical(item: Any) -> Any:
    """One item of an index: int, Size, `Value` (an integer), `Picked`, slice, None or Ellipsis."""
    if item is None or item is Ellipsis:
        return item
    if isinstance(item, slice):
        return _slice(item)
    if isinstance(item, (bool, np.bool_)):
        return Picked(Value(Const(bool(item))), int(item))
    if isinstance(item, (int, np.integer, Size)):
        return affine(item)
    if isinstance(item, Value):
        return _value(item)
    if isinstance(item, (list, tuple, range)):
        return _literal(list(item))
    raise BadIndex(NOT_AN_INDEX)


def _value(item: Value) -> Any:
    if item.known is not None:
        return canonical(item.known)
    if item.ndim == 0 and isinstance(item.atom, (Const, Size)):
        return canonical(item.atom.value if isinstance(item.atom, Const) else item.atom)
    if item.dtype.kind == "b":
        return Picked(item, count_of(item))
    if item.dtype.kind not in "iu":
        raise BadIndex("arrays used as indices must be of integer (or boolean) type" if item.ndim
                       else NOT_AN_INDEX)
    return Picked(item, distinct=item.ndim == 1 and are_distinct(item.atom)) if item.ndim else item


def pick_distinct(arrays: list[Picked]) -> bool:
    """Whether arrays of an index together certainly pick no element twice: one of them does not, and the others
    are as long."""
    if len(arrays) == 1:
        return arrays[0].distinct
    lines = all(array.value.ndim == 1 and array.count is None for array in arrays)
    sizes = {array.value.shape for array in arrays}
    return lines and len(sizes) == 1 and any(array.distinct for array in arrays)


def _literal(items: list[Any]) -> Picked:
    """A list in an index: an array of integers or truth values."""
    if not items:
        return Picked(call(np.zeros, (0,), {"dtype": np.dtype(np.int64)}), distinct=True)
    array = call(np.array, (items,), {})
    if array.dtype.kind not in "iub":
        raise BadIndex("arrays used as indices must be of integer (or boolean) type")
    fixed = all(isinstance(item, (bool, np.bool_, int, np.integer)) for item in items)
    if is_mask(array):
        return Picked(array, sum(map(bool, items)) if fixed else count_of(array))
    return Picked(array, distinct=fixed and _is_distinct(items))


def _is_distinct(positions: list[int]) -> bool:
    """Whether positions are certainly different elements: -1 may be any of the others."""
    one_sided = min(positions) >= 0 or max(positions) < 0
    return one_sided and len(set(positions)) == len(positions)


def _slice(item: slice) -> slice:
    start, stop = (bound if bound is None else _bound(bound) for bound in (item.start, item.stop))
    step = None if item.step is None else affine(_bound(item.step))
    if isinstance(step, Size):
        raise not_known(Value(atom_of_size(step)),
                        "the step of a slice must be known when the function is transformed",
                        "it decides in which direction the elements are counted",
                        "write the step as a number")
    if step == 0:
        raise ShapeError("slice step cannot be zero")
    return slice(start, stop, step)


def _bound(bound: Any) -> Any:
    if isinstance(bound, (int, np.integer, Size)):
        return affine(bound)
    if isinstance(bound, Value) and bound.ndim == 0 and bound.dtype.kind in "iu":
        return bound
    raise BadIndex("slice indices must be integers or None or have an __index__ method")


def check_position(position: Extent, size: Extent, axis: int) -> bool:
    """Whether a position is certain (or guarded) to be inside; raises where it is outside."""
    at_least = current().assumptions.at_least
    negative = is_negative(position)
    if negative is not None:
        if at_least(position + size, 0) if negative else at_least(size - 1, position):
            return True
        if guardable(position) and guardable(size):
            raise BadIndex(f"index {size_text(position)} is out of bounds for axis {axis} "
                           f"with size {size_text(size)}")
    return False
