"""Functions on samples: interpolation and convolution."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import BadArgument, NotSupported, ShapeError
from ..core.sizes import Extent
from ..core.types import ArrayType
from .arguments import Args, Bound, Kwargs
from .arithmetic import converted
from .base import Op
from .elementwise import result_dtype, where
from .indexing import AddAt, zeros_like
from .regions import Slot
from .rewritten import Rewritten
from .slices import not_negative
from .value import value


def _segment(x: Any, xp: Any) -> Any:
    """The number of the sample behind each position; positions outside count to the nearest segment."""
    return np.clip(np.searchsorted(xp, x, side="right"), 1, xp.shape[0] - 1)


def _width(low: Any, high: Any) -> Any:
    """From one sample to the next; the last may be several at one place, a step without a slope."""
    return where(high > low, high - low, np.inf)


def _slope(x: Any, xp: Any, fp: Any) -> Any:
    """The slope at each position, 0 outside of the samples."""
    k = _segment(x, xp)
    slope = (fp[k] - fp[k - 1]) / _width(xp[k - 1], xp[k])
    return where((x >= xp[0]) & (x <= xp[-1]), slope, 0.0)


def _spread(dy: Any, x: Any, xp: Any, like: Any) -> Any:
    """A cotangent of the result as one of the samples: each gives to its two neighbours."""
    k = _segment(x, xp)
    low, high = xp[k - 1], xp[k]
    share = np.clip(where(high > low, (x - low) / _width(low, high), x >= low), 0.0, 1.0)
    dy = np.broadcast_to(dy, x.shape)
    first = AddAt.applied(zeros_like(like), dy * (1 - share), k - 1, index=(Slot(0),))
    return AddAt.applied(first, dy * share, k, index=(Slot(0),))


class Interp(Op):
    """Piecewise linear interpolation; outside of the samples it is constant."""

    calls = (np.interp,)
    jvp = (lambda t, x, xp, fp, y: _slope(x, xp, fp) * t,
           lambda t, x, xp, fp, y: -_slope(x, xp, fp) * np.interp(x, xp, t),
           lambda t, x, xp, fp, y: np.interp(x, xp, t))
    vjp = (lambda dy, x, xp, fp, y: dy * _slope(x, xp, fp),
           lambda dy, x, xp, fp, y: _spread(-dy * _slope(x, xp, fp), x, xp, xp),
           lambda dy, x, xp, fp, y: _spread(dy, x, xp, fp))

    @classmethod
    def front(cls, args: Args, kwargs: Kwargs, spelling: str | None) -> Any:
        """One sample is a constant, of which no slope is asked."""
        (x, xp, fp), _ = cls.bind(args, kwargs)
        if xp.shape[0] != 1 or fp.shape[0] != 1:
            return None
        only = converted(fp[0], np.dtype(np.float64))
        return np.broadcast_to(only, x.shape) if x.ndim else only

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        bound = inspect.signature(np.interp).bind(*args, **kwargs).arguments
        if any(bound.get(name) is not None for name in ("left", "right", "period")):
            raise NotSupported("np.interp with left, right or period is not supported",
                               instead="Write np.where(x < xp[0], left, np.interp(x, xp, fp)).")
        x, xp, fp = (value(bound[name]) for name in ("x", "xp", "fp"))
        for places in (x, xp):
            if places.dtype.kind == "c":
                raise BadArgument(f"Cannot cast array data from dtype('{places.dtype}') to dtype('float64') "
                                  "according to the rule 'safe'")
        if xp.ndim != 1 or fp.ndim != 1:
            raise ShapeError("object too deep for desired array")
        if 0 in xp.shape:
            raise BadArgument("array of sample points is empty")
        return (x, xp, fp), {}

    def definition(x, xp, fp):
        """As NumPy does it, also where samples are infinite."""
        x, xp, fp = (converted(each, np.dtype(np.float64)) for each in (x, xp, fp))
        if not current().assumptions.decide(xp.shape[0] - 2):
            return np.broadcast_to(fp[0], x.shape)
        k = _segment(x, xp)
        first, second, low, high = fp[k - 1], fp[k], xp[k - 1], xp[k]
        slope = (second - first) / (high - low)
        y = slope * (x - low) + first
        other = slope * (x - high) + second
        y = where(y == y, y, where((other != other) & (first == second), first, other))
        y = where(x == low, first, y)
        return where(x != x, x, where(x < xp[0], fp[0], where(x >= xp[-1], fp[-1], y)))

    def types(x: ArrayType, xp: ArrayType, fp: ArrayType) -> ArrayType:
        if fp.dtype.kind == "c":
            raise NotSupported("np.interp of complex samples is not supported",
                               instead="Interpolate np.real and np.imag of them.")
        if not current().assumptions.equal(xp.sizes[0], fp.sizes[0]):
            raise ShapeError("fp and xp are not of the same length.")
        return ArrayType(np.dtype(np.float64), x.sizes)

    def batch(lead, x, xp, fp):
        if not lead[1] and not lead[2]:
            return np.interp(x, xp, fp)
        raise NotSupported("np.interp with sample points that differ between lanes cannot be batched",
                           instead="Interpolate in a loop.")

    def domain(rng):
        xp, fp = np.cumsum(rng.uniform(0.5, 1.5, 5)), rng.normal(size=5)
        inside = xp[:-1] + np.diff(xp) * rng.uniform(0.2, 0.8, 4)
        return [((inside, xp, fp), {}), ((inside[0], xp, fp), {}),
                ((np.array([xp[0] - 1.0, inside[2], xp[-1] + 0.5]), xp, fp), {})]


class Convolve(Op):
    """The product of two vectors as polynomials; `mode="valid"` leaves out where they overlap in part."""

    calls = (np.convolve,)
    loop = None, "NumPy convolves"
    linear = "a", "v"

    @classmethod
    def front(cls, args: Args, kwargs: Kwargs, spelling: str | None) -> Any:
        """`mode="same"` is the middle of the whole."""
        def of(a, v, mode="full"):
            mode = {"f": "full", "s": "same", "v": "valid"}.get(str(mode)[:1], mode)
            a, v = value(a), value(v)
            if mode != "same":
                return None
            longest, shortest = (a, v) if _is_longer(a.shape[0], v.shape[0]) else (v, a)
            before = (shortest.shape[0] - 1) // 2
            return np.convolve(a, v)[before:before + longest.shape[0]]
        return of(*args, **kwargs)

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (a, v), attrs = super().bind(args, kwargs)
        a, v = value(a), value(v)
        for part, name in ((a, "a"), (v, "v")):
            if part.ndim != 1:
                raise ShapeError("object too deep for desired array")
            if part.shape[0] == 0:
                raise ShapeError(f"{name} cannot be empty")
        mode = {"f": "full", "v": "valid"}.get(str(attrs.pop("mode", "full"))[:1])
        if mode is None:
            raise BadArgument("mode must be one of 'valid', 'same', or 'full'")
        if mode == "full":
            return (a, v), {}
        longer = _is_longer(a.shape[0], v.shape[0])
        return ((a, v) if longer else (v, a)), {"mode": mode}

    def types(a: ArrayType, v: ArrayType, mode: str = "full") -> ArrayType:
        (n,), (m,) = a.sizes, v.sizes
        size = n + m - 1 if mode == "full" else not_negative(n - m + 1)
        return ArrayType(result_dtype(np.convolve, (a.dtype, v.dtype)), (size,))

    vjp = (lambda dy, a, v, mode="full": _overlapping(dy, v[::-1]) if mode == "full" else np.convolve(dy, v[::-1]),
           lambda dy, a, v, mode="full": _overlapping(dy, a[::-1]) if mode == "full"
           else _overlapping(a, dy[::-1])[::-1])

    def batch(lead, a, v, mode="full"):
        raise NotSupported("np.convolve cannot be batched", instead="Convolve in a loop.")

    def domain(rng):
        return [((rng.normal(size=5), rng.normal(size=3)), attrs) for attrs in ({}, {"mode": "valid"})]


def _overlapping(longer: Any, shorter: Any) -> Any:
    """The convolution where the vectors overlap as a whole; whatever is known of their sizes, this is their order."""
    return Convolve.applied(longer, shorter, mode="valid")


def _is_longer(size: Extent, other: Extent) -> bool:
    from ..core.builder import current
    return current().assumptions.at_least(size, other)


class Correlate(Rewritten):
    """A convolution with the other vector turned round."""

    calls = (np.correlate,)

    def rewrite(a, v, mode="valid"):
        a, v = value(a), value(v)
        if not _is_longer(a.shape[0], v.shape[0]):
            raise NotSupported("np.correlate with a second vector longer than the first is not supported",
                               instead="Write np.correlate(v, a, mode)[::-1].")
        turned = v[::-1]
        return np.convolve(a, np.conj(turned) if turned.dtype.kind == "c" else turned, mode)
