"""Copies of several arrays by one launch: a graph's arguments are copied before each launch of it, and asking for each
copy takes as long as a small one takes.

    fill_copies[blocks, threads](x, x_copy, y, y_copy)          arrays as words of 8 bytes
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ..files import load_module
from .kernels import Form, compiled, kept, numba_type
from .library import library

WORD = np.dtype(np.uint64)
THREADS, PER_THREAD = 256, 4            # of a block, and words that each of them copies of the largest array
MOST_BLOCKS = 4096
MOST = 1 << 34                          # bytes whose words a kernel counts
AT_ONCE = 32                            # arrays: what a kernel takes is at most 4 kB
COPY = 3                                # from the device to the device
HEAD = '''
import numpy as np
from numba import cuda

Place = np.uint32


@cuda.jit
def fill_copies(PARAMETERS):
    first = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
'''
BODY = '''    k = first
    while k < to_N.shape[0]:
        to_N[k] = from_N[k]
        k = Place(k + cuda.gridDim.x * cuda.blockDim.x)
'''


def source(count: int) -> str:
    """The module of a kernel for so many arrays."""
    names = ", ".join(f"from_{k}, to_{k}" for k in range(count))
    return HEAD.replace("PARAMETERS", names) + "".join(BODY.replace("N", str(k)) for k in range(count))


class Words:
    """An array in C order as words, as far as a launch asks."""

    __slots__ = ("size", "data")

    def __init__(self, array: Any) -> None:
        self.size, self.data = array.nbytes // WORD.itemsize, array.data


def copy_all(targets: Sequence[Any], arrays: Sequence[Any]) -> None:
    """Copies arrays to others on the current GPU, in the current stream. No target may share memory with an array."""
    cuda = library().cuda
    stream, found = cuda.get_current_stream().ptr, list[tuple[Words, Words]]()
    for target, array in zip(targets, arrays, strict=True):
        if not array._c_contiguous:
            target[...] = array
        elif array.nbytes % WORD.itemsize or array.data.ptr % WORD.itemsize or array.nbytes > MOST:
            cuda.runtime.memcpyAsync(target.data.ptr, array.data.ptr, array.nbytes, COPY, stream)
        else:
            found.append((Words(array), Words(target)))
    for first in range(0, len(found), AT_ONCE):
        some = found[first:first + AT_ONCE]
        if len(some) > 1:
            form = form_of(len(some), cuda.get_device_id())
            form.launch(_grid(some), stream, tuple(each for pair in some for each in pair))
        else:
            array, target = some[0]
            cuda.runtime.memcpyAsync(target.data.ptr, array.data.ptr, array.size * WORD.itemsize, COPY, stream)


def _grid(arrays: Sequence[tuple[Words, Words]]) -> tuple[int, ...]:
    most = max(array.size for array, _ in arrays)
    return max(1, min(MOST_BLOCKS, -(-most // (THREADS * PER_THREAD)))), 1, 1, THREADS, 1, 1


@cache
def form_of(count: int, device: int) -> Form:
    """The kernel for so many arrays, compiled for a GPU."""
    dispatcher = load_module(source(count), "fill_copies", {})["fill_copies"]
    kept(dispatcher)
    kinds = [(WORD, 1, True)] * (2 * count)
    return Form(kinds, compiled(dispatcher, tuple(map(numba_type, kinds)), device), library().cuda.driver.launchKernel)
