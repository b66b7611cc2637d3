"""Functions on samples of a function: gradients, windows (and the Bessel function of one), covariances."""

from __future__ import annotations

from typing import Any

import numpy as np

from .refusing import axes_of, refused


def gradient(f, *varargs, axis=None, edge_order=1):
    f = np.asarray(f)
    if f.dtype.kind in "iub":
        f = f.astype(float)
    axes = tuple(range(f.ndim)) if axis is None else axes_of(axis, f.ndim)
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError("invalid number of arguments")
    steps = varargs if len(varargs) == len(axes) else (varargs or (1.0,)) * len(axes)
    found = [gradient_along(f, axes[k], steps[k], edge_order) for k in range(len(axes))]
    return found[0] if len(found) == 1 else tuple(found)


def gradient_along(f, axis, step, edge_order):
    if f.shape[axis] < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient, "
                         "at least (edge_order + 1) elements are required.")
    slope = np.empty_like(f)
    values, slopes = (np.moveaxis(f, axis, 0), np.moveaxis(slope, axis, 0)) if axis else (f, slope)
    if np.ndim(step) == 0:
        slopes[1:-1] = (values[2:] - values[:-2]) / (2.0 * step)
        if edge_order == 1:
            slopes[0] = (values[1] - values[0]) / step
            slopes[-1] = (values[-1] - values[-2]) / step
        else:
            slopes[0] = (-1.5 * values[0] + 2.0 * values[1] - 0.5 * values[2]) / step
            slopes[-1] = (0.5 * values[-3] - 2.0 * values[-2] + 1.5 * values[-1]) / step
        return slope
    if edge_order != 1:
        refused("np.gradient with edge_order=2 and positions is not supported",
                "Write out the differences at the edges.")
    places = np.asarray(step)
    widths = np.diff(places.astype(float) if places.dtype.kind in "biu" else places)    # that of uint8 wraps around
    h = np.reshape(widths, (-1, *(1,) * (f.ndim - 1))) if f.ndim > 1 else widths
    before, after = h[:-1], h[1:]
    slopes[1:-1] = (
        -after / (before * (before + after)) * values[:-2]
        + (after - before) / (before * after) * values[1:-1]
        + before / (after * (before + after)) * values[2:]
    )
    slopes[0] = (values[1] - values[0]) / widths[0]
    slopes[-1] = (values[-1] - values[-2]) / widths[-1]
    return slope


def ediff1d(ary, to_end=None, to_begin=None):
    items = np.ravel(ary)
    parts = [items[1:] - items[:-1]]
    if to_begin is not None:
        parts.insert(0, of_kind(np.ravel(to_begin), items.dtype, "to_begin"))
    if to_end is not None:
        parts.append(of_kind(np.ravel(to_end), items.dtype, "to_end"))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def of_kind(ends, dtype, name):
    if not np.can_cast(ends.dtype, dtype, "same_kind"):
        raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
    return ends.astype(dtype)


def unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    p = np.asarray(p)
    lines = np.moveaxis(p, axis, -1)
    steps = np.diff(lines)
    is_whole = steps.dtype.kind in "iu" and isinstance(period, int)
    half = period // 2 if is_whole else period / 2
    short = np.mod(steps + half, period) - half
    if not is_whole or period % 2 == 0:
        short = np.where((short == -half) & (steps > 0), half, short)
    correction = np.where(np.abs(steps) < (period / 2 if discont is None else discont), 0, short - steps)
    whole = lines.copy() if lines.dtype == correction.dtype else lines.astype(correction.dtype)
    whole[..., 1:] += np.cumsum(correction, axis=-1)
    return np.moveaxis(whole, -1, axis)


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    if fweights is not None or aweights is not None or dtype is not None:
        refused("np.cov with weights or dtype is not supported", "Weight the observations first.")
    rows = observations(m, rowvar)
    if y is not None:
        rows = np.concatenate((rows, observations(y, rowvar)), axis=0)
    free = rows.shape[1] - (ddof if ddof is not None else 0 if bias else 1)
    count = free if free > 0 else 0
    centred = rows - np.mean(rows, axis=1)[:, None]
    found = np.dot(centred, np.conj(centred.T) if centred.dtype.kind == "c" else centred.T) / count
    return found[0, 0] if rows.shape[0] == 1 else found


def observations(m, rowvar):
    m = np.asarray(m)
    if m.dtype.kind != "c":
        m = m.astype(float)                   # also of float32, as NumPy does it
    else:
        m = m.astype(complex)
    if m.ndim < 2:
        return np.reshape(m, (1, -1))
    return m if rowvar else m.T


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    covariance = cov(x, y, rowvar, dtype=dtype)
    if np.ndim(covariance) == 0:
        return covariance / covariance
    spread = np.sqrt(np.diagonal(covariance))
    return np.clip(covariance / spread[:, None] / spread[None, :], -1, 1)


def pythons(M):
    """A number of Python's, which neither wraps around nor makes what it meets narrow."""
    return M if isinstance(M, (int, float)) else M.item()


def bartlett(M):
    M = pythons(M)
    if M == 1:
        return np.ones(1)
    n = np.arange(1 - M, M, 2)
    return np.where(n <= 0, 1 + n / (M - 1), 1 - n / (M - 1))


def hanning(M):
    M = pythons(M)
    if M == 1:
        return np.ones(1)
    return 0.5 + 0.5 * np.cos(np.pi * np.arange(1 - M, M, 2) / (M - 1))


def hamming(M):
    M = pythons(M)
    if M == 1:
        return np.ones(1)
    return 0.54 + 0.46 * np.cos(np.pi * np.arange(1 - M, M, 2) / (M - 1))


def blackman(M):
    M = pythons(M)
    if M == 1:
        return np.ones(1)
    phase = np.pi * np.arange(1 - M, M, 2) / (M - 1)
    return 0.42 + 0.5 * np.cos(phase) + 0.08 * np.cos(2.0 * phase)


def kaiser(M, beta):
    M = pythons(M)
    if M == 1:
        return np.ones(1)
    middle = (M - 1) / 2.0
    return np.i0(beta * np.sqrt(1 - ((np.arange(0, M) - middle) / middle) ** 2.0)) / np.i0(beta)


def i0(x):
    import scipy.special

    x = np.asarray(x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    x = x if x.dtype.kind == "f" else x.astype(float)
    return np.asarray(scipy.special.i0(x).astype(x.dtype))


CALLS: dict[Any, Any] = {
    np.gradient: gradient,
    np.ediff1d: ediff1d,
    np.unwrap: unwrap,
    np.cov: cov,
    np.corrcoef: corrcoef,
    np.bartlett: bartlett,
    np.hanning: hanning,
    np.hamming: hamming,
    np.blackman: blackman,
    np.kaiser: kaiser,
    np.i0: i0,
}
