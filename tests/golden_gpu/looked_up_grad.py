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


# The smaller number; nan if one of them is.
@cuda.jit(device=True)
def smaller(a, b):
    return a if a <= b or a != a else b


# The next whole number below, with its sign also where it is 0.
@cuda.jit(device=True)
def floor(x):
    return math.copysign(math.floor(x), x) if math.isfinite(x) else x


# Of int64, the sum that NumPy gives; without a sign, as to numba a sum with one never leaves 64 bits.
@cuda.jit(device=True)
def wrapping_add(a, b):
    return np.int64(np.uint64(a) + np.uint64(b))


@cuda.jit(device=True)
def next_total(total, position_j, number, n):
    lower = smaller(larger(position_j, np.float32(0.0)), np.float32(1.0))
    scaled2 = lower * number
    number2 = np.int64(scaled2)
    return (total + np.int64((number2 < -n) | (number2 >= n)), scaled2,
        scaled2 - floor(scaled2))


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
def next_total2(total, parts_i):
    return total + parts_i


@cuda.jit(device=True)
def next_total3(total, scaled_j, n):
    total2 = wrapping_add(np.int64(scaled_j), 1)
    return total + np.int64((total2 < -n) | (total2 >= n))


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
def fill_scaled(d, fours, position, number, n, scaled, part, m, parts):
    shared = cuda.shared.array(THREADS, np.int64)
    i = Place(cuda.blockIdx.x)
    while i < d:
        total = 0
        k = Place(1024 * i + cuda.threadIdx.x)
        while k < min(1024 * i + 1024, fours):
            position0, position1, position2, position3 = four_of(position, k)
            total, scaled0, part0 = next_total(total, position0, number, n)
            total, scaled1, part1 = next_total(total, position1, number, n)
            total, scaled2, part2 = next_total(total, position2, number, n)
            total, scaled3, part3 = next_total(total, position3, number, n)
            set_four(scaled, k, (scaled0, scaled1, scaled2, scaled3))
            set_four(part, k, (part0, part1, part2, part3))
            k = Place(k + cuda.blockDim.x)
        j = Place(max(4096 * i, 4 * fours) + cuda.threadIdx.x)
        while j < min(4096 * i + 4096, m):
            total, scaled[j], part[j] = next_total(total, position[j], number, n)
            j = Place(j + cuda.blockDim.x)
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            parts[i] = total
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_number3(fours, parts, d, number3):
    shared = cuda.shared.array(THREADS, np.int64)
    total = 0
    j = Place(cuda.threadIdx.x)
    while j < fours:
        parts0, parts1, parts2, parts3 = four_of(parts, j)
        total = next_total2(total, parts0)
        total = next_total2(total, parts1)
        total = next_total2(total, parts2)
        total = next_total2(total, parts3)
        j = Place(j + cuda.blockDim.x)
    i = Place(4 * fours + cuda.threadIdx.x)
    while i < d:
        total = next_total2(total, parts[i])
        i = Place(i + cuda.blockDim.x)
    total = add_of_block(total, shared)
    if cuda.threadIdx.x == 0:
        number3[0] = total > 0


@cuda.jit
def fill_parts4(d, fours, scaled, n, m, parts4):
    shared = cuda.shared.array(THREADS, np.int64)
    i = Place(cuda.blockIdx.x)
    while i < d:
        total = 0
        k = Place(1024 * i + cuda.threadIdx.x)
        while k < min(1024 * i + 1024, fours):
            scaled0, scaled1, scaled2, scaled3 = four_of(scaled, k)
            total = next_total3(total, scaled0, n)
            total = next_total3(total, scaled1, n)
            total = next_total3(total, scaled2, n)
            total = next_total3(total, scaled3, n)
            k = Place(k + cuda.blockDim.x)
        j = Place(max(4096 * i, 4 * fours) + cuda.threadIdx.x)
        while j < min(4096 * i + 4096, m):
            total = next_total3(total, scaled[j], n)
            j = Place(j + cuda.blockDim.x)
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            parts4[i] = total
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_zeros(n, zeros):
    i = Place(cuda.grid(1))
    while i < n:
        zeros[i] = np.float32(0.0)
        i = Place(i + cuda.gridsize(1))


@cuda.jit
def fill_zeros2(m, scaled, n, table, part, zeros, number, position, dposition, shares):
    i = Place(cuda.grid(1))
    while i < m:
        scaled_i = np.int64(scaled[i])
        total = wrapping_add(scaled_i, 1)
        chosen = total + n if total < 0 else total
        table_chosen = table[Place(chosen)]
        part_i = part[i]
        table_at = table[Place(scaled_i + n if scaled_i < 0 else scaled_i)]
        total3 = table_at * (np.float32(1.0) - part_i) + table_chosen * part_i
        scaled2 = np.float32(2.0) * total3
        cuda.atomic.add(zeros, Place(chosen), scaled2 * part_i)
        scaled3 = scaled2 * (table_chosen - table_at) * number
        position_i = position[i]
        mask = (np.float32(0.0) < position_i) & (position_i < np.float32(1.0))
        mask2 = (np.float32(0.0) <= position_i) & (position_i <= np.float32(1.0))
        dposition[i] = (scaled3 if mask else np.float32(0.5) * scaled3 if mask2
            else np.float32(0.0))
        shares[i] = total3 * total3
        i = Place(i + cuda.gridsize(1))


@cuda.jit
def fill_parts5(d, fours, shares, m, parts5):
    shared = cuda.shared.array(THREADS, np.float32)
    i = Place(cuda.blockIdx.x)
    while i < d:
        total3 = np.float32(0.0)
        k = Place(1024 * i + cuda.threadIdx.x)
        while k < min(1024 * i + 1024, fours):
            shares0, shares1, shares2, shares3 = four_of(shares, k)
            total3 = next_total2(total3, shares0)
            total3 = next_total2(total3, shares1)
            total3 = next_total2(total3, shares2)
            total3 = next_total2(total3, shares3)
            k = Place(k + cuda.blockDim.x)
        j = Place(max(4096 * i, 4 * fours) + cuda.threadIdx.x)
        while j < min(4096 * i + 4096, m):
            total3 = next_total2(total3, shares[j])
            j = Place(j + cuda.blockDim.x)
        total3 = add_of_block(total3, shared)
        if cuda.threadIdx.x == 0:
            parts5[i] = total3
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_zeros3(m, scaled, n, part, table, zeros):
    i = Place(cuda.grid(1))
    while i < m:
        scaled_i = np.int64(scaled[i])
        chosen = scaled_i + n if scaled_i < 0 else scaled_i
        total = wrapping_add(scaled_i, 1)
        part_i = part[i]
        diff = np.float32(1.0) - part_i
        total3 = (table[Place(chosen)] * diff
            + table[Place(total + n if total < 0 else total)] * part_i)
        cuda.atomic.add(zeros, Place(chosen), np.float32(2.0) * total3 * diff)
        i = Place(i + cuda.gridsize(1))


@cuda.jit
def fill_number5(fours, parts5, d, number5):
    shared = cuda.shared.array(THREADS, np.float32)
    total3 = np.float32(0.0)
    j = Place(cuda.threadIdx.x)
    while j < fours:
        parts5_0, parts5_1, parts5_2, parts5_3 = four_of(parts5, j)
        total3 = next_total2(total3, parts5_0)
        total3 = next_total2(total3, parts5_1)
        total3 = next_total2(total3, parts5_2)
        total3 = next_total2(total3, parts5_3)
        j = Place(j + cuda.blockDim.x)
    i = Place(4 * fours + cuda.threadIdx.x)
    while i < d:
        total3 = next_total2(total3, parts5[i])
        i = Place(i + cuda.blockDim.x)
    total3 = add_of_block(total3, shared)
    if cuda.threadIdx.x == 0:
        number5[0] = total3


def looked_up_value_and_grad_driver(table, position):
    n = table.shape[0]
    m = position.shape[0]
    d = (m + 4095) // 4096
    check_places(n, m)
    number = np.float32(float(n) - 1.001)
    scaled = cp.empty(m, np.float32)
    part = cp.empty(m, np.float32)
    parts = cp.empty(d, np.int64)
    fours = in_fours(m, position, scaled, part)
    fill_scaled[over_blocks(d)](d, fours, position, number, n, scaled, part, m, parts)
    number3 = cp.empty(1, np.bool_)
    fours = in_fours(d, parts)
    fill_number3[one_block()](fours, parts, d, number3)
    if number3[0].item():
        for i in range(m):
            scaled_i = np.int64(np.float32(scaled[i].item()))
            if not -n <= scaled_i < n:
                raise IndexError("index", scaled_i,
                    "is out of bounds for axis 0 with size", n)
    parts4 = cp.empty(d, np.int64)
    fours = in_fours(m, scaled)
    fill_parts4[over_blocks(d)](d, fours, scaled, n, m, parts4)
    number4 = cp.empty(1, np.bool_)
    fours = in_fours(d, parts4)
    fill_number3[one_block()](fours, parts4, d, number4)
    if number4[0].item():
        for i in range(m):
            total = np.int64(np.float32(scaled[i].item())) + 1
            if not -n <= total < n:
                raise IndexError("index", total,
                    "is out of bounds for axis 0 with size", n)
    zeros = cp.empty(n, np.float32)
    fill_zeros[over_threads(n)](n, zeros)
    dposition = cp.empty(m, np.float32)
    shares = cp.empty(m, np.float32)
    fill_zeros2[over_threads(m)](m, scaled, n, table, part, zeros, number, position,
        dposition, shares)
    parts5 = cp.empty(d, np.float32)
    fours = in_fours(m, shares)
    fill_parts5[over_blocks(d)](d, fours, shares, m, parts5)
    fill_zeros3[over_threads(m)](m, scaled, n, part, table, zeros)
    number5 = cp.empty(1, np.float32)
    fours = in_fours(d, parts5)
    fill_number5[one_block()](fours, parts5, d, number5)
    return number5.reshape(()), zeros, dposition


def looked_up_value_and_grad(table, position):
    value, value2, dposition = looked_up_value_and_grad_driver(table, position)
    return value, (value2, dposition)
