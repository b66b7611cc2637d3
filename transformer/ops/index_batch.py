"""Batches of `get`, `put` and `addat`: the same index with one more axis in front.

Where only the array has the batch axis, a full slice goes before the index. Where parts of the
index have it, they become integer arrays whose first axis is the batch axis, and the array, if it
has one too, is indexed there by the numbers of the lanes. NumPy puts the joint axes of integer
arrays where it likes; `order` brings the axes of its result into the order of the batch axis and
the region as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import NotSupported
from ..core.sizes import Dim, Extent, leaves
from ..core.types import ArrayType
from .regions import Index, Sizes, Slot, block_of, is_mask, rank_of
from .value import Value, call


@dataclass
class Lanes:
    """An index into a batch: its operands, its attributes, and the order of its region's axes."""

    slots: list[Any]
    attrs: dict[str, Any]
    order: tuple[int, ...]

    def ordered(self, part: Any) -> Any:
        """A region as NumPy gives it, with the batch axis in front and the others as they were."""
        return part if _is_sorted(self.order) else np.transpose(part, self.order)

    def placed(self, v: Any, on: bool) -> Any:
        """A value for the region, brought into the order in which NumPy wants it."""
        missing = len(self.order) - rank_of(v)
        if on and missing:
            v = v[(slice(None), *[None] * missing)]
        if _is_sorted(self.order) or rank_of(v) == 0:
            return v
        if not on:
            v = v[(None,) * missing]
        return np.transpose(v, tuple(map(self.order.index, range(len(self.order)))))


def _is_sorted(order: tuple[int, ...]) -> bool:
    return order == tuple(range(len(order)))


def get(lead: Any, x: Any, *slots: Any, **attrs: Any) -> Any:
    from .indexing import Get
    lanes = batched_index(lead[1:], x if lead[0] else None, slots, **attrs)
    return lanes.ordered(Get.applied(x, *lanes.slots, **lanes.attrs))


def put(lead: Any, x: Any, v: Any, *slots: Any, **attrs: Any) -> Any:
    from .indexing import Put
    return _written(Put, lead, x, v, slots, attrs)


def add_at(lead: Any, x: Any, v: Any, *slots: Any, **attrs: Any) -> Any:
    from .indexing import AddAt
    return _written(AddAt, lead, x, v, slots, attrs)


def _written(op: Any, lead: Any, x: Any, v: Any, slots: Any, attrs: dict[str, Any]) -> Any:
    if len(slots) == 1 and lead[2] and is_mask(slots[0]) and rank_of(v) == lead[1]:
        return _where(op, lead, x, v, slots[0], attrs["index"])
    if not lead[0]:
        count = next(o.shape[0] for o, on in zip((v, *slots), lead[1:], strict=True) if on)
        x = np.broadcast_to(x, (count, *x.shape))
    lanes = batched_index(lead[2:], x, slots, **attrs)
    return op.applied(x, lanes.placed(v, lead[1]), *lanes.slots, **lanes.attrs)


def _where(op: Any, lead: Any, x: Any, v: Any, mask: Any, index: Index) -> Any:
    """A number written at, or added where, a mask holds that differs from lane to lane."""
    before = index.index(Slot(0))
    after = len(index) - before - 1
    mask = mask[(slice(None), *[None] * before, ..., *[None] * after)]
    if any(entry != slice(None) for entry in index if isinstance(entry, slice)) or None in index:
        raise masks_differ()
    v = v[(slice(None), *[None] * (rank_of(mask) - 1))] if lead[1] else v
    return np.where(mask, v if op.name == "put" else x + v, x)


def masks_differ() -> NotSupported:
    return NotSupported("a mask that differs between lanes cannot be batched",
                        why="It selects a different number of elements in each lane.",
                        instead="Use np.where with the mask.")


def batched_index(lead: Any, x: Any, slots: Any, index: Index, sizes: Sizes | None = None,
                  distinct: bool = False) -> Lanes:
    """The index into a batch; `x` is None if the array has no batch axis of its own."""
    if any(on and is_mask(slot) for on, slot in zip(lead, slots, strict=True)):
        raise masks_differ()
    elements = [_element(slot) if on else slot for slot, on in zip(slots, lead, strict=True)]
    if any(lead):
        lanes, count = _by_lanes(lead, x, slots, elements, index, sizes)
    else:
        lanes, count = _by_slice(slots, index), x.shape[0]
    if sizes is not None:
        own = (count, *sizes)
        lanes.attrs["sizes"] = tuple(own[lanes.order.index(k)] for k in range(len(own)))
    basic = not any(rank_of(e) and not is_mask(e) for e in elements)
    if x is not None and (distinct or (basic and any(lead))):
        lanes.attrs["distinct"] = True
    return lanes


def _element(slot: Any) -> ArrayType:
    return ArrayType(slot.dtype, tuple(slot.shape[1:]))


def _by_slice(slots: Any, index: Index) -> Lanes:
    block = block_of(index, slots)
    length = sum(entry is None or isinstance(entry, slice) for entry in index) + block.rank + 1
    order = tuple(range(length))
    if not block.inside:
        order = (block.rank, *range(block.rank), *range(block.rank + 1, length))
    return Lanes(list(slots), {"index": (slice(None), *index)}, order)


def _by_lanes(lead: Any, x: Any, slots: Any, elements: Any, index: Index, sizes: Sizes | None
              ) -> tuple[Lanes, Extent]:
    """Joint axes: the batch axis, those of the integer arrays, one for each slice that moves."""
    block = block_of(index, elements)
    moving = [entry for entry in index if isinstance(entry, slice) and _moves(entry, lead)]
    count = next(slot.shape[0] for slot, on in zip(slots, lead, strict=True) if on)
    tail = (None,) * len(moving)
    new = [_widened(slot, on, block.rank, tail) for slot, on in zip(slots, lead, strict=True)]
    entries: list[Any] = []
    if x is not None:
        entries.append(Slot(len(new)))
        new.append(_numbers(slots, count)[(slice(None), *[None] * block.rank, *tail)])
    for place, entry in enumerate(index):
        if isinstance(entry, slice) and _moves(entry, lead):
            extent = _length(index, place, block, sizes)
            own = moving.index(entry)
            new.append(_positions(entry, slots, lead, extent, block.rank, own, tail))
            entry = Slot(len(new) - 1)
        entries.append(entry)
    order = _order(index, tuple(entries), block, new, [_moves(e, lead) for e in index])
    return Lanes(new, {"index": tuple(entries)}, order), count


def _moves(entry: Any, lead: Any) -> bool:
    """Whether an entry is a slice whose bounds differ along the batch."""
    return isinstance(entry, slice) and any(isinstance(bound, Slot) and lead[bound.k]
                                            for bound in (entry.start, entry.stop))


def _widened(slot: Any, on: bool, rank: int, tail: tuple[None, ...]) -> Any:
    """A slot with its batch axis in front and an axis of size 1 for every slice that moves."""
    own = rank_of(slot) - on
    if on:
        return slot[(slice(None), *[None] * (rank - own), ..., *tail)]
    return slot[(..., *tail)] if own and tail else slot


def _numbers(like: Any, count: Extent) -> Any:
    """0, 1, 2, …: emitted where the rule works on values."""
    if any(isinstance(slot, Value) for slot in like):
        return call(np.arange, (count,), {})
    return np.arange(count)                                            # type: ignore[arg-type]


def _length(index: Index, place: int, block: Any, sizes: Sizes | None) -> Extent:
    """The length of a slice that moves, which must be the same in all lanes."""
    axis = sum(entry is None or isinstance(entry, slice) for entry in index[:place])
    axis += block.rank if axis >= block.position else 0
    size = None if sizes is None else sizes[axis]
    if size is None or not all(isinstance(leaf, Dim) for leaf in leaves(size)):
        raise lengths_differ()
    return size


def lengths_differ() -> NotSupported:
    return NotSupported("a slice whose length differs between lanes cannot be batched",
                        why="An array must have the same size in every lane.",
                        instead="Use np.where with a mask, or slices of equal length.")


def _positions(entry: slice, slots: Any, lead: Any, extent: Extent, rank: int, own: int,
               tail: tuple[None, ...]) -> Any:
    """The integers that a slice stands for, in each lane."""
    if not isinstance(entry.start, Slot) or not lead[entry.start.k]:
        raise lengths_differ()
    start = slots[entry.start.k][(slice(None), *[None] * (rank + len(tail)))]
    steps = _numbers(slots, extent)[(*tail[:own], slice(None), *tail[own + 1:])]
    return start + (steps if entry.step is None else steps * entry.step)


def _order(index: Index, entries: Index, block: Any, slots: list[Any], moves: list[bool]
           ) -> tuple[int, ...]:
    """Where in NumPy's region the batch axis and then every axis of the former region are found."""
    new = block_of(entries, tuple(slots))
    plain = [k for k in range(new.rank + sum(e is None or isinstance(e, slice) for e in entries))
             if not new.position <= k < new.position + new.rank]
    gathered = list(range(new.position + 1 + block.rank, new.position + new.rank))
    joint = range(new.position + 1, new.position + 1 + block.rank)
    order: list[int] = []
    for entry, moving in zip(index, moves, strict=True):
        if entry is None or isinstance(entry, slice):
            order.append(gathered.pop(0) if moving else plain.pop(0))
    return (new.position, *order[:block.position], *joint, *order[block.position:])
