"""The frequencies of discrete Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np


def fftfreq(n, d=1.0, device=None, xp=None):
    steps = np.concatenate((np.arange(0, (n - 1) // 2 + 1), np.arange(-(n // 2), 0)))
    return steps * (1.0 / (n * d))


def rfftfreq(n, d=1.0, device=None, xp=None):
    return np.arange(0, n // 2 + 1) * (1.0 / (n * d))


CALLS: dict[Any, Any] = {
    np.fft.fftfreq: fftfreq,
    np.fft.rfftfreq: rfftfreq,
    "scipy.fft.fftfreq": fftfreq,
    "scipy.fft.rfftfreq": rfftfreq,
}
