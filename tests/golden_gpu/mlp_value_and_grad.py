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
def h_at(dot_ij, b1_j):
    return larger(dot_ij + b1_j, np.float32(0.0))


@cuda.jit(device=True)
def next_total2(total2, dot4_ij, b2_j):
    return larger(total2, dot4_ij + b2_j)


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
def next_total3(total3, dot4_ij, b2_j, total2):
    return total3 + math.exp(dot4_ij + b2_j - total2)


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
def next_total4(total4, total5, Y_ij, dot4_ij, b2_j, ratio, log, total2):
    return total4 + Y_ij * (dot4_ij + b2_j - total2 - log), total5 + ratio * Y_ij


@cuda.jit(device=True)
def dz_at(dot4_ij, b2_j, Y_ij, ratio, ratio2, total2):
    return ratio * Y_ij - ratio2 * math.exp(dot4_ij + b2_j - total2)


@cuda.jit(device=True)
def next_total2_2(total2, total_j):
    return total2 + total_j


@cuda.jit(device=True)
def chosen_at(dot_ij, b1_j, dh_ij):
    total2 = dot_ij + b1_j
    chosen2 = np.float32(0.5) * dh_ij if total2 == np.float32(0.0) else np.float32(0.0)
    return dh_ij if total2 > np.float32(0.0) else chosen2


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


def most_blocks():
    """How many blocks keep the device busy to the end, four times as many as it has at once: each goes on to further
    places."""
    device = cuda.get_current_device()
    return 4 * device.MULTIPROCESSOR_COUNT * (device.MAX_THREADS_PER_MULTIPROCESSOR // THREADS)


def current_stream():
    """The stream in which CuPy works just now, for numba."""
    return cuda.external_stream(cp.cuda.get_current_stream().ptr)


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


@cuda.jit
def fill_h(d, fours, dot, b1, h, n):
    i = Place(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    while i < d:
        k = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        while k < fours:
            dot0, dot1, dot2, dot3 = four_of(dot[i], k)
            b1_0, b1_1, b1_2, b1_3 = four_of(b1, k)
            h0 = h_at(dot0, b1_0)
            h1 = h_at(dot1, b1_1)
            h2 = h_at(dot2, b1_2)
            h3 = h_at(dot3, b1_3)
            set_four(h[i], k, (h0, h1, h2, h3))
            k = Place(k + cuda.gridDim.x * cuda.blockDim.x)
        j = Place(4 * fours + (cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x))
        while j < n:
            h[i, j] = h_at(dot[i, j], b1[j])
            j = Place(j + cuda.gridDim.x * cuda.blockDim.x)
        i = Place(i + cuda.gridDim.y * cuda.blockDim.y)


@cuda.jit
def fill_total(d, dot4, b2, fours, n2, Y, ratio, total, dz):
    shared = cuda.shared.array(THREADS, np.float32)
    i = Place(cuda.blockIdx.x)
    while i < d:
        total2 = dot4[i, 0] + b2[0]
        k = Place(cuda.threadIdx.x)
        while k < fours:
            dot4_0, dot4_1, dot4_2, dot4_3 = four_of(dot4[i], k)
            b2_0, b2_1, b2_2, b2_3 = four_of(b2, k)
            total2 = next_total2(total2, dot4_0, b2_0)
            total2 = next_total2(total2, dot4_1, b2_1)
            total2 = next_total2(total2, dot4_2, b2_2)
            total2 = next_total2(total2, dot4_3, b2_3)
            k = Place(k + cuda.blockDim.x)
        j = Place(4 * fours + cuda.threadIdx.x)
        while j < n2:
            total2 = next_total2(total2, dot4[i, j], b2[j])
            j = Place(j + cuda.blockDim.x)
        total2 = maximum_of_block(total2, shared)
        total3 = np.float32(0.0)
        k = Place(cuda.threadIdx.x)
        while k < fours:
            dot4_0, dot4_1, dot4_2, dot4_3 = four_of(dot4[i], k)
            b2_0, b2_1, b2_2, b2_3 = four_of(b2, k)
            total3 = next_total3(total3, dot4_0, b2_0, total2)
            total3 = next_total3(total3, dot4_1, b2_1, total2)
            total3 = next_total3(total3, dot4_2, b2_2, total2)
            total3 = next_total3(total3, dot4_3, b2_3, total2)
            k = Place(k + cuda.blockDim.x)
        j = Place(4 * fours + cuda.threadIdx.x)
        while j < n2:
            total3 = next_total3(total3, dot4[i, j], b2[j], total2)
            j = Place(j + cuda.blockDim.x)
        total3 = add_of_block(total3, shared)
        log = math.log(total3)
        total4 = np.float32(0.0)
        total5 = np.float32(0.0)
        k = Place(cuda.threadIdx.x)
        while k < fours:
            Y0, Y1, Y2, Y3 = four_of(Y[i], k)
            dot4_0, dot4_1, dot4_2, dot4_3 = four_of(dot4[i], k)
            b2_0, b2_1, b2_2, b2_3 = four_of(b2, k)
            total4, total5 = next_total4(total4, total5, Y0, dot4_0, b2_0, ratio, log,
                total2)
            total4, total5 = next_total4(total4, total5, Y1, dot4_1, b2_1, ratio, log,
                total2)
            total4, total5 = next_total4(total4, total5, Y2, dot4_2, b2_2, ratio, log,
                total2)
            total4, total5 = next_total4(total4, total5, Y3, dot4_3, b2_3, ratio, log,
                total2)
            k = Place(k + cuda.blockDim.x)
        j = Place(4 * fours + cuda.threadIdx.x)
        while j < n2:
            total4, total5 = next_total4(total4, total5, Y[i, j], dot4[i, j], b2[j],
                ratio, log, total2)
            j = Place(j + cuda.blockDim.x)
        total4 = add_of_block(total4, shared)
        total5 = add_of_block(total5, shared)
        if cuda.threadIdx.x == 0:
            total[i] = total4
        ratio2 = total5 / total3
        k = Place(cuda.threadIdx.x)
        while k < fours:
            dot4_0, dot4_1, dot4_2, dot4_3 = four_of(dot4[i], k)
            b2_0, b2_1, b2_2, b2_3 = four_of(b2, k)
            Y0, Y1, Y2, Y3 = four_of(Y[i], k)
            dz0 = dz_at(dot4_0, b2_0, Y0, ratio, ratio2, total2)
            dz1 = dz_at(dot4_1, b2_1, Y1, ratio, ratio2, total2)
            dz2 = dz_at(dot4_2, b2_2, Y2, ratio, ratio2, total2)
            dz3 = dz_at(dot4_3, b2_3, Y3, ratio, ratio2, total2)
            set_four(dz[i], k, (dz0, dz1, dz2, dz3))
            k = Place(k + cuda.blockDim.x)
        j = Place(4 * fours + cuda.threadIdx.x)
        while j < n2:
            dz[i, j] = dz_at(dot4[i, j], b2[j], Y[i, j], ratio, ratio2, total2)
            j = Place(j + cuda.blockDim.x)
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_parts(n3, fours, total, d, parts):
    shared = cuda.shared.array(THREADS, np.float32)
    i = Place(cuda.blockIdx.x)
    while i < n3:
        total2 = np.float32(0.0)
        k = Place(1024 * i + cuda.threadIdx.x)
        while k < min(1024 * i + 1024, fours):
            total0, total1, total2_2, total3 = four_of(total, k)
            total2 = next_total2_2(total2, total0)
            total2 = next_total2_2(total2, total1)
            total2 = next_total2_2(total2, total2_2)
            total2 = next_total2_2(total2, total3)
            k = Place(k + cuda.blockDim.x)
        j = Place(max(4096 * i, 4 * fours) + cuda.threadIdx.x)
        while j < min(4096 * i + 4096, d):
            total2 = next_total2_2(total2, total[j])
            j = Place(j + cuda.blockDim.x)
        total2 = add_of_block(total2, shared)
        if cuda.threadIdx.x == 0:
            parts[i] = total2
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_parts2(n4, fours, d, dz, parts2, n2):
    i = Place(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    while i < n4:
        k = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        while k < fours:
            total0 = np.float32(0.0)
            total1 = np.float32(0.0)
            total2 = np.float32(0.0)
            total3 = np.float32(0.0)
            l = 0
            while l < min(64, d - 64 * i):
                dz0, dz1, dz2, dz3 = four_of(dz[Place(64 * i + l)], k)
                total0 += dz0
                total1 += dz1
                total2 += dz2
                total3 += dz3
                l += 1
            parts2[Place(4 * k), i] = total0
            parts2[Place(4 * k + 1), i] = total1
            parts2[Place(4 * k + 2), i] = total2
            parts2[Place(4 * k + 3), i] = total3
            k = Place(k + cuda.gridDim.x * cuda.blockDim.x)
        j = Place(4 * fours + (cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x))
        while j < n2:
            total2 = np.float32(0.0)
            k = 0
            while k < min(64, d - 64 * i):
                total2 += dz[Place(64 * i + k), j]
                k += 1
            parts2[j, i] = total2
            j = Place(j + cuda.gridDim.x * cuda.blockDim.x)
        i = Place(i + cuda.gridDim.y * cuda.blockDim.y)


@cuda.jit
def fill_db2(n2, fours, parts2, n4, db2):
    shared = cuda.shared.array(THREADS, np.float32)
    i = Place(cuda.blockIdx.x)
    while i < n2:
        total2 = np.float32(0.0)
        k = Place(cuda.threadIdx.x)
        while k < fours:
            parts2_0, parts2_1, parts2_2, parts2_3 = four_of(parts2[i], k)
            total2 = next_total2_2(total2, parts2_0)
            total2 = next_total2_2(total2, parts2_1)
            total2 = next_total2_2(total2, parts2_2)
            total2 = next_total2_2(total2, parts2_3)
            k = Place(k + cuda.blockDim.x)
        j = Place(4 * fours + cuda.threadIdx.x)
        while j < n4:
            total2 = next_total2_2(total2, parts2[i, j])
            j = Place(j + cuda.blockDim.x)
        total2 = add_of_block(total2, shared)
        if cuda.threadIdx.x == 0:
            db2[i] = total2
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_number2(fours, parts, n3, number2, number):
    shared = cuda.shared.array(THREADS, np.float32)
    total2 = np.float32(0.0)
    j = Place(cuda.threadIdx.x)
    while j < fours:
        parts0, parts1, parts2_2, parts3 = four_of(parts, j)
        total2 = next_total2_2(total2, parts0)
        total2 = next_total2_2(total2, parts1)
        total2 = next_total2_2(total2, parts2_2)
        total2 = next_total2_2(total2, parts3)
        j = Place(j + cuda.blockDim.x)
    i = Place(4 * fours + cuda.threadIdx.x)
    while i < n3:
        total2 = next_total2_2(total2, parts[i])
        i = Place(i + cuda.blockDim.x)
    total2 = add_of_block(total2, shared)
    if cuda.threadIdx.x == 0:
        number2[0] = -(total2 / number)


@cuda.jit
def fill_chosen(d, fours, dot, b1, dh, chosen, n):
    i = Place(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    while i < d:
        k = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        while k < fours:
            dot0, dot1, dot2, dot3 = four_of(dot[i], k)
            b1_0, b1_1, b1_2, b1_3 = four_of(b1, k)
            dh0, dh1, dh2, dh3 = four_of(dh[i], k)
            chosen0 = chosen_at(dot0, b1_0, dh0)
            chosen1 = chosen_at(dot1, b1_1, dh1)
            chosen2 = chosen_at(dot2, b1_2, dh2)
            chosen3 = chosen_at(dot3, b1_3, dh3)
            set_four(chosen[i], k, (chosen0, chosen1, chosen2, chosen3))
            k = Place(k + cuda.gridDim.x * cuda.blockDim.x)
        j = Place(4 * fours + (cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x))
        while j < n:
            chosen[i, j] = chosen_at(dot[i, j], b1[j], dh[i, j])
            j = Place(j + cuda.gridDim.x * cuda.blockDim.x)
        i = Place(i + cuda.gridDim.y * cuda.blockDim.y)


def mlp_value_and_grad_driver(W1, b1, W2, b2, X, Y):
    n = W1.shape[1]
    m = X.shape[1]
    d, n2 = Y.shape
    n3 = (d + 4095) // 4096
    n4 = (d + 63) // 64
    check_places(n, m, d, n2)
    dot = cp.empty((d, n), np.float32)
    cp.matmul(X, W1, out=dot)
    h = cp.empty((d, n), np.float32)
    fours = in_fours(n, dot, b1, h)
    fill_h[over_threads(n - 3 * fours, d)](d, fours, dot, b1, h, n)
    dot4 = cp.empty((d, n2), np.float32)
    cp.matmul(h, W2, out=dot4)
    number = np.float32(d)
    ratio = np.float32(-1.0) / np.float32(number)
    total = cp.empty(d, np.float32)
    dz = cp.empty((d, n2), np.float32)
    fours = in_fours(n2, dot4, b2, Y, dz)
    fill_total[over_blocks(d, along=n2 - 3 * fours)](d, dot4, b2, fours, n2, Y, ratio,
        total, dz)
    parts = cp.empty(n3, np.float32)
    fours = in_fours(d, total)
    fill_parts[over_blocks(n3)](n3, fours, total, d, parts)
    parts2 = cp.empty((n2, n4), np.float32)
    fours = in_fours(n2, dz)
    fill_parts2[over_threads(n2 - 3 * fours, n4)](n4, fours, d, dz, parts2, n2)
    db2 = cp.empty(n2, np.float32)
    fours = in_fours(n4, parts2)
    fill_db2[over_blocks(n2, along=n4 - 3 * fours)](n2, fours, parts2, n4, db2)
    dW2 = cp.empty((n, n2), np.float32)
    number2 = cp.empty(1, np.float32)
    fours = in_fours(n3, parts)
    fill_number2[one_block()](fours, parts, n3, number2, number)
    cp.matmul(h.T, dz, out=dW2)
    dh = cp.empty((d, n), np.float32)
    cp.matmul(dz, W2.T, out=dh)
    chosen = cp.empty((d, n), np.float32)
    fours = in_fours(n, dot, b1, dh, chosen)
    fill_chosen[over_threads(n - 3 * fours, d)](d, fours, dot, b1, dh, chosen, n)
    parts4 = cp.empty((n, n4), np.float32)
    fours = in_fours(n, chosen)
    fill_parts2[over_threads(n - 3 * fours, n4)](n4, fours, d, chosen, parts4, n)
    db1 = cp.empty(n, np.float32)
    fours = in_fours(n4, parts4)
    fill_db2[over_blocks(n, along=n4 - 3 * fours)](n, fours, parts4, n4, db1)
    dW1 = cp.empty((m, n), np.float32)
    cp.matmul(X.T, chosen, out=dW1)
    return number2.reshape(()), dW1, db1, dW2, db2


def mlp_value_and_grad(W1, b1, W2, b2, X, Y):
    value, dW1, db1, dW2, db2 = mlp_value_and_grad_driver(W1, b1, W2, b2, X, Y)
    return value, (dW1, db1, dW2, db2)
