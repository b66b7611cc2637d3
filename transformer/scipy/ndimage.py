"""`jax.scipy.ndimage`: `map_coordinates`, with JAX's arguments."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from ..taking import taking_arrays

__all__ = ["map_coordinates"]

MODES = "constant", "nearest", "wrap", "mirror", "reflect"


@taking_arrays
def map_coordinates(input: Any, coordinates: Sequence[Any], order: int, mode: str = "constant", cval: Any = 0.0
                    ) -> Any:
    """The values of an array at places between its elements: `coordinates` has an array of places for each axis. As
    `jax.scipy.ndimage.map_coordinates`.

    `order` is 0, the nearest element, or 1, linear. Beyond the edges stand, by `mode`, `cval` (``"constant"``), the
    last element (``"nearest"``), or the array again: ``"wrap"``, ``"mirror"`` about its last element, ``"reflect"``
    about its edge. Values of integers are rounded.

    >>> map_coordinates(np.array([0.0, 10.0, 20.0]), [np.array([0.5, 1.75])], 1)
    array([ 5. , 17.5])
    """
    if order not in (0, 1):
        raise NotImplementedError(f"map_coordinates has orders 0 and 1, not {order}")
    if mode not in MODES:
        raise NotImplementedError(f"map_coordinates: the mode is {mode!r}, which is none of {', '.join(MODES)}")
    if len(coordinates) != input.ndim:
        raise ValueError(f"map_coordinates takes coordinates of {input.ndim} axes, got {len(coordinates)}")
    sides = [_sides(np.asarray(place), order) for place in coordinates]
    value: Any = 0.0
    for corner in product(*sides):
        weight, is_inside, places = 1.0, True, []
        for (place, share), size in zip(corner, input.shape):
            weight = weight * share
            is_inside = is_inside & (place >= 0) & (place < size)
            places.append(_within(place, size, mode))
        found = input[tuple(places)]
        if mode == "constant":
            found = np.where(is_inside, found, np.asarray(cval).astype(input.dtype))
        value = value + weight * found
    return (np.round(value) if input.dtype.kind in "iu" else value).astype(input.dtype)


def _sides(place: Any, order: int) -> Any:
    """The elements next to a place, and their weights."""
    if order == 0:
        away = np.where(place < 0, np.ceil(place - 0.5), np.floor(place + 0.5)) if place.dtype.kind == "f" else place
        return [(away.astype(np.int64), 1.0)]
    below = np.floor(place)
    share = place - below
    first = below.astype(np.int64)
    return [(first, 1 - share), (first + 1, share)]


def _within(place: Any, size: Any, mode: str) -> Any:
    """The element that stands at a place beyond the edges."""
    if mode == "wrap":
        return place % size
    if mode == "mirror":
        last = size - 1
        return np.abs((place + last) % np.maximum(2 * last, 1) - last)
    if mode == "reflect":
        turned = place % (2 * size)
        return np.minimum(turned, 2 * size - 1 - turned)
    return np.clip(place, 0, size - 1)
