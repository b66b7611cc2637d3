import math

import cupy as cp
import numpy as np
from numba import cuda

THREADS = 256
WARP = 32
MOST = 2**31
Place = np.uint32


# The larger number; nan if one of them is.
@cuda.jit(device=True)
def larger(a, b):
    return a if a >= b or a != a else b


# What the threads of a block have, combined.
@cuda.jit(device=True)
def maximum_of_block(value, shared):
    k = cuda.threadIdx.x
    cuda.syncthreads()
    shared[k] = value
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if k < half:
            a, b = shared[k], shared[k + half]
            shared[k] = larger(a, b)
        cuda.syncthreads()
        half //= 2
    return shared[0]


# What the threads of a block have, combined.
@cuda.jit(device=True)
def add_of_block(value, shared):
    k = cuda.threadIdx.x
    cuda.syncthreads()
    shared[k] = value
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if k < half:
            a, b = shared[k], shared[k + half]
            shared[k] = a + b
        cuda.syncthreads()
        half //= 2
    return shared[0]


def check_places(*sizes):
    """Raises where an axis has more places than `Place` counts."""
    if max(sizes) > MOST:
        raise OverflowError(f'{max(sizes)} places along an axis need Place = np.uint64 and MOST = 2**62')


def over_blocks(*sizes, along=THREADS):
    """A block for every place, with threads that share what goes along a row; for short rows they are fewer."""
    check_places(*sizes, along)
    threads = THREADS
    while threads > WARP and threads >= 2 * along:
        threads //= 2
    counts = [max(1, min(size, 65535)) for size in sizes]
    return (tuple(counts), threads)


@cuda.jit
def fill_e(n, x, m, e, ratio):
    shared = cuda.shared.array(THREADS, np.float32)
    i = Place(cuda.blockIdx.x)
    while i < n:
        total = x[i, 0]
        j = Place(cuda.threadIdx.x)
        while j < m:
            total = larger(total, x[i, j])
            j = Place(j + cuda.blockDim.x)
        total = maximum_of_block(total, shared)
        total2 = np.float32(0.0)
        j = Place(cuda.threadIdx.x)
        while j < m:
            e2 = math.exp(x[i, j] - total)
            e[i, j] = e2
            total2 += e2
            j = Place(j + cuda.blockDim.x)
        total2 = add_of_block(total2, shared)
        j = Place(cuda.threadIdx.x)
        while j < m:
            ratio[i, j] = e[i, j] / total2
            j = Place(j + cuda.blockDim.x)
        i = Place(i + cuda.gridDim.x)


def softmax_driver(x):
    n, m = x.shape
    ratio = cp.empty((n, m), np.float32)
    e = cp.empty((n, m), np.float32)
    fill_e[over_blocks(n, along=m)](n, x, m, e, ratio)
    return ratio


def softmax(x):
    return softmax_driver(x)
