"""`np.r_[…]`, `np.c_[…]`, `np.mgrid[…]`, `np.ogrid[…]`: each a function of what stands in the brackets."""

from __future__ import annotations

from typing import Any

import numpy as np

from .refusing import refused


def line(item, dtype=None):
    if isinstance(item, str):
        refused("a string in np.r_ or np.c_ is not supported", "Use np.concatenate or np.stack with an axis.")
    if not isinstance(item, slice):
        return np.atleast_1d(item) if dtype is None else np.array([item], dtype)
    start, step = 0 if item.start is None else item.start, 1 if item.step is None else item.step
    if isinstance(step, complex):
        return np.linspace(start, item.stop, int(abs(step)))
    return np.arange(start, item.stop, step)


def lines(key):
    """What stands in the brackets, as arrays. A number does not make those beside it wider."""
    items = key if isinstance(key, tuple) else (key,)
    dtype = np.result_type(*[item if np.isscalar(item) else line(item) for item in items])
    return [line(item, dtype if np.isscalar(item) else None) for item in items]


def rows(key):
    return np.concatenate(lines(key))


def columns(key):
    return np.concatenate([part[:, None] if part.ndim == 1 else part for part in lines(key)], axis=-1)


def full_grid(key):
    if not isinstance(key, tuple):
        return line(key)
    return np.stack(np.meshgrid(*[line(item) for item in key], indexing="ij"))


def open_grid(key):
    if not isinstance(key, tuple):
        return line(key)
    return tuple(
        line(item)[tuple(slice(None) if k == axis else None for k in range(len(key)))] for axis, item in enumerate(key)
    )


GRIDS: dict[int, Any] = {
    id(np.r_): rows,
    id(np.c_): columns,
    id(np.mgrid): full_grid,
    id(np.ogrid): open_grid,
}
