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
def fill_scaled(n, x, scaled):
    i = Place(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    while i < n:
        j = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        while j < n:
            x_ij = x[i, j]
            scaled2 = x_ij * x_ij
            scaled3 = (x_ij + scaled2 + np.float32(3.0)) * (scaled2 + x_ij * x[j, i])
            scaled[i, j] = scaled3
            j = Place(j + cuda.gridDim.x * cuda.blockDim.x)
        i = Place(i + cuda.gridDim.y * cuda.blockDim.y)


def polynomial_of_transpose_driver(x):
    n = x.shape[0]
    scaled = cp.empty((n, n), np.float32)
    fill_scaled[over_threads(n, n)](n, x, scaled)
    return scaled


def polynomial_of_transpose(x):
    return polynomial_of_transpose_driver(x)
