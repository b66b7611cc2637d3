"""Kernels: functions over a grid of blocks, with explicit loads and stores; what Pallas is for JAX.

    @kernels.kernel(grid=lambda x: (kernels.cdiv(len(x), 32),), out=lambda x: np.empty_like(x))
    def double(block, x, y):
        i, = block
        y[32 * i:32 * i + 32] = 2 * x[32 * i:32 * i + 32]

    double(x)                           # NumPy, block by block: print, breakpoint() and pdb work
    jit(double)(x)                      # compiled; blocks are shared by threads

    kernel         makes one of a function
    cdiv           how many blocks of a size cover a length
    load, store    a tile of a fixed size, also where the array ends inside of it
"""

from .kernel import Kernel, kernel
from .tiles import cdiv, load, store

__all__ = ["Kernel", "cdiv", "kernel", "load", "store"]
