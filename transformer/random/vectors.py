"""Vectors whose components depend on each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..drawing import FLOATS, take_dtype, take_shape
from ..taking import taking_arrays
from .floats import normal
from .keys import take_key


@taking_arrays
def multivariate_normal(key: Any, mean: Any, cov: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Vectors of the normal distribution with a mean, of shape (..., n), and a covariance, (..., n, n); the shape is
    that of the axes in front. Derivatives pass through both. As `jax.random.multivariate_normal`, by Cholesky's method.

    Raises `numpy.linalg.LinAlgError` for a covariance that is not positive definite.

    >>> multivariate_normal(np.array([0, 42], np.uint32), np.zeros(2), np.eye(2)).shape
    (2,)
    """
    take_key("multivariate_normal", key)
    centre, spread = np.asarray(mean), np.asarray(cov)
    found = take_dtype("multivariate_normal", np.result_type(centre, spread) if dtype is None else dtype, FLOATS)
    if centre.ndim < 1 or spread.ndim < 2 or spread.shape[-2:] != (centre.shape[-1], centre.shape[-1]):
        raise ValueError("random.multivariate_normal expects a mean of shape (..., n) and a covariance of shape "
                         f"(..., n, n), got {centre.shape} and {spread.shape}")
    own = np.broadcast_shapes(centre.shape[:-1], spread.shape[:-2])
    sizes = own if shape is None else take_shape("multivariate_normal", shape)
    z = normal(key, sizes + (centre.shape[-1],), found)
    factor = np.linalg.cholesky(spread).astype(found)
    return centre.astype(found) + (factor @ z[..., None])[..., 0]
