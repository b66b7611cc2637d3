"""Discrete Fourier transforms.

    y = np.fft.rfft(x)          dx = np.fft.irfft(np.conj(dy / counts), n, norm="forward")

A transform is linear, and its matrix is symmetric: a cotangent, which is not conjugated, goes through the
same transform. Those of real numbers leave out half of the frequencies, of which the other half is the
conjugate: all but the ends of what is there stand for two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import BadArgument, ShapeError
from ..core.sizes import Extent
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .base import Op
from .creation import arange
from .elementwise import result_dtype, result_dtypes
from .matrices import at_least, real_dtype
from .rewritten import Rewritten
from .shape import along, arrays_of, from_here, reshaped
from .value import value

OPPOSITE = {None: "forward", "backward": "forward", "forward": None, "ortho": "ortho"}
IGNORED = ("overwrite_x", "workers", "plan")


class Fourier(Op):
    """A transform along one axis, left out where it is the last. The axis is cut off, or filled up with
    zeros, to the length `n`; without it, it is taken as it is."""

    loop = None, "pocketfft computes it"
    heavy = True
    linear = "a"

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (a,), attrs = super().bind(*without_options(args, kwargs))
        a = value(a)
        axis = arguments.axis(attrs.pop("axis", -1), a.ndim)
        chosen = {"n": _length(attrs.get("n")), "axis": None if axis == a.ndim - 1 else axis,
                  "norm": norm_of(attrs.get("norm"))}
        return (a,), {key: item for key, item in chosen.items() if item is not None}

    @classmethod
    def batch(cls, lead: Any, a: Any, axis: int = -1, **attrs: Any) -> Any:
        return cls.calls[0](a, axis=axis if axis < 0 else axis + 1, **attrs)


def without_options(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    """Without what says how SciPy computes and not what."""
    kwargs = {key: item for key, item in kwargs.items() if key not in IGNORED}
    return (args, kwargs) if args else ((kwargs.pop("a" if "a" in kwargs else "x"),), kwargs)


def _length(n: Any) -> Extent | None:
    return None if n is None else positive(arguments.extent(n, "the length of a transform"))


def positive(n: Extent) -> Extent:
    if isinstance(n, int) and n < 1:
        raise ShapeError(f"Invalid number of FFT data points ({n}) specified.")
    return n


def norm_of(norm: Any) -> str | None:
    norm = arguments.known(norm, "norm")
    if norm not in OPPOSITE:
        raise ShapeError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return None if norm == "backward" else norm


def transformed_dtype(a: ArrayType) -> np.dtype:
    return result_dtype(np.fft.fft, (a.dtype,))


def _resized(a: ArrayType, axis: int, size: Extent, dtype: np.dtype) -> ArrayType:
    axis = axis % a.rank
    return ArrayType(dtype, tuple(positive(size) if k == axis else m for k, m in enumerate(a.sizes)))


def taken_back(dx: Any, a: Any, axis: int) -> Any:
    """The cotangent of what a transform took of an axis as one of the whole axis of `a`."""
    axis = axis % a.ndim
    there, whole = dx.shape[axis], a.shape[axis]
    if there == whole:
        return dx
    if not at_least(whole, there):                  # cut off, or not known while the function is read
        dx = dx[from_here(axis, slice(None, whole))]
    rest = whole - dx.shape[axis]
    return dx if rest == 0 else np.pad(dx, tuple((0, rest if k == axis else 0) for k in range(a.ndim)))


def chosen(n: Any, axis: int, norm: Any) -> Kwargs:
    """Arguments of a transform without those that say nothing."""
    given = {"n": n, "axis": None if axis == -1 else axis, "norm": norm}
    return {key: item for key, item in given.items() if item is not None}


def _cases(rng: Any) -> list[Bound]:
    return arrays_of(rng, ((5,), {}), ((4,), {"n": 3}), ((3,), {"n": 6, "norm": "ortho"}),
                     ((2, 4), {"norm": "forward"}), ((4, 2), {"axis": 0}), ((2, 3, 2), {"axis": 1, "n": 5}))


def _through_same(transform: Any) -> Any:
    """The rule of a transform of which the matrix is symmetric."""
    def vjp(dy, a, n=None, axis=-1, norm=None):
        return taken_back(transform(dy, **chosen(None, axis, norm)), a, axis)
    return vjp


def _complex_type(a: ArrayType, n=None, axis=-1, norm=None) -> ArrayType:
    return _resized(a, axis, a.sizes[axis] if n is None else n, transformed_dtype(a))


class Fft(Fourier):
    calls = np.fft.fft, "scipy.fft.fft"
    types = _complex_type
    vjp = _through_same(np.fft.fft)
    domain = _cases


class Ifft(Fourier):
    calls = np.fft.ifft, "scipy.fft.ifft"
    types = _complex_type
    vjp = _through_same(np.fft.ifft)
    domain = _cases


def _counts(x: Any, n: Any, axis: int) -> Any:
    """For how many frequencies one stands: those at the ends for themselves only, the others for two."""
    k = arange(x.shape[axis])
    counts = 2 - ((k == 0) | (2 * k == n)).astype(real_dtype(x.dtype))
    return counts if x.ndim == 1 or axis in (-1, x.ndim - 1) else reshaped(counts, along(x.shape[axis], axis, x.ndim))


class Rfft(Fourier):
    """The transform of real numbers without its second half, which is the conjugate of the first."""

    calls = np.fft.rfft, "scipy.fft.rfft"
    domain = _cases

    def types(a: ArrayType, n=None, axis=-1, norm=None) -> ArrayType:
        if a.dtype.kind == "c":
            raise BadArgument(f"rfft of a {a.dtype} array is not defined",
                              instead="Use np.fft.fft, or take the real part: x.real.")
        length = a.sizes[axis] if n is None else n
        return _resized(a, axis, positive(length) // 2 + 1, transformed_dtype(a))

    def vjp(dy, a, n=None, axis=-1, norm=None):
        length = a.shape[axis] if n is None else n
        shares = dy / _counts(dy, length, axis)
        back = np.fft.irfft(np.conj(shares), **chosen(length, axis, OPPOSITE[norm]))
        return taken_back(back, a, axis)


def _real_length(size: Extent, n: Any) -> Extent:
    return 2 * (size - 1) if n is None else n


def _dtype_of_parts(a: ArrayType) -> np.dtype:
    return result_dtypes(np.fft.irfft, (a.dtype,), (("n", 2),))[0]


class Irfft(Fourier):
    """Real numbers from the first half of their transform; `n` is their number, which may be odd."""

    calls = np.fft.irfft, "scipy.fft.irfft"

    def types(a: ArrayType, n=None, axis=-1, norm=None) -> ArrayType:
        return _resized(a, axis, _real_length(a.sizes[axis], n), _dtype_of_parts(a))

    def vjp(dy, a, n=None, axis=-1, norm=None):
        back = np.conj(np.fft.rfft(dy, **chosen(None, axis, OPPOSITE[norm])))
        return taken_back(back * _counts(back, dy.shape[axis], axis), a, axis)

    def domain(rng):
        return arrays_of(rng, ((4,), {}), ((4,), {"n": 7}), ((4,), {"n": 4, "norm": "ortho"}),
                         ((3,), {"n": 8, "norm": "forward"}), ((3, 2), {"axis": 0}),
                         ((2, 3, 2), {"axis": 1, "n": 5}))


# -- of symmetric numbers -------------------------------------------------------------------------


def _line(a, n=None, axis=-1, norm=None):
    return value(a), n, arguments.axis(axis, value(a).ndim), OPPOSITE[norm_of(norm)]


class Hfft(Rewritten):
    """The transform of numbers of which the second half, left out, is the conjugate of the first."""

    calls = np.fft.hfft, "scipy.fft.hfft"

    def rewrite(*args, **kwargs):
        args, kwargs = without_options(args, kwargs)
        a, n, axis, norm = _line(*args, **kwargs)
        return np.fft.irfft(np.conj(a), n, axis, norm)


class Ihfft(Rewritten):
    calls = np.fft.ihfft, "scipy.fft.ihfft"

    def rewrite(*args, **kwargs):
        args, kwargs = without_options(args, kwargs)
        a, n, axis, norm = _line(*args, **kwargs)
        return np.conj(np.fft.rfft(a, n, axis, norm))


# -- order of the frequencies ---------------------------------------------------------------------


def _moved(x: Any, axes: Any, step: Any) -> Any:
    """`x`, whose axes are rolled by what `step` makes of their sizes."""
    x = value(x)
    for axis in range(x.ndim) if axes is None else arguments.axes(axes, x.ndim):
        x = np.roll(x, step(x.shape[axis]), axis)
    return x


class Fftshift(Rewritten):
    calls = np.fft.fftshift, "scipy.fft.fftshift"

    def rewrite(x, axes=None):
        return _moved(x, axes, lambda size: size // 2)


class Ifftshift(Rewritten):
    calls = np.fft.ifftshift, "scipy.fft.ifftshift"

    def rewrite(x, axes=None):
        return _moved(x, axes, lambda size: -(size // 2))
