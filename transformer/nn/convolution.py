"""Convolution of images: a sum over the places of the kernel, of which each is a matrix product of channels.

    total += x[:, i : i + height, j : j + width] @ kernel[i, j]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..taking import taking_arrays
from .windows import channels_last, counts, in_layout, margins, padded, pair, pixels, spans


@taking_arrays
def conv2d(x: Any, kernel: Any, stride: Any = 1, padding: Any = "valid", dilation: Any = 1, groups: int = 1,
           layout: str = "NHWC") -> Any:
    """A two-dimensional convolution, without flipping the kernel, as usual in this field.

    Args:
        x: images of shape (items, height, width, channels); for ``layout="NCHW"``, (items, channels, height, width).
        kernel: (height, width, channels / groups, filters); for ``layout="NCHW"``, (filters, channels / groups,
            height, width).
        padding: ``"valid"`` for none, ``"same"`` for as many windows as pixels (one for each `stride`), a number of
            pixels, one for each direction, or ``((above, below), (left, right))``.
        stride, dilation: a number, or one for each direction.
        groups: the number of independent groups of channels and filters.

    >>> conv2d(np.arange(4.0).reshape(1, 1, 4, 1), np.array([[[[-1.0]], [[1.0]]]]))[0, 0, :, 0]
    array([1., 1., 1.])
    """
    x = channels_last("conv2d", x, layout)
    if np.ndim(kernel) != 4:
        raise ValueError(f"nn.conv2d: the kernel has shape {np.shape(kernel)}, expected 4 axes")
    weights = np.transpose(kernel, (2, 3, 1, 0)) if layout == "NCHW" else kernel
    size, channels, filters = weights.shape[:2], weights.shape[2], weights.shape[3]
    if x.shape[3] != channels * groups:
        raise ValueError(f"nn.conv2d: the kernel is for {channels} channels in each of {groups} groups, but x has "
                         f"{x.shape[3]}")
    if filters % groups:
        raise ValueError(f"nn.conv2d: {filters} filters cannot be divided into {groups} groups")
    stride, dilation = pair(stride), pair(dilation)
    span = spans(size, dilation)
    x = padded(x, margins("conv2d", padding, x.shape[1:3], span, stride))
    count = counts("conv2d", x, span, stride)
    total = np.zeros((x.shape[0], *count, filters), np.result_type(x, kernel))
    for i in range(size[0]):
        for j in range(size[1]):
            total += mixed(pixels(x, i * dilation[0], j * dilation[1], count, stride), weights[i, j], groups)
    return in_layout(total, layout)


def mixed(x: Any, weights: Any, groups: int) -> Any:
    """The channels of each pixel times a matrix, or a matrix for each group."""
    if groups == 1:
        return x @ weights
    parts = x.reshape(*x.shape[:3], groups, weights.shape[0])
    matrices = weights.reshape(weights.shape[0], groups, weights.shape[1] // groups)
    return np.einsum("nhwgc,cgf->nhwgf", parts, matrices).reshape(*x.shape[:3], weights.shape[1])
