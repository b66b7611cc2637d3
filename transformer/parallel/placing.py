"""Bringing values to devices, and calling compiled functions where their arguments are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from .. import tree
from ..core.errors import BadArgument
from ..core.halves import kind_of
from ..read.kinds import described
from .array import Array, device_among, kept, read_only, wrapped
from .device import Device, chosen_device, device_of
from .workers import Part

CHEAP = 50e-6                           # seconds: a call that takes less is made at once
FORGETTING = 0.7                        # of what a call took before, beside what it took now


def device_put(value: Any, device: Device | str | None = None) -> Any:
    """A pytree with its arrays and numbers copied to a device, as `Array`s; to the chosen one, unless said. What is
    there already stays. As `jax.device_put`. Raises `BadArgument` for what is no array or number, and for a device
    that does not exist.

    >>> import numpy as np
    >>> x = device_put({"w": np.ones(2)}, "cpu:0")["w"]
    >>> x.device, x + 1
    (Device('cpu:0'), Array([2., 2.]))
    """
    where = chosen_device() if device is None else device_of(device)
    return tree.map(lambda leaf: _placed(leaf, where), value)


def _placed(leaf: Any, device: Device) -> Array:
    if isinstance(leaf, Array):
        return leaf if leaf.device is device else Array(leaf._value, device) if leaf.is_ready() else \
            Array(read_only(leaf._known()), device)
    if not isinstance(leaf, (np.ndarray, np.generic, int, float, complex)) and not hasattr(leaf, "__array__"):
        raise BadArgument(f"device_put takes arrays and numbers, this is {described(leaf)}")
    array = np.array(leaf)
    if kind_of(array.dtype) not in "biufc":
        raise BadArgument(f"device_put takes numbers, this is an array of {array.dtype}")
    return Array(read_only(array), device)


class Placed:
    """Calls of a function with arrays on devices. What a call takes is measured: cheap ones are made at
    once, if the device has nothing else to do, the others later, by the device."""

    def __init__(self, call: Callable[..., Any], name: str) -> None:
        self.call, self.name = call, name
        self.seconds: dict[Any, float] = {}
        self.structures: dict[Any, Any] = {}

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        structure: Any
        is_flat = not kwargs and all(type(arg) in PLAIN for arg in args)
        leaves, structure = (args, len(args)) if is_flat else tree.flatten((args, kwargs))
        device = self._device(leaves)
        plain = [leaf._known() if type(leaf) is Array else leaf for leaf in leaves]
        key = structure, *[(x.dtype, x.shape) if type(x) is np.ndarray else x if _counts(x) else type(x) for x in plain]
        args, kwargs = (tuple(plain), kwargs) if is_flat else tree.unflatten(structure, plain)
        if self.structures.get(key) is None or self.seconds[key] < CHEAP and device.worker.is_idle:
            return self._now(key, args, kwargs, device)
        return self._later(key, args, kwargs, device)

    def _device(self, leaves: Sequence[Any]) -> Device:
        found = {leaf.device for leaf in leaves if type(leaf) is Array}
        return found.pop() if len(found) == 1 else device_among(leaves, (), self.name)

    def _now(self, key: Any, args: Any, kwargs: Any, device: Device) -> Any:
        start = perf_counter()
        result = self.call(*args, **kwargs)
        self._note(key, perf_counter() - start)
        if key in self.structures:
            if type(result) in PLAIN_NUMBERS:
                return Array(read_only(result), device)
            return wrapped(result, device, (args, kwargs))
        leaves, structure = tree.flatten(result)
        arrays = all(isinstance(leaf, (np.ndarray, np.generic)) for leaf in leaves)
        self.structures[key] = structure if arrays else None         # Python's numbers are known at once
        return wrapped(result, device, (args, kwargs))

    def _note(self, key: Any, seconds: float) -> None:
        """The first call compiles, and a machine may be busy: a bad sample is forgotten."""
        before = self.seconds.get(key)
        self.seconds[key] = 0.0 if key not in self.structures else \
            seconds if not before else min(seconds, FORGETTING * before + (1 - FORGETTING) * seconds)

    def _later(self, key: Any, args: Any, kwargs: Any, device: Device) -> Any:
        structure = self.structures[key]
        args, kwargs = tree.map(kept, (args, kwargs))

        def task() -> list[Any]:
            start = perf_counter()
            leaves, found = tree.flatten(self.call(*args, **kwargs))
            self._note(key, perf_counter() - start)
            if found != structure:
                raise RuntimeError(f"{self.name} has returned {found} after {structure} for arguments of the same kind")
            return leaves

        pending = device.submit(task, (), self.name)
        return tree.unflatten(structure, [Array(Part(pending, k), device) for k in range(structure.count)])


PLAIN = frozenset({Array, np.ndarray, np.float64, float, int})
PLAIN_NUMBERS = frozenset({np.float64, np.float32})


def _counts(value: Any) -> bool:
    """Whether a value may decide what a function returns."""
    return isinstance(value, (bool, int, str, type(None)))
