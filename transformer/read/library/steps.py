"""Ranges and slices whose step the program computes: how many steps there are, and where they lead."""

from __future__ import annotations

import numpy as np


def count_of_range(start, stop, step):
    """How many numbers ``range(start, stop, step)`` has."""
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    span = stop - start if step > 0 else start - stop
    return (span - 1) // abs(step) + 1 if span > 0 else 0


def is_in_range(item, start, stop, step):
    """Whether ``item in range(start, stop, step)``."""
    if step > 0:
        return start <= item < stop and (item - start) % step == 0
    return stop < item <= start and (item - start) % step == 0


def places_of_slice(size, start, stop, step):
    """The places of an axis of `size` elements that ``start:stop:step`` takes, as ``slice(…).indices`` finds them."""
    if step == 0:
        raise ValueError("slice step cannot be zero")
    least, most = (0, size) if step > 0 else (-1, size - 1)
    first, behind = (least, most) if step > 0 else (most, least)
    if start is not None:
        first = cut_off(start, size, least, most)
    if stop is not None:
        behind = cut_off(stop, size, least, most)
    return first + step * np.arange(count_of_range(first, behind, step))


def cut_off(bound, size, least, most):
    """The place that a bound of a slice stands for."""
    return min(max(bound + size if bound < 0 else bound, least), most)
