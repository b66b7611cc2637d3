"""How many blocks of how many threads a kernel is launched with. Generated modules have copies of these functions.

`THREADS` and `BLOCKS` are of the module: how many threads a block has, a power of two, and how many blocks keep a
device busy, beyond which each goes on to further places.
"""

from __future__ import annotations

from typing import Any

THREADS = 256
BLOCKS = 4096
WARP = 32


def over_threads(*sizes: int) -> Any:
    """A thread for every place of up to three axes, the innermost first."""
    across = min(THREADS, WARP if len(sizes) > 1 else THREADS)
    threads = (across, THREADS // across, 1)[:len(sizes)]
    counts = [max(1, (size + each - 1) // each) for size, each in zip(sizes, threads)]
    return (min(counts[0], BLOCKS), *[min(count, 65535) for count in counts[1:]]), threads


def over_blocks(*sizes: int) -> Any:
    """A block for every place."""
    counts = [max(1, min(size, 65535)) for size in sizes]
    return tuple(counts), THREADS


def one_block() -> Any:
    """A block of threads that work together."""
    return 1, THREADS


def one_thread() -> Any:
    """A thread that works alone."""
    return 1, 1
