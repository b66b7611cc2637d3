"""Collectives on the values of all devices.

    >>> from transformer import devices
    >>> exchange = Exchange(devices()[:1])
    >>> exchange.psum(Sharded([2.0]), "i")
    2.0
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from .device import Device
from .sharded import Sharded, part_of, rank
from .workers import known

WORTH_SHARING = 1 << 15                 # elements: from here on each device combines a part of an array


class Exchange:
    """What `transformer.psum` and the like are in a driver for these devices. Results that are the same for all are
    there once, and nobody writes to them."""

    def __init__(self, devices: Sequence[Device]) -> None:
        self.devices = devices
        self.count = len(devices)               # of the axis

    def psum(self, x: Any, axis_name: Any) -> Any:
        return self._reduced(x)

    def pmax(self, x: Any, axis_name: Any) -> Any:
        return _or_number(self._reduced(x, np.maximum))

    def pmin(self, x: Any, axis_name: Any) -> Any:
        return _or_number(self._reduced(x, np.minimum))

    def pmean(self, x: Any, axis_name: Any) -> Any:
        return self._mean(x, self._reduced(x))

    def _mean(self, x: Any, total: Any) -> Any:
        """Of a value and its sum."""
        if isinstance(total, np.ndarray) and type(x) is Sharded and total.dtype.kind in "fc":
            total /= np.float64(self.count).astype(total.dtype)
            return total
        mean = total / self.count
        return total.dtype.type(mean) if isinstance(total, np.inexact) else mean

    def all_gather(self, x: Any, axis_name: Any) -> Any:
        return np.stack(self._values(x))

    def ppermute(self, x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Sharded:
        """Nobody waits: what is handed on may be pending, as it was given to its device before."""
        sources = {target: source for source, target in perm}
        return Sharded([part_of(x, sources[k]) if k in sources else np.zeros_like(known(part_of(x, k)))
                        for k in range(len(self.devices))])

    def all_to_all(self, x: Any, axis_name: Any, split_axis: int, concat_axis: int) -> Sharded:
        values = [np.moveaxis(value, split_axis, 0) for value in self._values(x)]
        return Sharded([np.stack([value[k] for value in values], concat_axis) for k in range(len(values))])

    def axis_index(self, axis_name: Any) -> Sharded:
        return Sharded([np.int64(k) for k in range(len(self.devices))])

    def _values(self, x: Any) -> list[Any]:
        return x.values() if type(x) is Sharded else [x] * self.count

    def _reduced(self, x: Any, combine: np.ufunc = np.add) -> Any:
        """The sum, or the like, in the order of the devices, so that it is the same in every run."""
        values = self._values(x)
        first = values[0]
        if type(first) is np.ndarray and first.ndim and (first.size >= WORTH_SHARING or len(values) == 1):
            return self._combined(values, combine)
        return reduce(operator.add if combine is np.add else combine, values)

    def _combined(self, values: list[np.ndarray], combine: np.ufunc) -> np.ndarray:
        total = np.empty(values[0].shape, values[0].dtype)
        flat = [np.ascontiguousarray(value).reshape(-1) for value in values]
        count = len(self.devices)
        ends = [total.size * k // count for k in range(count + 1)]
        ranges = [slice(*pair) for pair in zip(ends, ends[1:])]
        if count == 1:                           # nobody writes to what the device has
            _combine_range(combine, total.reshape(-1), flat, ranges[0])
            return total
        tasks = [device.submit(_combine_range, (combine, total.reshape(-1), flat, part), "a collective")
                 for device, part in zip(self.devices[1:], ranges[1:])]
        _combine_range(combine, total.reshape(-1), flat, ranges[0])
        for task in tasks:
            task.result()
        return total


def _or_number(value: Any) -> Any:
    """An array; what has no axes as a number of NumPy's."""
    return value if rank(value) else np.asarray(value)[()]


def _combine_range(combine: np.ufunc, total: np.ndarray, values: list[np.ndarray], part: slice) -> None:
    if len(values) == 1:
        total[part] = values[0][part]
        return
    combine(values[0][part], values[1][part], out=total[part])
    for value in values[2:]:
        combine(total[part], value[part], out=total[part])
