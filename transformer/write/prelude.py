"""Helpers that generated files contain when they need them; they are copied from here as text."""
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False
# fmt: off

import numpy as np

from ..ops.complex_numbers import complex_of, complex_of_real
from ..ops.eigenvalues import complex_eig, complex_eigvals
from ..ops.factorizations import is_positive_definite
from ..ops.inverse_error import erf_inv, erf_inv_f32, erf_inv_f64
from ..ops.random_bits import random_words, threefry2x32
from ..ops.saved import add_saved, zeros_like_saved

__all__ = ["WITH_OPS", "add_saved", "complex_eig", "complex_eigvals", "complex_of", "erf_inv_f32", "erf_inv_f64",
           "grow", "is_positive_definite", "threefry2x32", "zeros_like_saved"]


# What the reader has an op for in place of a helper: a phase is read once more, and would have what the printed
# function does written out at each of its calls.
WITH_OPS = {"threefry2x32": random_words, "erf_inv_f32": erf_inv, "erf_inv_f64": erf_inv,
            "is_positive_definite": is_positive_definite,
            "complex_eig": complex_eig, "complex_eigvals": complex_eigvals,
            "complex_of": complex_of_real}


def grow(rows):
    """The same rows, with room for as many again."""
    larger = np.empty((2 * len(rows),) + rows.shape[1:], rows.dtype)
    larger[:len(rows)] = rows
    return larger
