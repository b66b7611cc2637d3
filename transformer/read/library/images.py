"""Filters of `scipy.ndimage`: sums over the places of a kernel, of an array that is continued beyond its edges.

They compute in double precision, and give the dtype of the array.
"""

from __future__ import annotations

import functools
from itertools import product
from typing import Any

import numpy as np

from .refusing import axis_of, refused

CONTINUED = {"reflect": "symmetric", "grid-mirror": "symmetric", "constant": "constant", "grid-constant": "constant",
             "nearest": "edge", "mirror": "reflect", "wrap": "wrap", "grid-wrap": "wrap"}


def as_image(input, output=None):
    """The array, and the dtype of what is made of it."""
    image = np.asarray(input)
    if image.dtype.kind not in "fc" and output is None:
        refused("a filter of scipy.ndimage on integers with integer output is not supported",
                "Filter image.astype(float), or pass output=float.")
    if output is not None and not isinstance(output, (type, str, np.dtype)):
        refused("a filter of scipy.ndimage with output is not supported",
                "Assign the result, y[...] = …, or pass a dtype.")
    dtype = image.dtype if output is None else np.dtype(output)
    if dtype.kind not in "fc":
        refused("a filter of scipy.ndimage with integer output, which SciPy rounds between the axes, is not supported",
                "Omit output, and round the result.")
    return image.astype(complex if image.dtype.kind == "c" else float), dtype


def continued(image, before, after, mode, cval):
    """With so many elements more in front of each axis and behind it."""
    widths, how = list(zip(before, after)), CONTINUED[mode]
    return np.pad(image, widths, mode="constant", constant_values=cval) if how == "constant" else \
        np.pad(image, widths, mode=how)


def summed(padded, weights, sizes):
    """Over the places of the kernel, one axis of it after the other."""
    if weights.ndim == 0:
        return weights * padded
    total, axis = np.zeros(sizes, padded.dtype), len(sizes) - weights.ndim
    for k in range(len(weights)):
        part = padded[(*(slice(None),) * axis, slice(k, k + sizes[axis]))]
        total = total + summed(part, weights[k], sizes)
    return total


def several(given, count):
    """One for each axis."""
    if isinstance(given, (str, type(None))) or np.ndim(given) == 0:
        return [given] * count
    return list(given)


def correlate(input, weights, output=None, mode="reflect", cval=0.0, origin=0):
    weights = np.asarray(weights) * 1.0
    befores = [size // 2 + shift for size, shift in zip(weights.shape, several(origin, weights.ndim))]
    return filtered(input, weights, befores, output, mode, cval)


def convolve(input, weights, output=None, mode="reflect", cval=0.0, origin=0):
    weights = np.asarray(weights) * 1.0
    befores = [(size - 1) // 2 - shift for size, shift in zip(weights.shape, several(origin, weights.ndim))]
    return filtered(input, np.flip(weights), befores, output, mode, cval)


def filtered(input, weights, before, output, mode, cval):
    image, dtype = as_image(input, output)
    if weights.ndim != image.ndim:
        raise RuntimeError("filter weights array has incorrect shape.")
    after = [size - 1 - first for size, first in zip(weights.shape, before)]
    return summed(continued(image, before, after, mode, cval), weights, image.shape).astype(dtype)


def correlate1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    image, dtype = as_image(input, output)
    return along(image, np.asarray(weights) * 1.0, axis, mode, cval, origin).astype(dtype)


def convolve1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    image, dtype = as_image(input, output)
    weights = np.asarray(weights) * 1.0
    shift = (len(weights) - 1) // 2 - len(weights) // 2 - origin
    return along(image, weights[::-1], axis, mode, cval, shift).astype(dtype)


def along(image, weights, axis, mode, cval, origin=0):
    """The sum over places on one axis."""
    axis, first = axis_of(axis, image.ndim), len(weights) // 2 + origin
    here = [axis == k for k in range(image.ndim)]
    before, after = [first if on else 0 for on in here], [len(weights) - 1 - first if on else 0 for on in here]
    padded = continued(image, before, after, mode, cval)
    total = np.zeros(image.shape, padded.dtype)
    for k in range(len(weights)):
        total = total + weights[k] * padded[(*(slice(None),) * axis, slice(k, k + image.shape[axis]))]
    return total


def bell(sigma, order, radius):
    """The density of a normal distribution at whole numbers, or a derivative of it."""
    x = np.arange(-radius, radius + 1)
    density = np.exp(-0.5 / (sigma * sigma) * x**2)
    density = density / np.sum(density)
    factors = [1.0]                                            # of a polynomial in x, by the power
    for _ in range(order):
        rise = [k * factors[k] for k in range(1, len(factors))]
        fall = [0.0, *[-factor / (sigma * sigma) for factor in factors]]
        factors = [a + b for a, b in zip([*rise, *[0.0] * (len(fall) - len(rise))], fall)]
    return density if order == 0 else density * sum([factor * x**k for k, factor in enumerate(factors)])


def gaussian_filter1d(input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *,
                      radius=None):
    image, dtype = as_image(input, output)
    return blurred(image, sigma, axis, order, mode, cval, truncate, radius).astype(dtype)


def blurred(image, sigma, axis, order, mode, cval, truncate, radius):
    if order < 0:
        raise ValueError("order must be non-negative")
    radius = int(truncate * float(sigma) + 0.5) if radius is None else radius
    return along(image, bell(sigma, order, radius)[::-1], axis, mode, cval)


def gaussian_filter(input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0, *, radius=None,
                    axes=None):
    image, dtype = as_image(input, output)
    axes = tuple(range(image.ndim)) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    given = [several(option, len(axes)) for option in (sigma, order, mode, radius)]
    for axis, sigma, order, mode, radius in zip(axes, *given):
        if isinstance(sigma, np.ndarray) or sigma > 1e-15:
            image = blurred(image, sigma, axis, order, mode, cval, truncate, radius)
    return image.astype(dtype)


def gaussian_gradient_magnitude(input, sigma, output=None, mode="reflect", cval=0.0, **kwargs):
    parts = derivatives(input, sigma, 1, output, mode, cval, kwargs)
    return np.sqrt(sum([part * part for part in parts[1:]], parts[0] * parts[0]))


def gaussian_laplace(input, sigma, output=None, mode="reflect", cval=0.0, **kwargs):
    parts = derivatives(input, sigma, 2, output, mode, cval, kwargs)
    return sum(parts[1:], parts[0])


def derivatives(input, sigma, order, output, mode, cval, options):
    image = np.asarray(input)
    orders = [[order if k == axis else 0 for k in range(image.ndim)] for axis in range(image.ndim)]
    return [gaussian_filter(image, sigma, each, output, mode, cval, **options) for each in orders]


def edges(input, axis, output, mode, cval, across):
    """Differences along one axis, of sums across it."""
    image, dtype = as_image(input, output)
    axis, modes = axis_of(axis, image.ndim), several(mode, image.ndim)
    found = along(image, np.array([-1.0, 0.0, 1.0]), axis, modes[axis], cval)
    for other in range(image.ndim):
        if other != axis:
            found = along(found, np.array(across), other, modes[other], cval)
    return found.astype(dtype)


def sobel(input, axis=-1, output=None, mode="reflect", cval=0.0):
    return edges(input, axis, output, mode, cval, [1.0, 2.0, 1.0])


def prewitt(input, axis=-1, output=None, mode="reflect", cval=0.0):
    return edges(input, axis, output, mode, cval, [1.0, 1.0, 1.0])


def laplace(input, output=None, mode="reflect", cval=0.0, *, axes=None):
    image, dtype = as_image(input, output)
    axes = tuple(range(image.ndim)) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    parts = [along(image, np.array([1.0, -2.0, 1.0]), axis, each, cval)
             for axis, each in zip(axes, several(mode, len(axes)))]
    return sum(parts[1:], parts[0]).astype(dtype)


def uniform_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    image, dtype = as_image(input, output)
    return along(image, np.full(size, 1.0 / size), axis, mode, cval, origin).astype(dtype)


def uniform_filter(input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    image, dtype = as_image(input, output)
    axes = tuple(range(image.ndim)) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    given = [several(option, len(axes)) for option in (size, mode, origin)]
    for axis, size, mode, origin in zip(axes, *given):
        image = along(image, np.full(size, 1.0 / size), axis, mode, cval, origin)
    return image.astype(dtype)


def windows(input, size, footprint, output, mode, cval, origin):
    """What is around each element, side by side on a new first axis, and the dtype of the result."""
    if footprint is not None or size is None:
        refused("a filter of scipy.ndimage with a footprint is not supported", "Pass the size of the window.")
    image, dtype = as_image(input, output)
    sizes = several(size, image.ndim)
    before = [each // 2 + shift for each, shift in zip(sizes, several(origin, image.ndim))]
    padded = continued(image, before, [each - 1 - first for each, first in zip(sizes, before)], mode, cval)
    parts = [padded]
    for axis in range(image.ndim):
        parts = [part[(*(slice(None),) * axis, slice(k, k + image.shape[axis]))]
                 for part in parts for k in range(sizes[axis])]
    return np.stack(parts), dtype


def median_filter(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0):
    around, dtype = windows(input, size, footprint, output, mode, cval, origin)
    return np.sort(around, axis=0)[len(around) // 2].astype(dtype)


def maximum_filter(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0):
    around, dtype = windows(input, size, footprint, output, mode, cval, origin)
    return np.max(around, axis=0).astype(dtype)


def minimum_filter(input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0):
    around, dtype = windows(input, size, footprint, output, mode, cval, origin)
    return np.min(around, axis=0).astype(dtype)


def map_coordinates(input, coordinates, output=None, order=3, mode="constant", cval=0.0, prefilter=True):
    image, dtype = as_image(input, output)
    if order not in (0, 1) or mode not in ("constant", "nearest"):
        refused(f"scipy.ndimage.map_coordinates with order={order} and mode={mode!r} is not supported",
                "Use order=1 with mode='constant' or 'nearest'.")
    if len(coordinates) != image.ndim:
        raise RuntimeError("invalid shape for coordinate array")
    at = [np.asarray(coordinates[axis]) * 1.0 for axis in range(image.ndim)]
    is_outside = functools.reduce(np.logical_or, [(x < 0) | (x > size - 1) for x, size in zip(at, image.shape)])
    at = [np.clip(x, 0, size - 1) for x, size in zip(at, image.shape)]
    if order == 0:
        value = image[tuple([np.floor(x + 0.5).astype(int) for x in at])]
    else:
        value = by_lines(image, at)
    return (np.where(is_outside, cval, value) if mode == "constant" else value).astype(dtype)


def by_lines(image, at):
    """The sum over the corners of the cell around each place."""
    lasts = [size - 1 for size in image.shape]
    belows = [np.minimum(np.floor(x).astype(int), last - 1) for x, last in zip(at, lasts)]
    value = 0.0
    for corner in product((0, 1), repeat=image.ndim):
        weight = 1.0
        for up, x, below in zip(corner, at, belows):
            weight = weight * (x - below if up else 1 - (x - below))
        value = value + weight * image[tuple([below + up for below, up in zip(belows, corner)])]
    return value


CALLS: dict[Any, Any] = {
    f"scipy.ndimage.{function.__name__}": function
    for function in (correlate, convolve, correlate1d, convolve1d, gaussian_filter, gaussian_filter1d, gaussian_laplace,
                     gaussian_gradient_magnitude, sobel, prewitt, laplace, uniform_filter, uniform_filter1d,
                     median_filter, maximum_filter, minimum_filter, map_coordinates)
}
