"""How many blocks of how many threads a kernel is launched with. Generated modules have copies of these functions.

`THREADS` is of the module: how many threads a block has at most, a power of two. `MOST` is how many places along an
axis `Place` can count, and `TILE` the side of a square of places that a block of threads does together; in memory a
line of it has `PADDED`.
"""

from __future__ import annotations

from typing import Any

cp: Any = None                         # CuPy and numba.cuda, in the modules
cuda: Any = None
THREADS = 256
WARP = TILE = 32
PADDED = TILE + 1
ROWS = THREADS // TILE
MOST = 2**31
NAMES = {"THREADS": "256", "WARP": "32", "TILE": "32", "PADDED": "TILE + 1", "ROWS": "THREADS // TILE",
         "MOST": "2**31"}


def over_threads(*sizes: int) -> Any:
    """A thread for every place of up to three axes, the innermost first; a block has fewer along a short one, and more
    along the next. Of several axes there are more blocks, as they may differ in what they have to do."""
    check_places(*sizes)
    across = min(THREADS, WARP if len(sizes) > 1 else THREADS)
    while len(sizes) > 1 and across > 1 and across >= 2 * sizes[0]:
        across //= 2
    threads = (across, THREADS // across, 1)[:len(sizes)]
    counts = [max(1, (size + each - 1) // each) for size, each in zip(sizes, threads)]
    most = most_blocks() if len(sizes) == 1 else 4 * most_blocks()
    blocks = []
    for count in counts:
        blocks.append(min(count, most, 65535))
        most = max(1, most // blocks[-1])
    return tuple(blocks), threads, current_stream()


def over_tiles(*sizes: int) -> Any:
    """A block for every square of `TILE` places along the last two axes, the innermost first, and for every place of
    another one."""
    check_places(*sizes)
    counts = [(size + TILE - 1) // TILE for size in sizes[:2]] + list(sizes[2:])
    blocks = [max(1, min(count, 65535)) for count in counts]
    return tuple(blocks), (TILE, ROWS), current_stream()


def over_pairs(*sizes: int) -> Any:
    """A block for every two squares of `TILE` places that lie opposite each other, which goes on to a further one where
    half of a line is not all of it, and for every place of another axis."""
    check_places(*sizes)
    lines = (sizes[0] + TILE - 1) // TILE
    blocks = [max(1, min(count, 65535)) for count in (lines // 2 + 1, lines, *sizes[2:])]
    return tuple(blocks), (TILE, ROWS), current_stream()


def over_blocks(*sizes: int, along: int = THREADS) -> Any:
    """A block for every place, with threads that share what goes along a row, in so many steps; for short rows they are
    fewer."""
    check_places(*sizes, along)
    threads = THREADS
    while threads > WARP and threads >= 2 * along:
        threads //= 2
    counts = [max(1, min(size, 65535)) for size in sizes]
    return tuple(counts), threads, current_stream()


def one_block() -> Any:
    """A block of threads that work together."""
    return 1, THREADS, current_stream()


def one_thread() -> Any:
    """A thread that works alone."""
    return 1, 1, current_stream()


def most_blocks() -> int:
    """How many blocks keep the device busy to the end, four times as many as it has at once: each goes on to further
    places."""
    device = cuda.get_current_device()
    return 4 * device.MULTIPROCESSOR_COUNT * (device.MAX_THREADS_PER_MULTIPROCESSOR // THREADS)


def current_stream() -> Any:
    """The stream in which CuPy works just now, for numba."""
    return cuda.external_stream(cp.cuda.get_current_stream().ptr)


def check_places(*sizes: int) -> None:
    """Raises where an axis has more places than `Place` counts."""
    if max(sizes) > MOST:
        raise OverflowError(f"an axis of {max(sizes)} places needs Place = np.int64 and MOST = 2**62 in this module")


def replayed(steps: int) -> Any:
    """The steps of a loop that launches the same kernels each time; `jit` has many of them launched at once."""
    return range(steps)


def in_fours(size: int, *arrays: Any) -> int:
    """How many times four elements of each array lie side by side along its last axis, so that one access has them
    all; 0 where an array does not lie so."""
    check_places(size)
    for array in arrays:
        aligned = min(16, 4 * array.itemsize)
        offsets = [place % aligned for place in (array.data.ptr, *array.strides[:-1])]
        if array.strides[-1] != array.itemsize or any(offsets):
            return 0
    return size // 4
