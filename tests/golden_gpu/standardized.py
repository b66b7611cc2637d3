import math

import cupy as cp
import numpy as np
from numba import cuda

THREADS = 256
BLOCKS = 4096
WARP = 32
MOST = 2**31
Place = np.uint32


def check_places(*sizes):
    """Raises where an axis has more places than `Place` counts."""
    if max(sizes) > MOST:
        raise OverflowError(f'{max(sizes)} places along an axis need Place = np.uint64 and MOST = 2**62')


def over_threads(*sizes):
    """A thread for every place of up to three axes, the innermost first."""
    check_places(*sizes)
    across = min(THREADS, WARP if len(sizes) > 1 else THREADS)
    threads = (across, THREADS // across, 1)[:len(sizes)]
    counts = [max(1, (size + each - 1) // each) for size, each in zip(sizes, threads)]
    return ((min(counts[0], BLOCKS), *[min(count, 65535) for count in counts[1:]]), threads)


@cuda.jit
def fill_parts(n, m, X, parts):
    i = Place(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    while i < (n + 63) // 64:
        j = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        while j < m:
            total = np.float32(0.0)
            for k in range(min(64, n - 64 * i)):
                total += X[Place(64 * i + k), j]
            parts[i, j] = total
            j = Place(j + cuda.gridDim.x * cuda.blockDim.x)
        i = Place(i + cuda.gridDim.y * cuda.blockDim.y)


@cuda.jit
def fill_ratio(m, n, parts, number, ratio, ratio2):
    i = Place(cuda.grid(1))
    while i < m:
        total = np.float32(0.0)
        for j in range((n + 63) // 64):
            total += parts[Place(j), i]
        ratio3 = total / number
        ratio[i] = ratio3
        ratio2[i] = ratio3
        i = Place(i + cuda.gridsize(1))


@cuda.jit
def fill_parts2(n, m, ratio2, X, parts2):
    i = Place(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    while i < (n + 63) // 64:
        j = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        while j < m:
            ratio2_j = ratio2[j]
            total = np.float32(0.0)
            for k in range(min(64, n - 64 * i)):
                diff = X[Place(64 * i + k), j] - ratio2_j
                total += diff * diff
            parts2[i, j] = total
            j = Place(j + cuda.gridDim.x * cuda.blockDim.x)
        i = Place(i + cuda.gridDim.y * cuda.blockDim.y)


@cuda.jit
def fill_root(m, n, parts2, root, number):
    i = Place(cuda.grid(1))
    while i < m:
        total = np.float32(0.0)
        for j in range((n + 63) // 64):
            total += parts2[Place(j), i]
        root[i] = math.sqrt(total / number)
        i = Place(i + cuda.gridsize(1))


@cuda.jit
def fill_ratio4(n, m, ratio4, root, X, ratio):
    i = Place(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    while i < n:
        j = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        while j < m:
            ratio4[i, j] = (X[i, j] - ratio[j]) / root[j]
            j = Place(j + cuda.gridDim.x * cuda.blockDim.x)
        i = Place(i + cuda.gridDim.y * cuda.blockDim.y)


def standardized_driver(X):
    n, m = X.shape
    parts = cp.empty(((n + 63) // 64, m), np.float32)
    fill_parts[over_threads(m, (n + 63) // 64)](n, m, X, parts)
    ratio = cp.empty(m, np.float32)
    ratio2 = cp.empty(m, np.float32)
    number = np.float32(n)
    fill_ratio[over_threads(m)](m, n, parts, number, ratio, ratio2)
    parts2 = cp.empty(((n + 63) // 64, m), np.float32)
    fill_parts2[over_threads(m, (n + 63) // 64)](n, m, ratio2, X, parts2)
    root = cp.empty(m, np.float32)
    fill_root[over_threads(m)](m, n, parts2, root, number)
    ratio4 = cp.empty((n, m), np.float32)
    fill_ratio4[over_threads(m, n)](n, m, ratio4, root, X, ratio)
    return ratio4


def standardized(X):
    return standardized_driver(X)
