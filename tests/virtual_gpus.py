"""Several GPUs in the memory of this process, and a stand-in for CuPy that knows them.

Arrays are never taken for NumPy's by themselves, and whoever uses one while another GPU is the current one is told so:
CuPy would read it over the bus, or fail.
"""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class Current(threading.local):
    gpu = 0


CURRENT = Current()


class Device:
    """A GPU: in a `with` it is the current one of this thread."""

    def __init__(self, id: int) -> None:
        self.id = id
        self.before: list[int] = []

    def __enter__(self) -> Device:
        self.before.append(CURRENT.gpu)
        CURRENT.gpu = self.id
        return self

    def __exit__(self, *_: Any) -> None:
        CURRENT.gpu = self.before.pop()

    def use(self) -> None:
        CURRENT.gpu = self.id


class Stream:
    """A stream, in which everything is done when it is asked for."""

    ptr, done = 0, True

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def wait_event(self, event: Any) -> None:
        assert event.is_recorded

    def synchronize(self) -> None:
        pass


class Event:
    is_recorded, done = False, True

    def __init__(self, disable_timing: bool = False) -> None:
        pass

    def record(self, stream: Any = None) -> None:
        self.is_recorded = True

    def synchronize(self) -> None:
        assert self.is_recorded


class OnGpu(NDArrayOperatorsMixin):
    """An array as CuPy's are, on the current GPU: `hidden` is what only its library looks at."""

    __hash__: Any = None

    def __init__(self, hidden: np.ndarray) -> None:
        self.hidden, self.device = hidden, SimpleNamespace(id=CURRENT.gpu)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.hidden.__array_interface__

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return wrapped(getattr(ufunc, method)(*used(inputs), **used(options)))

    def __array_function__(self, function: Any, _: Any, args: Any, kwargs: Any) -> Any:
        return wrapped(function(*used(args), **used(kwargs)))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.hidden, name)
        if name == "data":
            return SimpleNamespace(ptr=self.hidden.ctypes.data)
        if callable(found):
            return lambda *args, **kwargs: wrapped(getattr(used(self), name)(*used(args), **used(kwargs)))
        with Device(self.device.id):             # a view
            return wrapped(found)

    def __getitem__(self, at: Any) -> Any:
        if is_plain(at):                         # a view
            with Device(self.device.id):
                return wrapped(self.hidden[at])
        return wrapped(used(self)[used(at)])

    def __setitem__(self, at: Any, value: Any) -> None:
        assert not isinstance(value, np.ndarray), "CuPy takes no arrays of NumPy's here"
        used(self)[used(at)] = used(value)

    def copy(self) -> OnGpu:
        """On the current GPU, wherever it is."""
        return OnGpu(self.hidden.copy())

    def __len__(self) -> int:
        return len(self.hidden)

    def __bool__(self) -> bool:
        return bool(self.hidden)

    def __int__(self) -> int:
        return int(self.hidden)

    def __float__(self) -> float:
        return float(self.hidden)

    def item(self) -> Any:
        return self.hidden.item()


def is_plain(at: Any) -> bool:
    """Whether an index has no arrays."""
    return all(isinstance(each, (int, slice, type(None), type(...))) for each in (at if type(at) is tuple else (at,)))


def wrapped(value: Any) -> Any:
    """What a function of NumPy gave, on the current GPU."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(wrapped, value))
    return OnGpu(np.asarray(value)) if isinstance(value, (np.ndarray, np.generic)) else value


def used(value: Any) -> Any:
    """The arrays in arguments, all of which have to be on the current GPU."""
    if isinstance(value, OnGpu):
        if value.device.id != CURRENT.gpu:
            raise RuntimeError(f"an array of GPU {value.device.id} is used on GPU {CURRENT.gpu}")
        return value.hidden
    if isinstance(value, (tuple, list)):
        return type(value)(map(used, value))
    return {key: used(each) for key, each in value.items()} if isinstance(value, dict) else value


class Library:
    """What stands for CuPy, with so many GPUs."""

    ndarray = OnGpu

    def __init__(self, count: int) -> None:
        runtime = SimpleNamespace(getDeviceCount=lambda: count, memoryTypeHost=1,
                                  pointerGetAttributes=lambda place: SimpleNamespace(type=0),
                                  getDeviceProperties=lambda _: {"name": "virtual"})
        self.cuda = SimpleNamespace(Device=Device, Stream=Stream, Event=Event, runtime=runtime,
                                    get_current_stream=Stream, get_device_id=lambda: CURRENT.gpu,
                                    alloc_pinned_memory=bytearray)

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if isinstance(found, type) or not callable(found):
            return found
        return lambda *args, **kwargs: wrapped(found(*used(args), **used(kwargs)))

    @staticmethod
    def array(value: Any) -> OnGpu:
        """A copy on the current GPU, also of an array on another one."""
        return OnGpu(np.array(value.hidden if isinstance(value, OnGpu) else value))

    @staticmethod
    def asarray(value: Any) -> OnGpu:
        return value if isinstance(value, OnGpu) else OnGpu(np.asarray(value))

    @staticmethod
    def asnumpy(value: Any, out: np.ndarray | None = None, blocking: bool = True) -> np.ndarray:
        found: np.ndarray = value.hidden.copy() if isinstance(value, OnGpu) else np.asarray(value)
        if out is None:
            return found
        out[...] = found
        return out


def install(found: Library, nccl: Any) -> None:
    """Has it take the place of CuPy in this process; kernels are launched by numba's simulator."""
    from transformer.run.gpu import library as gpu
    from transformer.run.gpu import modules as gpu_modules
    from transformer.run.gpu import simulated as gpu_simulated
    for module in [each for name, each in sys.modules.items() if name.startswith("transformer.")]:
        for name in "why_not", "is_simulated":
            if getattr(module, name, None) is getattr(gpu, name) and module is not gpu:
                setattr(module, name, lambda: None)
    gpu.why_not = gpu.is_simulated = lambda: None
    gpu_modules.launched_by_us = lambda *_, **__: None
    gpu_modules.runnable = gpu_simulated.with_stand_ins
    sys.modules["cupy"], sys.modules["cupy.cuda.nccl"] = found, nccl
    gpu.library.cache_clear()


def let_kernels_take() -> None:
    """Has numba's simulator take such arrays; those of another GPU than the current one are an error."""
    import numba.cuda.simulator.kernel as simulator
    simulate, alone = simulator.FakeCUDAKernel.__call__, threading.RLock()

    def launched(self: Any, *args: Any) -> Any:
        if self._device:                         # what a kernel calls
            return simulate(self, *args)
        assert not any(isinstance(arg, np.ndarray) for arg in args), "an array of NumPy's for a kernel"
        with alone:
            return simulate(self, *used(args))

    simulator.FakeCUDAKernel.__call__ = launched
