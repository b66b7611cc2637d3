"""`np.array`, `np.stack`, `np.concatenate` of a list that loops filled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.value import Value
from .applying import apply_op
from .demand import static
from .recorded import RecordedList, refusal

if TYPE_CHECKING:
    from .reader import Reader


def as_array(reader: Reader, items: RecordedList, dtype: Any = None, **options: Any) -> Value:
    """`np.array` and `np.asarray`."""
    if options:
        raise refusal(reader, f"np.array with {next(iter(options))}")
    array = items.array(reader)
    return array if dtype is None else reader.call(reader.attribute(array, "astype"), (dtype,), {})


def stack(reader: Reader, items: RecordedList, axis: Any = 0) -> Any:
    array = items.array(reader)
    axis = static(reader, axis, "an axis")
    return array if axis == 0 else apply_op(reader, np.moveaxis, (array, 0, axis), {})


def concatenate(reader: Reader, items: RecordedList, axis: Any = 0) -> Any:
    array = items.array(reader)
    if array.ndim < 2 or static(reader, axis, "an axis") != 0:
        raise refusal(reader, "np.concatenate of numbers, or along another axis than the first")
    return apply_op(reader, np.reshape, (array, (array.shape[0] * array.shape[1], *array.shape[2:])), {})


def stack_rows(reader: Reader, items: RecordedList) -> Any:
    """`np.vstack`: numbers and vectors become rows, matrices are put on top of each other."""
    array = items.array(reader)
    if array.ndim == 1:
        return apply_op(reader, np.reshape, (array, (array.shape[0], 1)), {})
    return array if array.ndim == 2 else concatenate(reader, items)


def stack_columns(reader: Reader, items: RecordedList) -> Any:
    """`np.hstack` of numbers and vectors."""
    array = items.array(reader)
    return array if array.ndim == 1 else concatenate(reader, items)


CALLS: dict[Any, Callable[..., Any]] = {
    np.array: as_array,
    np.asarray: as_array,
    np.stack: stack,
    np.concatenate: concatenate,
    np.vstack: stack_rows,
    np.hstack: stack_columns,
}


def stacking_call(function: Any, args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """What a function does with a list that loops filled; None if it is not called with one."""
    if not args or not isinstance(args[0], RecordedList):
        return None
    try:
        return CALLS.get(function)
    except TypeError:  # not hashable
        return None
