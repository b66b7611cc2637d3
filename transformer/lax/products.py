"""Products of arrays: of matrices, along any axes, and of windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..nn.convolution import conv2d
from .reducing import window_padding
from .shaping import pad

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def dot(lhs: Any, rhs: Any, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """The product of vectors and matrices. `precision` changes nothing: it is there for programs of JAX."""
    lhs, rhs = _operands(lhs, rhs, preferred_element_type)
    if not 1 <= np.ndim(lhs) <= 2 or not 1 <= np.ndim(rhs) <= 2:
        raise TypeError(f"lax.dot expects vectors or matrices, got {np.ndim(lhs)} and {np.ndim(rhs)} axes")
    return lhs @ rhs


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """The products of the matrices of two stacks, which have the same axes in front."""
    if np.ndim(lhs) < 2 or lhs.shape[:-2] != rhs.shape[:-2]:
        raise TypeError(f"lax.batch_matmul expects stacks with equal leading axes, got {lhs.shape} and {rhs.shape}")
    return lhs @ rhs


def dot_general(lhs: Any, rhs: Any, dimension_numbers: Any, precision: Any = None,
                preferred_element_type: Any = None) -> Any:
    """Products summed over axes: ``((of lhs, of rhs), (of lhs, of rhs))`` are the axes that are summed over, and those
    along which both go together. The latter are the first of the result, then come what is left of `lhs` and of `rhs`.

    >>> dot_general(np.ones((5, 2, 3)), np.ones((5, 3, 4)), (((2,), (1,)), ((0,), (0,)))).shape
    (5, 2, 4)
    """
    (summed, summed_right), (shared, shared_right) = dimension_numbers
    lhs, rhs = _operands(lhs, rhs, preferred_element_type)
    left, right = list(LETTERS[:lhs.ndim]), list(LETTERS[lhs.ndim:lhs.ndim + rhs.ndim])
    for mine, other in zip(tuple(summed) + tuple(shared), tuple(summed_right) + tuple(shared_right), strict=True):
        if lhs.shape[mine] != rhs.shape[other]:
            raise TypeError(f"lax.dot_general: contracted axes have lengths {lhs.shape[mine]} and {rhs.shape[other]}")
        right[other] = left[mine]
    both = [left[axis] for axis in shared]
    gone = both + [left[axis] for axis in summed]
    rest = [letter for letter in left + right if letter not in gone]
    return np.einsum("".join(left) + "," + "".join(right) + "->" + "".join(both + rest), lhs, rhs)


def _operands(lhs: Any, rhs: Any, dtype: Any) -> tuple[Any, Any]:
    return (lhs, rhs) if dtype is None else (np.asarray(lhs).astype(dtype), np.asarray(rhs).astype(dtype))


class ConvDimensionNumbers(NamedTuple):
    """Which axes are what: (items, channels, and those of the image) of `lhs` and of the result, and (filters,
    channels, and those of the image) of `rhs`."""

    lhs_spec: tuple[int, ...]
    rhs_spec: tuple[int, ...]
    out_spec: tuple[int, ...]


def conv_dimension_numbers(lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any,
                           ) -> ConvDimensionNumbers:
    """Which axes are what, of three texts such as ``("NHWC", "HWIO", "NHWC")``; None stands for the order N, C, and
    O, I, with those of the image behind.

    >>> conv_dimension_numbers((1, 9, 9, 3), (2, 2, 3, 4), ("NHWC", "HWIO", "NHWC"))
    ConvDimensionNumbers(lhs_spec=(0, 3, 1, 2), rhs_spec=(3, 2, 0, 1), out_spec=(0, 3, 1, 2))
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if len(lhs_shape) != len(rhs_shape):
        raise TypeError(f"lax.conv_general_dilated expects arrays with the same number of axes, got {len(lhs_shape)} "
                        f"and {len(rhs_shape)}")
    if dimension_numbers is None:
        order = tuple(range(len(lhs_shape)))
        return ConvDimensionNumbers(order, order, order)
    lhs, rhs, out = dimension_numbers
    image = [letter for letter in rhs if letter not in "OI"]
    for spec, names in ((lhs, "NC"), (rhs, "OI"), (out, "NC")):
        if len(spec) != len(lhs_shape) or set(spec) != set(names) | set(image):
            raise TypeError(f"lax.conv_general_dilated of arrays with {len(lhs_shape)} axes: the dimension numbers are "
                            f"{tuple(dimension_numbers)}; {spec!r} must name {names[0]}, {names[1]} and the axes of "
                            "the image, once each")
    return ConvDimensionNumbers(_order(lhs, ["N", "C", *image]), _order(rhs, ["O", "I", *image]),
                                _order(out, ["N", "C", *image]))


def _order(spec: str, letters: list[str]) -> tuple[int, ...]:
    return tuple(spec.index(letter) for letter in letters)


def conv_general_dilated(lhs: Any, rhs: Any, window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]],
                         lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None,
                         dimension_numbers: Any = None, feature_group_count: int = 1, batch_group_count: int = 1,
                         precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Windows of `lhs` times `rhs`, summed: a correlation over one to three axes. `window_strides` are steps between
    windows, `padding` is "VALID", "SAME", "SAME_LOWER", or (low, high) for each axis, `lhs_dilation` and `rhs_dilation`
    steps between elements, with zeros in between; `dimension_numbers` are those of `conv_dimension_numbers`, and
    `feature_group_count` is the number of groups of channels that know nothing of each other.

    >>> conv_general_dilated(np.arange(4.0).reshape(1, 1, 4), np.array([[[-1.0, 1.0]]]), (1,), "VALID")
    array([[[1., 1., 1.]]])
    """
    if batch_group_count != 1:
        raise NotImplementedError("lax.conv_general_dilated does not support batch_group_count")
    lhs, rhs = _operands(lhs, rhs, preferred_element_type)
    axes = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    x = np.transpose(lhs, (axes.lhs_spec[0], *axes.lhs_spec[2:], axes.lhs_spec[1]))
    kernel = np.transpose(rhs, (*axes.rhs_spec[2:], axes.rhs_spec[1], axes.rhs_spec[0]))
    ones = (1,) * len(axes.lhs_spec[2:])
    gaps, spread = lhs_dilation or ones, rhs_dilation or ones
    lengths = [(size - 1) * gap + 1 for size, gap in zip(x.shape[1:-1], gaps)]
    spans = [(size - 1) * step + 1 for size, step in zip(kernel.shape[:-2], spread)]
    margin = window_padding("conv_general_dilated", padding, lengths, spans, window_strides)
    if any(low or high or gap > 1 for (low, high), gap in zip(margin, gaps)):
        x = pad(x, 0, [(0, 0, 0), *[(low, high, gap - 1) for (low, high), gap in zip(margin, gaps)], (0, 0, 0)])
    result = _correlation(x, kernel, tuple(window_strides), tuple(spread), feature_group_count)
    order = (axes.out_spec[0], *axes.out_spec[2:], axes.out_spec[1])
    return np.transpose(result, tuple(order.index(axis) for axis in range(len(order))))


def _correlation(x: Any, kernel: Any, strides: tuple[int, ...], spread: tuple[int, ...], groups: int) -> Any:
    """The windows of (items, image, channels), without margins, times (image, channels, filters)."""
    if len(strides) == 1:
        flat = conv2d(x[:, np.newaxis], kernel[np.newaxis], (1, *strides), "valid", (1, *spread), groups)
        return flat[:, 0]
    if len(strides) == 2:
        return conv2d(x, kernel, strides, "valid", spread, groups)
    if len(strides) != 3:
        raise TypeError(f"lax.conv_general_dilated supports one to three spatial axes, got {len(strides)}")
    depth = kernel.shape[0]
    count = (x.shape[1] - (depth - 1) * spread[0] - 1) // strides[0] + 1
    return sum(_slab(x, kernel[k], k * spread[0], count, strides, spread, groups) for k in range(depth))


def _slab(x: Any, kernel: Any, first: Any, count: Any, strides: tuple[int, ...], spread: tuple[int, ...],
          groups: int) -> Any:
    """What one layer of a kernel over three axes adds: its layers of the image are like so many images."""
    layers = x[:, first:first + (count - 1) * strides[0] + 1:strides[0]]
    flat = conv2d(layers.reshape(-1, *layers.shape[2:]), kernel, strides[1:], "valid", spread[1:], groups)
    return flat.reshape(layers.shape[0], count, *flat.shape[1:])


def conv(lhs: Any, rhs: Any, window_strides: Sequence[int], padding: str, precision: Any = None,
         preferred_element_type: Any = None) -> Any:
    """`conv_general_dilated` of (items, channels, image) and (filters, channels, image)."""
    return conv_general_dilated(lhs, rhs, window_strides, padding, preferred_element_type=preferred_element_type)


def conv_with_general_padding(lhs: Any, rhs: Any, window_strides: Sequence[int], padding: Any, lhs_dilation: Any,
                              rhs_dilation: Any, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """`conv_general_dilated` of (items, channels, image) and (filters, channels, image)."""
    return conv_general_dilated(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation,
                                preferred_element_type=preferred_element_type)


BEHIND = {2: ("NC", "IO", "NC"), 3: ("NHC", "HIO", "NHC"), 4: ("NHWC", "HWIO", "NHWC"), 5: ("NHWDC", "HWDIO", "NHWDC")}


def conv_transpose(lhs: Any, rhs: Any, strides: Sequence[int], padding: str | Sequence[tuple[int, int]],
                   rhs_dilation: Sequence[int] | None = None, dimension_numbers: Any = None,
                   transpose_kernel: bool = False, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Each element spread over a window, as many steps apart as `strides` says. A `padding` by name is that of the
    convolution of which this is the transpose; pairs of numbers are what is around the spread elements. The kernel is
    not turned around unless `transpose_kernel`, which also swaps its channels and filters.

    >>> conv_transpose(np.ones((1, 2, 1)), np.ones((2, 1, 1)), (2,), "VALID")[0, :, 0]
    array([1., 1., 1., 1.])
    """
    axes = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers or BEHIND[lhs.ndim])
    image = axes.rhs_spec[2:]
    spread = rhs_dilation or (1,) * len(image)
    margin = padding
    if isinstance(padding, str):
        margin = [_spread_margin(padding, (rhs.shape[axis] - 1) * step + 1, stride)
                  for axis, step, stride in zip(image, spread, strides)]
    if transpose_kernel:
        rhs = np.swapaxes(np.flip(rhs, image), axes.rhs_spec[0], axes.rhs_spec[1])
    return conv_general_dilated(lhs, rhs, (1,) * len(image), margin, strides, spread, axes,
                                preferred_element_type=preferred_element_type)


def _spread_margin(padding: str, span: Any, stride: int) -> tuple[Any, Any]:
    """What is around spread elements, so that a result is as long as what a convolution would have made this of."""
    if padding == "VALID":
        return span - 1, stride - 1 + max(span - stride, 0)
    if padding != "SAME":
        raise ValueError(f"lax.conv_transpose: padding is {padding!r}, expected 'VALID', 'SAME' or pairs of integers")
    total = span + stride - 2
    low = span - 1 if stride > span - 1 else -(-total // 2)
    return low, total - low
