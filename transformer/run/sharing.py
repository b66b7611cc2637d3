"""Arguments that are written, and what else may be seen to change with them.

A function is read as if its arguments shared no memory. That is right as long as none of them is
written. So for a function that writes to an argument, and for no other, every call tests whether that
array shares memory with another argument, or with an array that the function takes from outside.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import tree
from ..core.errors import NotSupported, as_raised

Arrays = dict[str, np.ndarray]


def check_written(entry: Any, args: tuple[Any, ...], kwargs: dict[str, Any], names: Iterable[str]) -> None:
    """Raises where a call cannot be what it was read as. What NumPy raises for an array that is written
    and read-only is raised, too."""
    own = set(entry.generated.reading.paths.values())  # tangents and cotangents are never written
    arrays = {path: array for path, array in arrays_of(args, kwargs, names).items() if path in own}
    others = {**arrays, **{h.name: h.fetch() for h in entry.hidden}}
    _check_apart(entry, others)
    for argument in entry.written:
        array = arrays.get(argument.path)
        if array is not None:
            _check_writable(array, argument)
            for path, other in others.items():
                if path != argument.path and shares_memory(array, other):
                    raise _refusal(argument, path)


def _check_apart(entry: Any, arrays: Arrays) -> None:
    reading = entry.generated.reading
    paths = {**reading.paths, **{h.var: h.name for h in entry.hidden}}
    for one, other in reading.apart:
        first, second = paths[one], paths[other]
        if first in arrays and second in arrays and shares_memory(arrays[first], arrays[second]):
            raise NotSupported(f"{first!r} shares memory with {second!r}", reading.origin,
                               why="The function asks for that and was read as if they did not.",
                               instead="Pass a copy of one of them: x.copy().", argument=first)


def arrays_of(args: tuple[Any, ...], kwargs: dict[str, Any], names: Iterable[str]) -> Arrays:
    """The arrays among arguments by their paths (``x``, ``params['w']``)."""
    found: Arrays = {}
    for arg, name in [*zip(args, names), *((arg, name) for name, arg in kwargs.items())]:
        leaves, structure = tree.flatten(arg)
        for leaf, path in zip(leaves, structure.paths()):
            if isinstance(leaf, np.ndarray):
                found[name + path] = leaf
    return found


def shares_memory(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays have an element in common; the bounds are compared first."""
    return np.may_share_memory(one, other) and np.shares_memory(one, other)


def _check_writable(array: np.ndarray, argument: Any) -> None:
    if not array.flags.writeable:
        raise as_raised(ValueError("assignment destination is read-only"), argument.origin)
    if _overlaps_itself(array):
        raise NotSupported(f"write to {argument.path!r}, of which several elements are one", argument.origin,
                           why="It was made with strides that visit memory more than once.",
                           instead="Pass a copy of it: x.copy().", argument=argument.path)


def _overlaps_itself(array: np.ndarray) -> bool:
    """Whether elements of an array may lie in the same memory, as those of np.broadcast_to do."""
    reach = array.itemsize
    for stride, size in sorted((abs(stride), size) for stride, size in zip(array.strides, array.shape) if size > 1):
        if stride < reach:
            return array.size > 0
        reach += stride * (size - 1)
    return False


def _refusal(argument: Any, path: str) -> NotSupported:
    return NotSupported(f"write to {argument.path!r}, which shares memory with {path!r}", argument.origin,
                        why="The write would be seen in the other one, too.",
                        instead="Pass a copy of one of them: x.copy().", argument=argument.path)
