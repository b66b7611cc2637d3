"""Several GPUs: which one is the current, and arrays that go from one to another.

    with on(1):                                 # GPU 1 is the current one of this thread, also for CuPy and numba
        y = cp.empty(n)
    z = at(y, 0)                                # a copy on GPU 0

What a GPU is asked for, it does in the order of its stream; a copy waits for the streams of both GPUs, the program for
none.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ...settings import config
from .library import is_gpu_array, is_simulated, library, put, taken
from .streams import Beside, mark


def count() -> int:
    """How many GPUs there are; where kernels run as Python, as many as `config.cuda_devices` says."""
    return config.cuda_devices if is_simulated() else int(library().cuda.runtime.getDeviceCount())


def on(device: int) -> AbstractContextManager[Any]:
    """A `with` in which a GPU is the current one of this thread."""
    entered: AbstractContextManager[Any] = library().cuda.Device(device)
    return entered


_one_at_a_time = threading.RLock()


def launching() -> AbstractContextManager[Any]:
    """Around launches of kernels: as Python they run one at a time."""
    return _one_at_a_time if is_simulated() else nullcontext()


def current() -> int:
    """The number of the current GPU."""
    return int(library().cuda.get_device_id())


def where(array: Any) -> int:
    """On which GPU an array of CuPy's lies."""
    return int(array.device.id)


def at(value: Any, device: int) -> Any:
    """An array as it lies on a GPU; what is there already itself."""
    if not is_gpu_array(value):
        with on(device):
            return put(np.asarray(value))
    value = taken(value)
    source = where(value)
    return value if source == device else _copied(value, source, device)


def _copied(array: Any, source: int, target: int) -> Any:
    """A copy on another GPU. It begins when the array is computed, and its memory is not used again before it is read.
    """
    with Beside(source) as stream:
        array = library().ascontiguousarray(array)
        ready = mark(stream)
    with on(target):
        stream = library().cuda.get_current_stream()
        stream.wait_event(ready)
        copy = array.copy()
        read = mark(stream)
    with Beside(source) as stream:
        stream.wait_event(read)
    return copy


def model(device: int) -> Any:
    """What kind of GPU one is: those of one model give the same numbers for the same kernels."""
    return None if is_simulated() else library().cuda.runtime.getDeviceProperties(device)["name"]
