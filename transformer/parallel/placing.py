"""Bringing values to devices, and calling compiled functions where their arguments are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from time import perf_counter
from types import FunctionType
from typing import Any

import numpy as np

from .. import tree
from ..core.errors import BadArgument
from ..core.halves import kind_of
from ..core.on_devices import is_on_device
from ..read.kinds import described
from ..run.gpu.library import is_gpu_array, of_library
from .array import Array, device_among, on_arrays, wrapped
from .device import Device, chosen_device, device_of
from .on_device import frozen, kept, read_only, there
from .shards import ShardedArray
from .workers import Part

CHEAP = 50e-6                           # seconds: a call that takes less is made at once
FORGETTING = 0.7                        # of what a call took before, beside what it took now


def device_put(value: Any, device: Device | str | None = None) -> Any:
    """Copies the arrays and numbers of a pytree to a device, as `Array`s. As `jax.device_put`.

    The default is the default device. What is there already stays. Raises `BadArgument` for other leaves, and for a
    device that does not exist.

    >>> import numpy as np
    >>> x = device_put({"w": np.ones(2)}, "cpu:0")["w"]
    >>> x.device, x + 1
    (Device('cpu:0'), Array([2., 2.]))
    """
    where = chosen_device() if device is None else device_of(device)
    return tree.map(lambda leaf: _placed(leaf, where), value)


def device_get(value: Any) -> Any:
    """Fetches the arrays on devices of a pytree as NumPy arrays, waiting for them. As `jax.device_get`.

    Other leaves stay as they are.

    >>> import numpy as np
    >>> device_get({"w": device_put(np.ones(2)), "name": "a"})
    {'w': array([1., 1.]), 'name': 'a'}
    """
    return tree.map(lambda leaf: np.asarray(leaf) if is_on_device(leaf) else leaf, value)


def block_until_ready(value: Any) -> Any:
    """Waits until all arrays on devices in a pytree are computed, and returns it: for measuring times. As
    `jax.block_until_ready`.

    >>> import numpy as np
    >>> block_until_ready({"w": device_put(np.ones(2), "cpu:0")})
    {'w': Array([1., 1.])}
    """
    for leaf in tree.leaves(value):
        if hasattr(leaf, "block_until_ready"):
            leaf.block_until_ready()
    return value


def _the_same(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """In a function that is read nothing is on the way."""
    return _only(*args, **kwargs)


def _only(value: Any) -> Any:
    return value


for _function in (device_get, block_until_ready):
    _function.__transformer_read__ = _the_same  # type: ignore[attr-defined]


def _placed(leaf: Any, device: Device) -> Array:
    if isinstance(leaf, Array):
        return leaf if leaf.device is device else _moved(leaf, device)
    if not isinstance(leaf, (np.ndarray, np.generic, int, float, complex)) and not hasattr(leaf, "__array__") \
            and not is_gpu_array(leaf):
        raise BadArgument(f"device_put expects arrays and numbers, got {described(leaf)}")
    array = of_library(leaf) if is_gpu_array(leaf) else np.array(leaf)
    if kind_of(array.dtype) not in "biufc":
        raise BadArgument(f"device_put expects numeric arrays, got an array of dtype {array.dtype}")
    return Array(read_only(there(array, device)), device)


def _moved(array: Array, device: Device) -> Array:
    """An array on another device. CPUs have all that is in memory."""
    if device.kind == array.device.kind == "cpu":
        return Array(array._value if array.is_ready() else read_only(array._known()), device)
    return Array(read_only(there(array._known(), device)), device)


def called_on(device: Device, function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
              ) -> Any:
    """What a compiled function gives on a device. Arrays on devices are brought there, and what comes of them may not
    be computed yet; else the call waits."""
    if any(type(leaf) is Array for leaf in tree.leaves((args, kwargs))):
        args, kwargs = tree.map(lambda leaf: _placed(leaf, device) if type(leaf) is Array else leaf, (args, kwargs))
        return function(*args, **kwargs)
    return device.submit(partial(function, *args, **kwargs), (), name).result()


def on_device(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function of NumPy's arrays gives for trees with arrays on devices, as arrays on the device of the `Array`s
    among them; functions that it gives do so, too."""
    found, structure = tree.flatten((args, kwargs))
    arrays = [leaf for leaf in found if type(leaf) is Array]
    device = device_among(arrays, {}, getattr(function, "__name__", "a function")) if arrays else None

    def called(function: Callable[..., Any], leaves: list[Any], structure: Any) -> Any:
        args, kwargs = tree.unflatten(structure, [leaf._known() if type(leaf) is Array else np.asarray(leaf)
                                                  if is_on_device(leaf) else leaf for leaf in leaves])
        run = function if any(map(callable, leaves)) else partial(on_arrays, function)
        if device is None:
            return run(*args, **kwargs)
        with device.current():
            return tree.map(given_out, wrapped(run(*args, **kwargs), device, (args, kwargs)))

    def given_out(leaf: Any) -> Any:
        if not isinstance(leaf, FunctionType):
            return leaf
        return wraps(leaf)(lambda *args, **kwargs: called(leaf, *tree.flatten((args, kwargs))))

    return called(function, found, structure)


class Cost:
    """What calls of one kind take, in seconds; 0 before it is known."""

    __slots__ = ("seconds",)

    def __init__(self) -> None:
        self.seconds = 0.0

    def note(self, taken: float) -> None:
        """A machine may be busy: a bad sample is forgotten."""
        before = self.seconds
        self.seconds = taken if taken < before or not before else FORGETTING * before + (1 - FORGETTING) * taken


class Placed:
    """Calls of a function with arrays on devices. What a call takes is measured: cheap ones are made at
    once, if the device has nothing else to do, the others later, by the device. On GPUs they run what `on_gpu`
    gives."""

    def __init__(self, call: Callable[..., Any], name: str, note: Callable[..., None] | None = None,
                 on_gpu: Callable[[], Callable[..., Any]] | None = None) -> None:
        self.call, self.name, self.note, self.on_gpu = call, name, note, on_gpu
        self.costs: dict[Any, Cost] = {}
        self.structures: dict[Any, Any] = {}

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        structure: Any
        is_flat = not kwargs and all(type(arg) in PLAIN for arg in args)
        leaves, structure = (args, len(args)) if is_flat else tree.flatten((args, kwargs))
        if not is_flat and any(type(leaf) is ShardedArray for leaf in leaves):
            gathered = [leaf.gather() if type(leaf) is ShardedArray else leaf for leaf in leaves]
            args, kwargs = tree.unflatten(structure, gathered)
            return self(args, kwargs) if any(type(leaf) is Array for leaf in leaves) else self.call(*args, **kwargs)
        device = self._device(leaves)
        if device.kind == "cuda" and self.on_gpu is not None:
            return self.on_gpu()(*args, **kwargs)
        plain = [leaf._known() if type(leaf) is Array else leaf for leaf in leaves]
        key = structure, *[(x.dtype, x.shape) if type(x) is np.ndarray else x if _counts(x) else type(x) for x in plain]
        arrays = is_flat and all(type(arg) is not np.ndarray for arg in args)
        if arrays and self.note is not None and key in self.costs and self.costs[key].seconds:
            self.note(args, plain, lambda function, is_new: self._shortly(key, function, is_new))
        args, kwargs = (tuple(plain), kwargs) if is_flat else tree.unflatten(structure, plain)
        if self.structures.get(key) is None or self.costs[key].seconds < CHEAP and device.worker.is_idle:
            return self._now(key, args, kwargs, device)
        return self._later(key, args, kwargs, device)

    def _shortly(self, key: Any, function: Callable[..., Any], is_new: bool) -> Callable[..., Any]:
        """What makes further calls like one with this key, by the compiled function, with arrays of one device."""
        closed, cost = frozen if is_new else read_only, self.costs[key]

        def run(*args: Any) -> Any:
            device, plain = None, []
            for arg in args:
                if type(arg) is Array:
                    if device is None:
                        device = arg.device
                    elif device is not arg.device:
                        return self(args, {})
                    value = arg._value
                    plain.append(value if type(value) is np.ndarray else arg._known())
                else:
                    plain.append(arg)
            if device is None or device.kind == "cuda" or cost.seconds >= CHEAP or not device.worker.is_idle:
                return self(args, {})
            start = perf_counter()
            result = function(*plain)
            cost.note(perf_counter() - start)
            return Array(closed(result), device) if type(result) in PLAIN_RESULTS else wrapped(result, device)
        return run

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
        if key not in self.costs:
            self.costs[key] = Cost()
        elif key in self.structures:
            self.costs[key].note(seconds)

    def _later(self, key: Any, args: Any, kwargs: Any, device: Device) -> Any:
        structure = self.structures[key]
        args, kwargs = tree.map(kept, (args, kwargs))

        def task() -> list[Any]:
            start = perf_counter()
            leaves, found = tree.flatten(self.call(*args, **kwargs))
            self._note(key, perf_counter() - start)
            if found != structure:
                raise RuntimeError(f"{self.name} returned {found} after {structure} for arguments of the same types")
            return leaves

        pending = device.submit(task, (), self.name)
        return tree.unflatten(structure, [Array(Part(pending, k), device) for k in range(structure.count)])


PLAIN = frozenset({Array, np.ndarray, np.float64, float, int})
PLAIN_NUMBERS = frozenset({np.float64, np.float32})
PLAIN_RESULTS = PLAIN_NUMBERS | {np.ndarray}


def _counts(value: Any) -> bool:
    """Whether a value may decide what a function returns."""
    return isinstance(value, (bool, int, str, type(None)))
