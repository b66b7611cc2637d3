"""The processes that were brought together, if there are several, and what they have of the devices of a `pmap`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..core.errors import BadArgument
from .device import Device, process_index

if TYPE_CHECKING:
    from .processes import Processes

_current: list[Processes] = []


def current() -> Processes | None:
    """All processes, if there are several."""
    return _current[0] if _current else None


def set_current(group: Processes | None) -> None:
    _current[:] = [] if group is None else [group]
    share_of.cache_clear()


def together(name: str) -> AbstractContextManager[None]:
    """Around what all processes do together, if there are several; `name` is for messages."""
    group = current()
    return nullcontext() if group is None else group.call(name)


def once(function: Callable[[], Any]) -> Any:
    """What a function gives in the first process, where alone it is called, in all of them."""
    group = current()
    return function() if group is None else group.by_first(function)


def require_same(short: str, long: Callable[[], str]) -> None:
    """Raises `BadArgument` in all processes where they have different texts; the long ones tell of it."""
    group = current()
    if group is not None:
        group.begin_comparison(group.digest(short), long, "the start")()


@dataclass(frozen=True)
class Share:
    """What this process has of devices that belong to all processes: `counts` are how many each has."""

    group: Processes
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        return sum(self.counts)

    @property
    def first(self) -> int:
        """The number of its first device."""
        return sum(self.counts[:self.group.index])

    def process_of(self, device: int) -> int:
        """Whose the device with a number is."""
        return next(k for k in range(len(self.counts)) if device < sum(self.counts[:k + 1]))


@lru_cache(maxsize=256)
def share_of(devices: tuple[Device, ...]) -> tuple[tuple[Device, ...], Share | None]:
    """The devices of this process among those of a `pmap`, and its share, if others have part in it."""
    group, own = current(), process_index()
    owners = [device.process_index for device in devices]
    if group is None or set(owners) <= {own}:
        return devices, None
    if owners != sorted(owners) or set(owners) != set(range(group.count)):
        raise BadArgument("the devices of pmap belong to some of the processes: " + ", ".join(map(str, devices)),
                          why="It runs on devices of one process, or on devices of every process, in order.",
                          instead="Pass devices(), or local_devices() for this process alone.")
    counts = tuple(owners.count(k) for k in range(group.count))
    return tuple(device for device in devices if device.process_index == own), Share(group, counts)
