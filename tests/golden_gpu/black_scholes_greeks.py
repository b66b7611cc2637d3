import math

import cupy as cp
import numpy as np
from numba import cuda

THREADS = 256
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


@cuda.jit
def fill_dv(n, S, K, v, T, r, number, minus, dv, dK, dS, parts):
    shared = cuda.shared.array(THREADS, np.float32)
    i = Place(cuda.blockIdx.x)
    while i < (n + 1023) // 1024:
        total = np.float32(0.0)
        j = Place(1024 * i + cuda.threadIdx.x)
        while j < min(1024 * i + 1024, n):
            S_j = S[j]
            K_j = K[j]
            ratio = S_j / K_j
            scaled = S_j * np.float32(0.5)
            v_j = v[j]
            scaled2 = np.float32(0.5) * v_j
            T_j = T[j]
            root = math.sqrt(T_j)
            scaled3 = v_j * root
            ratio2 = (math.log(ratio) + (r + scaled2 * v_j) * T_j) / scaled3
            scaled4 = ratio2 * number
            total2 = np.float32(1.0) + math.erf(scaled4)
            e = math.exp(minus * T_j)
            scaled5 = K_j * e * np.float32(0.5)
            scaled6 = (ratio2 - scaled3) * number
            total3 = np.float32(1.0) + math.erf(scaled6)
            ratio3 = (np.float32(2.0) * scaled * math.exp(-scaled4 * scaled4)
                / np.float32(1.7724539))
            ratio4 = (np.float32(-2.0) * scaled5 * math.exp(-scaled6 * scaled6)
                / np.float32(1.7724539))
            scaled7 = ratio4 * number
            total4 = ratio3 * number + scaled7
            ratio5 = total4 / scaled3
            scaled8 = ratio5 * T_j
            total5 = (-scaled7 - total4 * ratio2 / scaled3) * root + scaled8 * scaled2
            dv[j] = total5 + np.float32(0.5) * scaled8 * v_j
            ratio6 = ratio5 / ratio
            dK[j] = np.float32(-0.5) * total3 * e - ratio6 * ratio / K_j
            dS[j] = np.float32(0.5) * total2 + ratio6 / K_j
            total += scaled * total2 - scaled5 * total3
            j = Place(j + cuda.blockDim.x)
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            parts[i] = total
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_number2(n, parts, number2):
    shared = cuda.shared.array(THREADS, np.float32)
    total = np.float32(0.0)
    i = Place(cuda.threadIdx.x)
    while i < (n + 1023) // 1024:
        total += parts[i]
        i = Place(i + cuda.blockDim.x)
    total = add_of_block(total, shared)
    if cuda.threadIdx.x == 0:
        number2[0] = total


def black_scholes_value_and_grad_driver(S, K, T, r, v):
    n = S.shape[0]
    power = 2.0 ** -0.5
    if math.isinf(power) & math.isfinite(-0.5):
        raise OverflowError(34, "Numerical result out of range")
    minus = -r
    number = np.float32(power)
    dv = cp.empty(n, np.float32)
    dK = cp.empty(n, np.float32)
    dS = cp.empty(n, np.float32)
    parts = cp.empty((n + 1023) // 1024, np.float32)
    fill_dv[over_blocks((n + 1023) // 1024)](n, S, K, v, T, r, number, minus, dv, dK,
        dS, parts)
    number2 = cp.empty(1, np.float32)
    fill_number2[one_block()](n, parts, number2)
    return number2.reshape(()), dS, dK, dv


def black_scholes_value_and_grad(S, K, T, r, v):
    value, dS, dK, dv = black_scholes_value_and_grad_driver(S, K, T, r, v)
    return value, (dS, dK, dv)
