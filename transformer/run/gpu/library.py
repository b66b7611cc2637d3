"""GPUs: whether there is one, arrays on it, and the library that makes them.

numba compiles and launches kernels, CuPy has the memory and the libraries of linear algebra. With
``NUMBA_ENABLE_CUDASIM=1`` numba runs kernels as Python instead, and arrays are NumPy's: slow, but without a GPU.
Nothing of this is imported before somebody asks for a device of the kind ``"cuda"``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...core.on_devices import is_on_device

EXTRAS = "Install transformer with the extra cuda12, or cuda13 for the newest GPUs"


def is_simulated() -> bool:
    """Whether numba runs kernels as Python."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


@cache
def why_not() -> str | None:
    """Why nothing can run on a GPU here, in a sentence; None where something can."""
    if is_simulated():
        return None
    for package, name in (("numba_cuda", "numba-cuda"), ("cupy", "CuPy")):
        if find_spec(package) is None:
            return f"{name} is not installed. {EXTRAS}."
    try:
        from numba import cuda
        if cuda.is_available():
            return _misfit()
    except Exception as error:                   # of many kinds, where a driver does not fit
        return f"numba cannot use the driver: {error}"
    return "numba finds no GPU, or no driver for one."


def _misfit() -> str | None:
    """Why numba-cuda cannot compile, found by importing what it needs for that: it may lean on a part of NumPy that the
    installed one has no more."""
    from numba.cuda.descriptor import cuda_target
    try:
        cuda_target.typing_context.refresh()
    except (ImportError, AttributeError) as error:
        return f"numba-cuda does not fit NumPy {np.__version__}: {error}. {EXTRAS}: it brings what fits."
    return None


@cache
def library() -> Any:
    """CuPy, or what stands for it."""
    if is_simulated():
        return OnHost()
    import cupy
    return cupy


def runnable(namespace: dict[str, Any], grids: Mapping[str, str]) -> dict[str, Any]:
    """What a generated module defines, with stand-ins where a simulator runs it; `grids` has the names of functions of
    grids in it."""
    if not is_simulated():
        return namespace
    from .simulated import with_stand_ins
    return with_stand_ins(namespace, grids)


class OnHost:
    """NumPy under CuPy's name, for kernels that run as Python."""

    @property
    def cuda(self) -> Any:
        return Instantly

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def asnumpy(array: Any) -> np.ndarray:
        return np.asarray(array)


class Instantly:
    """In place of `cupy.cuda`, where everything is done at once."""

    class Device:
        def __init__(self, id: int) -> None:
            self.id = id

        def __enter__(self) -> Any:
            self.before, _simulated.device = _simulated.device, self.id
            return self

        def __exit__(self, *_: Any) -> None:
            _simulated.device = self.before

        def use(self) -> None:
            _simulated.device = self.id

    class Stream:
        ptr, done = 0, True

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: Any) -> None:
            pass

        def synchronize(self) -> None:
            pass

    class Event(Stream):
        def __init__(self, disable_timing: bool = False) -> None:
            pass

        def record(self, stream: Any = None) -> None:
            pass

    @staticmethod
    def get_current_stream() -> Any:
        return Instantly.Stream()

    @staticmethod
    def get_device_id() -> int:
        return _simulated.device


class _Simulated(threading.local):
    device = 0


_simulated = _Simulated()


def is_gpu_array(leaf: Any) -> bool:
    """Whether a leaf is an array on a GPU, of CuPy, PyTorch or another library."""
    if type(leaf).__module__ == "cupy":          # which makes all that it tells when it is asked for it
        return hasattr(type(leaf), "__cuda_array_interface__")
    return not is_on_device(leaf) and hasattr(leaf, "__cuda_array_interface__")


def of_library(array: Any) -> Any:
    """A copy as an array of CuPy's, where it lies, of one of any library on a GPU."""
    from .devices import where
    from .streams import Beside
    array = taken(array)
    with Beside(where(array)):
        return library().array(array)


def taken(array: Any) -> Any:
    """An array of any library on a GPU as one of CuPy's, in the same memory. The current stream waits until it is
    computed: what does not say in which stream that is, such as PyTorch's tensors, says it by DLPack."""
    if isinstance(array, library().ndarray):
        return array
    if "stream" in array.__cuda_array_interface__ or not hasattr(array, "__dlpack__"):
        return library().asarray(array)
    return library().from_dlpack(array)


def brought(leaf: Any) -> Any:
    """An array on the current GPU; numbers, and arrays of NumPy's without axes, stay where they are, those of a GPU
    are fetched: their values count like numbers'. Of ours it is the array in them."""
    from .devices import at, current
    if is_on_device(leaf):
        leaf = leaf._known() if hasattr(type(leaf), "device") else leaf.gather()       # from several
    if isinstance(leaf, np.ndarray) and leaf.ndim and not is_gpu_array(leaf):
        return put(leaf)
    if not is_gpu_array(leaf):
        return leaf
    array = at(leaf, current())
    return array if array.ndim else library().asnumpy(array)


def put(array: Any) -> Any:
    """A copy on the GPU of an array that is there, or of one of NumPy's. That CuPy copies by memory of its own that is
    pinned, and does not wait; one that lies in pinned memory itself, which its owner may write to by then, is copied
    before."""
    return library().array(array.copy() if isinstance(array, np.ndarray) and is_pinned(array) else array)


def is_pinned(array: np.ndarray) -> bool:
    """Whether the memory of an array is one that GPUs read at any time."""
    if is_simulated() or not array.size:
        return False
    runtime = library().cuda.runtime
    return bool(runtime.pointerGetAttributes(array.ctypes.data).type == runtime.memoryTypeHost)


def fetched(leaf: Any) -> Any:
    """An array of the GPU as NumPy's; without axes, as a number of NumPy's."""
    return without_axes(library().asnumpy(leaf)) if isinstance(leaf, library().ndarray) else leaf


def without_axes(array: np.ndarray) -> Any:
    """An array, as a number of NumPy's if it has no axes."""
    return array if array.ndim else array[()]


def stand_in(leaf: Any) -> Any:
    """What has the type and the shape of an array on the GPU, for those who look at nothing else; without axes, the
    number; NumPy's without axes, which may be written to, as they are."""
    if isinstance(leaf, library().ndarray):
        if not leaf.ndim:
            return leaf if isinstance(leaf, np.ndarray) else fetched(leaf)
        return np.ndarray(leaf.shape, leaf.dtype, bytes(leaf.itemsize), strides=(0,) * leaf.ndim)
    return leaf
