"""Values as they lie on a device: arrays of NumPy that nobody can write to, or those of a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..precision import narrowed
from ..run.gpu.library import is_gpu_array
from .device import Device


def there(value: Any, device: Device) -> Any:
    """An array, of NumPy or a GPU, as it lies on a device."""
    if device.kind != "cuda":
        return on_host(value)
    from ..run.gpu.devices import at
    with device.current():
        return at(value if is_gpu_array(value) else narrowed(value), device.id)


def on_host(value: Any) -> np.ndarray:
    """The array of a device as one of NumPy."""
    if isinstance(value, np.ndarray):
        return value
    if not is_gpu_array(value):                  # a number of NumPy's
        return np.asarray(value)
    from ..run.gpu.devices import where
    from ..run.gpu.library import library
    from ..run.gpu.streams import On
    with On(where(value)):
        return np.asarray(library().asnumpy(value))


def kept(value: Any) -> Any:
    """What a task may read later: arrays that their owner may write to by then are copied."""
    return value.copy() if isinstance(value, np.ndarray) and value.flags.writeable else value


def frozen(value: Any) -> Any:
    """A new array, which nobody else has, as it is on a device."""
    if type(value) is not np.ndarray and is_gpu_array(value):
        return value
    array = narrowed(value if type(value) is np.ndarray else np.asarray(value))
    array.setflags(write=False)
    return array


def read_only(value: Any) -> Any:
    """An array as it is on a device: of a dtype that there is (`precision`), and one that cannot be written to.
    Itself if it has its memory alone, else a view. Those on GPUs can all be written to, by whoever gets at them."""
    if type(value) is not np.ndarray and is_gpu_array(value):
        return value
    array = narrowed(value if type(value) is np.ndarray else np.asarray(value))
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array
