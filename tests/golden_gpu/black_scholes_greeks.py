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
def next_total(total, parts_i):
    return total + parts_i


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


def one_block():
    """A block of threads that work together."""
    return (1, THREADS, current_stream())


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
def fill_dv(m, n, S, K, v, T, r, number, minus, dv, dK, dS, parts):
    shared = cuda.shared.array(THREADS, np.float32)
    i = Place(cuda.blockIdx.x)
    while i < m:
        total = np.float32(0.0)
        j = Place(4096 * i + cuda.threadIdx.x)
        while j < min(4096 * i + 4096, n):
            S_j = S[j]
            K_j = K[j]
            scaled = S_j * np.float32(0.5)
            v_j = v[j]
            scaled2 = np.float32(0.5) * v_j
            T_j = T[j]
            root = math.sqrt(T_j)
            scaled3 = v_j * root
            ratio = (math.log(S_j / K_j) + (r + scaled2 * v_j) * T_j) / scaled3
            scaled4 = ratio * number
            total2 = np.float32(1.0) + math.erf(scaled4)
            e = math.exp(minus * T_j)
            scaled5 = K_j * e * np.float32(0.5)
            scaled6 = (ratio - scaled3) * number
            total3 = np.float32(1.0) + math.erf(scaled6)
            scaled7 = (np.float32(-2.0) * scaled5 * math.exp(-scaled6 * scaled6)
                * np.float32(0.5641896))
            scaled8 = scaled7 * number
            scaled9 = (np.float32(2.0) * scaled * math.exp(-scaled4 * scaled4)
                * np.float32(0.5641896))
            ratio2 = (scaled9 * number + scaled8) / scaled3
            dv[j] = ((-scaled8 - ratio2 * ratio) * root
                + np.float32(2.0) * ratio2 * T_j * scaled2)
            dK[j] = np.float32(-0.5) * total3 * e - ratio2 / K_j
            dS[j] = np.float32(0.5) * total2 + ratio2 / S_j
            total += scaled * total2 - scaled5 * total3
            j = Place(j + cuda.blockDim.x)
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            parts[i] = total
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_number2(fours, parts, m, number2):
    shared = cuda.shared.array(THREADS, np.float32)
    total = np.float32(0.0)
    j = Place(cuda.threadIdx.x)
    while j < fours:
        parts0, parts1, parts2, parts3 = four_of(parts, j)
        total = next_total(total, parts0)
        total = next_total(total, parts1)
        total = next_total(total, parts2)
        total = next_total(total, parts3)
        j = Place(j + cuda.blockDim.x)
    i = Place(4 * fours + cuda.threadIdx.x)
    while i < m:
        total = next_total(total, parts[i])
        i = Place(i + cuda.blockDim.x)
    total = add_of_block(total, shared)
    if cuda.threadIdx.x == 0:
        number2[0] = total


def black_scholes_value_and_grad_driver(S, K, T, r, v):
    n = S.shape[0]
    m = (n + 4095) // 4096
    check_places(n)
    minus = -r
    number = np.float32(2.0 ** -0.5)
    dv = cp.empty(n, np.float32)
    dK = cp.empty(n, np.float32)
    dS = cp.empty(n, np.float32)
    parts = cp.empty(m, np.float32)
    fill_dv[over_blocks(m)](m, n, S, K, v, T, r, number, minus, dv, dK, dS, parts)
    number2 = cp.empty(1, np.float32)
    fours = in_fours(m, parts)
    fill_number2[one_block()](fours, parts, m, number2)
    return number2.reshape(()), dS, dK, dv


def black_scholes_value_and_grad(S, K, T, r, v):
    value, dS, dK, dv = black_scholes_value_and_grad_driver(S, K, T, r, v)
    return value, (dS, dK, dv)
