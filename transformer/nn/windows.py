"""Windows of images: how many there are, what is around the image, and the pixels at one place of every window.

An image is (items, height, width, channels) here. At place (i, j) of all windows are the pixels

    x[:, i : i + height : stride, j : j + width : stride]

so that what a window does with its pixels is done with whole arrays, once for each place of a window.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LAYOUTS = ("NHWC", "NCHW")


def pair(value: Any) -> tuple[Any, Any]:
    """A number for both directions, or one for each."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


def channels_last(function: str, x: Any, layout: str) -> Any:
    """An image, or many, with the channels behind."""
    if layout not in LAYOUTS:
        raise ValueError(f"nn.{function}: layout is {layout!r}, expected 'NHWC' or 'NCHW'")
    if np.ndim(x) != 4:
        raise ValueError(f"nn.{function}: x has shape {np.shape(x)}, expected the 4 axes {layout}")
    return np.transpose(x, (0, 2, 3, 1)) if layout == "NCHW" else x


def in_layout(x: Any, layout: str) -> Any:
    """An image with the channels behind, in a layout."""
    return np.transpose(x, (0, 3, 1, 2)) if layout == "NCHW" else x


def spans(size: tuple[Any, Any], dilation: tuple[int, int]) -> tuple[Any, Any]:
    """How many pixels a window reaches over."""
    return (size[0] - 1) * dilation[0] + 1, (size[1] - 1) * dilation[1] + 1


def margins(function: str, padding: Any, lengths: tuple[Any, Any], span: tuple[Any, Any],
            stride: tuple[int, int]) -> Any:
    """How many pixels there are in front of and behind an image, in both directions."""
    if padding == "valid":
        return (0, 0), (0, 0)
    if padding == "same":
        return same(lengths[0], span[0], stride[0]), same(lengths[1], span[1], stride[1])
    if isinstance(padding, str):
        raise ValueError(f"nn.{function}: padding is {padding!r}, expected 'same', 'valid' or numbers of pixels")
    rows, columns = pair(padding)
    return pair(rows), pair(columns)


def same(length: Any, span: Any, stride: int) -> tuple[Any, Any]:
    """Margins so that there is a window for each pixel, or for each one of `stride`: as in TensorFlow and JAX."""
    total = max((-(-length // stride) - 1) * stride + span - length, 0) if stride > 1 else span - 1
    return total // 2, total - total // 2


def padded(x: Any, margin: Any, value: float = 0.0) -> Any:
    """Images with something around them."""
    if margin == ((0, 0), (0, 0)):
        return x
    return np.pad(x, ((0, 0), *margin, (0, 0)), constant_values=value)


def counts(function: str, x: Any, span: tuple[Any, Any], stride: tuple[int, int]) -> tuple[Any, Any]:
    """How many windows fit in, in both directions."""
    height, width = x.shape[1], x.shape[2]
    if span[0] > height or span[1] > width:
        raise ValueError(f"nn.{function}: a window over {span[0]} x {span[1]} pixels does not fit into an image of "
                         f"{height} x {width}")
    return (height - span[0] + stride[0]) // stride[0], (width - span[1] + stride[1]) // stride[1]


def pixels(x: Any, i: Any, j: Any, count: tuple[Any, Any], stride: tuple[int, int]) -> Any:
    """The pixels at one place of all windows, (items, windows down, windows across, channels)."""
    height, width = (count[0] - 1) * stride[0] + 1, (count[1] - 1) * stride[1] + 1
    return x[:, i:i + height:stride[0], j:j + width:stride[1]]
