"""Filters of images, as in `scipy.ndimage`."""

import numpy as np
from scipy import ndimage

from .program import Program, apart, fixed

RAMP = np.add.outer(np.arange(3.0) ** 2, np.sin(np.arange(4.0)))


def blurred(image, sigma):
    """A blur whose width is differentiated as well, and one along an axis."""
    soft = ndimage.gaussian_filter(image, sigma, radius=2)
    return np.sum(soft**2) + np.sum(ndimage.gaussian_filter1d(image, 0.7, axis=0, order=1, mode="nearest") * soft)


def by_kernels(image, kernel):
    """Kernels whose sizes the call decides, in all ways to go on beyond sobel_edges."""
    total = np.sum(ndimage.convolve(image, kernel, mode="constant", cval=0.3) ** 2)
    for mode in ("reflect", "mirror", "wrap"):
        total += np.sum(ndimage.correlate(image, kernel, mode=mode) ** 2)
    return total


def sobel_edges(image):
    steepness = np.hypot(ndimage.sobel(image, 0), ndimage.prewitt(image, 1))
    return np.sum(steepness * ndimage.laplace(image)) + np.sum(ndimage.uniform_filter(image, 2) ** 2)


def ranked(image):
    around = ndimage.maximum_filter(image, 3) - ndimage.minimum_filter(image, (2, 3))
    return np.sum(around * ndimage.median_filter(image, size=(1, 3)))


def sampled(image, places):
    inside = ndimage.map_coordinates(image, places, order=1)
    return np.sum(inside**2) + np.sum(ndimage.map_coordinates(RAMP, places, order=1, mode="nearest"))


PROGRAMS = [
    Program(blurred, fixed(RAMP, 0.8), (0, 1), order=1),
    Program(by_kernels, fixed(RAMP, np.array([[0.2, 1.0], [-0.5, 0.3]])), (0, 1), order=1),
    Program(sobel_edges, apart((3, 4)), order=1),
    Program(ranked, apart((3, 4)), order=1),
    Program(sampled, fixed(RAMP, np.array([[0.3, 1.6, 2.4], [1.2, 2.7, 0.4]])), (0, 1), order=1),
]
