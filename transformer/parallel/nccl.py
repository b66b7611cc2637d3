"""NCCL, NVIDIA's library for what several GPUs exchange, as CuPy has it.

    together = nccl_for((0, 1))
    totals = together.reduced([x_on_0, x_on_1], "sum")          # the sum, on each

This thread asks all GPUs for their part, each in its stream, as one group: none may wait for a call that another one
has not got yet.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ..run.gpu.library import is_simulated, library
from ..run.gpu.streams import On

NAMES = {"int8": "INT8", "uint8": "UINT8", "int32": "INT32", "uint32": "UINT32", "int64": "INT64", "uint64": "UINT64",
         "float16": "FLOAT16", "float32": "FLOAT32", "float64": "FLOAT64"}
PARTS = {"complex64": "float32", "complex128": "float64"}               # what complex numbers are two of


_alone = threading.Lock()               # all GPUs get groups in the same order, or they would wait for each other


@cache
def nccl_for(devices: tuple[int, ...]) -> Nccl | None:
    """The communicators of these GPUs; None for one GPU, and where CuPy finds no NCCL."""
    if is_simulated() or len(set(devices)) < 2:
        return None
    nccl = import_module("cupy.cuda.nccl")       # warns where it is missing
    return Nccl(devices, nccl) if nccl.available else None


class Nccl:
    """The communicators of some GPUs of this process. Arrays of all of them have one shape and dtype."""

    def __init__(self, devices: tuple[int, ...], nccl: Any) -> None:
        self.devices, self.library = devices, nccl
        self.members = self.library.NcclCommunicator.initAll(list(devices))

    def takes(self, arrays: Sequence[Any], kind: str) -> bool:
        """Whether these can be exchanged, and combined like this."""
        name = arrays[0].dtype.name
        return arrays[0].size > 0 and (name in NAMES or name in PARTS and kind == "sum") \
            and all(array.shape == arrays[0].shape and array.dtype == arrays[0].dtype for array in arrays)

    def reduced(self, arrays: Sequence[Any], kind: str) -> list[Any]:
        """The sum, or the largest (``"max"``) or smallest of each element, on each GPU."""
        op = getattr(self.library, f"NCCL_{kind.upper()}")

        def ask(member: Any, given: Any, made: Any, count: int, dtype: int, stream: int) -> None:
            member.allReduce(given, made, count, dtype, op, stream)

        return self._exchanged(arrays, arrays[0].shape, ask)

    def gathered(self, arrays: Sequence[Any]) -> list[Any]:
        """All of them along a new first axis, on each GPU."""
        def ask(member: Any, *args: Any) -> None:
            member.allGather(*args)

        return self._exchanged(arrays, (len(arrays), *arrays[0].shape), ask)

    def _exchanged(self, arrays: Sequence[Any], shape: tuple[int, ...], ask: Callable[..., None]) -> list[Any]:
        """What all GPUs have after each was asked: memory is allocated before, as that may wait for a GPU."""
        number, width = self._dtype(arrays[0].dtype)
        given, made = [], []
        for device, array in zip(self.devices, arrays):
            with On(device):
                given.append(library().ascontiguousarray(array))
                made.append(library().empty(shape, array.dtype))
        with _alone:
            self.library.groupStart()
            try:
                for device, member, array, result in zip(self.devices, self.members, given, made):
                    with On(device) as stream:
                        ask(member, array.data.ptr, result.data.ptr, array.size * width, number, stream.ptr)
            finally:
                self.library.groupEnd()
        return made

    def _dtype(self, dtype: np.dtype[Any]) -> tuple[int, int]:
        """NCCL's number of a dtype, and how many of it one element is."""
        part = PARTS.get(dtype.name)
        return getattr(self.library, f"NCCL_{NAMES[part or dtype.name]}"), 2 if part else 1
