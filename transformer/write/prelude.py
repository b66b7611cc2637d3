"""Helpers that generated files contain when they need them; they are copied from here as text."""
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# fmt: off

import numpy as np

from ..ops.inverse_error import erf_inv_f32, erf_inv_f64
from ..ops.random_bits import threefry2x32
from ..ops.saved import add_saved, zeros_like_saved

__all__ = ["add_saved", "erf_inv_f32", "erf_inv_f64", "grow", "threefry2x32", "zeros_like_saved"]


def grow(rows):
    """The same rows, with room for as many again."""
    larger = np.empty((2 * len(rows),) + rows.shape[1:], rows.dtype)
    larger[:len(rows)] = rows
    return larger
