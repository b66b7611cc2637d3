"""How the threads of a block combine what each of them has: the text of such a function, in which `combined` is what
combines `a` and `b`. Every thread gets the same result, and in every run the same."""

from __future__ import annotations

import numpy as np

BY_WARPS = '''
def of_block(value, shared):
    """What the threads of a block have, combined: by warps, and then what these have."""
    half = WARP // 2
    while half > 0:
        a, b = value, cuda.shfl_xor_sync(0xFFFFFFFF, value, half)
        value = combined
        half //= 2
    k, warp = Place(cuda.threadIdx.x), Place(1)
    cuda.syncthreads()
    if k % WARP == 0:
        shared[Place(k // WARP)] = value
    cuda.syncthreads()
    value = shared[0]
    while WARP * warp < cuda.blockDim.x:
        a, b = value, shared[warp]
        value = combined
        warp = Place(warp + 1)
    return value
'''
BY_HALVES = '''
def of_block(value, shared):
    """What the threads of a block have, combined: what the second half has with the first, until one is left."""
    k = Place(cuda.threadIdx.x)
    cuda.syncthreads()
    shared[k] = value
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if k < half:
            a, b = shared[k], shared[Place(k + half)]
            shared[k] = combined
        cuda.syncthreads()
        half //= 2
    return shared[0]
'''


def of_block(dtype: np.dtype) -> str:
    """The text for numbers of a dtype: threads of a warp hand each other those of 4 and of 8 bytes."""
    return BY_WARPS if dtype.kind in "iuf" and dtype.itemsize in (4, 8) else BY_HALVES
