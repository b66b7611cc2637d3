"""Arrays in other shapes and orders, put together, cut apart, and made of one number or of counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..taking import taking_arrays
from .strict import check_fits


def reshape(operand: Any, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None) -> Any:
    """The same elements in another shape; with `dimensions`, the axes are put in that order before."""
    return (operand if dimensions is None else np.transpose(operand, dimensions)).reshape(new_sizes)


def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
    """An array with axes of length 1, which have these places in the result.

    >>> expand_dims(np.zeros((2, 3)), (0, 2)).shape
    (1, 2, 1, 3)
    """
    return np.expand_dims(array, tuple(dimensions))


def squeeze(array: Any, dimensions: Sequence[int]) -> Any:
    """An array without these axes, which have the length 1."""
    return np.squeeze(array, tuple(dimensions))


def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """An array with its axes in another order."""
    return np.transpose(operand, tuple(permutation))


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """An array with the order of its elements turned around along these axes.

    >>> rev(np.arange(3), (0,))
    array([2, 1, 0])
    """
    return np.flip(operand, tuple(dimensions))


def broadcast(operand: Any, sizes: Sequence[int]) -> Any:
    """An array with further axes of these sizes in front, along which it is the same.

    >>> broadcast(np.arange(2), (3,)).shape
    (3, 2)
    """
    return np.broadcast_to(operand, tuple(sizes) + np.shape(operand))


def broadcast_in_dim(operand: Any, shape: Sequence[int], broadcast_dimensions: Sequence[int]) -> Any:
    """An array in a shape, of which `broadcast_dimensions` says which axes are its own.

    >>> broadcast_in_dim(np.arange(2), (2, 3), (0,))
    array([[0, 0, 0],
           [1, 1, 1]])
    """
    if len(broadcast_dimensions) != np.ndim(operand):
        raise TypeError(f"lax.broadcast_in_dim expects one dimension per axis: {np.ndim(operand)}, got "
                        f"{len(broadcast_dimensions)}")
    own = [1] * len(shape)
    for axis, size in zip(broadcast_dimensions, np.shape(operand)):
        own[axis] = size
    places = [axis % len(shape) for axis in broadcast_dimensions]
    if places != sorted(places):
        operand = np.transpose(operand, [places.index(place) for place in sorted(places)])
    return np.broadcast_to(np.reshape(operand, own), tuple(shape))


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """An array with its axes from a start to before a stop made one.

    >>> collapse(np.zeros((2, 3, 4)), 0, 2).shape
    (6, 4)
    """
    first = start_dimension % operand.ndim
    last = operand.ndim if stop_dimension in (None, operand.ndim) else stop_dimension % operand.ndim
    shape = operand.shape
    return operand.reshape(shape[:first] + (math.prod(shape[first:last]),) + shape[last:])


def concatenate(operands: Sequence[Any], dimension: int) -> Any:
    """Arrays one after the other along an axis."""
    return np.concatenate(operands, axis=dimension)


def stack(operands: Sequence[Any], axis: int = 0) -> Any:
    """Arrays of one shape along a new axis."""
    return np.stack(operands, axis=axis)


def unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
    """The rows of an array along an axis, as a tuple."""
    return tuple(np.moveaxis(x, axis, 0))


def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> list[Any]:
    """Parts of these sizes, which together are the whole axis.

    >>> split(np.arange(5), (2, 3))
    [array([0, 1]), array([2, 3, 4])]
    """
    if min(sizes) < 0 or sum(sizes) != operand.shape[axis]:
        raise ValueError(f"lax.split into {tuple(sizes)}, with sum {sum(sizes)}, of an axis of length "
                         f"{operand.shape[axis]}")
    ends: list[int] = []
    for size in sizes[:-1]:
        ends.append(size + (ends[-1] if ends else 0))
    return np.split(operand, ends, axis=axis)


def tile(operand: Any, reps: Sequence[int]) -> Any:
    """An array repeated along each of its axes."""
    return np.tile(operand, tuple(reps))


@taking_arrays
def pad(operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]) -> Any:
    """An array with as many values in front, behind, and between elements, as (low, high, interior) says for each axis.
    Where low and high are negative, so many elements are left out.

    >>> pad(np.array([1.0, 2.0]), 0.0, [(1, -1, 2)])
    array([0., 1., 0., 0.])
    """
    check_fits("pad", operand, padding_value)
    gaps = [interior for _, _, interior in padding_config]
    result = _spread(operand, padding_value, gaps) if any(gaps) else operand
    around = [(max(low, 0), max(high, 0)) for low, high, _ in padding_config]
    if any(low or high for low, high in around):
        result = np.pad(result, around, constant_values=padding_value)
    kept = []
    for (low, high, _), size in zip(padding_config, result.shape, strict=True):
        kept.append(slice(max(-low, 0), size - max(-high, 0)))
    return result[tuple(kept)]


def _spread(operand: Any, value: Any, gaps: Sequence[int]) -> Any:
    """An array with so many values between its elements along each axis."""
    lengths = [max(size + (size - 1) * gap, 0) for size, gap in zip(operand.shape, gaps, strict=True)]
    result = np.full(tuple(lengths), value, operand.dtype)
    result[tuple(slice(None, None, gap + 1) for gap in gaps)] = operand
    return result


def full(shape: Sequence[int], fill_value: Any, dtype: Any = None) -> Any:
    """An array of one number."""
    return np.full(shape, fill_value, dtype)


@taking_arrays
def full_like(x: Any, fill_value: Any, dtype: Any = None, shape: Sequence[int] | None = None) -> Any:
    """An array of one number, of the shape and dtype of another array where none is given."""
    return np.full(np.shape(x) if shape is None else shape, fill_value, np.asarray(x).dtype if dtype is None else dtype)


def iota(dtype: Any, size: int) -> Any:
    """0, 1, 2, … below `size`.

    >>> iota(np.float32, 3)
    array([0., 1., 2.], dtype=float32)
    """
    return np.arange(size).astype(dtype)


def broadcasted_iota(dtype: Any, shape: Sequence[int], dimension: int) -> Any:
    """An array in which each element is its place along one axis.

    >>> broadcasted_iota(np.int64, (2, 3), 1)
    array([[0, 1, 2],
           [0, 1, 2]])
    """
    return broadcast_in_dim(iota(dtype, shape[dimension]), shape, (dimension % len(shape),))
