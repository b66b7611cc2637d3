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
    """Each pixel becomes a weighted sum of those around it: a correlation, as everywhere in this field.

    `x` is (items, height, width, channels) and `kernel` (height, width, channels / groups, filters); with
    ``layout="NCHW"`` they are (items, channels, height, width) and (filters, channels / groups, height, width).

    `padding` is ``"valid"``, for nothing around the image, ``"same"``, for as many windows as pixels (one for each
    `stride`), a number of pixels, or one for each direction, or ``((above, below), (left, right))``. `stride` and
    `dilation` are numbers, or one for each direction. `groups` cuts channels and filters into as many parts, which know
    nothing of each other.

    >>> conv2d(np.arange(4.0).reshape(1, 1, 4, 1), np.array([[[[-1.0]], [[1.0]]]]))[0, 0, :, 0]
    array([1., 1., 1.])
    """
    x = channels_last("conv2d", x, layout)
    if np.ndim(kernel) != 4:
        raise ValueError(f"nn.conv2d: the kernel has the shape {np.shape(kernel)}; it has to have 4 axes")
    weights = np.transpose(kernel, (2, 3, 1, 0)) if layout == "NCHW" else kernel
    size, channels, filters = weights.shape[:2], weights.shape[2], weights.shape[3]
    if x.shape[3] != channels * groups:
        raise ValueError(f"nn.conv2d: the kernel is for {channels} channels in each of {groups} groups, x has "
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
