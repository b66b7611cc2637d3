"""Convolutions and filters of `scipy.signal`, as sums over the places of the kernel.

Fast Fourier transforms give the same to rounding (`fftconvolve`), and take less time for large kernels alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .floats import floats
from .refusing import axis_of, refused

PADDING = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def convolve(in1, in2, mode="full", method="auto"):
    a, v = np.asarray(in1), np.asarray(in2)
    if a.ndim == 1 and v.ndim == 1:
        return part_of(np.convolve(a, v), len(a), len(v), mode)
    if a.ndim != 2 or v.ndim != 2:
        refused("a convolution of arrays that are neither vectors nor matrices is not supported",
                "Sum over the elements of the kernel.")
    return convolve2d(a, v, mode)


def fftconvolve(in1, in2, mode="full", axes=None):
    if axes is not None:
        refused("scipy.signal.fftconvolve with axes is not supported", "Call scipy.signal.convolve for each row.")
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
        refused("scipy.signal.lfilter with zi is not supported", "Write a loop over time that carries the state.")
    axis = axis_of(axis, np.ndim(x))
    b, a = normalized(b, a)
    return np.moveaxis(filtered(b, a, np.moveaxis(np.asarray(x), axis, 0)), 0, axis)


def normalized(b, a):
    return np.atleast_1d(b) / np.atleast_1d(a)[0], np.atleast_1d(a) / np.atleast_1d(a)[0]


def filtered(b, a, signal, state=None):
    """The signal, along its first axis, through a filter that was left in a state."""
    before = len(a) - 1
    result = np.zeros((before + len(signal), *signal.shape[1:]), np.result_type(a, b, signal))
    if state is not None:
        result[before : before + len(state)] = state
    for t in range(len(signal)):
        value = b[0] * signal[t]
        for k in range(1, min(t + 1, len(b))):
            value = value + b[k] * signal[t - k]
        for k in range(1, len(a)):
            value = value - a[k] * result[before + t - k]
        result[before + t] = value if state is None else result[before + t] + value
    return result[before:]


def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None):
    if method != "pad":
        refused(f"scipy.signal.filtfilt with method {method!r} is not supported", "Omit method.")
    axis = axis_of(axis, np.ndim(x))
    b, a = normalized(b, a)
    order = max(len(a), len(b))
    b, a = np.pad(b, (0, order - len(b))), np.pad(a, (0, order - len(a)))
    signal = np.moveaxis(floats(x), axis, 0)
    edge = 0 if padtype is None else 3 * order if padlen is None else padlen
    if len(signal) <= edge:
        raise ValueError(f"The length of the input vector x must be greater than padlen, which is {edge}.")
    if edge:
        signal = extended(signal, edge, padtype)
    for _ in ("forwards", "backwards"):
        steady = at_rest(b, a) if signal.ndim == 1 else np.reshape(at_rest(b, a), (-1, *(1,) * (signal.ndim - 1)))
        signal = filtered(b, a, signal, steady * signal[0])[::-1]
    return np.moveaxis(signal[edge : len(signal) - edge], 0, axis)


def extended(signal, edge, padtype):
    """A signal with more in front and behind, along its first axis."""
    if padtype == "constant":
        return np.concatenate((np.repeat(signal[:1], edge, axis=0), signal, np.repeat(signal[-1:], edge, axis=0)))
    front, back = signal[edge:0:-1], signal[-2 : -edge - 2 : -1]
    if padtype == "odd":
        front, back = 2 * signal[0] - front, 2 * signal[-1] - back
    elif padtype != "even":
        raise ValueError(f"Unknown value '{padtype}' given to padtype.  padtype must be 'even', 'odd', 'constant', or "
                         "None.")
    return np.concatenate((front, signal, back))


def at_rest(b, a):
    """The state of a filter that has always been given ones, as `scipy.signal.lfilter_zi` gives it."""
    change = b[1:] - a[1:] * b[0]
    first = np.sum(change) / np.sum(a)
    return np.concatenate((first[None], np.cumsum(a)[1:-1] * first - np.cumsum(change)[:-1]))


def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0):
    if window_length % 2 == 0:
        refused("scipy.signal.savgol_filter with an even window is not supported", "Use an odd window_length.")
    if polyorder >= window_length:
        raise ValueError("polyorder must be less than window_length.")
    axis = axis_of(axis, np.ndim(x))
    signal, half = np.moveaxis(floats(x), axis, 0), window_length // 2
    if mode == "interp" and window_length > len(signal):
        raise ValueError("If mode is 'interp', window_length must be less than or equal to the size of x.")
    weights = fits(window_length, polyorder, deriv, delta, np.array([half]))[0]
    if mode != "interp":
        signal = bordered(signal, half, mode, cval)
    middle = np.tensordot(np.lib.stride_tricks.sliding_window_view(signal, window_length, axis=0), weights, (-1, 0))
    if mode == "interp":
        first = fits(window_length, polyorder, deriv, delta, np.arange(half))
        last = fits(window_length, polyorder, deriv, delta, np.arange(half + 1, window_length))
        middle = np.concatenate((np.tensordot(first, signal[:window_length], 1), middle,
                                 np.tensordot(last, signal[-window_length:], 1)))
    return np.moveaxis(middle, 0, axis)


def bordered(signal, half, mode, cval):
    known = {"mirror": "reflect", "nearest": "edge", "wrap": "wrap", "constant": "constant"}
    if mode not in known:
        raise ValueError("mode must be 'mirror', 'constant', 'nearest' 'wrap' or 'interp'.")
    width = ((half, half), *((0, 0),) * (signal.ndim - 1))
    return np.pad(signal, width, constant_values=cval) if mode == "constant" else np.pad(signal, width, known[mode])


def fits(window, polyorder, deriv, delta, places):
    """What values at 0, 1, … are multiplied by, for the derivative at these places of the polynomial that fits them."""
    powers = np.arange(polyorder + 1)
    scale = np.ones(polyorder + 1)
    for k in range(deriv):
        scale = scale * np.maximum(powers - k, 0)
    middle = window // 2
    at_places = scale * (places[:, None] - middle) ** np.maximum(powers - deriv, 0.0) / delta**deriv
    return at_places @ np.linalg.pinv((np.arange(window)[:, None] - middle) ** (powers + 0.0))


CALLS: dict[Any, Any] = {
    f"scipy.signal.{function.__name__}": function
    for function in (convolve, fftconvolve, correlate, convolve2d, correlate2d, lfilter, filtfilt, savgol_filter)
}
