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
    return (tuple((max(1, min(size, 65535)) for size in sizes)), THREADS)


@cuda.jit
def fill_dv(n, S, K, v, T, r, root, minus, dv, dK, dS, parts):
    shared = cuda.shared.array(THREADS, np.float64)
    i = cuda.blockIdx.x
    while 0 <= i < (n + 1023) // 1024:
        total = 0.0
        j = cuda.threadIdx.x
        while 0 <= j < min(1024, n - 1024 * i):
            S_at = S[1024 * i + j]
            K_at = K[1024 * i + j]
            ratio = S_at / K_at
            v_at = v[1024 * i + j]
            scaled = np.float32(0.5) * v_at
            T_at = T[1024 * i + j]
            root2 = math.sqrt(T_at)
            scaled2 = v_at * root2
            ratio2 = (math.log(ratio) + (r + scaled * v_at) * T_at) / scaled2
            ratio3 = np.float64(ratio2) / root
            total2 = 1.0 + math.erf(ratio3)
            e = math.exp(minus * T_at)
            scaled3 = K_at * e * np.float32(0.5)
            ratio4 = np.float64(ratio2 - scaled2) / root
            total3 = 1.0 + math.erf(ratio4)
            number = np.float64(S_at * np.float32(0.5))
            ratio5 = 2.0 * number * math.exp(-ratio3 * ratio3) / math.sqrt(math.pi)
            ratio6 = (2.0 * np.float64(-scaled3) * math.exp(-ratio4 * ratio4)
                / math.sqrt(math.pi))
            number2 = np.float32(ratio6 / root)
            total4 = np.float32(ratio5 / root) + number2
            ratio7 = total4 / scaled2
            scaled4 = ratio7 * T_at
            total5 = (-number2 - total4 * ratio2 / scaled2) * root2 + scaled4 * scaled
            dv[1024 * i + j] = total5 + np.float32(0.5) * scaled4 * v_at
            ratio8 = ratio7 / ratio
            diff = np.float32(0.5) * np.float32(-total3) * e - ratio8 * ratio / K_at
            dK[1024 * i + j] = diff
            dS[1024 * i + j] = np.float32(0.5) * np.float32(total2) + ratio8 / K_at
            total += number * total2 - np.float64(scaled3) * total3
            j += cuda.blockDim.x
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            parts[i] = total
        i += cuda.gridDim.x


@cuda.jit
def fill_number3(n, parts, number3):
    shared = cuda.shared.array(THREADS, np.float64)
    total = 0.0
    i = cuda.threadIdx.x
    while 0 <= i < (n + 1023) // 1024:
        total += parts[i]
        i += cuda.blockDim.x
    total = add_of_block(total, shared)
    if cuda.threadIdx.x == 0:
        number3[0] = total


def black_scholes_value_and_grad_driver(S, K, T, r, v):
    n = S.shape[0]
    root = math.sqrt(2.0)
    minus = -r
    dv = cp.empty(n, np.float32)
    dK = cp.empty(n, np.float32)
    dS = cp.empty(n, np.float32)
    parts = cp.empty((n + 1023) // 1024)
    fill_dv[over_blocks((n + 1023) // 1024)](n, S, K, v, T, r, root, minus, dv, dK, dS,
        parts)
    number3 = cp.empty(1)
    fill_number3[one_block()](n, parts, number3)
    return number3.reshape(()), dS, dK, dv


def black_scholes_value_and_grad(S, K, T, r, v):
    value, dS, dK, dv = black_scholes_value_and_grad_driver(S, K, T, r, v)
    return value, (dS, dK, dv)
