"""A stand-in for NCCL, for arrays of `virtual_gpus`: what is asked for in a group happens at its end, when all members
have asked for the same."""

from __future__ import annotations

import ctypes
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np

DTYPES = {name: k for k, name in enumerate(("int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32",
                                            "float64"))}
OPS = {"SUM": np.add, "PROD": np.multiply, "MAX": np.maximum, "MIN": np.minimum}


def view(pointer: int, count: int, dtype: int) -> np.ndarray:
    """So many numbers at an address."""
    kind = np.dtype(list(DTYPES)[dtype])
    return np.frombuffer((ctypes.c_char * (count * kind.itemsize)).from_address(pointer), kind)


class Nccl:
    """What `cupy.cuda.nccl` is for a program. `asked` counts the calls of all members."""

    available = True
    NcclCommunicator: Any

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.group: list[Any] | None = None
        self.size = 0
        self.NcclCommunicator = SimpleNamespace(initAll=self.members)
        for name, number in DTYPES.items():
            setattr(self, f"NCCL_{name.upper()}", number)
        for number, name in enumerate(OPS):
            setattr(self, f"NCCL_{name}", number)

    def members(self, devices: list[int]) -> list[Any]:
        self.size = len(devices)
        return [Member(self, device) for device in devices]

    def groupStart(self) -> None:
        assert self.group is None
        self.group = []

    def groupEnd(self) -> None:
        group, self.group = self.group, None
        assert group is not None and len(group) == self.size, "not all members have asked"
        assert len({each[3:] for each in group}) == 1, "the members do not ask for the same"
        name, dtype, count, op = group[0][3:]
        sent = [view(each[1], count, dtype) for each in group]
        found = np.concatenate(sent) if name == "allGather" else list(OPS.values())[op].reduce(sent)
        for each in group:
            view(each[2], found.size, dtype)[:] = found


class Member:
    """The communicator of one GPU."""

    def __init__(self, nccl: Nccl, device: int) -> None:
        self.nccl, self.device = nccl, device

    def allReduce(self, sent: int, received: int, count: int, dtype: int, op: int, stream: int) -> None:
        self._ask("allReduce", sent, received, count, dtype, op)

    def allGather(self, sent: int, received: int, count: int, dtype: int, stream: int) -> None:
        self._ask("allGather", sent, received, count, dtype, 0)

    def _ask(self, name: str, sent: int, received: int, count: int, dtype: int, op: int) -> None:
        from virtual_gpus import CURRENT
        assert CURRENT.gpu == self.device and self.nccl.group is not None and sent != received
        self.nccl.asked[name] += 1
        self.nccl.group.append((self.device, sent, received, name, dtype, count, op))


NCCL = Nccl()
