"""Subscripts: reading an item or a part of arrays, containers and objects."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ..core.errors import BadArgument
from ..core.sizes import Size
from ..ops.value import Value
from .applying import apply_op
from .containers import item
from .demand import need, static
from .errors import as_user_error
from .iteration import item_of_range
from .recorded import RecordedList, Recording
from .values import UNKNOWN, DynamicRange, Text, contained, has_dynamic, known_of, stripped

if TYPE_CHECKING:
    from .reader import Reader


def read_subscript(reader: Reader, node: Any) -> Any:
    return subscript(reader, reader.evaluate(node.value), reader.evaluate(node.slice))


def read_slice(reader: Reader, node: Any) -> Any:
    parts = [None if part is None else reader.evaluate(part) for part in (node.lower, node.upper, node.step)]
    return slice(*parts)


def subscript(reader: Reader, value: Any, index: Any) -> Any:
    """`value[index]`."""
    if isinstance(value, Value):
        return apply_op(reader, operator.getitem, (value, index), {})
    if isinstance(value, (RecordedList, Recording)):
        return value.item(reader, index)
    if isinstance(value, DynamicRange) or isinstance(value, range) and known_of(index) is UNKNOWN:
        return item_of_range(reader, value, index)
    if value is np.s_ or value is np.index_exp:
        return value[index]
    user = getattr(type(value), "__getitem__", None)
    if hasattr(user, "__code__"):
        return reader.call(user, (value, index), {})
    if isinstance(value, (list, tuple, dict, str, bytes, range)):
        return _of_container(reader, value, index)
    if isinstance(value, (Size, Text)) or known_of(value) is UNKNOWN:
        raise BadArgument(f"'{type(value).__name__}' object is not subscriptable", reader.builder.origin)
    return _of_object(reader, value, index)


def _of_container(reader: Reader, value: Any, index: Any) -> Any:
    what = "a key of a dictionary" if isinstance(value, dict) else f"the index of a {type(value).__name__}"
    if isinstance(index, slice):
        index = slice(*(static(reader, part, what) for part in (index.start, index.stop, index.step)))
        if isinstance(value, list):
            return reader.own([item(reader, value, k) for k in range(len(value))][index])
    elif isinstance(index, tuple) and has_dynamic(index):
        need(reader, next(part for part in contained(index) if known_of(part) is UNKNOWN), what)
    else:
        index = static(reader, index, what, INSTEAD if isinstance(value, (list, tuple)) else None)
    return item(reader, value, stripped(index))


INSTEAD = "Make one array of the items first, np.array(items), if they have one type and shape."


def _of_object(reader: Reader, value: Any, index: Any) -> Any:
    """Objects whose items are made by Python itself, such as type hints."""
    if isinstance(value, type):
        item: Any = value
        return item[index]
    with as_user_error(reader):
        return reader.outside.item(value, static(reader, index, "this index"))


EXPRESSIONS = {gast.Subscript: read_subscript, gast.Slice: read_slice}
