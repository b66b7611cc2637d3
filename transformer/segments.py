"""Sums, products and extremes of the rows of an array that belong together, as `jax.ops` has them.

    segment_sum(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2]), 3)      # array([3., 0., 4.])

The number of a row says to which segment it belongs; rows with numbers that no segment has are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .taking import taking_arrays


@taking_arrays
def segment_sum(data: Any, segment_ids: Any, num_segments: int | None = None, indices_are_sorted: bool = False,
                unique_indices: bool = False) -> Any:
    """Sums the rows of `data` that have the same number in `segment_ids`. As `jax.ops.segment_sum`.

    `data` has shape ``(n, ...)``, and `segment_ids` are integers of shape ``(n,)``. The result has shape
    ``(num_segments, ...)`` and the dtype of `data`. By default, `num_segments` follows from the largest number.
    `indices_are_sorted` and `unique_indices` are accepted as in JAX, and change nothing. Raises IndexError unless
    there is a number for each row.

    >>> segment_sum(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2]), 3)
    array([3., 0., 4.])
    """
    return _combined(np.add, 0, data, segment_ids, num_segments)


@taking_arrays
def segment_prod(data: Any, segment_ids: Any, num_segments: int | None = None, indices_are_sorted: bool = False,
                 unique_indices: bool = False) -> Any:
    """The products, as `segment_sum`; 1 for a segment without rows.

    >>> segment_prod(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2]), 3)
    array([2., 1., 4.])
    """
    return _combined(np.multiply, 1, data, segment_ids, num_segments)


@taking_arrays
def segment_max(data: Any, segment_ids: Any, num_segments: int | None = None, indices_are_sorted: bool = False,
                unique_indices: bool = False) -> Any:
    """The greatest elements, as `segment_sum`; -inf, or the least integer, for a segment without rows.

    >>> segment_max(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2]), 3)
    array([  2., -inf,   4.])
    """
    least = -np.inf if data.dtype.kind == "f" else False if data.dtype == bool else np.iinfo(data.dtype).min
    return _combined(np.maximum, least, data, segment_ids, num_segments)


@taking_arrays
def segment_min(data: Any, segment_ids: Any, num_segments: int | None = None, indices_are_sorted: bool = False,
                unique_indices: bool = False) -> Any:
    """The least elements, as `segment_sum`; inf, or the greatest integer, for a segment without rows.

    >>> segment_min(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2]), 3)
    array([ 1., inf,  4.])
    """
    greatest = np.inf if data.dtype.kind == "f" else True if data.dtype == bool else np.iinfo(data.dtype).max
    return _combined(np.minimum, greatest, data, segment_ids, num_segments)


def _combined(function: np.ufunc, empty: Any, data: Any, segment_ids: Any, num_segments: int | None) -> Any:
    """The rows of each segment combined; rows that belong to none go to a place behind the last one."""
    count = np.max(segment_ids) + 1 if num_segments is None else num_segments
    places = np.where((segment_ids >= 0) & (segment_ids < count), segment_ids, count)
    found = np.full((count + 1, *data.shape[1:]), empty, data.dtype)
    function.at(found, places, data)
    return found[:count]
