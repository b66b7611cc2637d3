"""Items of several lengths at an index that the program computes: they lie in one array behind each other.

    neighbours = [[1, 2], [0], [0, 1, 3]]        neighbours = np.array([1, 2, 0, 0, 1, 3])
    for j in neighbours[i]:                      for j in neighbours[start[i]:end[i]]:
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.sizes import Extent
from ...ops.value import Value
from ..calls.applying import apply_op
from ..values import is_array
from .joining import in_arrays
from .recorded import RecordedList, all_parts_of, recorded, spread
from .uneven import grouped

if TYPE_CHECKING:
    from ..reader import Reader

ONE_OF_THEM = "It is one of the items of a list."


def picked_by_length(reader: Reader, items: Sequence[Any], index: Any) -> Any:
    """The item at a computed index of lists, or of arrays that differ in length; None where their items do in type."""
    if items and all(isinstance(item, list) for item in items):
        return _list_at(reader, [reader.contents.get(id(item), item) for item in items], index)
    if items and all(is_array(item) and item.ndim for item in items):
        return _array_at(reader, items, index)
    return None


def _list_at(reader: Reader, items: list[Any], index: Any) -> RecordedList | None:
    if not all(type(item) in (list, RecordedList) for item in items):
        return None
    parts = [part for item in items for part in all_parts_of(reader, item)]
    whole = in_arrays(reader, recorded(reader, tuple(grouped(spread(tuple(parts))))))
    if whole is None:
        return None
    lengths = [item.length(reader) if isinstance(item, RecordedList) else len(item) for item in items]
    made = recorded(reader, (whole.slice(reader, _bounds(reader, lengths, index)),))
    homes = (item.home if isinstance(item, RecordedList) else item for item in items)
    reader.aliases.derive(made.home, tuple(homes), ONE_OF_THEM)
    return made


def _array_at(reader: Reader, items: Sequence[Any], index: Any) -> Value | None:
    types = {(item.dtype, tuple(map(reader.assumptions.normal, item.shape[1:]))) for item in items}
    if len(types) > 1:
        return None
    rows = apply_op(reader, np.concatenate, ([*items],), {})
    bounds = _bounds(reader, [item.shape[0] for item in items], index)
    found = Value(apply_op(reader, operator.getitem, (rows, bounds), {}).atom)
    reader.aliases.derive(found, tuple(items), ONE_OF_THEM)
    return found


def _bounds(reader: Reader, lengths: Sequence[Extent], index: Any) -> slice:
    """Where the item at an index begins and ends among all."""
    ends = [*accumulate(lengths, operator.add, initial=0)]
    begin, end = (apply_op(reader, operator.getitem, (apply_op(reader, np.array, (each,), {}), index), {})
                  for each in (ends[:-1], ends[1:]))
    return slice(begin, end)
