"""Filters of images, as in `scipy.ndimage`."""

import numpy as np
from scipy import ndimage

from .program import Program, apart, fixed, normal

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


def weighted_window(x, w):
    """Loops over the weights of a window; a few more, one of which goes down, and one of whose rows are others."""
    y = np.zeros((x.shape[0] - 1, x.shape[1] - 2))
    for a in range(2):
        for b in range(3):
            y += w[a, b] * x[a:a + y.shape[0], b:b + y.shape[1]]
    z = np.ones((2, x.shape[1] - 2))
    for a in range(1, -1, -1):
        for b in range(2, -1, -1):
            z += w[a, b] * np.sin(x[a:a + 2, b:b + z.shape[1]])
    for a in range(2):
        for b in range(3):
            z[a] += w[a, b] * x[b, 2:]
    for a in range(2):
        for b in range(2):
            y[:, :y.shape[1] - a] += x[:y.shape[0], b:b + y.shape[1] - a]
    return np.sum(y * y) + np.sum(z * z)


PROGRAMS = [
    Program(blurred, fixed(RAMP, 0.8), (0, 1), order=1),
    Program(by_kernels, fixed(RAMP, np.array([[0.2, 1.0], [-0.5, 0.3]])), (0, 1), order=1),
    Program(sobel_edges, apart((3, 4)), order=1),
    Program(ranked, apart((3, 4)), order=1),
    Program(weighted_window, normal((4, 7), (2, 3)), (0, 1)),
    Program(sampled, fixed(RAMP, np.array([[0.3, 1.6, 2.4], [1.2, 2.7, 0.4]])), (0, 1), order=1),
]
