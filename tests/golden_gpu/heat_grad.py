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


def over_threads(*sizes):
    """A thread for every place of up to three axes, the innermost first."""
    check_places(*sizes)
    across = min(THREADS, WARP if len(sizes) > 1 else THREADS)
    threads = (across, THREADS // across, 1)[:len(sizes)]
    counts = [max(1, (size + each - 1) // each) for size, each in zip(sizes, threads)]
    return ((min(counts[0], BLOCKS), *[min(count, 65535) for count in counts[1:]]), threads)


def one_block():
    """A block of threads that work together."""
    return (1, THREADS)


@cuda.jit
def fill_kept(n, u2, kept, i):
    j = Place(cuda.grid(1))
    while j < n - 2:
        total = u2[Place(j + 2)] - np.float32(2.0) * u2[Place(j + 1)] + u2[j]
        kept[Place(i), j] = total
        j = Place(j + cuda.gridsize(1))


@cuda.jit
def fill_u_next(n, u2, c, u_next):
    j = Place(cuda.grid(1))
    while j < n:
        if (j >= 1) & (j < n - 1):
            u2_j = u2[j]
            scaled = c * (u2[Place(j + 1)] - np.float32(2.0) * u2_j + u2[Place(j - 1)])
            value = u2_j + scaled
        else:
            value = u2[j]
        u_next[j] = value
        j = Place(j + cuda.gridsize(1))


@cuda.jit
def fill_du(n, du, u2):
    i = Place(cuda.grid(1))
    while i < n:
        du[i] = np.float32(2.0) * u2[i]
        i = Place(i + cuda.gridsize(1))


@cuda.jit
def fill_dc(dc):
    if cuda.threadIdx.x == 0:
        dc[0] = np.float32(0.0)


@cuda.jit
def fill_du_next(n, du, c, du_next):
    j = Place(cuda.grid(1))
    while j < n:
        value = du[j] + du[Place(j + 1)] * c if j < n - 2 else du[j]
        value2 = (value + np.float32(-2.0) * (du[j] * c) if (j >= 1) & (j < n - 1)
            else value)
        du_next[j] = value2 + du[Place(j - 1)] * c if j >= 2 else value2
        j = Place(j + cuda.gridsize(1))


@cuda.jit
def fill_dc2(dc, n, du, kept, i):
    shared = cuda.shared.array(THREADS, np.float32)
    dc2 = dc[0]
    total = np.float32(0.0)
    j = Place(cuda.threadIdx.x)
    while j < n - 2:
        total += du[Place(j + 1)] * kept[Place(i), j]
        j = Place(j + cuda.blockDim.x)
    total = add_of_block(total, shared)
    dc3 = dc2 + total
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        dc[0] = dc3
    cuda.syncthreads()


def heat_grad_driver(u, c):
    n = u.shape[0]
    kept = cp.empty((10, n - 2), np.float32)
    u_next = cp.empty(n, np.float32)
    u2 = u.copy()
    for i in range(10):
        fill_kept[over_threads(n - 2)](n, u2, kept, i)
        fill_u_next[over_threads(n)](n, u2, c, u_next)
        u2, u_next = u_next, u2
    du = cp.empty(n, np.float32)
    fill_du[over_threads(n)](n, du, u2)
    du_next = cp.empty(n, np.float32)
    dc = cp.empty(1, np.float32)
    fill_dc[one_block()](dc)
    for i in range(9, -1, -1):
        fill_du_next[over_threads(n)](n, du, c, du_next)
        fill_dc2[one_block()](dc, n, du, kept, i)
        du, du_next = du_next, du
    return du, dc.reshape(())


def heat_grad(u, c):
    du, dc = heat_grad_driver(u, c)
    return du, dc
