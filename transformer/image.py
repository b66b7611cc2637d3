"""Images in other sizes, as `jax.image`.

Each axis is a product with a matrix, whose columns are the weights of the old pixels in a new one. A pixel lies in the
middle of its cell; when an axis shrinks, the weights reach as much further, so that each pixel counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .read.library.refusing import are_equal
from .taking import taking_arrays

__all__ = ["resize", "scale_and_translate"]


@taking_arrays
def resize(image: Any, shape: Sequence[int], method: str, antialias: bool = True, precision: Any = None) -> Any:
    """An array resampled to another shape with as many axes. As `jax.image.resize`.

    `method` is ``"nearest"``, ``"linear"``, ``"cubic"`` (R. Keys, "Cubic convolution interpolation for digital image
    processing", 1981), ``"lanczos3"`` or ``"lanczos5"``. Without `antialias`, a new pixel sees its neighbours only,
    also where the array shrinks. Whole numbers become `float64`. `precision` changes nothing. Raises `ValueError` for
    other methods and ranks.

    >>> resize(np.array([0.0, 4.0]), (4,), "linear")
    array([0., 1., 3., 4.])
    """
    if len(shape) != image.ndim:
        raise ValueError(f"image.resize takes a shape with {image.ndim} axes, got {tuple(shape)}")
    if method == "nearest":
        return _nearest(image, shape)
    kernel = _kernel(method)
    result = _inexact(image)
    for axis, size in enumerate(shape):
        if not are_equal(image.shape[axis], size):
            scale = size / image.shape[axis]
            result = _along(result, axis, _weights(image.shape[axis], size, scale, 0.0, kernel, antialias))
    return result


@taking_arrays
def scale_and_translate(image: Any, shape: Sequence[int], spatial_dims: Sequence[int], scale: Any, translation: Any,
                        method: str, antialias: bool = True, precision: Any = None) -> Any:
    """An array of another shape, where what was at x along an axis in `spatial_dims` is at `scale * x + translation`;
    0 where nothing was. As `jax.image.scale_and_translate`; the methods are those of `resize` but ``"nearest"``.

    >>> scale_and_translate(np.array([1.0, 2.0, 3.0]), (3,), (0,), np.array([1.0]), np.array([1.0]), "linear")
    array([0., 1., 2.])
    """
    kernel = _kernel(method)
    result = _inexact(image)
    for k, axis in enumerate(spatial_dims):
        weights = _weights(image.shape[axis], shape[axis], scale[k], translation[k], kernel, antialias)
        result = _along(result, axis, weights)
    return result


def _inexact(image: Any) -> Any:
    return image if image.dtype.kind in "fc" else image.astype(np.float64)


def _along(image: Any, axis: int, weights: Any) -> Any:
    return np.moveaxis(np.tensordot(image, weights.astype(image.dtype), (axis, 0)), -1, axis)


def _nearest(image: Any, shape: Sequence[int]) -> Any:
    for axis, size in enumerate(shape):
        places = np.floor((np.arange(size) + 0.5) * (image.shape[axis] / size)).astype(np.int64)
        image = np.take(image, places, axis)
    return image


def _weights(old: Any, new: Any, scale: Any, translation: Any, kernel: Callable[[Any], Any], antialias: bool) -> Any:
    """The weight of each old pixel in each new one; they sum to 1, unless the new one lies outside."""
    step = 1.0 / scale
    places = (np.arange(new) + 0.5) * step - translation * step - 0.5
    reach = np.maximum(step, 1.0) if antialias else 1.0
    weights = kernel(np.abs(places[np.newaxis, :] - np.arange(old)[:, np.newaxis]) / reach)
    total = np.sum(weights, axis=0, keepdims=True)
    is_some = np.abs(total) > 1000 * float(np.finfo(np.float32).eps)
    weights = np.where(is_some, weights / np.where(is_some, total, 1.0), 0.0)
    return np.where((places >= -0.5) & (places <= old - 0.5), weights, 0.0)


def _kernel(method: str) -> Callable[[Any], Any]:
    if method in ("linear", "bilinear", "trilinear", "triangle"):
        return _triangle
    if method in ("cubic", "bicubic", "tricubic"):
        return _cubic
    if method == "lanczos3":
        return lambda x: _lanczos(3.0, x)
    if method == "lanczos5":
        return lambda x: _lanczos(5.0, x)
    raise ValueError(f"image.resize: the method is {method!r}, which is none of 'nearest', 'linear', 'cubic', "
                     "'lanczos3' and 'lanczos5'")


def _triangle(x: Any) -> Any:
    return np.maximum(0.0, 1.0 - x)


def _cubic(x: Any) -> Any:
    near = (1.5 * x - 2.5) * x * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return np.where(x >= 2.0, 0.0, np.where(x >= 1.0, far, near))


def _lanczos(radius: float, x: Any) -> Any:
    return np.where(x > radius, 0.0, np.sinc(x) * np.sinc(x / radius))
