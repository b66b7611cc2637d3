import math

import cupy as cp
import ml_dtypes
import numpy as np
from llvmlite import ir
from numba import cuda, types
from numba.cuda.extending import intrinsic

THREADS = 256
WARP = 32
MOST = 2**31
Place = np.uint32


# The number whose bfloat16 has these bits.
@cuda.jit(device=True)
def number_of(bits):
    return np.uint32(np.uint32(bits) << np.uint32(16)).view(np.float32)


# The bits of the bfloat16 next to a number, of two the even one.
@cuda.jit(device=True)
def bits_of(x):
    if x != x:
        return np.uint16(32704)
    bits = np.float32(x).view(np.uint32)
    return np.uint16(bits + np.uint32(32767)
        + (bits >> np.uint32(16) & np.uint32(1)) >> np.uint32(16))


@cuda.jit(device=True)
def next_total(total, dot_at, b_k, scaled):
    tanh = math.tanh(number_of(dot_at) + number_of(b_k))
    scaled3 = tanh * tanh
    return total + scaled3, bits_of(scaled * tanh * (np.float32(1.0) - scaled3))


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
def next_total2(total, parts2_ij):
    return total + parts2_ij


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


def most_blocks():
    """How many blocks keep the device busy to the end, four times as many as it has at once: each goes on to further
    places."""
    device = cuda.get_current_device()
    return 4 * device.MULTIPROCESSOR_COUNT * (device.MAX_THREADS_PER_MULTIPROCESSOR // THREADS)


def over_threads(*sizes):
    """A thread for every place of up to three axes, the innermost first; a block has fewer along a short one, and more
    along the next. Of several axes there are more blocks, as they may differ in what they have to do."""
    check_places(*sizes)
    across = min(THREADS, WARP if len(sizes) > 1 else THREADS)
    while len(sizes) > 1 and across > 1 and (across >= 2 * sizes[0]):
        across //= 2
    threads = (across, THREADS // across, 1)[:len(sizes)]
    counts = [max(1, (size + each - 1) // each) for size, each in zip(sizes, threads)]
    most = most_blocks() if len(sizes) == 1 else 4 * most_blocks()
    blocks = []
    for count in counts:
        blocks.append(min(count, most, 65535))
        most = max(1, most // blocks[-1])
    return (tuple(blocks), threads, current_stream())


def one_block():
    """A block of threads that work together."""
    return (1, THREADS, current_stream())


@cuda.jit
def fill_scaled2(n2, n, fours, dot, b, scaled, scaled2, d, parts):
    shared = cuda.shared.array(THREADS, np.float32)
    i = Place(cuda.blockIdx.x)
    while i < n2:
        total = np.float32(0.0)
        j = 0
        while j < min(4, n - 4 * i):
            l = Place(cuda.threadIdx.x)
            while l < fours:
                dot0, dot1, dot2, dot3 = four_of(dot[Place(4 * i + j)], l)
                b0, b1, b2, b3 = four_of(b, l)
                total, scaled2_0 = next_total(total, dot0, b0, scaled)
                total, scaled2_1 = next_total(total, dot1, b1, scaled)
                total, scaled2_2 = next_total(total, dot2, b2, scaled)
                total, scaled2_3 = next_total(total, dot3, b3, scaled)
                set_four(scaled2[Place(4 * i + j)], l,
                    (scaled2_0, scaled2_1, scaled2_2, scaled2_3))
                l = Place(l + cuda.blockDim.x)
            k = Place(4 * fours + cuda.threadIdx.x)
            while k < d:
                total, scaled2[Place(4 * i + j), k] = next_total(total,
                    dot[Place(4 * i + j), k], b[k], scaled)
                k = Place(k + cuda.blockDim.x)
            j += 1
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            parts[i] = total
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_parts2(n3, d, b, n, dot, scaled, parts2):
    i = Place(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    while i < n3:
        j = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        while j < d:
            b_j = number_of(b[j])
            total = np.float32(0.0)
            k = 0
            while k < min(64, n - 64 * i):
                tanh = math.tanh(number_of(dot[Place(64 * i + k), j]) + b_j)
                total += scaled * tanh * (np.float32(1.0) - tanh * tanh)
                k += 1
            parts2[j, i] = total
            j = Place(j + cuda.gridDim.x * cuda.blockDim.x)
        i = Place(i + cuda.gridDim.y * cuda.blockDim.y)


@cuda.jit
def fill_db(d, fours, parts2, n3, db):
    shared = cuda.shared.array(THREADS, np.float32)
    i = Place(cuda.blockIdx.x)
    while i < d:
        total = np.float32(0.0)
        k = Place(cuda.threadIdx.x)
        while k < fours:
            parts2_0, parts2_1, parts2_2, parts2_3 = four_of(parts2[i], k)
            total = next_total2(total, parts2_0)
            total = next_total2(total, parts2_1)
            total = next_total2(total, parts2_2)
            total = next_total2(total, parts2_3)
            k = Place(k + cuda.blockDim.x)
        j = Place(4 * fours + cuda.threadIdx.x)
        while j < n3:
            total = next_total2(total, parts2[i, j])
            j = Place(j + cuda.blockDim.x)
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            db[i] = bits_of(total)
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_number2(fours, parts, n2, number2, number):
    shared = cuda.shared.array(THREADS, np.float32)
    total = np.float32(0.0)
    j = Place(cuda.threadIdx.x)
    while j < fours:
        parts0, parts1, parts2_2, parts3 = four_of(parts, j)
        total = next_total2(total, parts0)
        total = next_total2(total, parts1)
        total = next_total2(total, parts2_2)
        total = next_total2(total, parts3)
        j = Place(j + cuda.blockDim.x)
    i = Place(4 * fours + cuda.threadIdx.x)
    while i < n2:
        total = next_total2(total, parts[i])
        i = Place(i + cuda.blockDim.x)
    total = add_of_block(total, shared)
    if cuda.threadIdx.x == 0:
        number2[0] = bits_of(total / number)


def layer_value_and_grad_driver(x, w, b):
    n, m = x.shape
    d = w.shape[1]
    n2 = (n + 3) // 4
    n3 = (n + 63) // 64
    check_places(n, m, d)
    dot = cp.empty((n, d), ml_dtypes.bfloat16)
    cp.matmul(x, w, out=dot)
    number = np.float32(d * n)
    scaled = np.float32(2.0) * (np.float32(1.0) / np.float32(number))
    scaled2 = cp.empty((n, d), ml_dtypes.bfloat16)
    parts = cp.empty(n2, np.float32)
    fours = in_fours(d, dot, b, scaled2)
    fill_scaled2[over_blocks(n2, along=d - 3 * fours)](n2, n, fours,
        dot.view(np.uint16), b.view(np.uint16), scaled, scaled2.view(np.uint16), d,
        parts)
    parts2 = cp.empty((d, n3), np.float32)
    fill_parts2[over_threads(d, n3)](n3, d, b.view(np.uint16), n, dot.view(np.uint16),
        scaled, parts2)
    db = cp.empty(d, ml_dtypes.bfloat16)
    fours = in_fours(n3, parts2)
    fill_db[over_blocks(d, along=n3 - 3 * fours)](d, fours, parts2, n3,
        db.view(np.uint16))
    dw = cp.empty((m, d), ml_dtypes.bfloat16)
    number2 = cp.empty(1, ml_dtypes.bfloat16)
    fours = in_fours(n2, parts)
    fill_number2[one_block()](fours, parts, n2, number2.view(np.uint16), number)
    cp.matmul(x.T, scaled2, out=dw)
    return number2.reshape(()), dw, db


def layer_value_and_grad(x, w, b):
    value, dw, db = layer_value_and_grad_driver(x, w, b)
    return value, (dw, db)
