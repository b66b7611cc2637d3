"""Numbers of float32 or float64 rounded to those that float16 and bfloat16 have.

They are made where functions of 16 bits are computed in float32 (`transform/halves.py`), of what the program itself
converts: `x.astype(np.float16)`.
"""

from __future__ import annotations

import numpy as np

from ..core.halves import FLOAT16, bfloat16
from ..core.types import ArrayType
from . import scalars
from .elementwise import Elementwise

PRECISIONS = np.dtype(np.float32), np.dtype(np.float64)
NO_DERIVATIVE = None, "it is made when all derivatives are taken"


def to_float16(x):
    """The nearest number that float16 has, in the dtype of x."""
    return _rounded(x, FLOAT16)


def to_bfloat16(x):
    """The nearest number that bfloat16 has, in the dtype of x."""
    return _rounded(x, bfloat16())


def _rounded(x, dtype):
    own = getattr(x, "dtype", None)
    _check(own, x)
    with np.errstate(over="ignore"):
        return np.asarray(x).astype(dtype).astype(own)[()]


def _check(dtype, x):
    if dtype is None or dtype not in PRECISIONS:           # None stands for float64 among dtypes
        raise TypeError(f"what is rounded to 16 bits is float32 or float64 here, got {x!r}")


def _numbers(rng):
    return [((x,), {}) for x in (rng.normal(size=5) * 10.0 ** rng.uniform(-8, 4, 5), np.float64(0.3))]


class ToFloat16(Elementwise):
    name = "to_float16"
    calls = (to_float16,)
    loop = {"f": scalars.same}            # `lower/vecmath/rounded` has those of these two
    derivative = NO_DERIVATIVE
    domain = _numbers

    def types(x: ArrayType) -> ArrayType:
        _check(None if x.weak else x.dtype, x)
        return ArrayType(x.dtype, x.sizes)


class ToBfloat16(Elementwise):
    name = "to_bfloat16"
    calls = (to_bfloat16,)
    loop = {"f": scalars.same}
    derivative = NO_DERIVATIVE
    domain = _numbers

    def types(x: ArrayType) -> ArrayType:
        _check(None if x.weak else x.dtype, x)
        return ArrayType(x.dtype, x.sizes)
