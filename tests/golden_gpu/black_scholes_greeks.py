import math

import cupy as cp
import numpy as np
from numba import cuda

THREADS = 256


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


def one_block():
    """A block of threads that work together."""
    return (1, THREADS)


def over_blocks(*sizes):
    """A block for every place."""
    counts = [max(1, min(size, 65535)) for size in sizes]
    return (tuple(counts), THREADS)


@cuda.jit
def fill_dv(n, S, K, v, T, r, number, minus, dv, dK, dS, parts):
    shared = cuda.shared.array(THREADS, np.float32)
    i = cuda.blockIdx.x
    while 0 <= i < (n + 1023) // 1024:
        total = np.float32(0.0)
        j = cuda.threadIdx.x
        while 0 <= j < min(1024, n - 1024 * i):
            S_at = S[1024 * i + j]
            K_at = K[1024 * i + j]
            ratio = S_at / K_at
            scaled = S_at * np.float32(0.5)
            v_at = v[1024 * i + j]
            scaled2 = np.float32(0.5) * v_at
            T_at = T[1024 * i + j]
            root = math.sqrt(T_at)
            scaled3 = v_at * root
            ratio2 = (math.log(ratio) + (r + scaled2 * v_at) * T_at) / scaled3
            scaled4 = ratio2 * number
            total2 = np.float32(1.0) + math.erf(scaled4)
            e = math.exp(minus * T_at)
            scaled5 = K_at * e * np.float32(0.5)
            scaled6 = (ratio2 - scaled3) * number
            total3 = np.float32(1.0) + math.erf(scaled6)
            ratio3 = (np.float32(2.0) * scaled * math.exp(-scaled4 * scaled4)
                / np.float32(1.7724539))
            ratio4 = (np.float32(-2.0) * scaled5 * math.exp(-scaled6 * scaled6)
                / np.float32(1.7724539))
            scaled7 = ratio4 * number
            total4 = ratio3 * number + scaled7
            ratio5 = total4 / scaled3
            scaled8 = ratio5 * T_at
            total5 = (-scaled7 - total4 * ratio2 / scaled3) * root + scaled8 * scaled2
            dv[1024 * i + j] = total5 + np.float32(0.5) * scaled8 * v_at
            ratio6 = ratio5 / ratio
            dK[1024 * i + j] = np.float32(-0.5) * total3 * e - ratio6 * ratio / K_at
            dS[1024 * i + j] = np.float32(0.5) * total2 + ratio6 / K_at
            total += scaled * total2 - scaled5 * total3
            j += cuda.blockDim.x
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            parts[i] = total
        i += cuda.gridDim.x


@cuda.jit
def fill_number2(n, parts, number2):
    shared = cuda.shared.array(THREADS, np.float32)
    total = np.float32(0.0)
    i = cuda.threadIdx.x
    while 0 <= i < (n + 1023) // 1024:
        total += parts[i]
        i += cuda.blockDim.x
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
