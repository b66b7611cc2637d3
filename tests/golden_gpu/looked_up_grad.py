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


# The smaller number; nan if one of them is.
@cuda.jit(device=True)
def smaller(a, b):
    return a if a <= b or a != a else b


# The next whole number below, with its sign also where it is 0.
@cuda.jit(device=True)
def floor(x):
    return math.copysign(math.floor(x), x) if math.isfinite(x) else x


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
def fill_scaled(m, position, number, scaled, part, n, parts):
    shared = cuda.shared.array(THREADS, np.int64)
    i = Place(cuda.blockIdx.x)
    while i < (m + 1023) // 1024:
        total = 0
        j = Place(1024 * i + cuda.threadIdx.x)
        while j < min(1024 * i + 1024, m):
            lower = smaller(larger(position[j], np.float32(0.0)), np.float32(1.0))
            scaled2 = lower * number
            scaled[j] = scaled2
            part[j] = scaled2 - floor(scaled2)
            number2 = np.int64(scaled2)
            total += np.int64((number2 < -n) | (number2 >= n))
            j = Place(j + cuda.blockDim.x)
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            parts[i] = total
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_number3(m, parts, number3):
    shared = cuda.shared.array(THREADS, np.int64)
    total = 0
    i = Place(cuda.threadIdx.x)
    while i < (m + 1023) // 1024:
        total += parts[i]
        i = Place(i + cuda.blockDim.x)
    total = add_of_block(total, shared)
    if cuda.threadIdx.x == 0:
        number3[0] = total > 0


@cuda.jit
def fill_parts2(m, scaled, n, parts2):
    shared = cuda.shared.array(THREADS, np.int64)
    i = Place(cuda.blockIdx.x)
    while i < (m + 1023) // 1024:
        total = 0
        j = Place(1024 * i + cuda.threadIdx.x)
        while j < min(1024 * i + 1024, m):
            total2 = np.int64(scaled[j]) + 1
            total += np.int64((total2 < -n) | (total2 >= n))
            j = Place(j + cuda.blockDim.x)
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            parts2[i] = total
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_number4(m, parts2, number4):
    shared = cuda.shared.array(THREADS, np.int64)
    total = 0
    i = Place(cuda.threadIdx.x)
    while i < (m + 1023) // 1024:
        total += parts2[i]
        i = Place(i + cuda.blockDim.x)
    total = add_of_block(total, shared)
    if cuda.threadIdx.x == 0:
        number4[0] = total > 0


@cuda.jit
def fill_zeros(n, zeros):
    i = Place(cuda.grid(1))
    while i < n:
        zeros[i] = np.float32(0.0)
        i = Place(i + cuda.gridsize(1))


@cuda.jit
def fill_zeros2(m, position, scaled, n, table, part, zeros, number, dposition, shares):
    i = Place(cuda.grid(1))
    while i < m:
        position_i = position[i]
        mask = (np.float32(0.0) < position_i) & (position_i < np.float32(1.0))
        lower = smaller(larger(position_i, np.float32(0.0)), np.float32(1.0))
        number2 = np.int64(scaled[i])
        total = number2 + 1
        chosen = total + n if total < 0 else total
        table_chosen = table[Place(chosen)]
        part_i = part[i]
        table_at = table[Place(number2 + n if number2 < 0 else number2)]
        total3 = table_at * (np.float32(1.0) - part_i) + table_chosen * part_i
        scaled2 = np.float32(2.0) * total3
        cuda.atomic.add(zeros, Place(chosen), scaled2 * part_i)
        scaled3 = (scaled2 * table_chosen - scaled2 * table_at) * number
        chosen2 = np.float32(0.5) * scaled3 if position_i == lower else np.float32(0.0)
        dposition[i] = scaled3 if mask else chosen2
        shares[i] = total3 * total3
        i = Place(i + cuda.gridsize(1))


@cuda.jit
def fill_zeros3(m, scaled, n, part, table, zeros):
    i = Place(cuda.grid(1))
    while i < m:
        number2 = np.int64(scaled[i])
        chosen = number2 + n if number2 < 0 else number2
        total = number2 + 1
        part_i = part[i]
        diff = np.float32(1.0) - part_i
        total3 = (table[Place(chosen)] * diff
            + table[Place(total + n if total < 0 else total)] * part_i)
        cuda.atomic.add(zeros, Place(chosen), np.float32(2.0) * total3 * diff)
        i = Place(i + cuda.gridsize(1))


@cuda.jit
def fill_number5(m, shares, number5):
    shared = cuda.shared.array(THREADS, np.float32)
    total3 = np.float32(0.0)
    i = Place(cuda.threadIdx.x)
    while i < m:
        total3 += shares[i]
        i = Place(i + cuda.blockDim.x)
    total3 = add_of_block(total3, shared)
    if cuda.threadIdx.x == 0:
        number5[0] = total3


def looked_up_value_and_grad_driver(table, position):
    n = table.shape[0]
    m = position.shape[0]
    number = np.float32(float(n) - 1.001)
    scaled = cp.empty(m, np.float32)
    part = cp.empty(m, np.float32)
    parts = cp.empty((m + 1023) // 1024, np.int64)
    fill_scaled[over_blocks((m + 1023) // 1024)](m, position, number, scaled, part, n,
        parts)
    number3 = cp.empty(1, np.bool_)
    fill_number3[one_block()](m, parts, number3)
    if number3[0].item():
        for i in range(m):
            number2 = np.int64(scaled[i].item())
            if not -n <= number2 < n:
                raise IndexError("index", number2,
                    "is out of bounds for axis 0 with size", n)
    parts2 = cp.empty((m + 1023) // 1024, np.int64)
    fill_parts2[over_blocks((m + 1023) // 1024)](m, scaled, n, parts2)
    number4 = cp.empty(1, np.bool_)
    fill_number4[one_block()](m, parts2, number4)
    if number4[0].item():
        for i in range(m):
            total = np.int64(scaled[i].item()) + 1
            if not -n <= total < n:
                raise IndexError("index", total,
                    "is out of bounds for axis 0 with size", n)
    zeros = cp.empty(n, np.float32)
    fill_zeros[over_threads(n)](n, zeros)
    dposition = cp.empty(m, np.float32)
    shares = cp.empty(m, np.float32)
    fill_zeros2[over_threads(m)](m, position, scaled, n, table, part, zeros, number,
        dposition, shares)
    fill_zeros3[over_threads(m)](m, scaled, n, part, table, zeros)
    number5 = cp.empty(1, np.float32)
    fill_number5[one_block()](m, shares, number5)
    return number5.reshape(()), zeros, dposition


def looked_up_value_and_grad(table, position):
    value, value2, dposition = looked_up_value_and_grad_driver(table, position)
    return value, (value2, dposition)
