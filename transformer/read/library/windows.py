"""Windows that slide along axes: elements at sums of two places."""

from __future__ import annotations

from typing import Any

import numpy as np

from .refusing import axis_of, refused


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    if subok or writeable:
        refused("np.lib.stride_tricks.sliding_window_view with subok or writeable is not supported", "Omit them.")
    x = np.asarray(x)
    widths = window_shape if isinstance(window_shape, (tuple, list)) else (window_shape,)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    if len(widths) != len(axes):
        raise ValueError("Since axis is None, must provide window_shape for all dimensions of `x`" if axis is None
                         else "Must provide matching length window_shape and axis")
    for axis, width in zip([axis_of(k, x.ndim) for k in axes], widths):
        if width < 0:
            raise ValueError("`window_shape` cannot contain negative values")
        if width > x.shape[axis]:
            raise ValueError("window shape cannot be larger than input array shape")
        places = np.arange(x.shape[axis] - width + 1)[:, None] + np.arange(width)
        x = np.moveaxis(np.take(x, places, axis=axis), axis + 1, -1)
    return x


CALLS: dict[Any, Any] = {np.lib.stride_tricks.sliding_window_view: sliding_window_view}
