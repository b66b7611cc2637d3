"""What goes along an axis: sums and extremes, running ones, those of windows, and orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .arithmetic import add, mul
from .arithmetic import max as larger
from .arithmetic import min as smaller
from .shaping import pad

NEUTRAL = {add: 0, np.add: 0, mul: 1, np.multiply: 1, larger: -np.inf, np.maximum: -np.inf, smaller: np.inf,
           np.minimum: np.inf}


def reduce_sum(operand: Any, axes: Sequence[int]) -> Any:
    """The sum along axes, in the dtype of the operand."""
    return np.sum(operand, axis=tuple(axes), dtype=operand.dtype)


def reduce_prod(operand: Any, axes: Sequence[int]) -> Any:
    """The product along axes, in the dtype of the operand."""
    return np.prod(operand, axis=tuple(axes), dtype=operand.dtype)


def reduce_max(operand: Any, axes: Sequence[int]) -> Any:
    """The greatest element along axes."""
    return np.max(operand, axis=tuple(axes))


def reduce_min(operand: Any, axes: Sequence[int]) -> Any:
    """The least element along axes."""
    return np.min(operand, axis=tuple(axes))


def reduce_and(operand: Any, axes: Sequence[int]) -> Any:
    """Whether all truths along axes hold; of integers, the bits that all of them have."""
    _check_kind("reduce_and", operand, "biu", "integers and booleans")
    if operand.dtype.kind == "b":
        return np.all(operand, axis=tuple(axes))
    return _axis_by_axis(np.bitwise_and.reduce, operand, axes)


def reduce_or(operand: Any, axes: Sequence[int]) -> Any:
    """Whether one of the truths along axes holds; of integers, the bits that one of them has."""
    _check_kind("reduce_or", operand, "biu", "integers and booleans")
    if operand.dtype.kind == "b":
        return np.any(operand, axis=tuple(axes))
    return _axis_by_axis(np.bitwise_or.reduce, operand, axes)


def reduce_xor(operand: Any, axes: Sequence[int]) -> Any:
    """Whether an odd number of truths along axes holds; of integers, the bits that an odd number of them has."""
    _check_kind("reduce_xor", operand, "biu", "integers and booleans")
    if operand.dtype.kind == "b":
        return np.sum(operand, axis=tuple(axes)) % 2 == 1
    return _axis_by_axis(np.bitwise_xor.reduce, operand, axes)


def reduce(operand: Any, init_value: Any, computation: Callable[[Any, Any], Any], dimensions: Sequence[int]) -> Any:
    """The elements along axes combined by an associative function, such as `lax.add`, in their order, and with
    `init_value`.

    >>> reduce(np.arange(6.0).reshape(2, 3), 1.0, lambda a, b: a * b, (1,))
    array([ 0., 60.])
    """
    axes = [axis % operand.ndim for axis in dimensions]
    rest = [axis for axis in range(operand.ndim) if axis not in axes]
    rows = np.transpose(operand, (*sorted(axes), *rest)).reshape(-1, *[operand.shape[axis] for axis in rest])
    total = np.full(rows.shape[1:], init_value, operand.dtype)
    for row in rows:
        total = computation(total, row)
    return total


def _axis_by_axis(function: Callable[..., Any], operand: Any, axes: Sequence[int]) -> Any:
    result = operand
    for axis in sorted([axis % operand.ndim for axis in axes], reverse=True):
        result = function(result, axis=axis)
    return result


def _check_kind(name: str, operand: Any, kinds: str, taken: str) -> None:
    if operand.dtype.kind not in kinds:
        raise TypeError(f"lax.{name} expects {taken}, got {operand.dtype}")


def argmax(operand: Any, axis: int, index_dtype: Any) -> Any:
    """The place of the first greatest element along an axis."""
    return np.argmax(operand, axis=axis).astype(index_dtype)


def argmin(operand: Any, axis: int, index_dtype: Any) -> Any:
    """The place of the first least element along an axis."""
    return np.argmin(operand, axis=axis).astype(index_dtype)


def _running(name: str, function: Callable[..., Any], operand: Any, axis: int, reverse: bool) -> Any:
    _check_kind(name, operand, "fc" if name == "cumlogsumexp" else "iufc", "integers")
    if not reverse:
        return function(operand, axis=axis)
    return np.flip(function(np.flip(operand, axis), axis=axis), axis)


def _sums(operand: Any, axis: int) -> Any:
    """In the dtype of the operand: NumPy has wider ones."""
    return np.cumsum(operand, axis=axis, dtype=operand.dtype)


def _products(operand: Any, axis: int) -> Any:
    return np.cumprod(operand, axis=axis, dtype=operand.dtype)


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The sum of each element and those before it along an axis, or behind it if `reverse`.

    >>> cumsum(np.array([1.0, 2.0, 3.0]), reverse=True)
    array([6., 5., 3.])
    """
    return _running("cumsum", _sums, operand, axis, reverse)


def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The product of each element and those before it along an axis, or behind it if `reverse`."""
    return _running("cumprod", _products, operand, axis, reverse)


def cummax(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The greatest of each element and those before it along an axis, or behind it if `reverse`."""
    return _running("cummax", np.maximum.accumulate, operand, axis, reverse)


def cummin(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The least of each element and those before it along an axis, or behind it if `reverse`."""
    return _running("cummin", np.minimum.accumulate, operand, axis, reverse)


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The logarithm of the sum of exponentials of each element and those before it along an axis.

    >>> cumlogsumexp(np.zeros(2))
    array([0.        , 0.69314718])
    """
    return _running("cumlogsumexp", np.logaddexp.accumulate, operand, axis, reverse)


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """The elements along an axis in ascending order. Of a tuple of arrays, the first `num_keys` decide, the first of
    them most, and all are put into that order.

    >>> sort((np.array([2, 1]), np.array([5.0, 6.0])))
    (array([1, 2]), array([6., 5.]))
    """
    if not isinstance(operand, (tuple, list)):
        return np.sort(operand, axis=dimension, kind="stable" if is_stable else None)
    keys = operand[:num_keys]
    order = np.argsort(keys[-1], axis=dimension, kind="stable")
    for key in keys[-2::-1] if num_keys > 1 else ():
        here = np.take_along_axis(key, order, axis=dimension)
        order = np.take_along_axis(order, np.argsort(here, axis=dimension, kind="stable"), axis=dimension)
    return tuple(np.take_along_axis(array, order, axis=dimension) for array in operand)


def sort_key_val(keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> tuple[Any, Any]:
    """Keys in ascending order along an axis, and the values that belong to them."""
    found = sort((keys, values), dimension, is_stable)
    return found[0], found[1]


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Any, Any]:
    """The `k` greatest elements along an axis, greatest first, and their places; of equal ones the first.

    >>> top_k(np.array([3.0, 1.0, 4.0, 4.0]), 3)
    (array([4., 4., 3.]), array([2, 3, 0]))
    """
    rows = np.moveaxis(operand, axis, -1)
    length = rows.shape[-1]
    if k < 0 or k > length:
        raise ValueError(f"lax.top_k: k is {k}, but the axis has length {length}")
    turned = np.argsort(np.flip(rows, -1), axis=-1, kind="stable")
    places = length - 1 - np.flip(turned, -1)[..., :k]
    return (np.moveaxis(np.take_along_axis(rows, places, axis=-1), -1, axis), np.moveaxis(places, -1, axis))


def reduce_window(operand: Any, init_value: Any, computation: Callable[[Any, Any], Any],
                  window_dimensions: Sequence[int], window_strides: Sequence[int] | None = None,
                  padding: str | Sequence[tuple[int, int]] = "VALID",
                  base_dilation: Sequence[int] | None = None, window_dilation: Sequence[int] | None = None) -> Any:
    """Each window of an array combined by a function, such as `lax.add` or `lax.max`, and with `init_value`, which also
    stands around the array. A window is cut into one for each axis: they are combined along the first axis, then along
    the next.

    >>> reduce_window(np.arange(6.0), -np.inf, np.maximum, (2,), (2,))
    array([1., 3., 5.])
    """
    ones = (1,) * operand.ndim
    strides = ones if window_strides is None else tuple(window_strides)
    gaps = ones if base_dilation is None else tuple(base_dilation)
    spread = ones if window_dilation is None else tuple(window_dilation)
    spans = [(size - 1) * step + 1 for size, step in zip(window_dimensions, spread)]
    lengths = [(size - 1) * gap + 1 for size, gap in zip(operand.shape, gaps)]
    found = window_padding("reduce_window", padding, lengths, spans, strides)
    result = operand
    if any(low or high or gap > 1 for (low, high), gap in zip(found, gaps)):
        result = pad(operand, init_value, [(low, high, gap - 1) for (low, high), gap in zip(found, gaps)])
    for axis in range(operand.ndim):
        if window_dimensions[axis] > 1 or strides[axis] > 1:
            if result.shape[axis] < spans[axis]:
                result = _elements(result, axis, 0, 0, 1)
                continue
            count = (result.shape[axis] - spans[axis]) // strides[axis] + 1
            combined = _elements(result, axis, 0, count, strides[axis])
            for k in range(1, window_dimensions[axis]):
                combined = computation(combined, _elements(result, axis, k * spread[axis], count, strides[axis]))
            result = combined
    return result if _is_neutral(computation, init_value) else computation(result, init_value)


def _is_neutral(computation: Callable[[Any, Any], Any], value: Any) -> bool:
    """Whether it is known that a number changes nothing that it is combined with."""
    return isinstance(value, (int, float)) and computation in NEUTRAL and value == NEUTRAL[computation]


def _elements(x: Any, axis: int, first: Any, count: Any, stride: int) -> Any:
    """So many rows along an axis, from the first one on."""
    last = first + count if stride == 1 else first + (count - 1) * stride + 1
    return x[(*[slice(None)] * axis, slice(first, last, stride))]


def window_padding(name: str, padding: Any, lengths: Sequence[Any], spans: Sequence[Any],
                   strides: Sequence[Any]) -> Any:
    """(low, high) of each axis: as given, or by name, where "SAME" has a window for each one of `strides`."""
    if not isinstance(padding, str):
        return tuple(tuple(pair) for pair in padding)
    kind = padding.upper()
    if kind == "VALID":
        return ((0, 0),) * len(lengths)
    if kind not in ("SAME", "SAME_LOWER"):
        raise ValueError(f"lax.{name}: padding is {padding!r}, expected 'VALID', 'SAME', 'SAME_LOWER' or pairs of "
                         "integers")
    pairs = []
    for length, span, stride in zip(lengths, spans, strides):
        total = max((-(-length // stride) - 1) * stride + span - length, 0)
        less, more = total // 2, total - total // 2
        pairs.append((less, more) if kind == "SAME" else (more, less))
    return tuple(pairs)
