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


@cuda.jit(device=True)
def next_total(total, A_ij, x_j):
    return total + A_ij * x_j


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
def next_total2(total, step_j):
    return total + step_j * step_j


@cuda.jit(device=True)
def next_total3(total, parts_i):
    return total + parts_i


@cuda.jit(device=True)
def total2_at(x_i, step_i, number_at):
    return x_i + step_i / number_at


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


def one_block():
    """A block of threads that work together."""
    return (1, THREADS, current_stream())


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


@cuda.jit
def fill_r(n, fours, A, x, r, b):
    shared = cuda.shared.array(THREADS, np.float64)
    i = Place(cuda.blockIdx.x)
    while i < n:
        total = 0.0
        k = Place(cuda.threadIdx.x)
        while k < fours:
            A0, A1, A2, A3 = four_of(A[i], k)
            x0, x1, x2, x3 = four_of(x, k)
            total = next_total(total, A0, x0)
            total = next_total(total, A1, x1)
            total = next_total(total, A2, x2)
            total = next_total(total, A3, x3)
            k = Place(k + cuda.blockDim.x)
        j = Place(4 * fours + cuda.threadIdx.x)
        while j < n:
            total = next_total(total, A[i, j], x[j])
            j = Place(j + cuda.blockDim.x)
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            r[i] = math.tanh(b[i] - total)
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_parts(m, fours, step, n, parts):
    shared = cuda.shared.array(THREADS, np.float64)
    i = Place(cuda.blockIdx.x)
    while i < m:
        total = 0.0
        k = Place(1024 * i + cuda.threadIdx.x)
        while k < min(1024 * i + 1024, fours):
            step0, step1, step2, step3 = four_of(step, k)
            total = next_total2(total, step0)
            total = next_total2(total, step1)
            total = next_total2(total, step2)
            total = next_total2(total, step3)
            k = Place(k + cuda.blockDim.x)
        j = Place(max(4096 * i, 4 * fours) + cuda.threadIdx.x)
        while j < min(4096 * i + 4096, n):
            total = next_total2(total, step[j])
            j = Place(j + cuda.blockDim.x)
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            parts[i] = total
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_number(fours, parts, m, number):
    shared = cuda.shared.array(THREADS, np.float64)
    total = 0.0
    j = Place(cuda.threadIdx.x)
    while j < fours:
        parts0, parts1, parts2, parts3 = four_of(parts, j)
        total = next_total3(total, parts0)
        total = next_total3(total, parts1)
        total = next_total3(total, parts2)
        total = next_total3(total, parts3)
        j = Place(j + cuda.blockDim.x)
    i = Place(4 * fours + cuda.threadIdx.x)
    while i < m:
        total = next_total3(total, parts[i])
        i = Place(i + cuda.blockDim.x)
    total = add_of_block(total, shared)
    if cuda.threadIdx.x == 0:
        number[0] = 1.0 + total


@cuda.jit
def fill_total2(number, fours, x, step, total2, n):
    number_at = number[0]
    j = Place(cuda.grid(1))
    while j < fours:
        x0, x1, x2, x3 = four_of(x, j)
        step0, step1, step2, step3 = four_of(step, j)
        total2_0 = total2_at(x0, step0, number_at)
        total2_1 = total2_at(x1, step1, number_at)
        total2_2 = total2_at(x2, step2, number_at)
        total2_3 = total2_at(x3, step3, number_at)
        set_four(total2, j, (total2_0, total2_1, total2_2, total2_3))
        j = Place(j + cuda.gridsize(1))
    i = Place(4 * fours + cuda.grid(1))
    while i < n:
        total2[i] = total2_at(x[i], step[i], number_at)
        i = Place(i + cuda.gridsize(1))


def relaxed_driver(A, b, x):
    n = A.shape[1]
    m = (n + 4095) // 4096
    check_places(n)
    r = cp.empty(n)
    fours = in_fours(n, A, x)
    fill_r[over_blocks(n, along=n)](n, fours, A, x, r, b)
    step = cp.empty(n)
    step[:] = cp.linalg.solve(A, r)
    parts = cp.empty(m)
    fours = in_fours(n, step)
    fill_parts[over_blocks(m)](m, fours, step, n, parts)
    total2 = cp.empty(n)
    number = cp.empty(1)
    fours = in_fours(m, parts)
    fill_number[one_block()](fours, parts, m, number)
    fours = in_fours(n, x, step, total2)
    fill_total2[over_threads(n - 3 * fours)](number, fours, x, step, total2, n)
    return total2


def relaxed(A, b, x):
    return relaxed_driver(A, b, x)
