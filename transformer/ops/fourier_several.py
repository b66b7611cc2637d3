"""Discrete Fourier transforms along several axes.

    y = np.fft.fftn(x)          dx = np.fft.fftn(dy)
    y = np.fft.rfft2(x)         half = np.fft.rfft(x); y = np.fft.fft(half, axis=0)

Each axis has a symmetric matrix, as in `fourier`. Those of real numbers are made of transforms of one axis
and of the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import ShapeError
from ..core.sizes import Extent
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .base import Op
from .fourier import Fft, Ifft, chosen, norm_of, positive, taken_back, transformed_dtype, without_options
from .rewritten import Rewritten
from .shape import arrays_of
from .value import apply, value


class Several(Op):
    """A transform along the axes `axes`, left out where they are all of them; `s` has their lengths."""

    loop = None, "pocketfft computes it"
    heavy = True
    linear = "a"
    single: Any = None

    @classmethod
    def front(cls, args: Args, kwargs: Kwargs, spelling: str | None) -> Any:
        a, lengths, axes, norm = _parsed(*args, **kwargs)
        if len(axes) != 1 and len(set(axes)) == len(axes):
            return None
        for n, axis in reversed(list(zip(lengths, axes, strict=True))):
            a = apply(cls.single, (a,), chosen(n, axis, norm))
        return a

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        a, lengths, axes, norm = _parsed(*args, **kwargs)
        pairs = sorted(zip(axes, lengths, strict=True), key=lambda pair: pair[0])
        axes, lengths = tuple(axis for axis, _ in pairs), tuple(n for _, n in pairs)
        own = [a.shape[axis] for axis in axes]
        lengths = tuple(m if n is None else n for n, m in zip(lengths, own, strict=True))
        attrs: Kwargs = {} if list(lengths) == own else {"s": lengths}
        attrs |= {"axes": axes} if attrs or axes != tuple(range(a.ndim)) else {}
        return (a,), attrs | ({"norm": norm} if norm else {})

    @classmethod
    def batch(cls, lead: Any, a: Any, axes: Any = None, **attrs: Any) -> Any:
        return cls.calls[0](a, axes=tuple(k + 1 for k in (range(a.ndim - 1) if axes is None else axes)), **attrs)

    def domain(rng):
        return arrays_of(rng, ((2, 3), {}), ((3, 2), {"norm": "ortho"}), ((2, 3, 2), {"axes": (0, 2)}),
                         ((3, 2), {"s": (2, 4), "axes": (0, 1), "norm": "forward"}))


def _through_all(transform: Any) -> Any:
    """The rule of a transform along several axes, of which each matrix is symmetric."""
    def vjp(dy, a, s=None, axes=None, norm=None):
        given = {"axes": axes, "norm": norm}
        back = transform(dy, **{key: item for key, item in given.items() if item is not None})
        for axis in axes if s is not None else ():
            back = taken_back(back, a, axis)
        return back
    return vjp


def _parsed(*args: Any, **kwargs: Any) -> Any:
    """The array, the lengths (None: as they are), the axes in the order given, and the norm."""
    (a, *rest), kwargs = without_options(args, kwargs)
    s, axes, norm = _of_several(*rest, **kwargs)
    a = value(a)
    s = s if s is None else tuple(s)
    if axes is None:
        axes = tuple(range(a.ndim)) if s is None else tuple(range(-len(s), 0))
    axes = tuple(arguments.axis(axis, a.ndim) for axis in (axes if isinstance(axes, (tuple, list)) else (axes,)))
    lengths = tuple(_whole_or(n) for n in s) if s is not None else (None,) * len(axes)
    if len(lengths) != len(axes):
        raise ShapeError("Shape and axes have different lengths.")
    return a, lengths, axes, norm_of(norm)


def _of_several(s=None, axes=None, norm=None):
    return s, axes, norm


def _whole_or(n: Any) -> Extent | None:
    """A length, or None where it is -1: the whole axis."""
    n = None if n is None else arguments.extent(n, "the length of a transform")
    return None if n is None or isinstance(n, int) and n == -1 else positive(n)


def _several_type(a: ArrayType, s=None, axes=None, norm=None) -> ArrayType:
    sizes = list(a.sizes)
    for axis, n in zip(axes or (), s or ()):
        sizes[axis] = n
    for axis in range(a.rank) if axes is None else axes:
        positive(sizes[axis])
    return ArrayType(transformed_dtype(a), tuple(sizes))


class Fftn(Several):
    calls = np.fft.fftn, "scipy.fft.fftn"
    single = Fft
    types = _several_type
    vjp = _through_all(np.fft.fftn)


class Ifftn(Several):
    calls = np.fft.ifftn, "scipy.fft.ifftn"
    single = Ifft
    types = _several_type
    vjp = _through_all(np.fft.ifftn)


def _several(op: Any, a: Any, lengths: Any, axes: Any, norm: Any) -> Any:
    """A transform along axes of which there may be none."""
    if not axes:
        return a
    return apply(op, (a,), {"s": tuple(-1 if n is None else n for n in lengths), "axes": axes, "norm": norm})


class Rfftn(Rewritten):
    """The last of the axes first, then the others."""

    calls = np.fft.rfftn, "scipy.fft.rfftn"

    def rewrite(*args, **kwargs):
        a, lengths, axes, norm = _parsed(*args, **kwargs)
        half = np.fft.rfft(a, **chosen(lengths[-1], axes[-1], norm))
        return _several(Fftn, half, lengths[:-1], axes[:-1], norm)


class Irfftn(Rewritten):
    """The last of the axes last."""

    calls = np.fft.irfftn, "scipy.fft.irfftn"

    def rewrite(*args, **kwargs):
        a, lengths, axes, norm = _parsed(*args, **kwargs)
        half = _several(Ifftn, a, lengths[:-1], axes[:-1], norm)
        return np.fft.irfft(half, **chosen(lengths[-1], axes[-1], norm))


def _in_plane(op: Any, args: Args, kwargs: Kwargs) -> Any:
    """The transform of the last two axes, unless others are given."""
    args, kwargs = without_options(args, kwargs)
    s, axes, norm = _of_two(*args[1:], **kwargs)
    if value(args[0]).ndim < 2:
        arguments.axes(axes, value(args[0]).ndim)
    return apply(op, args[:1], {"s": s, "axes": axes, "norm": norm})


def _of_two(s=None, axes=(-2, -1), norm=None):
    return s, axes, norm


class Fft2(Rewritten):
    calls = np.fft.fft2, "scipy.fft.fft2"

    def rewrite(*args, **kwargs):
        return _in_plane(Fftn, args, kwargs)


class Ifft2(Rewritten):
    calls = np.fft.ifft2, "scipy.fft.ifft2"

    def rewrite(*args, **kwargs):
        return _in_plane(Ifftn, args, kwargs)


class Rfft2(Rewritten):
    calls = np.fft.rfft2, "scipy.fft.rfft2"

    def rewrite(*args, **kwargs):
        return _in_plane(Rfftn, args, kwargs)


class Irfft2(Rewritten):
    calls = np.fft.irfft2, "scipy.fft.irfft2"

    def rewrite(*args, **kwargs):
        return _in_plane(Irfftn, args, kwargs)
