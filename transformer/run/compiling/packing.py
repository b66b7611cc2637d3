"""The records that calls pass for arrays: for a contiguous array its address and sizes, from which the rest follows.

numba's own form of an array has twice as many numbers, and a kernel writes a record for each of its many calls.

This module imports numba, and is imported when something is compiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numba.core import types
from numba.np.arrayobj import make_array, populate_array

from .borrowed import in_one_piece, parts_of


def packed(context: Any, builder: Any, kinds: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """The numbers and addresses that stand for values of these types."""
    found: list[Any] = []
    for kind, value in zip(kinds, values, strict=True):
        if is_in_one_piece(kind):
            data, sizes, _ = parts_of(context, builder, kind, value)
            found += [data, *sizes]
        else:
            found.append(value)
    return found


def unpacked(context: Any, builder: Any, kinds: Sequence[Any], given: Sequence[Any]) -> Iterator[Any]:
    """The values again. Their memory belongs to who made the record."""
    waiting = iter(given)
    for kind in kinds:
        first = next(waiting)
        yield _array(context, builder, kind, first, [next(waiting) for _ in range(kind.ndim)]) \
            if is_in_one_piece(kind) else first


def is_in_one_piece(kind: Any) -> bool:
    array: Any = types.Array
    return isinstance(kind, array) and kind.layout in "CF" and kind.ndim > 0


def _array(context: Any, builder: Any, kind: Any, data: Any, sizes: list[Any]) -> Any:
    made = make_array(kind)(context, builder)
    bytes_each = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    populate_array(made, data=data, shape=sizes, strides=in_one_piece(builder, kind, sizes, bytes_each),
                   itemsize=bytes_each, meminfo=None)
    return made._getvalue()
