"""Stand-ins for CuPy: arrays that NumPy's functions are handed to, and that are never taken for NumPy's by themselves;
devices, streams and events that note what is asked of them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import nullcontext
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from transformer import tree
from transformer.run.gpu.copies import WORD
from transformer.run.gpu.kernels import writer

NOT_OF_CUPY = {"ctypes", "newbyteorder", "getfield", "setflags", "__array_interface__"}


class OnGpu(NDArrayOperatorsMixin):
    """An array as CuPy's are: `hidden` is what only its library looks at. It may be a view of another one."""

    def __init__(self, hidden: np.ndarray, of: OnGpu | None = None) -> None:
        self.hidden, self.device = hidden, SimpleNamespace(id=CUDA.get_device_id())
        self.base = None if of is None else of.base or of
        self.of = of

    @cached_property
    def data(self) -> Any:
        """Where it begins."""
        place = self.hidden.ctypes.data
        if self.of is None:
            return SimpleNamespace(ptr=place, mem=object())
        return self.of.data if self.of.data.ptr == place else SimpleNamespace(ptr=place, mem=self.of.data.mem)

    _c_contiguous = property(lambda self: self.hidden.flags.c_contiguous)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.hidden.__array_interface__, "stream": CUDA.get_current_stream().ptr}

    def __dlpack__(self, stream: Any = None) -> Any:
        CUDA.noted("exported", CUDA.get_current_stream().ptr, stream)
        return self.hidden.__dlpack__()

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return wrapped(getattr(ufunc, method)(*map(unwrapped, inputs), **options))

    def __array_function__(self, function: Any, _: Any, args: Any, kwargs: Any) -> Any:
        return wrapped(function(*tree.map(unwrapped, args), **tree.map(unwrapped, kwargs)))

    def __getattr__(self, name: str) -> Any:
        if name in NOT_OF_CUPY:
            raise AttributeError(f"'ndarray' object has no attribute {name!r}")
        found = getattr(self.hidden, name)
        return (lambda *args, **kwargs: wrapped(found(*args, **kwargs), self)) if callable(found) else wrapped(found)

    def __getitem__(self, at: Any) -> Any:
        return wrapped(self.hidden[unwrapped(at)], self)

    def __setitem__(self, at: Any, value: Any) -> None:
        CUDA.asked(lambda: self.hidden.__setitem__(unwrapped(at), unwrapped(value)))

    def __len__(self) -> int:
        return len(self.hidden)


def wrapped(value: Any, of: OnGpu | None = None) -> Any:
    """What NumPy gives, of an array that it may be a view of."""
    if isinstance(value, (np.ndarray, np.generic)):
        CUDA.noted("computed", CUDA.get_current_stream().ptr)
        value = np.asarray(value)
        return OnGpu(value, of if of is not None and np.shares_memory(value, of.hidden) else None)
    return value


def unwrapped(value: Any) -> Any:
    return value.hidden if isinstance(value, OnGpu) else value


class Stream:
    """A stream, by its handle; the default one has 0. It does what it is asked at once, or notes it for a graph."""

    def __init__(self, ptr: int | None = None, non_blocking: bool = False) -> None:
        CUDA.made += ptr is None
        self.ptr = 100 * CUDA.made if ptr is None else ptr
        self.non_blocking, self.done = non_blocking, False
        self.waiting: list[Callable[[], Any]] | None = None
        self.is_invalid = False                  # it was asked for what cannot be noted

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.ptr == self.ptr

    __hash__ = None                              # type: ignore[assignment]

    def __enter__(self) -> Stream:
        CUDA.current.append(self)
        return self

    def __exit__(self, *_: Any) -> None:
        assert CUDA.current.pop() is self

    def synchronize(self) -> None:
        assert not self.is_capturing(), "a stream that is noted cannot be waited for"
        CUDA.noted("waited for", self.ptr)

    def begin_capture(self) -> None:
        assert self.non_blocking and not self.is_capturing()
        self.waiting = []

    def is_capturing(self) -> bool:
        if self.is_invalid:
            raise RuntimeError("the stream was capturing, but an error has invalidated the capture sequence")
        return self.waiting is not None

    def end_capture(self) -> Graph:
        assert self.waiting is not None
        graph, self.waiting = Graph(self.waiting), None
        if self.is_invalid:
            self.is_invalid = False
            raise RuntimeError("cudaErrorStreamCaptureInvalidated")
        return graph

    def wait_event(self, event: Event) -> None:
        CUDA.noted("follows", self.ptr, event.of)


class Graph:
    """What a stream noted."""

    def __init__(self, work: list[Callable[[], Any]]) -> None:
        self.work = work

    def launch(self, stream: Stream) -> None:
        assert stream == CUDA.get_current_stream() or stream.non_blocking
        assert not stream.is_capturing()
        CUDA.noted("launched", stream.ptr)
        for each in self.work:
            each()


class Event:
    def __init__(self, disable_timing: bool = False) -> None:
        assert disable_timing
        self.done, self.of = False, None

    def record(self, stream: Stream) -> None:
        CUDA.noted("marked", stream.ptr)
        self.of = stream.ptr

    def synchronize(self) -> None:
        CUDA.noted("waited for mark of", self.of)


class Device:
    def __init__(self, id: int) -> None:
        self.id = id

    def __enter__(self) -> Device:
        CUDA.devices.append(self.id)
        return self

    def __exit__(self, *_: Any) -> None:
        assert CUDA.devices.pop() == self.id

    def use(self) -> None:
        assert CUDA.devices[-1] == self.id
        CUDA.used.append(self.id)


class Cuda:
    """`cupy.cuda`; `log` has what was asked of it."""

    Stream, Event, Device = Stream, Event, Device
    runtime = SimpleNamespace(memoryTypeHost=1)
    using_allocator = staticmethod(lambda allocate: nullcontext())
    MemoryPool = staticmethod(lambda: SimpleNamespace(malloc=None, total_bytes=lambda: 1000))

    def begin(self) -> None:
        self.log: list[Any] = []
        self.used: list[int] = []
        self.current, self.devices, self.made, self.pinned = [Stream(0)], [0], 0, set[int]()
        self.runtime.getDeviceCount = lambda: 2
        self.runtime.memcpyAsync = self.copied
        self.runtime.pointerGetAttributes = lambda place: SimpleNamespace(type=int(place in self.pinned))

    made = 0

    def noted(self, *what: Any) -> None:
        self.log.append(what)

    def asked(self, work: Callable[[], Any]) -> None:
        """Has the current stream do something."""
        waiting = self.get_current_stream().waiting
        if waiting is None:
            work()
        else:
            waiting.append(work)

    def copied(self, target: int, source: int, count: int, kind: int, stream: int) -> None:
        assert stream == self.get_current_stream().ptr
        self.asked(lambda: ctypes.memmove(target, source, count))

    def get_current_stream(self) -> Stream:
        return self.current[-1]

    def get_device_id(self) -> int:
        return self.devices[-1]

    def alloc_pinned_memory(self, size: int) -> Any:
        self.noted("pinned", size)
        return bytearray(size + 7)               # more than was asked for, as CuPy gives


def copied_at_once(count: int, device: int) -> Any:
    """What launches the kernel that copies so many arrays (`copies.form_of`), with what is written for it."""
    values = writer([(WORD, 1, True)] * (2 * count))

    def launch(grid: Any, stream: int, args: Any) -> None:
        CUDA.noted("launched", grid)
        written = values(*args)
        for k in range(0, len(written), 14):
            _, _, *array, place, _, _ = written[k:k + 7]
            _, _, *target, own, _, _ = written[k + 7:k + 14]
            assert array == target
            CUDA.copied(own, place, array[0] * array[1], 3, stream)

    return SimpleNamespace(launch=launch)


class Library:
    """`cupy`."""

    ndarray = OnGpu

    @property
    def cuda(self) -> Cuda:
        return CUDA

    def array(self, array: Any) -> OnGpu:
        CUDA.noted("brought", CUDA.get_current_stream().ptr)
        return OnGpu(np.array(unwrapped(array)))

    def asarray(self, array: Any) -> OnGpu:
        return array if isinstance(array, OnGpu) else OnGpu(np.asarray(array))

    def asnumpy(self, array: Any, out: np.ndarray | None = None, blocking: bool = True) -> np.ndarray:
        CUDA.noted("fetched", CUDA.get_current_stream().ptr, blocking)
        if out is None:
            return np.array(unwrapped(array))
        out[...] = unwrapped(array)
        return out

    def may_share_memory(self, one: OnGpu, other: OnGpu) -> bool:
        return np.may_share_memory(one.hidden, other.hidden)


CUDA = Cuda()
CUDA.begin()
LIBRARY = Library()
