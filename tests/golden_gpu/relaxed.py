import math

import cupy as cp
import numpy as np
from numba import cuda

THREADS = 256
BLOCKS = 4096
WARP = 32
MOST = 2**31
Place = np.uint32


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


def one_block():
    """A block of threads that work together."""
    return (1, THREADS)


def over_threads(*sizes):
    """A thread for every place of up to three axes, the innermost first."""
    check_places(*sizes)
    across = min(THREADS, WARP if len(sizes) > 1 else THREADS)
    threads = (across, THREADS // across, 1)[:len(sizes)]
    counts = [max(1, (size + each - 1) // each) for size, each in zip(sizes, threads)]
    return ((min(counts[0], BLOCKS), *[min(count, 65535) for count in counts[1:]]), threads)


@cuda.jit
def fill_r(n, A, x, r, b):
    shared = cuda.shared.array(THREADS, np.float64)
    i = Place(cuda.blockIdx.x)
    while i < n:
        total = 0.0
        j = Place(cuda.threadIdx.x)
        while j < n:
            total += A[i, j] * x[j]
            j = Place(j + cuda.blockDim.x)
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            r[i] = math.tanh(b[i] - total)
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_parts(n, step, parts):
    shared = cuda.shared.array(THREADS, np.float64)
    i = Place(cuda.blockIdx.x)
    while i < (n + 1023) // 1024:
        total = 0.0
        j = Place(1024 * i + cuda.threadIdx.x)
        while j < min(1024 * i + 1024, n):
            step_j = step[j]
            total += step_j * step_j
            j = Place(j + cuda.blockDim.x)
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            parts[i] = total
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_number(n, parts, number):
    shared = cuda.shared.array(THREADS, np.float64)
    total = 0.0
    i = Place(cuda.threadIdx.x)
    while i < (n + 1023) // 1024:
        total += parts[i]
        i = Place(i + cuda.blockDim.x)
    total = add_of_block(total, shared)
    if cuda.threadIdx.x == 0:
        number[0] = 1.0 + total


@cuda.jit
def fill_total2(number, n, total2, x, step):
    number_at = number[0]
    i = Place(cuda.grid(1))
    while i < n:
        total2[i] = x[i] + step[i] / number_at
        i = Place(i + cuda.gridsize(1))


def relaxed_driver(A, b, x):
    n = A.shape[1]
    r = cp.empty(n)
    fill_r[over_blocks(n, along=n)](n, A, x, r, b)
    step = cp.empty(n)
    step[:] = cp.linalg.solve(A, r)
    parts = cp.empty((n + 1023) // 1024)
    fill_parts[over_blocks((n + 1023) // 1024)](n, step, parts)
    total2 = cp.empty(n)
    number = cp.empty(1)
    fill_number[one_block()](n, parts, number)
    fill_total2[over_threads(n)](number, n, total2, x, step)
    return total2


def relaxed(A, b, x):
    return relaxed_driver(A, b, x)
