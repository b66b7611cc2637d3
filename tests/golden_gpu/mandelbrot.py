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
def fill_count(n, re, im, count):
    lane = Place(cuda.grid(1))
    while lane < n:
        re_lane = re[lane]
        im_lane = im[lane]
        x = re_lane
        y = im_lane
        count_lane = 0
        while (count_lane < 20) & (x * x + y * y < np.float32(4.0)):
            x_next = x * x - y * y + re_lane
            y_next = np.float32(2.0) * x * y + im_lane
            count_lane_next = count_lane + 1
            x, y, count_lane = x_next, y_next, count_lane_next
        count[lane] = count_lane
        lane = Place(lane + cuda.gridsize(1))


def escape_vmap_driver(re, im):
    n = re.shape[0]
    check_places(n)
    count = cp.empty(n, np.int64)
    fill_count[over_threads(n)](n, re, im, count)
    return count


def escape_vmap(re, im):
    return escape_vmap_driver(re, im)
