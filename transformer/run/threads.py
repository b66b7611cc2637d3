"""Loops that threads share: what generated code calls, and how many threads there are.

>>> def fill_y(first, count, x, y):
...     for i in places(first, count):
...         y[i] = 2 * x[i]
>>> y = [0, 0, 0]
>>> in_threads(fill_y, 3, 1, [1, 2, 3], y)
>>> y
[2, 4, 6]

The threads are those of TBB, by way of numba's layer for it: it may be called from several threads at once, and
costs two microseconds. Where TBB is not installed there is one thread.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from ..settings import config, followers

LIBRARIES = "lib/libtbb.so.12", "lib/libtbb.12.dylib", "Library/bin/tbb12.dll"
SHARE = "transformer_share_out"        # symbols that compiled code refers to
COUNT = "transformer_threads"
OWN = "transformer_own_threads"
CORES = os.cpu_count() or 1            # asking takes microseconds


def in_threads(task: Callable[..., None], size: int, cost: int, *args: Any) -> None:
    """Runs ``task(first, count, *args)`` for ranges that together are 0…size-1, of which each step takes about `cost`
    additions. Threads share them in compiled code, if that pays."""
    task(0, size, *args)


def places(first: int, count: int) -> range:
    """The iterations of a task. A compiler sees that they are not negative, and that no place overflows."""
    return range(first, first + count)


_cell = ctypes.c_int64(1)                        # the number of threads, for compiled code


@cache
def prepare() -> bool:
    """Starts the threads, and makes them known to compiled code; whether there can be more than one."""
    import llvmlite.binding as llvm
    pool = _pool()
    if pool is not None:
        followers.append(_follow)
        _follow("threads", 1, config.threads)
        _limits[:] = _function(pool.get_num_threads, ctypes.c_int), _function(pool.set_num_threads, None, ctypes.c_int)
    nobody = ctypes.addressof(_cell)             # is not called by one thread
    llvm.add_symbol(COUNT, ctypes.addressof(_cell))
    llvm.add_symbol(SHARE, nobody if pool is None else pool.parallel_for)
    llvm.add_symbol(OWN, nobody if pool is None else pool.get_num_threads)
    return pool is not None


def _function(address: int, *types: Any) -> Callable[..., Any]:
    found: Callable[..., Any] = ctypes.CFUNCTYPE(*types)(address)
    return found


_limits: list[Callable[..., Any]] = []           # asks and says how many threads the calling one uses


def limit(count: int) -> int | None:
    """Loops of the calling thread are shared by so many threads at most; gives how many it was before, None where no
    threads have been started yet."""
    if not _limits:
        return None
    asked, said = _limits
    before: int = asked()
    said(max(1, min(count, CORES)))
    return before


def _follow(setting: str, _: int, count: int) -> None:
    if setting == "threads":
        _cell.value = count


def _pool() -> Any:
    """The functions of numba's layer, by address; None without TBB."""
    for name in LIBRARIES:
        path = Path(sys.prefix) / name
        if path.exists():                        # numba looks in the folders of the system only
            ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
    try:
        tbbpool: Any = importlib.import_module("numba.np.ufunc.tbbpool")
    except ImportError:
        return None
    start: Any = ctypes.CFUNCTYPE(None, ctypes.c_int)
    start(tbbpool.launch_threads)(CORES)
    return tbbpool


if hasattr(os, "register_at_fork"):              # a child has no threads but its own, and siblings
    os.register_at_fork(after_in_child=lambda: _follow("threads", 0, 1))
