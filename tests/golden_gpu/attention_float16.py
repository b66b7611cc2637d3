import math

import cupy as cp
import numpy as np
from llvmlite import ir
from numba import cuda, types
from numba.cuda.extending import intrinsic

THREADS = 256
WARP = 32
MOST = 2**31
Place = np.uint32


# The larger number; nan if one of them is.
@cuda.jit(device=True)
def larger(a, b):
    return a if a >= b or a != a else b


@cuda.jit(device=True)
def next_total(total, dot_ij):
    return larger(total, np.float32(dot_ij) * np.float32(0.25))


# What the threads of a block have, combined: by warps, and then what these have.
@cuda.jit(device=True)
def maximum_of_block(value, shared):
    half = WARP // 2
    while half > 0:
        a, b = value, cuda.shfl_xor_sync(4294967295, value, half)
        value = larger(a, b)
        half //= 2
    k, warp = Place(cuda.threadIdx.x), Place(1)
    cuda.syncthreads()
    if k % WARP == 0:
        shared[Place(k // WARP)] = value
    cuda.syncthreads()
    value = shared[0]
    while WARP * warp < cuda.blockDim.x:
        a, b = value, shared[warp]
        value = larger(a, b)
        warp = Place(warp + 1)
    return value


@cuda.jit(device=True)
def next_total2(total2, dot_ij, total):
    return total2 + math.exp(np.float32(dot_ij) * np.float32(0.25) - total)


# What the threads of a block have, combined: by warps, and then what these have.
@cuda.jit(device=True)
def add_of_block(value, shared):
    half = WARP // 2
    while half > 0:
        a, b = value, cuda.shfl_xor_sync(4294967295, value, half)
        value = a + b
        half //= 2
    k, warp = Place(cuda.threadIdx.x), Place(1)
    cuda.syncthreads()
    if k % WARP == 0:
        shared[Place(k // WARP)] = value
    cuda.syncthreads()
    value = shared[0]
    while WARP * warp < cuda.blockDim.x:
        a, b = value, shared[warp]
        value = a + b
        warp = Place(warp + 1)
    return value


@cuda.jit(device=True)
def ratio_at(dot_ij, total2, total):
    ratio2 = math.exp(np.float32(dot_ij) * np.float32(0.25) - total) / total2
    return np.float16(ratio2)


def place_of_four(context, builder, array, args):
    """The k-th four elements of an array, as LLVM has them, and the bytes to which they are aligned."""
    lanes = ir.VectorType(context.get_data_type(array.dtype), 4)
    data = context.make_array(array)(context, builder, args[0]).data
    k = args[1] if args[1].type.width == 64 else builder.zext(args[1], ir.IntType(64))
    place = builder.gep(builder.bitcast(data, lanes.as_pointer()), [k])
    return place, min(16, context.get_abi_sizeof(lanes))


@intrinsic
def four_of(context, array, k):
    """Elements 4 * k to 4 * k + 3 of an array in which they lie side by side."""
    def read(context, builder, signature, args):
        place, alignment = place_of_four(context, builder, array, args)
        four = builder.load(place, align=alignment)
        model = context.data_model_manager[array.dtype]
        items = [builder.extract_element(four, ir.IntType(32)(lane)) for lane in range(4)]
        items = [model.from_data(builder, item) for item in items]
        return context.make_tuple(builder, signature.return_type, items)
    return types.UniTuple(array.dtype, 4)(array, k), read


@intrinsic
def set_four(context, array, k, items):
    """Writes elements 4 * k to 4 * k + 3."""
    def write(context, builder, signature, args):
        place, alignment = place_of_four(context, builder, array, args)
        model = context.data_model_manager[array.dtype]
        four = ir.Constant(place.type.pointee, ir.Undefined)
        for lane in range(4):
            item = context.cast(builder, builder.extract_value(args[2], lane), items[lane], array.dtype)
            four = builder.insert_element(four, model.as_data(builder, item), ir.IntType(32)(lane))
        builder.store(four, place, align=alignment)
        return context.get_dummy_value()
    return types.none(array, k, items), write


def check_places(*sizes):
    """Raises where an axis has more places than `Place` counts."""
    if max(sizes) > MOST:
        raise OverflowError(f'an axis of {max(sizes)} places needs Place = np.int64 and MOST = 2**62 in this module')


def current_stream():
    """The stream in which CuPy works just now, for numba."""
    return cuda.external_stream(cp.cuda.get_current_stream().ptr)


def over_blocks(*sizes, along=THREADS):
    """A block for every place, with threads that share what goes along a row, in so many steps; for short rows they are
    fewer."""
    check_places(*sizes, along)
    threads = THREADS
    while threads > WARP and threads >= 2 * along:
        threads //= 2
    counts = [max(1, min(size, 65535)) for size in sizes]
    return (tuple(counts), threads, current_stream())


def in_fours(size, *arrays):
    """How many times four elements of each array lie side by side along its last axis, so that one access has them
    all; 0 where an array does not lie so."""
    check_places(size)
    for array in arrays:
        aligned = min(16, 4 * array.itemsize)
        offsets = [place % aligned for place in (array.data.ptr, *array.strides[:-1])]
        if array.strides[-1] != array.itemsize or any(offsets):
            return 0
    return size // 4


@cuda.jit
def fill_ratio(n, dot, fours, d, ratio):
    shared = cuda.shared.array(THREADS, np.float32)
    i = Place(cuda.blockIdx.x)
    while i < n:
        total = np.float32(dot[i, 0]) * np.float32(0.25)
        l = Place(cuda.threadIdx.x)
        while l < fours:
            dot0, dot1, dot2, dot3 = four_of(dot[i], l)
            total = next_total(total, dot0)
            total = next_total(total, dot1)
            total = next_total(total, dot2)
            total = next_total(total, dot3)
            l = Place(l + cuda.blockDim.x)
        j = Place(4 * fours + cuda.threadIdx.x)
        while j < d:
            total = next_total(total, dot[i, j])
            j = Place(j + cuda.blockDim.x)
        total = maximum_of_block(total, shared)
        total2 = np.float32(0.0)
        l = Place(cuda.threadIdx.x)
        while l < fours:
            dot0, dot1, dot2, dot3 = four_of(dot[i], l)
            total2 = next_total2(total2, dot0, total)
            total2 = next_total2(total2, dot1, total)
            total2 = next_total2(total2, dot2, total)
            total2 = next_total2(total2, dot3, total)
            l = Place(l + cuda.blockDim.x)
        j = Place(4 * fours + cuda.threadIdx.x)
        while j < d:
            total2 = next_total2(total2, dot[i, j], total)
            j = Place(j + cuda.blockDim.x)
        total2 = add_of_block(total2, shared)
        l = Place(cuda.threadIdx.x)
        while l < fours:
            dot0, dot1, dot2, dot3 = four_of(dot[i], l)
            ratio0 = ratio_at(dot0, total2, total)
            ratio1 = ratio_at(dot1, total2, total)
            ratio2_2 = ratio_at(dot2, total2, total)
            ratio3 = ratio_at(dot3, total2, total)
            set_four(ratio[i], l, (ratio0, ratio1, ratio2_2, ratio3))
            l = Place(l + cuda.blockDim.x)
        j = Place(4 * fours + cuda.threadIdx.x)
        while j < d:
            ratio[i, j] = ratio_at(dot[i, j], total2, total)
            j = Place(j + cuda.blockDim.x)
        i = Place(i + cuda.gridDim.x)


def attention_driver(q, k, v):
    n, m = q.shape
    d = k.shape[0]
    n2 = v.shape[1]
    check_places(n, m, d, n2)
    dot = cp.empty((n, d), np.float16)
    cp.matmul(q, k.T, out=dot)
    ratio = cp.empty((n, d), np.float16)
    fours = in_fours(d, dot, ratio)
    fill_ratio[over_blocks(n, along=d - 3 * fours)](n, dot, fours, d, ratio)
    dot4 = cp.empty((n, n2), np.float16)
    cp.matmul(ratio, v, out=dot4)
    return dot4


def attention(q, k, v):
    return attention_driver(q, k, v)
