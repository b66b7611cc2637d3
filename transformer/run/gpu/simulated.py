"""What generated modules for GPUs have in place of their own where numba's simulator runs them, thread after thread of
Python: small grids, and plain functions for what a compiler writes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def in_fours(size: int, *arrays: np.ndarray) -> int:
    """As on a device, for arrays of any alignment."""
    return size // 4 if all(array.strides[-1] == array.itemsize for array in arrays) else 0


def four_of(array: Any, k: int) -> tuple[Any, ...]:
    return array[4 * k], array[4 * k + 1], array[4 * k + 2], array[4 * k + 3]


def set_four(array: Any, k: int, items: tuple[Any, ...]) -> None:
    for lane in range(4):
        array[4 * k + lane] = items[lane]


def place(n: Any) -> int:
    """A place, with which numba computes in 64 bits. Raises ValueError for what a device takes for another one."""
    if n < 0:
        raise ValueError(f"a place of a kernel is {n}, and has no sign")
    return int(n)


# Threads take long to start, and warps of one have nobody to hand numbers to, which the simulator has no form for.
STAND_INS: dict[str, Any] = {"THREADS": 8, "WARP": 1, "TILE": 4, "PADDED": 5, "ROWS": 2, "Place": place,
                             "four_of": four_of, "set_four": set_four}
OF_GRIDS: dict[str, Any] = {"most_blocks": lambda: 4, "current_stream": lambda: 0, "in_fours": in_fours}


def with_stand_ins(namespace: dict[str, Any], grids: Mapping[str, str]) -> dict[str, Any]:
    """Functions that kernels call are plain: the simulator's do not know arguments by name."""
    namespace |= {name: each.py_func for name, each in namespace.items() if getattr(each, "_device", False)}
    namespace |= {name: each for name, each in STAND_INS.items() if name in namespace and name not in OF_GRIDS}
    namespace |= {grids[name]: each for name, each in OF_GRIDS.items() if name in grids}
    return namespace
