"""Tiles: parts of arrays of a fixed size, also where the array ends inside of them.

They are ordinary functions over slices, and a transformation reads them as such.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def cdiv(length: Any, size: Any) -> Any:
    """The number of blocks of `size` that cover `length`: the quotient, rounded up.

    >>> cdiv(64, 32), cdiv(65, 32)
    (2, 3)
    """
    return -(-length // size)


def load(array: Any, start: tuple[Any, ...], shape: tuple[int, ...], fill: Any = 0) -> Any:
    """Returns a new array of `shape`: the part of `array` at `start`, with `fill` beyond the ends of the array.

    `start` has a non-negative int for each axis. Raises `ValueError` for a negative start.

    >>> import numpy as np
    >>> load(np.array([1.0, 2.0, 3.0]), (2,), (4,))
    array([3., 0., 0., 0.])
    """
    part = array[_places(array, start, shape)]
    tile = np.full(shape, fill, array.dtype)
    tile[_inside(part)] = part
    return tile


def store(array: Any, start: tuple[Any, ...], tile: Any) -> None:
    """Writes a tile to the part of `array` at `start`, and leaves out what lies beyond the ends of the array.

    Raises `ValueError` for a negative start.

    >>> import numpy as np
    >>> x = np.zeros(3)
    >>> store(x, (2,), np.ones(4))
    >>> x
    array([0., 0., 1.])
    """
    places = _places(array, start, tile.shape)
    array[places] = tile[_inside(array[places])]


def _places(array: Any, start: tuple[Any, ...], shape: tuple[Any, ...]) -> tuple[slice, ...]:
    """The index of a part with this start and shape, which the array may cut short."""
    if len(start) != array.ndim or len(shape) != array.ndim:
        raise ValueError(f"a tile of an array with {array.ndim} axes needs as many starts and sizes, got {len(start)} "
                         f"and {len(shape)}")
    places = []
    for first, size in zip(start, shape):
        if first < 0:
            raise ValueError("a tile starts before its array")
        places.append(slice(first, first + size))
    return tuple(places)


def _inside(part: Any) -> tuple[slice, ...]:
    """The index of what is there of a tile."""
    return tuple(slice(0, length) for length in part.shape)
