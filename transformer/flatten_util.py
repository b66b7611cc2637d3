"""Pytrees of arrays as one vector, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import tree
from .read.library.refusing import are_equal
from .taking import taking_arrays


@taking_arrays
def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """All elements of the leaves of a pytree in one vector, and a function that makes such a pytree of a vector. As
    `jax.flatten_util.ravel_pytree`.

    The vector has the dtype to which those of the leaves are promoted. What is made of a vector has the dtypes of the
    leaves; where they are all the same, it has that of the vector. Raises `ValueError` for a vector of another length.

    >>> vector, back = ravel_pytree({"w": np.array([[1.0, 2.0]]), "b": 3.0})
    >>> vector
    array([1., 2., 3.])
    >>> back(10 * vector)
    {'w': array([[10., 20.]]), 'b': np.float64(30.0)}
    """
    leaves, structure = tree.flatten(pytree)
    arrays = [np.asarray(leaf) for leaf in leaves]
    shapes, dtypes = [array.shape for array in arrays], [array.dtype for array in arrays]
    ends = []
    size = 0
    for array in arrays:
        size += array.size
        ends.append(size)
    keeps = all([dtype == dtypes[0] for dtype in dtypes])

    def unravel(flat: Any) -> Any:
        if np.ndim(flat) != 1 or not are_equal(len(flat), size):
            raise ValueError(f"the function that ravel_pytree gave takes a vector of {size} elements, got an array of "
                             f"shape {np.shape(flat)}")
        parts = [np.reshape(flat[end - elements(shape):end], shape) for end, shape in zip(ends, shapes)]
        if not keeps:
            parts = [part.astype(dtype) for part, dtype in zip(parts, dtypes)]
        return tree.unflatten(structure, [part[()] for part in parts])

    if not arrays:
        return np.zeros(0, np.float32), unravel
    return np.concatenate([np.ravel(array) for array in arrays]), unravel


def elements(shape: Any) -> Any:
    """How many elements an array of this shape has."""
    size = 1
    for length in shape:
        size = size * length
    return size
