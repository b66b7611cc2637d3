"""Helpers that generated files contain when they need them; they are copied from here as text."""
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# fmt: off

import numpy as np

from ..ops.saved import add_saved, zeros_like_saved

__all__ = ["add_saved", "grow", "zeros_like_saved"]


def grow(rows):
    """The same rows, with room for as many again."""
    larger = np.empty((2 * len(rows),) + rows.shape[1:], rows.dtype)
    larger[:len(rows)] = rows
    return larger
