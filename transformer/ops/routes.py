"""How lanes hand on values where each device has several of them.

    2 devices with lanes 0, 1 and 2, 3; perm [(0, 1), (1, 2), (2, 3), (3, 0)]

    by 0 devices:   lane 0 -> 1, 2 -> 3                         each device to itself
    by 1 device:    lane 1 -> 2, 3 -> 0                         the last lane of each to the next device

A device sends what goes so many devices further in one piece, and takes its lanes from what it has then, of its own
and from others: what it sends and takes is known when the source is generated.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from .across_lanes import AxisIndex
from .value import Value, call, emit

Rows = list[list[int]]                  # for each device, lanes of it


class Routes:
    """The pairs (source, destination) of `perm` for `count` devices with `size` lanes each."""

    def __init__(self, size: int, count: int, perm: Sequence[tuple[int, int]]) -> None:
        self.size, self.count = size, count
        self.sources = {target: source for source, target in perm}
        self.distances = sorted({(target // size - source // size) % count for source, target in perm})

    def sent(self, distance: int) -> Rows:
        """The lanes that each device sends so many devices further; all that it has, where it keeps them."""
        if not distance:
            return [list(range(self.size))] * self.count
        return [[self.sources[lane] % self.size for lane in self._lanes((device + distance) % self.count)
                 if self.sources.get(lane, -1) // self.size == device] for device in range(self.count)]

    def taken(self) -> Rows:
        """Where each device finds its lanes in what it has: the pieces in the order of the distances, and a row of
        zeros behind them."""
        *starts, end = accumulate([0, *(max(map(len, self.sent(each))) for each in self.distances)])
        return [[self._place(lane, dict(zip(self.distances, starts)), end) for lane in self._lanes(device)]
                for device in range(self.count)]

    def _place(self, lane: int, starts: dict[int, int], end: int) -> int:
        if lane not in self.sources:
            return end
        device, row = divmod(self.sources[lane], self.size)
        distance = (lane // self.size - device) % self.count
        return starts[distance] + self.sent(distance)[device].index(row)

    def handed_on(self, x: Value, name: Any) -> Any:
        """What each device has then, of an array with its lanes in front."""
        from .exchanges import Ppermute
        pieces: list[Any] = []
        for distance in self.distances:
            rows = self.sent(distance)
            pairs = tuple((k, (k + distance) % self.count) for k, sent in enumerate(rows) if sent)
            pieces.append(Ppermute.applied(x[_own(_even(rows), name)], axis_name=name, perm=pairs) if distance else x)
        if len(self.sources) < self.size * self.count:
            pieces.append(call(np.zeros, ((1, *x.shape[1:]),), {"dtype": x.dtype}))
        everything = call(np.concatenate, (pieces,), {}) if len(pieces) > 1 else pieces[0]
        return everything[_own(self.taken(), name)]

    def _lanes(self, device: int) -> range:
        return range(device * self.size, (device + 1) * self.size)


def _even(rows: Rows) -> Rows:
    """Rows of one length: the first lane of a device is sent again, and not taken."""
    longest = max(map(len, rows))
    return [row + [0] * (longest - len(row)) for row in rows]


def _own(rows: Rows, name: Any) -> Any:
    """The row of the device itself."""
    if all(row == rows[0] for row in rows):
        return constant(rows[0])
    return constant(rows)[emit(AxisIndex, (), {"axis_name": name})]


def constant(numbers: Any) -> Any:
    """Whole numbers as an array."""
    return call(np.array, (list(numbers),), {})
