"""The streams of GPUs: all work is done in a stream of ours, in the order in which it is submitted.

    with On(0) as stream:                       GPU 0 and our stream on it are the current ones, also for CuPy
        y = cp.empty(n)
        fill_y[over_threads(n)](n, x, y)        has begun at some time later
    done = mark(stream)                         an event that comes when all of it is done

Our streams wait for the default stream of their GPU, and that one waits for them, as CUDA has it for streams that are
not made with its flag `nonblocking`. So what CuPy and PyTorch do on their default stream needs no further order, nor
does memory that they have given back.
"""

from __future__ import annotations

import threading
from typing import Any

from .library import library

_streams: dict[int, Any] = {}


def stream_of(device: int) -> Any:
    """Our stream on a GPU."""
    found = _streams.get(device)
    return _made(device) if found is None else found


def _made(device: int) -> Any:
    cuda = library().cuda
    with cuda.Device(device):
        return _streams.setdefault(device, cuda.Stream())                # one, if two threads come at once


class On:
    """A `with` in which a GPU is the current one, and our stream its current stream."""

    __slots__ = ("device", "stream")

    def __init__(self, device: int) -> None:
        self.device, self.stream = library().cuda.Device(device), stream_of(device)

    def __enter__(self) -> Any:
        self.device.__enter__()
        self.device.use()                        # in a thread that has done nothing yet, too
        self.stream.__enter__()
        return self.stream

    def __exit__(self, *raised: Any) -> None:
        try:
            self.stream.__exit__(*raised)
        finally:
            self.device.__exit__(*raised)


class Alone:
    """The same for the only GPU that there is, which no thread has to leave."""

    __slots__ = ("device", "stream")

    def __init__(self, device: int) -> None:
        self.device, self.stream = library().cuda.Device(device), stream_of(device)

    def __enter__(self) -> Any:
        self.device.use()                        # in a thread that has done nothing yet, too
        self.stream.__enter__()
        return self.stream

    def __exit__(self, *raised: Any) -> None:
        self.stream.__exit__(*raised)


class Beside:
    """A `with` in which a GPU is the current one, and its current stream stays. That waits for what was asked of our
    stream before, and our stream for what is asked of it in the `with`."""

    __slots__ = ("device", "own", "stream")

    def __init__(self, device: int) -> None:
        self.device, self.own = library().cuda.Device(device), stream_of(device)

    def __enter__(self) -> Any:
        self.device.__enter__()
        self.device.use()
        self.stream = library().cuda.get_current_stream()
        follow(self.stream, self.own)
        return self.stream

    def __exit__(self, *raised: Any) -> None:
        try:
            follow(self.own, self.stream)
        finally:
            self.device.__exit__(*raised)


def follow(stream: Any, other: Any) -> None:
    """Makes a stream wait for what was asked of another one so far; the default one waits by itself."""
    if stream != other and DEFAULT.isdisjoint((stream.ptr, other.ptr)):
        stream.wait_event(mark(other))


DEFAULT = frozenset((0, 1))             # handles of the default stream of a GPU
OF_THREAD = 2                           # the handle that the default streams of all threads have in common


def identity(stream: Any) -> tuple[int, ...]:
    """What tells a stream from others."""
    return (stream.ptr, threading.get_ident()) if stream.ptr == OF_THREAD else (stream.ptr,)


def mark(stream: Any) -> Any:
    """An event that comes when all is done that was asked of a stream so far."""
    event = library().cuda.Event(disable_timing=True)
    event.record(stream)
    return event
