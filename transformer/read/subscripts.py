"""Subscripts: reading an item or a part of arrays, containers and objects."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ..core.errors import as_raised
from ..core.sizes import Size
from ..ops.value import Value
from .branches.bound import certainly_bound
from .branches.or_none import needed
from .calls.applying import apply_op, shared, viewed
from .flat import Flat
from .kinds import type_name
from .library.grids import GRIDS
from .lists.picking import picked
from .lists.recorded import RecordedList, Recording
from .loops.ranges import item_of_range
from .objects.containers import item
from .objects.keys import KEY, hashed
from .raising.asked_places import note_place
from .raising.demand import need, static
from .raising.errors import as_user_error
from .rank_zero import as_array
from .strides import part_in_steps, with_places
from .values import UNKNOWN, DynamicRange, Text, View, is_array, known_of, stripped

if TYPE_CHECKING:
    from .reader import Reader


def read_subscript(reader: Reader, node: Any) -> Any:
    item = subscript(reader, reader.evaluate_owner(node.value), reader.evaluate(node.slice))
    return certainly_bound(reader, item)


def read_slice(reader: Reader, node: Any) -> Any:
    parts = [None if part is None else reader.evaluate(part) for part in (node.lower, node.upper, node.step)]
    return slice(*parts)


def _is_plain(index: Any) -> bool:
    """Whether a number or the bounds of a slice are known."""
    parts = [index.start, index.stop, index.step] if isinstance(index, slice) else [index]
    return not any(known_of(part) is UNKNOWN or isinstance(part, Size) for part in parts)


def is_mask_of_number(index: Any) -> bool:
    """Whether an index is a truth value: it takes all of an array, as one of what there is one of, or nothing."""
    return isinstance(index, Value) and index.dtype.kind == "b" and index.ndim == 0


def subscript(reader: Reader, value: Any, index: Any) -> Any:
    """`value[index]`."""
    from .library.calls import call_library

    value, index = needed(reader, value), needed(reader, index)
    if isinstance(value, View) and value.by_elements:       # `z.real[k]` is `z[k].real`: a derivative is of one element
        part = subscript(reader, value.base, index)
        return shared(reader, value.extract(Value(part.atom)), [part] if is_array(part) else [])
    if isinstance(value, Value):
        if is_mask_of_number(index):
            value, index = (apply_op(reader, np.reshape, (each, (1, *each.shape)), {}) for each in (value, index))
        places = with_places(reader, value, index)
        if places is not index:
            return part_in_steps(reader, value, places)
        part = apply_op(reader, operator.getitem, (value, index), {})
        note_place(reader, part)
        if isinstance(part, Value) and not part.ndim and _has_ellipsis(index):
            part = viewed(reader, as_array(part), [value])
        return apply_op(reader, np.copy, (part,), {}) if isinstance(value, Flat) and is_array(part) else part
    index = place_among(reader, value, index)
    if isinstance(value, (RecordedList, Recording)):
        return value.item(reader, index)
    if isinstance(value, DynamicRange) or isinstance(value, range) and not _is_plain(index):
        return item_of_range(reader, value, index)
    if value is np.s_ or value is np.index_exp:
        return value[index]
    own = getattr(type(value), "__transformer_item__", None)
    if own is not None:
        return own(value, reader, index)
    if id(value) in GRIDS:
        return call_library(reader, GRIDS[id(value)], (index,), {})
    user = getattr(type(value), "__getitem__", None)
    if hasattr(user, "__code__"):
        return reader.call(user, (value, index), {})
    if isinstance(value, (list, tuple, dict, str, bytes, range)):
        return of_container(reader, value, index)
    if isinstance(value, (Size, Text)) or known_of(value) is UNKNOWN:
        if isinstance(value, Text):
            return need(reader, value, "a string that is indexed")
        raise as_raised(TypeError(f"'{type_name(value)}' object is not subscriptable"), reader.builder.origin)
    return _of_object(reader, value, index)


def place_among(reader: Reader, items: Any, index: Any) -> Any:
    """The index of an item: a truth value of Python's is an integer there."""
    is_truth = isinstance(index, Value) and not index.ndim and index.dtype.kind == "b" and index.type.weak
    is_sequence = isinstance(items, (list, tuple, str, RecordedList, Recording))
    return apply_op(reader, int, (index,), {}) if is_truth and is_sequence else index


def _has_ellipsis(index: Any) -> bool:
    """Whether an index gives an array even where no axes are left."""
    return any(part is ... for part in (index if isinstance(index, tuple) else (index,)))


def of_container(reader: Reader, value: Any, index: Any) -> Any:
    what = KEY if isinstance(value, dict) else f"the index of a {type(value).__name__}"
    if isinstance(index, slice):
        index = slice(*(static(reader, part, what) for part in (index.start, index.stop, index.step)))
        if isinstance(value, list):
            return reader.own([item(reader, value, k) for k in range(len(value))][index])
    elif isinstance(value, dict):
        return item(reader, value, hashed(reader, index, what))
    elif isinstance(value, list | tuple):
        return picked(reader, value, index, what)
    else:
        index = static(reader, index, what)
    return item(reader, value, stripped(index))


def _of_object(reader: Reader, value: Any, index: Any) -> Any:
    """Objects whose items are made by Python itself, such as type hints."""
    if isinstance(value, type):
        item: Any = value
        return item[index]
    if not hasattr(value, "__getitem__"):
        instead = "Functions are called with round brackets: f(x)." if callable(value) else None
        raise as_raised(TypeError(f"'{type_name(value)}' object is not subscriptable"), reader.builder.origin, instead)
    with as_user_error(reader):
        return reader.outside.item(value, static(reader, index, "this index"))


EXPRESSIONS = {gast.Subscript: read_subscript, gast.Slice: read_slice}
