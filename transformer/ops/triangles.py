"""Positions in the triangles of a square matrix."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ..core.errors import NotSupported
from ..core.sizes import Extent
from ..core.types import ArrayType
from . import arguments
from .base import Op
from .creation import CONSTANT
from .rewritten import Rewritten
from .slices import not_negative
from .value import emit, value

POSITION = np.dtype(np.int64)


def upper_count(n: Extent, k: int) -> Extent:
    """How many elements of an n by n matrix are on the diagonal `k` or above.

    >>> from ..core.builder import Builder
    >>> with Builder().active():
    ...     upper_count(3, 0), upper_count(3, 1), upper_count(3, -1), upper_count(3, -5)
    (6, 3, 8, 9)
    """
    if k > 0:
        side = not_negative(n - k)
        return side * (side + 1) // 2
    side = not_negative(n + k - 1)
    return n * n - side * (side + 1) // 2


class TriangleIndices(Op):
    """`size` is how many positions there are."""

    derivative = CONSTANT

    loop = None, "NumPy finds them"
    count: Any

    @classmethod
    def front(cls, args: Any, kwargs: Any, spelling: str | None) -> Any:
        bound = inspect.signature(np.triu_indices).bind(*args, **kwargs).arguments
        n, k = arguments.extent(bound["n"], "n"), arguments.whole(bound.get("k", 0), "k")
        m = bound.get("m")
        if m is not None and arguments.extent(m, "m") != n:
            raise NotSupported(f"np.{cls.name} of a matrix that is not square is not supported",
                               instead="Write np.nonzero(np.tri(n, m, dtype=bool)).")
        return emit(cls, (), {"n": n, "size": cls.count(n, k)} | ({"k": k} if k else {}), spelling)

    def types(n: Extent = 0, k: int = 0, size: Extent = 0) -> tuple[ArrayType, ArrayType]:
        return ArrayType(POSITION, (size,)), ArrayType(POSITION, (size,))

    @classmethod
    def run(cls, n: Any = 0, k: int = 0, size: Any = 0) -> Any:
        return cls.calls[0](n, k)


class TriuIndices(TriangleIndices):
    name = "triu_indices"
    calls = (np.triu_indices,)
    silent = ("size",)
    count = upper_count


class TrilIndices(TriangleIndices):
    name = "tril_indices"
    calls = (np.tril_indices,)
    silent = ("size",)

    def count(n: Extent, k: int) -> Extent:
        return n * n - upper_count(n, k + 1)


class TriuIndicesFrom(Rewritten):
    calls = (np.triu_indices_from,)

    def rewrite(arr, k=0):
        arr = value(arr)
        return _indices(np.triu_indices, arr.shape, k)


class TrilIndicesFrom(Rewritten):
    calls = (np.tril_indices_from,)

    def rewrite(arr, k=0):
        arr = value(arr)
        return _indices(np.tril_indices, arr.shape, k)


def _indices(function: Any, shape: Any, k: int) -> Any:
    from ..core.builder import current
    from .value import call
    if len(shape) != 2 or not current().assumptions.equal(*shape):
        raise NotSupported(f"np.{function.__name__}_from of a matrix that is not square is not supported",
                           instead="Write np.nonzero(np.tri(n, m, dtype=bool)).")
    return call(function, (shape[0], k), {})
