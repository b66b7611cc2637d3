"""Numba's simulator of GPUs, with its threads in turns: each runs to its next barrier or its end, then the next one.

By itself it has all of them run at once and asks each, over and over, whether it waits: that takes most of the time.
Kernels without barriers need no threads of Python at all. Races are what `gpu_simulator` finds, not this.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np


def install() -> None:
    """Kernels that numba simulates in this process run in turns from now on."""
    from numba.cuda.simulator import kernel
    kernel.BlockManager.run = _run
    kernel.BlockThread.syncthreads = _wait


def waits(function: Any) -> bool:
    """Whether a kernel, or a function of its module that it calls, names a barrier."""
    seen: set[Any] = set()

    def search(function: Any) -> bool:
        function = getattr(function, "fn", function)
        code = getattr(function, "__code__", None)
        if code is None or code in seen:
            return False
        seen.add(code)
        called = (function.__globals__.get(name) for name in code.co_names)
        return any(name.startswith("sync") for name in code.co_names) or any(map(search, called))

    return search(function)


def _run(manager: Any, grid_point: Any, *args: Any) -> None:
    """One block, in place of what numba has for it."""
    from numba.cuda.simulator.kernel import BlockThread
    threads = [BlockThread(lambda: manager._f(*args), manager, grid_point, point, manager._debug)
               for point in np.ndindex(*manager._block_dim)]
    if waits(manager._f):
        _in_turns(threads, manager)
    else:
        _here(threads)


def _here(threads: list[Any]) -> None:
    """Runs each to its end in this thread, which is asked for the places."""
    me = threading.current_thread()
    for thread in threads:
        me.threadIdx, me.blockIdx = thread.threadIdx, thread.blockIdx    # type: ignore[attr-defined]
        me.thread_id = thread.thread_id                                  # type: ignore[attr-defined]
        thread.run()
        _raise_from(thread)


def _in_turns(threads: list[Any], manager: Any) -> None:
    manager.turn = threading.Semaphore(0)
    for thread in threads:
        thread.run = _handing_on(thread.run, manager.turn)
        thread.start()
        manager.turn.acquire()
    alive = threads
    try:
        while alive := [thread for thread in alive if thread.syncthreads_blocked]:
            for thread in alive:
                _resume(thread, manager.turn)
                _raise_from(thread)
    finally:
        for thread in alive:                     # after an exception
            thread.abort = True
            if thread.syncthreads_blocked:
                _resume(thread, manager.turn)
    for thread in threads:
        _raise_from(thread)


def _handing_on(run: Any, turn: threading.Semaphore) -> Any:
    def to_the_end() -> None:
        try:
            run()
        finally:
            turn.release()

    return to_the_end


def _resume(thread: Any, turn: threading.Semaphore) -> None:
    thread.syncthreads_blocked = False
    thread.syncthreads_event.set()
    turn.acquire()


def _wait(thread: Any) -> None:
    """A barrier, in place of numba's."""
    thread.syncthreads_blocked = True
    thread._manager.turn.release()
    thread.syncthreads_event.wait()
    thread.syncthreads_event.clear()
    if thread.abort:
        raise RuntimeError("another thread of the block has failed")


def _raise_from(thread: Any) -> None:
    if thread.exception:
        raise thread.exception[0].with_traceback(thread.exception[1])
