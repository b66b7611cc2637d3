"""A generated driver whose phases run on GPUs.

    w is shared: each GPU has a copy        x is mapped: each GPU has its part       numbers stay with the program

A phase is asked of every GPU, in its stream, and the program goes on; it waits where a number decides something.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..core.grammar import Function
from ..run.dispatch import Entry
from ..run.gpu.devices import at, model
from ..run.gpu.library import brought, is_gpu_array, library
from .array import Array
from .device import Device
from .exchange_on_gpus import ExchangeOnGpus
from .program import Compiled, Phase, Program
from .sharded import NumPyOnEach, Sharded, are_same, for_one, rank
from .workers import known


class ProgramOnGpus(Program):
    """The driver of an entry, for these GPUs. Results have memory of their own."""

    def __init__(self, entry: Entry, devices: Sequence[Device], donated: Collection[str] = ()) -> None:
        super().__init__(entry, devices, donated)
        self.gpus = devices

    def _exchange(self) -> ExchangeOnGpus:
        return ExchangeOnGpus(self.devices)

    def _numpy(self) -> LibraryOnEach:
        return LibraryOnEach(self.devices)

    def _phase(self, function: Callable[..., Any], same: list[bool], waits: bool, donated: tuple[int, ...]) -> Phase:
        return PhaseOnGpus(function, same, self.devices, waits)

    def _may_hand_on(self, core: Function) -> bool:
        return True                              # nothing is written in the place of something else

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = {**kwargs, **{each.name: each.where_it_is() for each in self.entry.hidden}}
        args, given = tree.map(self._there, (args, given))
        return self.function(*args, **given)

    def _there(self, leaf: Any) -> Any:
        """An argument on the GPUs."""
        if type(leaf) is Sharded:
            return Sharded([_on(known(part), device) for part, device in zip(leaf.parts, self.devices)], leaf.is_same)
        if type(leaf) is Array and leaf.shape:
            return Sharded([_on(part, device) for part, device in zip(copies_of(leaf, self.devices), self.devices)],
                           is_same=True)
        if (isinstance(leaf, np.ndarray) or is_gpu_array(leaf)) and leaf.ndim:
            return Sharded([_on(leaf, device) for device in self.devices], is_same=True)
        return brought(leaf)


def _on(value: Any, device: Device) -> Any:
    """An array on a GPU; numbers stay where they are."""
    if not rank(value):
        return value
    with device.current():
        return at(value, device.id)


def copies_of(array: Array, devices: Sequence[Device]) -> Sequence[Any]:
    """The copies of an array that lie on these devices; the array itself for each, where there are none."""
    found = getattr(array, "copies", None)
    if found is not None and found[0] == tuple(devices):
        parts: Sequence[Any] = found[1]
        return parts
    return [array._known()] * len(devices)


class LibraryOnEach(NumPyOnEach):
    """NumPy in a driver for GPUs: its functions, for each of them, which give arrays there and numbers here."""

    def __init__(self, devices: Sequence[Device]) -> None:
        super().__init__(len(devices))
        self._devices = devices

    def __getattr__(self, name: str) -> Any:
        found = getattr(library() if name in MAKING else np, name)
        if isinstance(found, type) or not callable(found):
            return found

        def each(*args: Any, **options: Any) -> Sharded:
            return Sharded([self._one(found, k, args, options) for k in range(self._count)], are_same(args, options))

        return each

    def _one(self, function: Callable[..., Any], k: int, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        device = self._devices[k]
        with device.current():
            return tree.map(lambda value: _on(value, device), for_one(function, k, args, options))


MAKING = frozenset({"empty", "zeros", "ones", "full"})        # functions that need not be asked for arrays of NumPy's


class PhaseOnGpus(Phase):
    """A phase for GPUs. Each computes what is the same on all of them, too, where that gives the same digits."""

    def _compiled(self, function: Callable[..., Any], donated: tuple[int, ...]) -> Compiled:
        return CompiledForGpus(function, self.devices)

    def _is_alone(self, args: tuple[Any, ...]) -> bool:
        return False

    def __call__(self, *args: Any) -> Any:
        found = super().__call__(*args)
        if not any(self.same):
            return found
        results = found if isinstance(found, tuple) else (found,)
        made = tuple([self._alike(each) if same else each for each, same in zip(results, self.same)])
        return made if isinstance(found, tuple) else made[0]

    def _alike(self, result: Sharded) -> Sharded:
        """A result that is the same on all GPUs."""
        first = known(result.parts[0])
        assert isinstance(self.keeping, CompiledForGpus)
        if self.keeping.is_repeatable:
            return result
        result.values()                          # an error is raised here
        return Sharded([_on(first, device) for device in self.devices], is_same=True)


class CompiledForGpus(Compiled):
    """A function compiled for GPUs, which is called on the current one, where results stay; what has no form there runs
    as NumPy, with copies."""

    def __init__(self, plain: Callable[..., Any], devices: Sequence[Device]) -> None:
        super().__init__(plain, devices)
        self.models = {model(device.id) for device in devices}

    def _jitted(self, plain: Callable[..., Any], donated: tuple[int, ...]) -> Callable[..., Any]:
        from ..jitting import jit
        self.calls = jit(plain, device="cuda", fallback=True)._dispatcher
        there: Callable[..., Any] = self.calls.there
        return there

    @property
    def is_repeatable(self) -> bool:
        """Whether all devices have the same digits for the same arguments: floating-point numbers that are added in any
        order may differ in the last ones."""
        entries = [entry for entries in list(self.calls.by_type.values()) for entry in entries]
        return len(self.models) == 1 and not any("cuda.atomic." in entry.source for entry in entries)
