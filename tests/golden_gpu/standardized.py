import math

import cupy as cp
import numpy as np
from numba import cuda

THREADS = 256
BLOCKS = 4096
WARP = 32


# The larger number; nan if one of them is.
@cuda.jit(device=True)
def larger(a, b):
    return a if a >= b or a != a else b


def over_threads(*sizes):
    """A thread for every place of up to three axes, the innermost first."""
    across = min(THREADS, WARP if len(sizes) > 1 else THREADS)
    threads = (across, THREADS // across, 1)[:len(sizes)]
    counts = [max(1, (size + each - 1) // each) for size, each in zip(sizes, threads)]
    return ((min(counts[0], BLOCKS), *[min(count, 65535) for count in counts[1:]]), threads)


@cuda.jit
def fill_ratio(m, n, X, number, ratio, root, number2):
    i = cuda.grid(1)
    while 0 <= i < m:
        total = np.float32(0.0)
        for j in range(n):
            total += X[j, i]
        ratio2 = total / number
        ratio[i] = ratio2
        total2 = np.float32(0.0)
        for j in range(n):
            diff = X[j, i] - ratio2
            total2 += diff * diff
        root[i] = math.sqrt(np.float64(total2) / number2)
        i += cuda.gridsize(1)


@cuda.jit
def fill_ratio3(n, m, ratio3, X, ratio, root):
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    while 0 <= i < n:
        j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        while 0 <= j < m:
            ratio3[i, j] = (X[i, j] - ratio[j]) / np.float32(root[j])
            j += cuda.gridDim.x * cuda.blockDim.x
        i += cuda.gridDim.y * cuda.blockDim.y


def standardized_driver(X):
    n, m = X.shape
    ratio = cp.empty(m, np.float32)
    root = cp.empty(m)
    number = np.float32(n)
    number2 = float(larger(n, 0))
    fill_ratio[over_threads(m)](m, n, X, number, ratio, root, number2)
    ratio3 = cp.empty((n, m), np.float32)
    fill_ratio3[over_threads(m, n)](n, m, ratio3, X, ratio, root)
    return ratio3


def standardized(X):
    return standardized_driver(X)
