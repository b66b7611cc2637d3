"""Convolutions and filters of `scipy.signal`, as sums over the places of the kernel.

Fast Fourier transforms give the same to rounding (`fftconvolve`), and take less time for large kernels alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .refusing import axis_of, refused

PADDING = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def convolve(in1, in2, mode="full", method="auto"):
    a, v = np.asarray(in1), np.asarray(in2)
    if a.ndim == 1 and v.ndim == 1:
        return part_of(np.convolve(a, v), len(a), len(v), mode)
    if a.ndim != 2 or v.ndim != 2:
        refused("a convolution of other arrays than vectors or matrices", "Sum over the places of the kernel.")
    return convolve2d(a, v, mode)


def fftconvolve(in1, in2, mode="full", axes=None):
    if axes is not None:
        refused("scipy.signal.fftconvolve with axes", "Use scipy.signal.convolve for each row.")
    return convolve(in1, in2, mode)


def correlate(in1, in2, mode="full", method="auto"):
    v = np.asarray(in2)
    return convolve(in1, np.conj(np.flip(v)), mode)


def part_of(whole, size, places, mode):
    """What a mode takes of the convolution of vectors."""
    if mode == "full":
        return whole
    if mode == "same":
        return whole[(places - 1) // 2 : (places - 1) // 2 + size]
    if mode == "valid":
        return whole[min(size, places) - 1 : max(size, places)]
    raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")


def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    return summed(in1, in2, mode, boundary, fillvalue, 1)


def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    return summed(in1, np.conj(np.flip(np.asarray(in2))), mode, boundary, fillvalue, 0)


def summed(in1, in2, mode, boundary, fillvalue, less):
    """The sum over the places of a kernel, whose middle is `less` before the second one where there are two."""
    a, v = np.asarray(in1), np.asarray(in2)
    if mode == "valid" and v.shape[0] > a.shape[0]:
        a, v = v, a
    height, width = v.shape
    top, rows = taken(a.shape[0], height, mode, less)
    left, columns = taken(a.shape[1], width, mode, less)
    around = a if mode == "valid" else padded(a, height, width, boundary, fillvalue)
    result = np.zeros((rows, columns), np.result_type(a, v))
    for i in range(height):
        for j in range(width):
            result += around[top - i : top - i + rows, left - j : left - j + columns] * v[i, j]
    return result


def taken(size, places, mode, less):
    """Where the first place of the kernel lies for the first element of a result along an axis, and how many there
    are; the array has a border for all but `valid`."""
    if mode == "full":
        return places - 1, size + places - 1
    if mode == "same":
        return places - 1 + (places - less) // 2, size
    if mode == "valid":
        return places - 1, size - places + 1
    raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")


def padded(a, height, width, boundary, fillvalue):
    if boundary not in PADDING:
        raise ValueError("Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm').")
    border = ((height - 1, height - 1), (width - 1, width - 1))
    if boundary == "fill":
        return np.pad(a, border, constant_values=fillvalue)
    return np.pad(a, border, PADDING[boundary])


def lfilter(b, a, x, axis=-1, zi=None):
    if zi is not None:
        refused("scipy.signal.lfilter with zi", "Write the loop over time, which carries the state.")
    axis = axis_of(axis, np.ndim(x))
    b, a = np.atleast_1d(b) / np.atleast_1d(a)[0], np.atleast_1d(a) / np.atleast_1d(a)[0]
    signal = np.moveaxis(np.asarray(x), axis, 0)
    before = len(a) - 1
    result = np.zeros((before + len(signal), *signal.shape[1:]), np.result_type(a, b, signal))
    for t in range(len(signal)):
        value = b[0] * signal[t]
        for k in range(1, min(t + 1, len(b))):
            value = value + b[k] * signal[t - k]
        for k in range(1, len(a)):
            value = value - a[k] * result[before + t - k]
        result[before + t] = value
    return np.moveaxis(result[before:], 0, axis)


CALLS: dict[Any, Any] = {
    f"scipy.signal.{function.__name__}": function
    for function in (convolve, fftconvolve, correlate, convolve2d, correlate2d, lfilter)
}
