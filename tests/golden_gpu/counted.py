import cupy as cp
import numpy as np
from numba import cuda

THREADS = 256
WARP = 32
MOST = 2**31
Place = np.uint32


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


@cuda.jit
def fill_total2(m, places2, n, status, total2, weight):
    k = Place(cuda.grid(1))
    while k < m:
        places2_k = places2[k]
        if not -n <= places2_k < n:
            if cuda.atomic.compare_and_swap(status, 0, 1) == 0:
                status[1] = places2_k
                status[2] = n
            return
        cuda.atomic.add(total2, Place(places2_k + n if places2_k < 0 else places2_k),
            weight[k])
        k = Place(k + cuda.gridsize(1))


def counted_driver(total, places2, weight):
    n = total.shape[0]
    m = places2.shape[0]
    check_places(n, m)
    total2 = total.copy()
    status = cp.zeros(3, np.int64)
    fill_total2[over_threads(m)](m, places2, n, status, total2, weight)
    code = status[0].item()
    if code == 1:
        raise IndexError("index", status[1].item(),
            "is out of bounds for axis 0 with size", status[2].item())
    return total2


def counted(total, places, weight):
    total2 = counted_driver(total, places, weight)
    total[...] = total2
