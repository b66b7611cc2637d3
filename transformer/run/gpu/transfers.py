"""Results fetched from a GPU: small ones together, with one wait for all of them.

A copy to memory that is pinned begins, and who asked for it goes on. Large arrays are fetched one after the other: the
driver cuts them into parts itself, and memory that is pinned would be taken from others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import tree
from .library import fetched, is_simulated, library, without_axes

SMALL = 1 << 20                         # bytes


def fetched_together(result: Any) -> Any:
    """A tree with NumPy's arrays and numbers in place of a GPU's; all are there."""
    if is_simulated():
        return tree.map(fetched, result)
    leaves, structure = tree.flatten(result)
    copies: list[Any] = []
    try:
        for leaf in leaves:
            copies.append(_begun(leaf) if _is_small(leaf) else fetched(leaf))
    finally:                                     # until then nobody else may have the memory of copies that have begun
        library().cuda.get_current_stream().synchronize()
    return tree.unflatten(structure, [
        without_axes(copy.copy()) if _is_small(leaf) else copy for leaf, copy in zip(leaves, copies)])


def _is_small(leaf: Any) -> bool:
    return isinstance(leaf, library().ndarray) and 0 < leaf.nbytes <= SMALL


def _begun(array: Any) -> np.ndarray:
    """An array in pinned memory that will be a copy."""
    memory = library().cuda.alloc_pinned_memory(array.nbytes)
    place = np.frombuffer(memory, array.dtype, array.size).reshape(array.shape)
    copy: np.ndarray = library().asnumpy(array, out=place, blocking=False)
    return copy
