"""Which dtypes arrays on devices have: with `config.enable_x64` off, none of 64 bits.

    canonical(np.dtype(float))                  # float64, or float32

What makes an `Array`, or gives one, asks here; so do the functions of `transformer.numpy` in programs that are read.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .core.errors import BadArgument
from .core.halves import is_half, kind_of
from .settings import config

NARROW = {np.dtype(wide): np.dtype(narrow) for wide, narrow in (
    (np.float64, np.float32), (np.complex128, np.complex64), (np.int64, np.int32), (np.uint64, np.uint32))}
LONG = "gG"                             # characters of longdouble and its complex numbers


def canonical(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that an `Array` has in place of this one. Raises `BadArgument` for what is no dtype of numbers."""
    if not config.enable_x64:
        dtype = NARROW.get(dtype, dtype)
    if kind_of(dtype) not in "biufc" or dtype.char in LONG:
        raise BadArgument(f"an Array cannot have dtype {dtype}", why=WHY_NOT_LONG if dtype.char in LONG else None,
                          instead="Convert it to float64 first: np.asarray(x, np.float64)." if dtype.char in LONG
                          else "Use a numeric or boolean dtype.")
    return dtype


WHY_NOT_LONG = "Its size and precision depend on the machine, and nothing is compiled for it."


def narrowed(value: np.ndarray) -> np.ndarray:
    """An array in the dtype that it has on a device. Raises OverflowError for integers that it does not hold."""
    dtype = value.dtype
    if dtype.char in COMMON if config.enable_x64 else dtype.char in SMALL:
        return value
    wanted = canonical(dtype)
    if wanted == dtype:
        return value
    if dtype.kind in "iu" and value.size:
        bounds = np.iinfo(wanted)
        if value.min() < bounds.min or value.max() > bounds.max:
            raise OverflowError(f"an integer does not fit into {wanted}, which replaces {dtype} because "
                                "transformer.config.enable_x64 is False")
    with np.errstate(over="ignore"):
        return value.astype(wanted)


SMALL = "?bBhHiIefF"                    # characters of dtypes that are kept anyway
COMMON = SMALL + "lLqQdD"


def requested(dtype: Any, stacklevel: int = 3) -> None:
    """Warns where a program asks for a dtype of 64 bits that it will not get, as JAX does."""
    if config.enable_x64 or dtype in (None, float, int, complex, bool):
        return
    try:
        found = np.dtype(dtype)
    except TypeError:
        return
    if found in NARROW:
        warnings.warn(f"the dtype {found} that is asked for is not available, and {NARROW[found]} takes its place: "
                      "set transformer.config.enable_x64 = True to have it", UserWarning, stacklevel=stacklevel)


def names_dtype(value: Any) -> bool:
    """Whether an argument is a dtype, and nothing that is turned into one."""
    return isinstance(value, np.dtype) or isinstance(value, type) and issubclass(value, np.generic)


def names_half(value: Any) -> bool:
    """Whether an argument is a dtype of 16 bits with a point."""
    return names_dtype(value) and value is not np.generic and _is_concrete(value) and is_half(np.dtype(value))


def _is_concrete(value: Any) -> bool:
    return isinstance(value, np.dtype) or value.__module__ != "numpy" or value.__name__ in np.sctypeDict
