import math

import cupy as cp
import numpy as np
from numba import cuda

THREADS = 256
BLOCKS = 4096
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


def over_threads(*sizes):
    """A thread for every place of up to three axes, the innermost first."""
    check_places(*sizes)
    across = min(THREADS, WARP if len(sizes) > 1 else THREADS)
    threads = (across, THREADS // across, 1)[:len(sizes)]
    counts = [max(1, (size + each - 1) // each) for size, each in zip(sizes, threads)]
    return ((min(counts[0], BLOCKS), *[min(count, 65535) for count in counts[1:]]), threads)


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


@cuda.jit
def fill_h(d, n, h, dot, b1):
    i = Place(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    while i < d:
        j = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        while j < n:
            h[i, j] = larger(dot[i, j] + b1[j], np.float32(0.0))
            j = Place(j + cuda.gridDim.x * cuda.blockDim.x)
        i = Place(i + cuda.gridDim.y * cuda.blockDim.y)


@cuda.jit
def fill_z(d, n2, z, dot2, b2, z2, e, same, Y, ratio, dz2, dz3, dz, shares):
    shared = cuda.shared.array(THREADS, np.float32)
    shared_int64 = cuda.shared.array(THREADS, np.int64)
    i = Place(cuda.blockIdx.x)
    while i < d:
        cuda.syncthreads()
        j = Place(cuda.threadIdx.x)
        while j < n2:
            z[i, j] = dot2[i, j] + b2[j]
            j = Place(j + cuda.blockDim.x)
        cuda.syncthreads()
        total = z[i, 0]
        j = Place(cuda.threadIdx.x)
        while j < n2:
            total = larger(total, z[i, j])
            j = Place(j + cuda.blockDim.x)
        total = maximum_of_block(total, shared)
        total2 = np.float32(0.0)
        total3 = 0
        j = Place(cuda.threadIdx.x)
        while j < n2:
            z_ij = z[i, j]
            diff = z_ij - total
            z2[i, j] = diff
            e2 = math.exp(diff)
            e[i, j] = e2
            same2 = z_ij == total
            same[i, j] = same2
            total2, total3 = total2 + e2, total3 + np.int64(same2)
            j = Place(j + cuda.blockDim.x)
        total2 = add_of_block(total2, shared)
        total3 = add_of_block(total3, shared_int64)
        log = math.log(total2)
        cuda.syncthreads()
        total4 = np.float32(0.0)
        total5 = np.float32(0.0)
        j = Place(cuda.threadIdx.x)
        while j < n2:
            Y_ij = Y[i, j]
            scaled = ratio * Y_ij
            dz2[i, j] = scaled
            total4, total5 = total4 + Y_ij * (z2[i, j] - log), total5 + scaled
            j = Place(j + cuda.blockDim.x)
        total4 = add_of_block(total4, shared)
        total5 = add_of_block(total5, shared)
        ratio2 = total5 / total2
        cuda.syncthreads()
        total6 = np.float32(0.0)
        j = Place(cuda.threadIdx.x)
        while j < n2:
            diff = dz2[i, j] - ratio2 * e[i, j]
            dz3[i, j] = diff
            total6 += diff
            j = Place(j + cuda.blockDim.x)
        total6 = add_of_block(total6, shared)
        ratio3 = total6 / np.float32(total3)
        j = Place(cuda.threadIdx.x)
        while j < n2:
            dz[i, j] = dz3[i, j] - np.float32(same[i, j]) * ratio3
            j = Place(j + cuda.blockDim.x)
        if cuda.threadIdx.x == 0:
            shares[i] = total4
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_parts(d, n2, dz, parts):
    i = Place(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    while i < (d + 63) // 64:
        j = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        while j < n2:
            total = np.float32(0.0)
            for k in range(min(64, d - 64 * i)):
                total += dz[Place(64 * i + k), j]
            parts[i, j] = total
            j = Place(j + cuda.gridDim.x * cuda.blockDim.x)
        i = Place(i + cuda.gridDim.y * cuda.blockDim.y)


@cuda.jit
def fill_db2(n2, d, parts, db2):
    i = Place(cuda.grid(1))
    while i < n2:
        total = np.float32(0.0)
        for j in range((d + 63) // 64):
            total += parts[Place(j), i]
        db2[i] = total
        i = Place(i + cuda.gridsize(1))


@cuda.jit
def fill_number2(d, shares, number2, number):
    shared = cuda.shared.array(THREADS, np.float32)
    total = np.float32(0.0)
    i = Place(cuda.threadIdx.x)
    while i < d:
        total += shares[i]
        i = Place(i + cuda.blockDim.x)
    total = add_of_block(total, shared)
    if cuda.threadIdx.x == 0:
        number2[0] = -(total / number)


@cuda.jit
def fill_chosen(d, n, dh, dot, b1, chosen):
    i = Place(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    while i < d:
        j = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        while j < n:
            dh_ij = dh[i, j]
            total = dot[i, j] + b1[j]
            chosen2 = (np.float32(0.5) * dh_ij if total == np.float32(0.0)
                else np.float32(0.0))
            chosen[i, j] = dh_ij if total > np.float32(0.0) else chosen2
            j = Place(j + cuda.gridDim.x * cuda.blockDim.x)
        i = Place(i + cuda.gridDim.y * cuda.blockDim.y)


@cuda.jit
def fill_parts2(d, n, chosen, parts2):
    i = Place(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    while i < (d + 63) // 64:
        j = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        while j < n:
            total = np.float32(0.0)
            for k in range(min(64, d - 64 * i)):
                total += chosen[Place(64 * i + k), j]
            parts2[i, j] = total
            j = Place(j + cuda.gridDim.x * cuda.blockDim.x)
        i = Place(i + cuda.gridDim.y * cuda.blockDim.y)


@cuda.jit
def fill_db1(n, d, parts2, db1):
    i = Place(cuda.grid(1))
    while i < n:
        total = np.float32(0.0)
        for j in range((d + 63) // 64):
            total += parts2[Place(j), i]
        db1[i] = total
        i = Place(i + cuda.gridsize(1))


def mlp_value_and_grad_driver(W1, b1, W2, b2, X, Y):
    n = W1.shape[1]
    m = X.shape[1]
    d, n2 = Y.shape
    dot = cp.empty((d, n), np.float32)
    cp.matmul(X, W1, out=dot)
    h = cp.empty((d, n), np.float32)
    fill_h[over_threads(n, d)](d, n, h, dot, b1)
    dot2 = cp.empty((d, n2), np.float32)
    cp.matmul(h, W2, out=dot2)
    number = np.float32(d)
    ratio = np.float32(-1.0) / number
    dz = cp.empty((d, n2), np.float32)
    shares = cp.empty(d, np.float32)
    z = cp.empty((d, n2), np.float32)
    z2 = cp.empty((d, n2), np.float32)
    e = cp.empty((d, n2), np.float32)
    same = cp.empty((d, n2), np.bool_)
    dz2 = cp.empty((d, n2), np.float32)
    dz3 = cp.empty((d, n2), np.float32)
    fill_z[over_blocks(d, along=n2)](d, n2, z, dot2, b2, z2, e, same, Y, ratio, dz2,
        dz3, dz, shares)
    parts = cp.empty(((d + 63) // 64, n2), np.float32)
    fill_parts[over_threads(n2, (d + 63) // 64)](d, n2, dz, parts)
    db2 = cp.empty(n2, np.float32)
    fill_db2[over_threads(n2)](n2, d, parts, db2)
    dW2 = cp.empty((n, n2), np.float32)
    number2 = cp.empty(1, np.float32)
    fill_number2[one_block()](d, shares, number2, number)
    cp.matmul(h.T, dz, out=dW2)
    dh = cp.empty((d, n), np.float32)
    cp.matmul(dz, W2.T, out=dh)
    chosen = cp.empty((d, n), np.float32)
    fill_chosen[over_threads(n, d)](d, n, dh, dot, b1, chosen)
    parts2 = cp.empty(((d + 63) // 64, n), np.float32)
    fill_parts2[over_threads(n, (d + 63) // 64)](d, n, chosen, parts2)
    db1 = cp.empty(n, np.float32)
    fill_db1[over_threads(n)](n, d, parts2, db1)
    dW1 = cp.empty((m, n), np.float32)
    cp.matmul(X.T, chosen, out=dW1)
    return number2.reshape(()), dW1, db1, dW2, db2


def mlp_value_and_grad(W1, b1, W2, b2, X, Y):
    value, dW1, db1, dW2, db2 = mlp_value_and_grad_driver(W1, b1, W2, b2, X, Y)
    return value, (dW1, db1, dW2, db2)
