import cupy as cp
import numpy as np
from numba import cuda

THREADS = 256
TILE = 32
PADDED = TILE + 1
ROWS = THREADS // TILE
MOST = 2**31
Place = np.uint32


def check_places(*sizes):
    """Raises where an axis has more places than `Place` counts."""
    if max(sizes) > MOST:
        raise OverflowError(f'an axis of {max(sizes)} places needs Place = np.int64 and MOST = 2**62 in this module')


def current_stream():
    """The stream in which CuPy works just now, for numba."""
    return cuda.external_stream(cp.cuda.get_current_stream().ptr)


def over_pairs(*sizes):
    """A block for every two squares of `TILE` places that lie opposite each other, which goes on to a further one where
    half of a line is not all of it, and for every place of another axis."""
    check_places(*sizes)
    lines = (sizes[0] + TILE - 1) // TILE
    blocks = [max(1, min(count, 65535)) for count in (lines // 2 + 1, lines, *sizes[2:])]
    return (tuple(blocks), (TILE, ROWS), current_stream())


@cuda.jit
def fill_scaled(n, x, scaled):
    tile = cuda.shared.array((2, TILE, PADDED), np.float32)
    lane = Place(cuda.threadIdx.x)
    row = Place(TILE * cuda.blockIdx.y)
    while row < n:
        column = Place(row + TILE * cuda.blockIdx.x)
        while column < n:
            cuda.syncthreads()
            for side in range(2):
                for step in range(0, TILE, ROWS):
                    k = Place(step + cuda.threadIdx.y)
                    i = Place(row + k)
                    j = Place(column + lane)
                    if i < n and j < n:
                        tile[side, k, lane] = x[i, j]
                row, column = column, row
            cuda.syncthreads()
            for side in range(2):
                for step in range(0, TILE, ROWS):
                    k = Place(step + cuda.threadIdx.y)
                    i = Place(row + k)
                    j = Place(column + lane)
                    if i < n and j < n:
                        x_ij = tile[side, k, lane]
                        scaled2 = x_ij * x_ij
                        scaled[i, j] = ((x_ij + scaled2 + np.float32(3.0))
                            * (scaled2 + x_ij * tile[1 - side, lane, k]))
                row, column = column, row
            column = Place(column + TILE * cuda.gridDim.x)
        row = Place(row + TILE * cuda.gridDim.y)


def polynomial_of_transpose_driver(x):
    n = x.shape[0]
    check_places(n)
    scaled = cp.empty((n, n), np.float32)
    fill_scaled[over_pairs(n, n)](n, x, scaled)
    return scaled


def polynomial_of_transpose(x):
    return polynomial_of_transpose_driver(x)
