"""`np.array`, `np.stack`, `np.concatenate` of a list that loops filled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ... import tree
from ...core.equations import guardable
from ...core.errors import raised_as
from ...core.sizes import Size
from ...ops.value import Value
from ..branches.structures import build
from ..calls.applying import apply_op
from ..library.calls import call_library
from ..library.refusing import refuse_none
from ..raising.demand import static
from .list_demands import refusal
from .recorded import Part, RecordedList

if TYPE_CHECKING:
    from ..reader import Reader


def as_array(reader: Reader, items: RecordedList, dtype: Any = None, **options: Any) -> Value:
    """`np.array` and `np.asarray`."""
    array = items.array(reader)
    if options:
        return reader.call(np.array, (array, dtype), options)
    return array if dtype is None else reader.call(reader.attribute(array, "astype"), (dtype,), {})


def some(reader: Reader, items: RecordedList, deed: str = "concatenate") -> Value:
    """The items as one array; of none NumPy makes no array. Where the shapes of a call tell how many there are, a guard
    says so, else the program tests it."""
    length = items.length(reader)
    if isinstance(length, Size) and not guardable(length):
        if not reader.assumptions.certainly_at_least(length, 1):
            call_library(reader, refuse_none, (length, deed), {})
            reader.assumptions.found_at_least(length, 1)
    elif not reader.assumptions.at_least(length, 1):
        raise raised_as(ValueError, f"need at least one array to {deed}", reader.builder.origin)
    return items.array(reader)


def stack(reader: Reader, items: RecordedList, axis: Any = 0) -> Any:
    array = some(reader, items, "stack")
    axis = static(reader, axis, "an axis")
    return array if axis == 0 else apply_op(reader, np.moveaxis, (array, 0, axis), {})


def concatenate(reader: Reader, items: RecordedList, axis: Any = 0) -> Any:
    array = some(reader, items)
    if array.ndim < 2:
        raise refusal(reader, "np.concatenate of numbers")
    axis = static(reader, axis, "an axis")
    if axis is None:
        return apply_op(reader, np.ravel, (array,), {})
    return joined(reader, array, normalize_axis_index(axis, array.ndim - 1))


def joined(reader: Reader, array: Value, axis: int) -> Any:
    """The items, which lie along the first axis of an array, one behind the other along one of their own axes."""
    turned = apply_op(reader, np.moveaxis, (array, 0, axis), {}) if axis else array
    sizes = turned.shape
    return apply_op(reader, np.reshape, (turned, (*sizes[:axis], sizes[axis] * sizes[axis + 1], *sizes[axis + 2:])), {})


def stack_rows(reader: Reader, items: RecordedList) -> Any:
    """`np.vstack`: numbers and vectors become rows, matrices are put on top of each other."""
    array = some(reader, items)
    if array.ndim == 1:
        return apply_op(reader, np.reshape, (array, (array.shape[0], 1)), {})
    return array if array.ndim == 2 else joined(reader, array, 0)


def stack_columns(reader: Reader, items: RecordedList) -> Any:
    """`np.hstack`: numbers and vectors one behind the other, matrices side by side."""
    array = some(reader, items)
    return array if array.ndim == 1 else joined(reader, array, 0 if array.ndim == 2 else 1)


def columns(reader: Reader, items: RecordedList) -> Any:
    """`np.column_stack`: numbers and vectors become columns, matrices are put side by side."""
    array = some(reader, items)
    if array.ndim > 2:
        return joined(reader, array, 1)
    return apply_op(reader, np.transpose, (array,), {}) if array.ndim == 2 else apply_op(
        reader, np.reshape, (array, (1, array.shape[0])), {})


def layers(reader: Reader, items: RecordedList) -> Any:
    """`np.dstack`: numbers, vectors and matrices become layers along a third axis."""
    array = some(reader, items)
    if array.ndim > 3:
        return joined(reader, array, 2)
    turned = apply_op(reader, np.moveaxis, (array, 0, -1), {})
    return turned if array.ndim == 3 else apply_op(reader, np.reshape, (turned, (1,) * (3 - array.ndim) + turned.shape),
                                                  {})


def trees(reader: Reader, items: Any, if_empty: str) -> Any:
    """Pytrees of a list, recorded or not, as one pytree of arrays; of none it is an error with a text."""
    items = reader.usable(items)
    if not isinstance(items, RecordedList):
        if not items:
            raise raised_as(ValueError, if_empty, reader.builder.origin)
        return tree.map(lambda *leaves: apply_op(reader, np.stack, (list(leaves),), {}), items[0], *items[1:])
    parts = [part for part in items.all_parts(reader) if part != ()]
    if len(parts) != 1 or not isinstance(parts[0], Part):
        raise refusal(reader, "a pytree of a list filled by several loops")
    return build(reader, parts[0].template, iter(parts[0].arrays), str)


CALLS: dict[Any, Callable[..., Any]] = {
    np.array: as_array,
    np.asarray: as_array,
    np.stack: stack,
    np.concatenate: concatenate,
    np.vstack: stack_rows,
    np.hstack: stack_columns,
    np.column_stack: columns,
    np.dstack: layers,
}


def stacking_call(function: Any, args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """What a function does with a list that loops filled; None if it is not called with one."""
    if not args or not isinstance(args[0], RecordedList):
        return None
    try:
        return CALLS.get(function)
    except TypeError:  # not hashable
        return None
