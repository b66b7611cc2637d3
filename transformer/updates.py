"""Functional updates: `at(x)[index].set(v)` is a copy of `x` with a part replaced.

The methods are a few lines of NumPy each: a copy, then a write in place. Where the old array is not needed any more,
what is made of a program leaves the copy out (`simplify/elision.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .core.halves import kind_of
from .core.on_devices import is_on_device

MODES = None, "clip", "drop", "fill", "promise_in_bounds"


def at(x: Any) -> At:
    """``at(x)[i].set(v)`` returns a changed copy of x, as JAX's ``x.at[i].set(v)``.

    Methods are `set`, `add`, `subtract`, `multiply`, `divide`, `power`, `min`, `max`, `apply` and `get`. An element
    that an index names several times is changed that many times. `mode` says what to do with integers out of bounds:
    None or ``"promise_in_bounds"`` raises `IndexError`, as NumPy does; ``"clip"`` takes the nearest element;
    ``"drop"`` skips the update; ``"fill"`` does, too, and reads `fill_value` (by default nan, for integers the least
    one). JAX, by default, raises no error.

    >>> at(np.zeros(3))[1].set(5.0)
    array([0., 5., 0.])
    >>> at(np.zeros(3))[np.array([0, 0, 7])].add(1.0, mode="drop")
    array([2., 0., 0.])
    """
    return x.at if is_on_device(x) and hasattr(x, "at") else At(x)


at.__transformer_read__ = lambda reader, args, kwargs: reader.call(At, args, kwargs)  # type: ignore[attr-defined]


class At:
    """An array of which a part will be named; see `at`."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, index: Any) -> Part:
        return Part(self.array, index)


class Part:
    """A part of an array, to be read or replaced in a copy; see `at`."""

    def __init__(self, array: Any, index: Any) -> None:
        self.array = array
        self.index = index

    def get(self, mode: str | None = None, fill_value: Any = None) -> Any:
        """The part itself."""
        fill = missing(self.array.dtype) if fill_value is None else fill_value
        array, index = bounded(self.array, self.index, mode, fill)
        return array[index]

    def set(self, values: Any, mode: str | None = None) -> Any:
        """The array with the part replaced."""
        array, index = bounded(self.array, self.index, mode, 0)
        result = array.copy()
        result[index] = values
        return cropped(result, self.array.shape)

    def add(self, values: Any, mode: str | None = None) -> Any:
        """The array with something added to the part."""
        return self._changed(np.add, values, mode)

    def subtract(self, values: Any, mode: str | None = None) -> Any:
        """The array with something subtracted from the part."""
        return self._changed(np.subtract, values, mode)

    def multiply(self, values: Any, mode: str | None = None) -> Any:
        """The array with the part multiplied."""
        return self._changed(np.multiply, values, mode)

    mul = multiply

    def divide(self, values: Any, mode: str | None = None) -> Any:
        """The array with the part divided."""
        return self._changed(np.divide, values, mode)

    def power(self, values: Any, mode: str | None = None) -> Any:
        """The array with the part raised to a power."""
        return self._changed(np.power, values, mode)

    def min(self, values: Any, mode: str | None = None) -> Any:
        """The array with nothing in the part above these values."""
        return self._changed(np.minimum, values, mode)

    def max(self, values: Any, mode: str | None = None) -> Any:
        """The array with nothing in the part below these values."""
        return self._changed(np.maximum, values, mode)

    def apply(self, function: Callable[[Any], Any], mode: str | None = None) -> Any:
        """The array with a function of the part in its place, once for each element."""
        array, index = bounded(self.array, self.index, mode, 0)
        result = array.copy()
        result[index] = function(array[index])
        return cropped(result, self.array.shape)

    def _changed(self, ufunc: Any, values: Any, mode: str | None) -> Any:
        array, index = bounded(self.array, self.index, mode, 0)
        result = array.copy()
        if repeats(index):
            ufunc.at(result, index, values)
        else:
            result[index] = ufunc(result[index], values)
        return cropped(result, self.array.shape)


def bounded(array: Any, index: Any, mode: str | None, fill: Any) -> tuple[Any, Any]:
    """An array and an index into it that is not out of bounds: with ``"clip"`` the nearest place, with ``"drop"`` and
    ``"fill"`` one behind the end, where the array gets a border of `fill`."""
    if mode not in MODES:
        raise ValueError(f"mode is {mode!r}, expected 'clip', 'drop', 'fill' or 'promise_in_bounds'")
    if mode is None or mode == "promise_in_bounds":
        return array, index
    entries, axes = [], []
    axis = 0
    for entry in without_ellipsis(index, array.ndim):
        if entry is None or isinstance(entry, slice):
            entries.append(entry)
            axis += 0 if entry is None else 1
        elif np.asarray(entry).dtype == bool:
            entries.append(entry)
            axis += np.ndim(entry)
        else:
            length = array.shape[axis]
            place = np.where(np.asarray(entry) < 0, np.asarray(entry) + length, entry)
            outside = (place < 0) | (place >= length)
            entries.append(np.clip(place, 0, length - 1) if mode == "clip" else np.where(outside, length, place))
            axes.append(axis)
            axis += 1
    if mode == "clip" or not axes:
        return array, tuple(entries)
    border = [(0, int(axis in axes)) for axis, _ in enumerate(array.shape)]
    return np.pad(array, border, constant_values=fill), tuple(entries)


def without_ellipsis(index: Any, rank: int) -> tuple[Any, ...]:
    """An index as a tuple with full slices for `...`."""
    entries = index if isinstance(index, tuple) else (index,)
    found: list[Any] = []
    for entry in entries:
        if entry is ...:
            found += [slice(None)] * (rank - used_axes(entries))
        else:
            found.append(entry)
    return tuple(found)


def used_axes(entries: tuple[Any, ...]) -> int:
    """How many axes entries of an index stand for."""
    count = 0
    for entry in entries:
        if entry is None or entry is ...:
            continue
        is_mask = not isinstance(entry, slice) and np.asarray(entry).dtype == bool
        count += np.ndim(entry) if is_mask else 1
    return count


def repeats(index: Any) -> bool:
    """Whether an index may name an element twice: it has an array of integers."""
    for entry in index if isinstance(index, tuple) else (index,):
        if entry is not None and entry is not ... and not isinstance(entry, slice):
            if np.ndim(entry) and np.asarray(entry).dtype != bool:
                return True
    return False


def cropped(array: Any, shape: tuple[int, ...]) -> Any:
    """An array without the border that it got."""
    if array.shape == shape:
        return array
    return array[tuple([slice(0, length) for length in shape])].copy()


def missing(dtype: Any) -> Any:
    """What stands for an element that is not there."""
    if kind_of(dtype) in "fc":
        return np.nan
    if dtype.kind == "b":
        return True
    return np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max
