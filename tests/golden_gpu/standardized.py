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
def next_total(total, parts_ij):
    return total + parts_ij


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
def ratio7_at(X_ij, ratio5_j, root_j):
    return (X_ij - ratio5_j) / root_j


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


@cuda.jit
def fill_parts(d, fours, X, n, parts, centers, spreads, m):
    i = Place(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    while i < d:
        k = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        while k < fours:
            X0, X1, X2, X3 = four_of(X[Place(64 * i)], k)
            X0_2, X1_2, X2_2, X3_2 = four_of(X[0], k)
            total0 = np.float32(0.0)
            total1 = np.float32(0.0)
            total2 = np.float32(0.0)
            total3 = np.float32(0.0)
            total0_2 = np.float32(0.0)
            total1_2 = np.float32(0.0)
            total2_2 = np.float32(0.0)
            total3_2 = np.float32(0.0)
            total0_3 = np.float32(0.0)
            total1_3 = np.float32(0.0)
            total2_3 = np.float32(0.0)
            total3_3 = np.float32(0.0)
            l = 0
            while l < min(64, n - 64 * i):
                X0_3, X1_3, X2_3, X3_3 = four_of(X[Place(64 * i + l)], k)
                diff = X0_3 - X0
                diff2 = X1_3 - X1
                diff3 = X2_3 - X2
                diff4 = X3_3 - X3
                total0 += X0_3
                total1 += X1_3
                total2 += X2_3
                total3 += X3_3
                total0_2 += diff
                total1_2 += diff2
                total2_2 += diff3
                total3_2 += diff4
                total0_3 += diff * diff
                total1_3 += diff2 * diff2
                total2_3 += diff3 * diff3
                total3_3 += diff4 * diff4
                l += 1
            parts[Place(4 * k), i] = total0
            parts[Place(4 * k + 1), i] = total1
            parts[Place(4 * k + 2), i] = total2
            parts[Place(4 * k + 3), i] = total3
            ratio = total0_2 / np.float32(min(64, n - 64 * i))
            ratio2 = total1_2 / np.float32(min(64, n - 64 * i))
            ratio3 = total2_2 / np.float32(min(64, n - 64 * i))
            ratio4 = total3_2 / np.float32(min(64, n - 64 * i))
            centers[Place(4 * k), i] = X0 - X0_2 + ratio
            centers[Place(4 * k + 1), i] = X1 - X1_2 + ratio2
            centers[Place(4 * k + 2), i] = X2 - X2_2 + ratio3
            centers[Place(4 * k + 3), i] = X3 - X3_2 + ratio4
            spreads[Place(4 * k), i] = total0_3 - total0_2 * ratio
            spreads[Place(4 * k + 1), i] = total1_3 - total1_2 * ratio2
            spreads[Place(4 * k + 2), i] = total2_3 - total2_2 * ratio3
            spreads[Place(4 * k + 3), i] = total3_3 - total3_2 * ratio4
            k = Place(k + cuda.gridDim.x * cuda.blockDim.x)
        j = Place(4 * fours + (cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x))
        while j < m:
            X_at = X[Place(64 * i), j]
            total = np.float32(0.0)
            total2 = np.float32(0.0)
            total3 = np.float32(0.0)
            k = 0
            while k < min(64, n - 64 * i):
                X_at2 = X[Place(64 * i + k), j]
                diff = X_at2 - X_at
                total += X_at2
                total2 += diff
                total3 += diff * diff
                k += 1
            parts[j, i] = total
            ratio = total2 / np.float32(min(64, n - 64 * i))
            centers[j, i] = X_at - X[0, j] + ratio
            spreads[j, i] = total3 - total2 * ratio
            j = Place(j + cuda.gridDim.x * cuda.blockDim.x)
        i = Place(i + cuda.gridDim.y * cuda.blockDim.y)


@cuda.jit
def fill_ratio5(m, fours, parts, d, number, ratio5, ratio6):
    shared = cuda.shared.array(THREADS, np.float32)
    i = Place(cuda.blockIdx.x)
    while i < m:
        total = np.float32(0.0)
        k = Place(cuda.threadIdx.x)
        while k < fours:
            parts0, parts1, parts2, parts3 = four_of(parts[i], k)
            total = next_total(total, parts0)
            total = next_total(total, parts1)
            total = next_total(total, parts2)
            total = next_total(total, parts3)
            k = Place(k + cuda.blockDim.x)
        j = Place(4 * fours + cuda.threadIdx.x)
        while j < d:
            total = next_total(total, parts[i, j])
            j = Place(j + cuda.blockDim.x)
        total = add_of_block(total, shared)
        ratio = total / number
        if cuda.threadIdx.x == 0:
            ratio5[i] = ratio
            ratio6[i] = ratio
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_parts4(d, m, ratio6, centers, X, spreads, n, parts4):
    i = Place(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    while i < d:
        j = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        while j < m:
            ratio6_j = ratio6[j]
            diff = centers[j, i] - (ratio6_j - X[0, j])
            total = spreads[j, i] + np.float32(min(64, n - 64 * i)) * (diff * diff)
            if total < np.float32(np.inf):
                value = total
            else:
                total2 = np.float32(0.0)
                k = 0
                while k < min(64, n - 64 * i):
                    diff2 = X[Place(64 * i + k), j] - ratio6_j
                    total2 += diff2 * diff2
                    k += 1
                value = total2
            parts4[j, i] = value
            j = Place(j + cuda.gridDim.x * cuda.blockDim.x)
        i = Place(i + cuda.gridDim.y * cuda.blockDim.y)


@cuda.jit
def fill_root(m, fours, parts4, d, root, number):
    shared = cuda.shared.array(THREADS, np.float32)
    i = Place(cuda.blockIdx.x)
    while i < m:
        total = np.float32(0.0)
        k = Place(cuda.threadIdx.x)
        while k < fours:
            parts4_0, parts4_1, parts4_2, parts4_3 = four_of(parts4[i], k)
            total = next_total(total, parts4_0)
            total = next_total(total, parts4_1)
            total = next_total(total, parts4_2)
            total = next_total(total, parts4_3)
            k = Place(k + cuda.blockDim.x)
        j = Place(4 * fours + cuda.threadIdx.x)
        while j < d:
            total = next_total(total, parts4[i, j])
            j = Place(j + cuda.blockDim.x)
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            root[i] = math.sqrt(total / number)
        i = Place(i + cuda.gridDim.x)


@cuda.jit
def fill_ratio7(n, fours, X, ratio5, root, ratio7, m):
    i = Place(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    while i < n:
        k = Place(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
        while k < fours:
            X0, X1, X2, X3 = four_of(X[i], k)
            ratio5_0, ratio5_1, ratio5_2, ratio5_3 = four_of(ratio5, k)
            root0, root1, root2, root3 = four_of(root, k)
            ratio7_0 = ratio7_at(X0, ratio5_0, root0)
            ratio7_1 = ratio7_at(X1, ratio5_1, root1)
            ratio7_2 = ratio7_at(X2, ratio5_2, root2)
            ratio7_3 = ratio7_at(X3, ratio5_3, root3)
            set_four(ratio7[i], k, (ratio7_0, ratio7_1, ratio7_2, ratio7_3))
            k = Place(k + cuda.gridDim.x * cuda.blockDim.x)
        j = Place(4 * fours + (cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x))
        while j < m:
            ratio7[i, j] = ratio7_at(X[i, j], ratio5[j], root[j])
            j = Place(j + cuda.gridDim.x * cuda.blockDim.x)
        i = Place(i + cuda.gridDim.y * cuda.blockDim.y)


def standardized_driver(X):
    n, m = X.shape
    d = (n + 63) // 64
    check_places(n, m)
    parts = cp.empty((m, d), np.float32)
    centers = cp.empty((m, d), np.float32)
    spreads = cp.empty((m, d), np.float32)
    fours = in_fours(m, X)
    fill_parts[over_threads(m - 3 * fours, d)](d, fours, X, n, parts, centers, spreads,
        m)
    number = np.float32(n)
    ratio5 = cp.empty(m, np.float32)
    ratio6 = cp.empty(m, np.float32)
    fours = in_fours(d, parts)
    fill_ratio5[over_blocks(m, along=d - 3 * fours)](m, fours, parts, d, number, ratio5,
        ratio6)
    parts4 = cp.empty((m, d), np.float32)
    fill_parts4[over_threads(m, d)](d, m, ratio6, centers, X, spreads, n, parts4)
    root = cp.empty(m, np.float32)
    fours = in_fours(d, parts4)
    fill_root[over_blocks(m, along=d - 3 * fours)](m, fours, parts4, d, root, number)
    ratio7 = cp.empty((n, m), np.float32)
    fours = in_fours(m, X, ratio5, root, ratio7)
    fill_ratio7[over_threads(m - 3 * fours, n)](n, fours, X, ratio5, root, ratio7, m)
    return ratio7


def standardized(X):
    return standardized_driver(X)
