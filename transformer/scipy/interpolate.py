"""`jax.scipy.interpolate`: `RegularGridInterpolator`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..read.library.regular_grids import RegularGrid
from ..taking import taking_arrays

__all__ = ["RegularGridInterpolator"]


@taking_arrays
def RegularGridInterpolator(points: Sequence[Any], values: Any, method: str = "linear", bounds_error: bool = False,
                            fill_value: Any = np.nan) -> Callable[..., Any]:
    """A function through values on a grid, linear in each cell or that of the ``"nearest"`` point. As
    `jax.scipy.interpolate.RegularGridInterpolator`: outside of the grid it is `fill_value`, or continued if that is
    None, unless `bounds_error` says that it is an error.

    >>> RegularGridInterpolator((np.array([0.0, 1.0]),), np.array([0.0, 10.0]))(np.array([[0.25], [2.0]]))
    array([2.5, nan])
    """
    grid = RegularGrid(points, values, method, bounds_error, fill_value)

    def interpolated(xi: Any, method: str | None = None) -> Any:
        return grid(xi, method)

    return interpolated
