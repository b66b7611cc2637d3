"""Parts of arrays, at places that are known beforehand and at computed ones, and arrays with such parts replaced.

Computed places are moved so that the part is inside, and counted from the end where they are negative, as in JAX.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..taking import taking_arrays
from .strict import check_fits


def _fitting(start: Any, length: Any, size: Any) -> Any:
    """Where a part of this size begins so that it is inside; a negative start is counted from the end."""
    return np.clip(start + length if start < 0 else start, 0, length - size)


def _check_part(name: str, shape: Sequence[Any], start_indices: Sequence[Any], sizes: Sequence[Any]) -> None:
    """Raises unless parts of these sizes are in an array of this shape."""
    if len(start_indices) != len(shape) or len(sizes) != len(shape):
        raise TypeError(f"lax.{name} expects a start and a size for each axis: {len(shape)}, got "
                        f"{len(start_indices)} and {len(sizes)}")
    for size, length in zip(sizes, shape):
        if size < 0 or size > length:
            raise TypeError(f"lax.{name}: size {size} exceeds the axis of length {length}")


def _places(shape: Sequence[Any], start_indices: Sequence[Any], sizes: Sequence[Any]) -> Any:
    """The index of a part, as arrays: its size does not rest on where it begins."""
    ranges = []
    for start, length, size in zip(start_indices, shape, sizes):
        ranges.append(_fitting(start, length, size) + np.arange(size))
    return np.ix_(*ranges)


def dynamic_slice(operand: Any, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> Any:
    """The part of an array with these sizes that begins at `start_indices`, which are moved so that it fits.
    Negative ones are counted from the end.

    >>> dynamic_slice(np.arange(6), (5,), (3,))
    array([3, 4, 5])
    """
    _check_part("dynamic_slice", operand.shape, start_indices, slice_sizes)
    return operand[_places(operand.shape, start_indices, slice_sizes)]


@taking_arrays
def dynamic_update_slice(operand: Any, update: Any, start_indices: Sequence[Any]) -> Any:
    """A copy of an array in which `update` stands at `start_indices`, which are moved so that it fits.

    >>> dynamic_update_slice(np.zeros(4), np.ones(2), (1,))
    array([0., 1., 1., 0.])
    """
    _check_part("dynamic_update_slice", operand.shape, start_indices, update.shape)
    check_fits("dynamic_update_slice", operand, update)
    result = operand.copy()
    result[_places(operand.shape, start_indices, update.shape)] = update
    return result


def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: int, axis: int = 0) -> Any:
    """The `slice_size` rows along an axis from `start_index` on, which is moved so that they are inside.

    >>> dynamic_slice_in_dim(np.arange(6), 5, 3)
    array([3, 4, 5])
    """
    if slice_size < 0 or slice_size > operand.shape[axis]:
        raise TypeError(f"lax.dynamic_slice_in_dim: size {slice_size} exceeds the axis of length "
                        f"{operand.shape[axis]}")
    places = _fitting(start_index, operand.shape[axis], slice_size) + np.arange(slice_size)
    return np.take(operand, places, axis=axis)


def dynamic_index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Any:
    """The row at a place along an axis, which is moved inside. The axis stays, with the length 1, if `keepdims`.

    >>> dynamic_index_in_dim(np.arange(6), 9)
    array([5])
    """
    row = np.take(operand, _fitting(index, operand.shape[axis], 1), axis=axis)
    return np.expand_dims(row, axis) if keepdims else row


@taking_arrays
def dynamic_update_slice_in_dim(operand: Any, update: Any, start_index: Any, axis: int) -> Any:
    """A copy of an array in which `update` stands along an axis from `start_index` on, which is moved so that it fits.

    >>> dynamic_update_slice_in_dim(np.zeros(4), np.ones(2), 1, axis=0)
    array([0., 1., 1., 0.])
    """
    starts = [0] * operand.ndim
    starts[axis] = start_index
    return dynamic_update_slice(operand, update, starts)


@taking_arrays
def dynamic_update_index_in_dim(operand: Any, update: Any, index: Any, axis: int) -> Any:
    """A copy of an array in which `update` stands at a place along an axis; it has that axis with the length 1, or not.

    >>> dynamic_update_index_in_dim(np.zeros((2, 2)), np.ones(2), 1, axis=0)
    array([[0., 0.],
           [1., 1.]])
    """
    check_fits("dynamic_update_index_in_dim", operand, update)
    update = np.asarray(update).astype(operand.dtype)
    row = np.expand_dims(update, axis) if update.ndim < operand.ndim else update
    return dynamic_update_slice_in_dim(operand, row, index, axis)


def slice(operand: Any, start_indices: Sequence[int], limit_indices: Sequence[int],
          strides: Sequence[int] | None = None) -> Any:
    """The part of an array from a start to before a limit, for each axis.

    >>> slice(np.arange(12).reshape(3, 4), (0, 1), (2, 4), (1, 2))
    array([[1, 3],
           [5, 7]])
    """
    if len(start_indices) != operand.ndim or len(limit_indices) != operand.ndim:
        raise TypeError(f"lax.slice expects a start and a limit for each axis: {operand.ndim}, got "
                        f"{len(start_indices)} and {len(limit_indices)}")
    parts = []
    for axis, length in enumerate(operand.shape):
        start, limit = start_indices[axis], limit_indices[axis]
        if start < 0 or start > limit or limit > length:
            raise TypeError(f"lax.slice from {start} to {limit} is out of bounds for an axis of length {length}")
        parts.append(builtins.slice(start, limit, 1 if strides is None else strides[axis]))
    return operand[tuple(parts)]


def slice_in_dim(operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0) -> Any:
    """The part from a start to before a limit along one axis, counted from the end where they are negative.

    >>> slice_in_dim(np.arange(6), 1, -1, 2)
    array([1, 3])
    """
    before = (builtins.slice(None),) * (axis % operand.ndim)
    return operand[(*before, builtins.slice(start_index, limit_index, stride))]


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """The row at a place along an axis. The axis stays, with the length 1, if `keepdims`.

    >>> index_in_dim(np.arange(6).reshape(2, 3), -1, axis=1)
    array([[2],
           [5]])
    """
    row = np.take(operand, index, axis=axis)
    return np.expand_dims(row, axis) if keepdims else row
