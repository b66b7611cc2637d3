"""Floating types of 16 bits, in which numbers are kept and not computed: float16 and bfloat16.

What computes with them does so in float32. bfloat16 is a dtype that `ml_dtypes` adds to NumPy, which is imported when
it is first asked for. It is promoted as float16 is, and the two together are float32.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

FLOAT16 = np.dtype(np.float16)
FLOAT32 = np.dtype(np.float32)


@cache
def bfloat16() -> np.dtype[Any]:
    """The dtype. Raises ImportError where `ml_dtypes` is not installed.

    >>> bfloat16().itemsize
    2
    """
    import ml_dtypes
    return np.dtype(ml_dtypes.bfloat16)


def is_bfloat16(dtype: Any) -> bool:
    return dtype.kind == "V" and dtype.name == "bfloat16"


def is_half(dtype: Any) -> bool:
    """Whether a dtype is one of the two.

    >>> is_half(np.dtype(np.float16)), is_half(np.dtype(np.int16))
    (True, False)
    """
    return dtype.itemsize == 2 and (dtype.kind == "f" or is_bfloat16(dtype))


def kind_of(dtype: Any) -> str:
    """The kind of a dtype, which for bfloat16 is that of floating numbers, too.

    >>> kind_of(bfloat16()), kind_of(np.dtype(np.int8))
    ('f', 'i')
    """
    return "f" if is_bfloat16(dtype) else dtype.kind


def promoted(kinds: Iterable[Any]) -> np.dtype[Any]:
    """NumPy's `result_type` of dtypes and Python's numbers, with bfloat16 promoted as float16 is.

    >>> promoted([bfloat16(), 2.0]), promoted([bfloat16(), np.dtype(np.float16)])
    (dtype(bfloat16), dtype('float32'))
    """
    kinds = list(kinds)
    brain = [is_bfloat16(kind) for kind in kinds if isinstance(kind, np.dtype)]
    if not any(brain):
        return np.result_type(*kinds)
    kept = FLOAT32 if FLOAT16 in [kind for kind in kinds if isinstance(kind, np.dtype)] else FLOAT16
    found = np.result_type(*(kept if isinstance(kind, np.dtype) and is_bfloat16(kind) else kind for kind in kinds))
    return bfloat16() if found == FLOAT16 else found
