"""Seconds of calls that come back before the device has done its work."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from transformer.run.gpu.library import is_simulated, library

Call = Callable[[], Any]
Clock = Callable[[Call, int], float]
TILE = 1 << 28                          # bytes of the copies that bandwidth is measured with


def by_events(call: Call, number: int) -> float:
    """Between two events in the stream in which CuPy and numba put their work."""
    if is_simulated():
        return by_wall(call, number)
    from cupy.cuda import Event
    first, last = Event(), Event()
    first.record()
    for _ in range(number):
        call()
    last.record()
    last.synchronize()
    from cupy.cuda import get_elapsed_time
    return float(get_elapsed_time(first, last)) / 1e3


def by_wall(call: Call, number: int) -> float:
    """Until the last call has its result, for those who have streams of their own."""
    begun, result = perf_counter(), None
    for _ in range(number):
        result = call()
    wait_for(result)
    return perf_counter() - begun


def wait_for(result: Any) -> None:
    """Until everything on the device is done, JAX's result among it."""
    leaf = result
    while isinstance(leaf, (tuple, list)) and leaf:
        leaf = leaf[0]
    if hasattr(leaf, "block_until_ready"):
        leaf.block_until_ready()
    elif not is_simulated():
        library().cuda.runtime.deviceSynchronize()


def of_launching(call: Call, number: int) -> float:
    """Until the last call came back: what the processor has to do."""
    begun = perf_counter()
    for _ in range(number):
        call()
    taken = perf_counter() - begun
    if not is_simulated():
        library().cuda.runtime.deviceSynchronize()
    return taken


def bandwidth_of_copies(size: int = TILE, rounds: int = 20) -> float:
    """Bytes per second, read and written, of the fastest copy from the device to the device."""
    source = library().zeros(size // 4, "f4")
    target = library().empty_like(source)

    def copy() -> None:
        target[...] = source

    copy()
    return 2 * source.nbytes / min(by_events(copy, 1) for _ in range(rounds))
