"""Kernels as one writes them by hand with numba.cuda. They are compiled when they are first launched."""

import math

import numpy as np
from numba import cuda

from transformer.run.gpu.library import library

THREADS = 256
TILE = 32
PADDED = TILE + 1
ROWS = 8


def blocks(n):
    return max(1, min((n + THREADS - 1) // THREADS, 8192))


@cuda.jit
def selu_kernel(x, result):
    i = cuda.grid(1)
    while i < x.size:
        v = x[i]
        low = np.float32(1.67) * math.exp(v) - np.float32(1.67)
        result[i] = np.float32(1.05) * (v if v > np.float32(0) else low)
        i += cuda.gridsize(1)


def selu(x):
    result = library().empty_like(x)
    selu_kernel[blocks(x.size), THREADS](x, result)
    return result


@cuda.jit
def selu_gradient_kernel(x, w, result):
    i = cuda.grid(1)
    while i < x.size:
        slope = np.float32(1) if x[i] > np.float32(0) else np.float32(1.67) * math.exp(x[i])
        result[i] = np.float32(1.05) * w[i] * slope
        i += cuda.gridsize(1)


def selu_gradient(x, w):
    result = library().empty_like(x)
    selu_gradient_kernel[blocks(x.size), THREADS](x, w, result)
    return result


@cuda.jit
def expression_kernel(x, result):
    """The transposed tile through shared memory, so that both are read along rows."""
    mirrored = cuda.shared.array((TILE, PADDED), np.float32)
    n = x.shape[0]
    column, row = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    for k in range(row, TILE, ROWS):
        if left + k < n and top + column < n:
            mirrored[k, column] = x[left + k, top + column]
    cuda.syncthreads()
    for k in range(row, TILE, ROWS):
        if top + k < n and left + column < n:
            v = x[top + k, left + column]
            result[top + k, left + column] = (v + v * v + np.float32(3)) * (v * v + v * mirrored[column, k])


def expression(x):
    result = library().empty_like(x)
    count = (x.shape[0] + TILE - 1) // TILE
    expression_kernel[(count, count), (TILE, ROWS)](x, result)
    return result


@cuda.jit
def accelerations_kernel(places, masses, result):
    """A thread for each body; a block reads as many others at a time as it has threads."""
    x = cuda.shared.array(THREADS, np.float32)
    y = cuda.shared.array(THREADS, np.float32)
    z = cuda.shared.array(THREADS, np.float32)
    m = cuda.shared.array(THREADS, np.float32)
    n, thread = masses.size, cuda.threadIdx.x
    i = cuda.grid(1)
    own = min(i, n - 1)
    x0, y0, z0 = places[own, 0], places[own, 1], places[own, 2]
    ax, ay, az = np.float32(0), np.float32(0), np.float32(0)
    for start in range(0, n, cuda.blockDim.x):
        j = start + thread
        if j < n:
            x[thread], y[thread], z[thread], m[thread] = places[j, 0], places[j, 1], places[j, 2], masses[j]
        cuda.syncthreads()
        for k in range(min(cuda.blockDim.x, n - start)):
            dx, dy, dz = x[k] - x0, y[k] - y0, z[k] - z0
            square = dx * dx + dy * dy + dz * dz + np.float32(0.01)
            pull = m[k] / (square * math.sqrt(square))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        cuda.syncthreads()
    if i < n:
        result[i, 0], result[i, 1], result[i, 2] = ax, ay, az


def accelerations(places, masses):
    result = library().empty_like(places)
    threads = min(THREADS, places.shape[0])
    accelerations_kernel[(places.shape[0] + threads - 1) // threads, threads](places, masses, result)
    return result


@cuda.jit
def mandelbrot_kernel(re, im, limit, result):
    j, i = cuda.grid(2)
    if i < im.size and j < re.size:
        x, y, count = re[j], im[i], 0
        while count < limit and x * x + y * y <= np.float32(4):
            x, y = x * x - y * y + re[j], np.float32(2) * x * y + im[i]
            count += 1
        result[i, j] = count


def mandelbrot(re, im, limit):
    result = library().empty((im.size, re.size), np.int64)
    grid = (re.size + TILE - 1) // TILE, (im.size + ROWS - 1) // ROWS
    mandelbrot_kernel[grid, (TILE, ROWS)](re, im, limit, result)
    return result


@cuda.jit
def sum_of_five_kernel(a, b, c, d, e, result):
    i = cuda.grid(1)
    if i < result.size:
        result[i] = a[i] + b[i] * c[i] - d[i] + 0 * e[i]


def sum_of_five(a, b, c, d, e):
    result = library().empty_like(a)
    sum_of_five_kernel[1, 32](a, b, c, d, e, result)
    return result
