"""The keys of items in arrays, a column for each number of a key, and the places of items in the order of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import NotSupported
from ...ops.value import Value
from ..raising.demand import static
from .joining import in_arrays
from .recorded import Part

if TYPE_CHECKING:
    from ..reader import Reader


def keys_of(reader: Reader, items: Any, key: Any) -> Part:
    from ..library import ordering
    from ..library.calls import call_library

    keys = in_arrays(reader, reader.usable(call_library(reader, ordering.keys_of, (items, key), {})))
    if keys is None:
        raise NotSupported("sorting by keys of different types is not supported", reader.builder.origin,
                           instead="Convert the keys to one type.")
    return keys


def order_of(reader: Reader, keys: Part, reverse: Any) -> Any:
    """The places of items in the order of their keys; equal ones stay in theirs."""
    from ..library import ordering
    from ..library.calls import call_library

    return call_library(reader, ordering.order_of, (_columns(keys), bool(static(reader, reverse, "`reverse`"))), {})


def _columns(keys: Part) -> list[Value]:
    columns = [Value(array.atom) for array in keys.arrays]
    if any(column.ndim != 1 for column in columns):
        raise ValueError("The truth value of an array with more than one element is ambiguous. "
                         "Use a.any() or a.all()")
    return columns


def place_of_extreme(reader: Reader, keys: Part, is_least: bool) -> Any:
    """The place of the first item whose key is the least or greatest."""
    from ..library import ordering
    from ..library.calls import call_library

    if len(keys.arrays) > 1:
        return call_library(reader, ordering.place_of_extreme, (_columns(keys), not is_least), {})
    return reader.call(np.argmin if is_least else np.argmax, (Value(keys.arrays[0].atom),), {})
