"""Questions about arrays: complex or real, finite, broadcastable to one another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def iscomplexobj(x):
    return np.asarray(x).dtype.kind == "c"


def isrealobj(x):
    return np.asarray(x).dtype.kind != "c"


def iscomplex(x):
    return np.imag(x) != 0


def isreal(x):
    return np.imag(x) == 0


def isneginf(x, out=None):
    return np.logical_and(np.isinf(x), np.signbit(with_a_sign(x)), out=out)


def isposinf(x, out=None):
    return np.logical_and(np.isinf(x), ~np.signbit(with_a_sign(x)), out=out)


def with_a_sign(x):
    dtype = np.asarray(x).dtype
    if dtype.kind == "c":
        raise TypeError(f"This operation is not supported for {dtype} values because it would be ambiguous.")
    return x


def array_equiv(a1, a2):
    a1, a2 = np.asarray(a1), np.asarray(a2)
    rank = max(a1.ndim, a2.ndim)
    for k in range(1, rank + 1):
        left = a1.shape[a1.ndim - k] if k <= a1.ndim else 1
        right = a2.shape[a2.ndim - k] if k <= a2.ndim else 1
        if left != right and left != 1 and right != 1:
            return False
    return bool(np.all(a1 == a2))


def asarray_chkfinite(a, dtype=None, order=None):
    a = np.asarray(a, dtype=dtype, order=order)
    if a.dtype.kind in "fc" and not np.all(np.isfinite(a)):
        raise ValueError("array must not contain infs or NaNs")
    return a


class Broadcast:
    """What `np.broadcast` tells of arrays."""

    def __init__(self, *arrays):
        self.shape = np.broadcast_shapes(*[np.shape(array) for array in arrays])
        self.nd = self.ndim = len(self.shape)
        self.size = math.prod(self.shape)
        self.numiter = len(arrays)


def broadcast(*arrays):
    return Broadcast(*arrays)


CALLS: dict[Any, Any] = {
    np.broadcast: broadcast,
    np.iscomplexobj: iscomplexobj,
    np.isrealobj: isrealobj,
    np.iscomplex: iscomplex,
    np.isreal: isreal,
    np.isneginf: isneginf,
    np.isposinf: isposinf,
    np.array_equiv: array_equiv,
    np.asarray_chkfinite: asarray_chkfinite,
}
