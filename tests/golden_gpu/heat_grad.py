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
def du_at(u2_i):
    return np.float32(2.0) * u2_i


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
def next_total(total, parts_j):
    return total + parts_j


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


def one_thread():
    """A thread that works alone."""
    return (1, 1, current_stream())


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
def fill_kept(n, kept, u2, i):
    j = Place(cuda.grid(1))
    while j < n - 2:
        kept[Place(i), j] = (u2[Place(j + 2)] - np.float32(2.0) * u2[Place(j + 1)]
            + u2[j])
        j = Place(j + cuda.gridsize(1))


@cuda.jit
def fill_u_next(n, u2, c, u_next):
    j = Place(cuda.grid(1))
    while j < n:
        if (j >= 1) & (j < n - 1):
            u2_j = u2[j]
            scaled = c * (u2[Place(j + 1)] - np.float32(2.0) * u2_j + u2[Place(j - 1)])
            value = u2_j + scaled
        else:
            value = u2[j]
        u_next[j] = value
        j = Place(j + cuda.gridsize(1))


@cuda.jit
def fill_du(fours, u2, du, n):
    j = Place(cuda.grid(1))
    while j < fours:
        u2_0, u2_1, u2_2, u2_3 = four_of(u2, j)
        du0 = du_at(u2_0)
        du1 = du_at(u2_1)
        du2 = du_at(u2_2)
        du3 = du_at(u2_3)
        set_four(du, j, (du0, du1, du2, du3))
        j = Place(j + cuda.gridsize(1))
    i = Place(4 * fours + cuda.grid(1))
    while i < n:
        du[i] = du_at(u2[i])
        i = Place(i + cuda.gridsize(1))


@cuda.jit
def fill_dc(dc):
    dc[0] = np.float32(0.0)


@cuda.jit
def fill_parts(m, n, du, kept, i, parts):
    shared = cuda.shared.array(THREADS, np.float32)
    j = Place(cuda.blockIdx.x)
    while j < m:
        total = np.float32(0.0)
        k = Place(cuda.threadIdx.x)
        while k < min(4096, n - 4096 * j - 2):
            scaled = du[Place(4096 * j + k + 1)] * kept[Place(i), Place(4096 * j + k)]
            total += scaled
            k = Place(k + cuda.blockDim.x)
        total = add_of_block(total, shared)
        if cuda.threadIdx.x == 0:
            parts[j] = total
        j = Place(j + cuda.gridDim.x)


@cuda.jit
def fill_du_next(n, du, c, du_next):
    j = Place(cuda.grid(1))
    while j < n:
        value = du[j] + du[Place(j + 1)] * c if j < n - 2 else du[j]
        value2 = (value - np.float32(2.0) * (du[j] * c) if (j >= 1) & (j < n - 1)
            else value)
        du_next[j] = value2 + du[Place(j - 1)] * c if j >= 2 else value2
        j = Place(j + cuda.gridsize(1))


@cuda.jit
def fill_dc2(dc, fours, parts, m):
    shared = cuda.shared.array(THREADS, np.float32)
    dc2 = dc[0]
    total = np.float32(0.0)
    k = Place(cuda.threadIdx.x)
    while k < fours:
        parts0, parts1, parts2, parts3 = four_of(parts, k)
        total = next_total(total, parts0)
        total = next_total(total, parts1)
        total = next_total(total, parts2)
        total = next_total(total, parts3)
        k = Place(k + cuda.blockDim.x)
    j = Place(4 * fours + cuda.threadIdx.x)
    while j < m:
        total = next_total(total, parts[j])
        j = Place(j + cuda.blockDim.x)
    total = add_of_block(total, shared)
    dc3 = dc2 + total
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        dc[0] = dc3
    cuda.syncthreads()


def heat_grad_driver(u, c):
    n = u.shape[0]
    m = (n + 4093) // 4096
    check_places(n)
    kept = cp.empty((10, n - 2), np.float32)
    u_next = cp.empty(n, np.float32)
    u2 = u.copy()
    for i in range(10):
        fill_kept[over_threads(n - 2)](n, kept, u2, i)
        fill_u_next[over_threads(n)](n, u2, c, u_next)
        u2, u_next = u_next, u2
    du = cp.empty(n, np.float32)
    fours = in_fours(n, u2, du)
    fill_du[over_threads(n - 3 * fours)](fours, u2, du, n)
    du_next = cp.empty(n, np.float32)
    parts = cp.empty(m, np.float32)
    dc = cp.empty(1, np.float32)
    fill_dc[one_thread()](dc)
    for i in range(9, -1, -1):
        fill_parts[over_blocks(m)](m, n, du, kept, i, parts)
        fill_du_next[over_threads(n)](n, du, c, du_next)
        fours = in_fours(m, parts)
        fill_dc2[one_block()](dc, fours, parts, m)
        du, du_next = du_next, du
    return du, dc.reshape(())


def heat_grad(u, c):
    du, dc = heat_grad_driver(u, c)
    return du, dc
