"""Products of a large matrix and one of few columns, `y = x @ w` and `y = x.T @ w`, by kernels of ours: cuBLAS has a
block of threads for each tile of y, of which there are few then, and each goes all the way along what is added up.

    fill_product[blocks, (32, 8)](m, k, x, w, y)        a warp for each row of x, of which lanes share the numbers
    fill_turned[blocks, (8, 128)](m, k, x, w, y)        128 threads for each column of x, which share the numbers

Each thread has a total for every column of w. Totals are combined in the same order in every run.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..files import load_module
from .kernels import Kernel, launched_by_us

WARP = 32
ROWS = 8                                # of x that a block goes along
SIDE, LINES = 8, 128                    # columns of x that a block goes down, and in how many parts
MOST_COLUMNS, MOST_BYTES = 16, 64       # of w, and of its rows: 32 kB are shared
LEAST_INNER = 512                       # for less, a block is soon at the end
LEAST_ROWS, MOST_ROWS = 256, 8192       # for more, cuBLAS has blocks enough
KERNELS = '''
import numpy as np
from numba import cuda

Place = np.uint32


@cuda.jit
def fill_product(m, k, x, w, y):
    part = cuda.shared.array((INNER, PADDED), np.DTYPE)
    totals = cuda.local.array(COLUMNS, np.DTYPE)
    own = cuda.local.array(INNER // WARP, np.DTYPE)
    brought = cuda.local.array(COLUMNS, np.DTYPE)
    lane, line = Place(cuda.threadIdx.x), Place(cuda.threadIdx.y)
    thread = Place(WARP * line + lane)
    i = Place(cuda.blockIdx.x * (INNER // WARP) + line)
    row = Place(min(i, m - 1))
    for j in range(COLUMNS):
        totals[j] = 0
    begin = Place(0)
    while begin < k:
        for step in range(INNER // WARP):
            l = Place(begin + WARP * step + lane)
            own[step] = x[row, Place(min(l, k - 1))] if l < k else np.DTYPE(0)
        for step in range(COLUMNS):
            place = Place(INNER * step + thread)
            l = Place(begin + place // COLUMNS)
            brought[step] = w[Place(min(l, k - 1)), Place(place % COLUMNS)] if l < k else np.DTYPE(0)
        cuda.syncthreads()
        for step in range(COLUMNS):
            place = Place(INNER * step + thread)
            part[Place(place // COLUMNS), Place(place % COLUMNS)] = brought[step]
        cuda.syncthreads()
        for step in range(INNER // WARP):
            for j in range(COLUMNS):
                totals[j] += own[step] * part[Place(WARP * step + lane), j]
        begin = Place(begin + INNER)
    for j in range(COLUMNS):
        total = totals[j]
        half = WARP // 2
        while half > 0:
            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, half)
            half //= 2
        if lane == 0 and i < m:
            y[i, j] = total


@cuda.jit
def fill_turned(m, k, x, w, y):
    parts = cuda.shared.array((LINES // 2, COLUMNS, SIDE), np.DTYPE)
    totals = cuda.local.array(COLUMNS, np.DTYPE)
    lane, line = Place(cuda.threadIdx.x), Place(cuda.threadIdx.y)
    i = Place(cuda.blockIdx.x * SIDE + lane)
    column = Place(min(i, m - 1))
    for j in range(COLUMNS):
        totals[j] = 0
    l = line
    while l < k:
        item = x[l, column]
        for j in range(COLUMNS):
            totals[j] += item * w[l, j]
        l = Place(l + LINES)
    half = LINES // 2
    while half > 0:
        cuda.syncthreads()
        if half <= line < 2 * half:
            for j in range(COLUMNS):
                parts[Place(line - half), j, lane] = totals[j]
        cuda.syncthreads()
        if line < half:
            for j in range(COLUMNS):
                totals[j] += parts[line, j, lane]
        half //= 2
    if line == 0 and i < m:
        for j in range(COLUMNS):
            y[i, j] = totals[j]
'''


def is_narrow(dtype: np.dtype[Any], rows: int, inner: int, columns: int) -> bool:
    """Whether a product of matrices of these sizes is one that cuBLAS has too few blocks for."""
    return (dtype.name in ("float32", "float64") and 1 < columns <= MOST_COLUMNS
            and columns * dtype.itemsize <= MOST_BYTES and inner >= LEAST_INNER and LEAST_ROWS <= rows <= MOST_ROWS)


def source(dtype: np.dtype[Any], columns: int, warp: int = WARP, rows: int = ROWS, side: int = SIDE,
           lines: int = LINES) -> str:
    """The module of kernels for so many columns. The numbers of one lie in different banks of shared memory."""
    names = {"COLUMNS": columns, "PADDED": columns | 1, "INNER": warp * rows, "WARP": warp, "LINES": lines,
             "SIDE": side, "DTYPE": dtype.name}
    text = KERNELS
    for name, value in names.items():
        text = text.replace(name, str(value))
    return text


def product(x: Any, w: Any, y: Any, is_turned: bool) -> None:
    """Has the current GPU compute `y = x @ w`; with `is_turned`, of an `x` whose columns lie along memory."""
    (m, k), columns = x.shape, w.shape[1]
    along, down = _kernels(x.dtype, columns)
    if is_turned:
        down[(m + SIDE - 1) // SIDE, (SIDE, LINES)](m, k, x.T, w, y)
    else:
        along[(m + ROWS - 1) // ROWS, (WARP, ROWS)](m, k, x, w, y)


@cache
def _kernels(dtype: np.dtype[Any], columns: int) -> tuple[Kernel, Kernel]:
    names = "fill_product", "fill_turned"
    made = load_module(source(dtype, columns), names[0], {})
    launched_by_us(made, names, {}, is_kept=True)
    return made[names[0]], made[names[1]]
