"""Spectra and transforms of signals, as in `scipy.signal` and `scipy.fft`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .refusing import at_least, axis_of, refused
from .scipy_signal import filtered


def hilbert(x, N=None, axis=-1):
    """The analytic signal: twice the positive frequencies, and none of the negative ones."""
    x = np.moveaxis(np.asarray(x), axis, -1)
    if x.dtype.kind == "c":
        raise ValueError("x must be real.")
    size = x.shape[-1] if N is None else N
    k = np.arange(size)
    weights = np.where((k == 0) | (2 * k == size), 1.0, np.where(2 * k < size, 2.0, 0.0))
    return np.moveaxis(np.fft.ifft(np.fft.fft(x, size) * weights.astype(width(x))), -1, axis)


def width(x):
    """The dtype of what is made of a signal."""
    return x.dtype if x.dtype.kind == "f" else np.dtype(float)


def detrend(data, axis=-1, type="linear", bp=0, overwrite_data=False):
    if not isinstance(bp, int) or bp != 0:
        refused("scipy.signal.detrend with breakpoints is not supported", "Detrend each part separately.")
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    data = np.moveaxis(np.asarray(data) * 1.0, axis, -1)
    rest = data - np.mean(data, axis=-1, keepdims=True)
    if type in ("linear", "l") and at_least(data.shape[-1], 2):
        t = np.arange(data.shape[-1]) - (data.shape[-1] - 1) / 2
        rest = rest - np.sum(rest * t, axis=-1, keepdims=True) / np.sum(t * t) * t
    return np.moveaxis(rest.astype(data.dtype), -1, axis)


def sosfilt(sos, x, axis=-1, zi=None):
    if zi is not None:
        refused("scipy.signal.sosfilt with zi is not supported", "Write a loop over time that carries the state.")
    axis, sos = axis_of(axis, np.ndim(x)), np.asarray(sos)
    signal = np.moveaxis(np.asarray(x) * 1.0, axis, 0)
    if np.any(sos[:, 3] != 1):
        raise ValueError("sos[:, 3] should be all ones")
    for section in sos:
        signal = filtered(section[:3], section[3:], signal)
    return np.moveaxis(signal, 0, axis)


COSINES = {"boxcar": (1.0,), "hann": (0.5, 0.5), "hamming": (0.54, 0.46), "blackman": (0.42, 0.5, 0.08)}


def window_of(window, size):
    """One period of a window, which begins again where it ends."""
    if not isinstance(window, str):
        return np.asarray(window)
    name = window.removesuffix("_periodic")
    if name not in COSINES:
        refused(f"the window {window!r} is not supported",
                "Pass it as an array: scipy.signal.get_window(name, n), computed outside.")
    if not at_least(size, 2):
        return np.ones(size)
    turn = 2 * math.pi * np.arange(size) / size
    terms = [(-1) ** k * part * np.cos(k * turn) for k, part in enumerate(COSINES[name])]
    return sum(terms[1:], terms[0])


def welch(x, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant", return_onesided=True,
          scaling="density", axis=-1, average="mean"):
    x = np.moveaxis(np.asarray(x) * 1.0, axis, -1)
    if x.dtype.kind == "c" or not return_onesided or average != "mean":
        refused("a spectrum of complex samples, a two-sided spectrum, or average='median' is not supported",
                "Compute it with np.fft.fft.")
    if nperseg is None:
        nperseg = 256 if isinstance(window, str) else len(window)
    if not at_least(x.shape[-1], nperseg):
        nperseg = x.shape[-1]
    noverlap = nperseg // 2 if noverlap is None else noverlap
    if not at_least(nperseg, noverlap + 1):
        raise ValueError(f"noverlap={noverlap} must be less than nperseg={nperseg}!")
    hop = nperseg - noverlap
    count = (x.shape[-1] - noverlap) // hop
    parts = x[..., np.arange(count)[:, None] * hop + np.arange(nperseg)]
    frequencies, power = powers(parts, fs, window_of(window, nperseg), nfft, detrend, scaling)
    return frequencies, np.moveaxis(np.mean(power, axis=-2), -1, axis)


def periodogram(x, fs=1.0, window="boxcar", nfft=None, detrend="constant", return_onesided=True, scaling="density",
                axis=-1):
    x = np.moveaxis(np.asarray(x) * 1.0, axis, -1)
    if x.dtype.kind == "c" or not return_onesided:
        refused("a spectrum of complex samples or a two-sided spectrum is not supported", "Compute it with np.fft.fft.")
    window = window_of("boxcar" if window is None else window, x.shape[-1])
    frequencies, power = powers(x, fs, window, nfft, detrend, scaling)
    return frequencies, np.moveaxis(power, -1, axis)


def powers(parts, fs, window, nfft, trend, scaling):
    """At each frequency, of signals along the last axis."""
    if trend not in ("constant", "linear", False):
        refused("a spectrum with a function for detrend is not supported",
                "Detrend the samples first, and pass detrend=False.")
    if scaling not in ("density", "spectrum"):
        raise ValueError(f"Parameter scaling={scaling!r} not in {{'spectrum': 'magnitude', 'density': 'psd'}}!")
    size = parts.shape[-1] if nfft is None else nfft
    if not at_least(size, parts.shape[-1]):
        refused("a spectrum with nfft below the number of samples is not supported", "Pass the first nfft samples.")
    parts = detrend(parts, type=trend) if trend else parts
    spectrum = np.fft.rfft(window * parts, size)
    scale = 1 / (fs * np.sum(window**2)) if scaling == "density" else 1 / np.sum(window) ** 2
    k = np.arange(size // 2 + 1)
    sides = np.where((k == 0) | (2 * k == size), 1.0, 2.0)
    power = (spectrum.real**2 + spectrum.imag**2) * (sides * scale)
    return k * (fs / size), power.astype(width(parts))


def dct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    x = np.moveaxis(of_kind("dct", x, type, n, orthogonalize), axis, -1)
    size = x.shape[-1]
    k = np.arange(size)
    spectrum = np.fft.fft(np.concatenate((x, x[..., ::-1]), axis=-1))[..., :size]
    y = (np.exp(-0.5j * math.pi * k / size) * spectrum).real
    return np.moveaxis((y * factors(k, size, norm)).astype(width(x)), -1, axis)


def idct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    x = np.moveaxis(of_kind("idct", x, type, n, orthogonalize), axis, -1)
    size = x.shape[-1]
    k = np.arange(size)
    half = np.exp(0.5j * math.pi * k / size) * (x / factors(k, size, norm))
    whole = np.fft.irfft(np.concatenate((half, np.zeros_like(half[..., :1])), axis=-1), 2 * size)
    return np.moveaxis(whole[..., :size].astype(width(x)), -1, axis)


def factors(k, size, norm):
    if norm == "ortho":
        return np.where(k == 0, np.sqrt(0.25 / size), np.sqrt(0.5 / size))
    if norm not in (None, "backward", "forward"):
        raise ValueError(f"Invalid norm value {norm!r}")
    return 0.5 / size if norm == "forward" else 1.0


def of_kind(name, x, kind, n, orthogonalize):
    """The array, of which these transforms may be taken."""
    x = np.asarray(x)
    if kind != 2 or n is not None or orthogonalize is not None or x.dtype.kind == "c":
        refused(f"scipy.fft.{name} with a type other than 2, complex samples, n or orthogonalize is not supported",
                "Transform real and imaginary parts separately, and truncate or pad the array first.")
    return x


def dctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    for axis in range(np.ndim(x)) if axes is None else axes if isinstance(axes, tuple) else (axes,):
        x = dct(x, type, s, axis, norm, orthogonalize=orthogonalize)
    return x


def idctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    for axis in range(np.ndim(x)) if axes is None else axes if isinstance(axes, tuple) else (axes,):
        x = idct(x, type, s, axis, norm, orthogonalize=orthogonalize)
    return x


CALLS: dict[Any, Any] = {
    **{f"scipy.signal.{function.__name__}": function for function in (hilbert, detrend, sosfilt, welch, periodogram)},
    **{f"scipy.fft.{function.__name__}": function for function in (dct, idct, dctn, idctn)},
}
