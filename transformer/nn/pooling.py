"""Images made smaller: of each window the greatest value, or the mean.

    x = nn.max_pool(nn.relu(nn.conv2d(x, kernel)), 2)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .windows import channels_last, counts, in_layout, margins, padded, pair, pixels, spans


def max_pool(x: Any, window: Any, stride: Any = None, padding: Any = "valid", layout: str = "NHWC") -> Any:
    """The largest value in each window of each channel.

    `window` and `stride` are numbers, or one for each direction; by default, windows are side by side. `padding` and
    `layout` are those of `conv2d`. Equal largest values share the derivative.

    >>> max_pool(np.arange(16.0).reshape(1, 4, 4, 1), 2)[0, :, :, 0]
    array([[ 5.,  7.],
           [13., 15.]])
    """
    places, count, stride = windows("max_pool", x, window, stride, padding, layout, -np.inf)
    size = pair(window)
    greatest = pixels(places, 0, 0, count, stride)
    for k in range(1, size[0] * size[1]):
        greatest = np.maximum(greatest, pixels(places, k // size[1], k % size[1], count, stride))
    return in_layout(greatest, layout)


def avg_pool(x: Any, window: Any, stride: Any = None, padding: Any = "valid", layout: str = "NHWC") -> Any:
    """The mean of each window of each channel, in which `padding` counts as 0. Arguments are those of `max_pool`.

    >>> avg_pool(np.arange(16.0).reshape(1, 4, 4, 1), 2)[0, :, :, 0]
    array([[ 2.5,  4.5],
           [10.5, 12.5]])
    """
    places, count, stride = windows("avg_pool", x, window, stride, padding, layout, 0.0)
    size = pair(window)
    total = pixels(places, 0, 0, count, stride)
    for k in range(1, size[0] * size[1]):
        total = total + pixels(places, k // size[1], k % size[1], count, stride)
    return in_layout(total / (size[0] * size[1]), layout)


def windows(function: str, x: Any, window: Any, stride: Any, padding: Any, layout: str, value: float) -> Any:
    """The image with what is around it, how many windows there are, and how far they are apart."""
    x = channels_last(function, x, layout)
    span = spans(pair(window), (1, 1))
    stride = span if stride is None else pair(stride)
    x = padded(x, margins(function, padding, x.shape[1:3], span, stride), value)
    return x, counts(function, x, span, stride), stride
