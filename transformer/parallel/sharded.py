"""Values of which every device has its own, and what is done with them between phases.

A driver is printed as the function of one device. It runs once for all of them: each name in it is a `Sharded`, the
values of all devices, or what is the same on all.

    >>> x = Sharded([1.0, 3.0])
    >>> x
    Sharded([1.0, 3.0])
    >>> bool(Sharded([True, True]))
    True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.errors import BadArgument
from ..run.gpu.devices import where
from ..run.gpu.library import fetched, is_gpu_array
from ..run.gpu.streams import On
from .workers import known


class Sharded:
    """The values of all devices, each of which may be pending. `is_same` says that all are known to be equal, `is_free`
    that nobody needs their memory any more; `maker` is the function that made them, each in memory of its own."""

    __slots__ = ("parts", "is_same", "is_free", "maker")

    def __init__(self, parts: Sequence[Any], is_same: bool = False, is_free: bool = False, maker: Any = None) -> None:
        self.parts, self.is_same, self.is_free, self.maker = parts, is_same, is_free, maker

    def values(self) -> list[Any]:
        """The values, when all are known. Raises what a device raised, after the others have stopped."""
        return [known(part) for part in self.parts]

    def _same(self) -> Any:
        """The value that all devices have. Raises where they differ: no device may take another course, or it would
        wait for the others for ever."""
        if self.is_same:
            return known(self.parts[0])
        first, *others = values = [fetched(value) if is_gpu_array(value) else value for value in self.values()]
        if any(value != first for value in others):
            shown = ", ".join(f"{value}" for value in values)
            raise BadArgument(f"the devices diverge here: a loop or branch around a collective depends on {shown}",
                              why="All devices must execute the same collectives.",
                              instead="Make the condition equal on all devices: compute it with psum or pmax, or from "
                                      "shared values.")
        return first

    def __bool__(self) -> bool:
        return bool(self._same())

    def __index__(self) -> int:
        return int(self._same())

    @property
    def shape(self) -> tuple[int, ...]:
        value = known(self.parts[0])
        return value.shape if rank(value) else np.shape(value)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, at: Any) -> Sharded:
        return on_each(lambda value, at: value[at], len(self.parts), self, at)

    def __setitem__(self, at: Any, new: Any) -> None:
        on_each(_put, len(self.parts), self, at, new)

    def __iter__(self) -> Iterator[Sharded]:
        return (self[k] for k in range(len(self)))

    def copy(self) -> Sharded:
        return on_each(np.copy, len(self.parts), self)

    def __repr__(self) -> str:
        return f"Sharded({list(self.parts)})"


def _put(array: Any, at: Any, value: Any) -> None:
    array[at] = value


def part_of(value: Any, k: int) -> Any:
    """What device `k` has."""
    if type(value) is Sharded:
        return value.parts[k]
    if type(value) in (tuple, list):
        return type(value)(part_of(each, k) for each in value)
    return value


def on_each(function: Callable[..., Any], count: int, *args: Any, **options: Any) -> Sharded:
    """What a function gives for the values of each device, computed here; the same where they are the same."""
    return Sharded([for_one(function, k, args, options) for k in range(count)], are_same(args, options))


def for_one(function: Callable[..., Any], k: int, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a function gives for the values of device `k`; where that is a GPU, it is the current one meanwhile."""
    given = [_deeply(part_of(arg, k)) for arg in args]
    named = {name: known(part_of(value, k)) for name, value in options.items()}
    place = next((where(value) for value in given if is_gpu_array(value)), None)
    if place is None:
        return function(*given, **named)
    with On(place):
        return function(*given, **named)


def rank(value: Any) -> int:
    """How many axes a value has."""
    found: int = getattr(value, "ndim", 0)
    return found


def are_same(args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Whether all devices have the same arguments."""
    return _are_same(args) and _are_same(options.values())


def _are_same(values: Iterable[Any]) -> bool:
    return all(value.is_same if type(value) is Sharded else type(value) not in (tuple, list) or _are_same(value)
               for value in values)


def _deeply(value: Any) -> Any:
    return type(value)(map(_deeply, value)) if type(value) in (tuple, list) else known(value)


class NumPyOnEach:
    """NumPy in a driver: its functions, for each device."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if isinstance(found, type) or not callable(found):
            return found
        return lambda *args, **options: on_each(found, self._count, *args, **options)
