"""Collectives on arrays that lie on GPUs: by NCCL, or by copies where it is missing or does not know a dtype.

Results that are the same for all are the same to the last digit: NCCL computes each element once, as copies do. Numbers
are fetched, and combined by the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..run.gpu.devices import at
from ..run.gpu.library import fetched, is_gpu_array, library
from .exchange import Exchange
from .nccl import Nccl, nccl_for
from .sharded import Sharded, rank


class ExchangeOnGpus(Exchange):
    """What `transformer.psum` and the like are in a driver for these GPUs."""

    @cached_property
    def nccl(self) -> Nccl | None:
        return nccl_for(tuple([device.id for device in self.devices]))

    def psum(self, x: Any, axis_name: Any) -> Any:
        return self._by(super().psum, "sum", self._there(x), axis_name)

    def pmax(self, x: Any, axis_name: Any) -> Any:
        return self._by(super().pmax, "max", self._there(x), axis_name)

    def pmin(self, x: Any, axis_name: Any) -> Any:
        return self._by(super().pmin, "min", self._there(x), axis_name)

    def pmean(self, x: Any, axis_name: Any) -> Any:
        x = self._there(x)
        total = self._by(super().psum, "sum", x, axis_name)
        if type(total) is not Sharded:
            return self._mean(x, total)
        return self._each(lambda k: self._mean(x, total.parts[k]), is_same=True)

    def all_gather(self, x: Any, axis_name: Any) -> Any:
        x = self._there(x)
        if not rank(x.parts[0]):
            return self._to_all(super().all_gather(x, axis_name))
        if self.nccl is not None and self.nccl.takes(x.parts, "sum"):
            return Sharded(self.nccl.gathered(x.parts), is_same=True)
        return self._by_copies(super().all_gather, x, axis_name)

    def ppermute(self, x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Sharded:
        sources, x = {target: source for source, target in perm}, self._there(x)
        return self._each(lambda k: self._at(x.parts[sources[k]], k) if k in sources else
                          library().zeros_like(x.parts[k]) if rank(x.parts[k]) else np.zeros_like(x.parts[k])[()])

    def all_to_all(self, x: Any, axis_name: Any, split_axis: int, concat_axis: int) -> Sharded:
        x = self._there(x)
        values = self._each(lambda k: np.moveaxis(x.parts[k], split_axis, 0)).parts
        return self._each(lambda k: library().stack([self._at(value[k], k) for value in values], concat_axis))

    def _there(self, x: Any) -> Sharded:
        """The values of all, when they have been asked for; numbers fetched."""
        values = self._values(x)
        if rank(values[0]):
            return Sharded([self._at(value, k) for k, value in enumerate(values)])
        return Sharded([fetched(value) if is_gpu_array(value) else value for value in values])

    def _by(self, combined: Callable[[Any, Any], Any], kind: str, x: Sharded, axis_name: Any) -> Any:
        """The values of all, combined."""
        if not rank(x.parts[0]):
            return combined(x, axis_name)
        if self.nccl is not None and self.nccl.takes(x.parts, kind):
            return Sharded(self.nccl.reduced(x.parts, kind), is_same=True)
        return self._by_copies(combined, x, axis_name)

    def _by_copies(self, combined: Callable[[Any, Any], Any], x: Sharded, axis_name: Any) -> Sharded:
        """The same on the first device, from where it is copied to all."""
        first = self.devices[0]
        with first.current():
            found = combined(Sharded([at(value, first.id) for value in x.parts]), axis_name)
        return self._to_all(found)

    def _to_all(self, value: Any) -> Sharded:
        return Sharded([self._at(value, k) for k in range(len(self.devices))], is_same=True)

    def _at(self, value: Any, k: int) -> Any:
        """An array on device `k`; numbers are with the program."""
        if not rank(value):
            return value
        with self.devices[k].current():
            return at(value, self.devices[k].id)

    def _each(self, made: Callable[[int], Any], is_same: bool = False) -> Sharded:
        """What a function gives for each device, which is the current one meanwhile."""
        parts = []
        for k, device in enumerate(self.devices):
            with device.current():
                parts.append(made(k))
        return Sharded(parts, is_same=is_same)
