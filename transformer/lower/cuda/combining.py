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

BEST_BY_WARPS = '''
def of_block(value, place, shared, places):
    """The best of what the threads of a block have, and its place: by warps, and then of what these have."""
    half = WARP // 2
    while half > 0:
        a, b = value, cuda.shfl_xor_sync(0xFFFFFFFF, value, half)
        k = cuda.shfl_xor_sync(0xFFFFFFFF, place, half)
        if combined:
            value, place = b, k
        half //= 2
    thread, warp = Place(cuda.threadIdx.x), Place(1)
    cuda.syncthreads()
    if thread % WARP == 0:
        shared[Place(thread // WARP)] = value
        places[Place(thread // WARP)] = place
    cuda.syncthreads()
    value, place = shared[0], places[0]
    while WARP * warp < cuda.blockDim.x:
        a, b, k = value, shared[warp], places[warp]
        if combined:
            value, place = b, k
        warp = Place(warp + 1)
    return value, place
'''
BEST_BY_HALVES = '''
def of_block(value, place, shared, places):
    """The best of what the threads of a block have, and its place: of the second half and the first, until one is
    left."""
    thread = Place(cuda.threadIdx.x)
    cuda.syncthreads()
    shared[thread] = value
    places[thread] = place
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if thread < half:
            a, place = shared[thread], places[thread]
            b, k = shared[Place(thread + half)], places[Place(thread + half)]
            if combined:
                shared[thread] = b
                places[thread] = k
        cuda.syncthreads()
        half //= 2
    return shared[0], places[0]
'''


def of_block(dtype: np.dtype) -> str:
    """The text for numbers of a dtype."""
    return BY_WARPS if _is_handed(dtype) else BY_HALVES


def best_of_block(value: np.dtype, place: np.dtype) -> str:
    """The text for the best of numbers, and its place."""
    return BEST_BY_WARPS if _is_handed(value) and _is_handed(place) else BEST_BY_HALVES


def _is_handed(dtype: np.dtype) -> bool:
    """Whether threads of a warp hand each other numbers of a dtype: those of 4 and of 8 bytes, with a sign."""
    return dtype.kind in "if" and dtype.itemsize in (4, 8)
