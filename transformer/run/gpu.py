"""GPUs: whether there is one, arrays on it, and the library that makes them.

numba compiles and launches kernels, CuPy has the memory and the libraries of linear algebra. With
``NUMBA_ENABLE_CUDASIM=1`` numba runs kernels as Python instead, and arrays are NumPy's: slow, but without a GPU.
Nothing of this is imported before somebody asks for a device of the kind ``"cuda"``.
"""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from .native import is_on_device

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
            return None
    except Exception as error:                   # of many kinds, where a driver does not fit
        return f"numba cannot use the driver: {error}"
    return "numba finds no GPU, or no driver for one."


def count() -> int:
    """How many GPUs are used: one, the current one of the process."""
    return int(why_not() is None)


@cache
def library() -> Any:
    """CuPy, or what stands for it."""
    if is_simulated():
        return OnHost()
    import cupy
    return cupy


def runnable(namespace: dict[str, Any]) -> dict[str, Any]:
    """What a generated module defines, with stand-ins where a simulator runs it."""
    if not is_simulated():
        return namespace
    from .gpu_simulated import with_stand_ins
    return with_stand_ins(namespace)


class OnHost:
    """NumPy under CuPy's name, for kernels that run as Python."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def asnumpy(array: Any) -> np.ndarray:
        return np.asarray(array)


def is_gpu_array(leaf: Any) -> bool:
    """Whether a leaf is an array on a GPU, of CuPy, PyTorch or another library."""
    return not is_on_device(leaf) and hasattr(leaf, "__cuda_array_interface__")


def brought(leaf: Any) -> Any:
    """An array on the GPU; numbers, and arrays without axes, stay where they are. Of ours it is the array in them."""
    if is_on_device(leaf):
        leaf = leaf._known()
    if isinstance(leaf, np.ndarray) and leaf.ndim:
        return put(leaf)
    return library().asarray(leaf) if is_gpu_array(leaf) else leaf


def put(array: np.ndarray) -> Any:
    """A copy of an array on the GPU."""
    return library().array(array)


def fetched(leaf: Any) -> Any:
    """An array of the GPU as NumPy's; without axes, as a number of NumPy's."""
    return library().asnumpy(leaf)[()] if isinstance(leaf, library().ndarray) else leaf


def stand_in(leaf: Any) -> Any:
    """What has the type and the shape of an array on the GPU, for those who look at nothing else."""
    if isinstance(leaf, library().ndarray) and leaf.ndim:
        return np.broadcast_to(np.zeros((), leaf.dtype), leaf.shape)
    return leaf
