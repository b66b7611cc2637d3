"""The type bfloat16, and what is known of floating types with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.halves import bfloat16, is_bfloat16


def bfloat16_type() -> Any:
    """The class of numbers in bfloat16. Raises ImportError where `ml_dtypes` is not installed."""
    return bfloat16().type


def finfo(dtype: Any) -> Any:
    """`numpy.finfo`, of bfloat16, too.

    >>> finfo(bfloat16()).eps
    0.0078125
    """
    found = np.dtype(getattr(dtype, "dtype", dtype))
    if is_bfloat16(found):
        import ml_dtypes
        return ml_dtypes.finfo(found)
    return np.finfo(found)
