"""Cumulative sums and products, differences, the trapezoidal rule.

A scan without `axis` runs through the flattened array; for vectors, `axis` is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import ShapeError
from ..core.sizes import product
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .base import Op
from .elementwise import result_dtype
from .recurrence import recurrence
from .rewritten import Rewritten
from .shape import along, arrays_of, from_here, reshaped
from .slices import not_negative
from .value import value


class Scan(Op):
    """An op that has a result for every element: what became of it and those before."""

    running = True

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (a,), attrs = super().bind(args, kwargs)
        a = value(a)
        axis = attrs.pop("axis", None)
        axis = None if axis is None else arguments.axis(axis, a.ndim)
        if axis is not None and a.ndim > 1:
            attrs["axis"] = axis
        if "dtype" in attrs:
            attrs["dtype"] = arguments.dtype(attrs["dtype"])
            if attrs["dtype"] == cls.types(a.type).dtype:
                del attrs["dtype"]
        return (a,), attrs

    @classmethod
    def batch(cls, lead: Any, a: Any, axis: int | None = None, **attrs: Any) -> Any:
        if axis is not None:
            return cls.calls[0](a, axis=axis + 1, **attrs)
        return cls.calls[0](reshaped(a, (a.shape[0], product(a.shape[1:]))), axis=1, **attrs)


def _scanned(a: ArrayType, axis: int | None, dtype: Any) -> ArrayType:
    return ArrayType(dtype, (a.elements,) if axis is None else a.sizes)


def _scan_cases(rng: Any) -> Any:
    return arrays_of(rng, ((4,), {}), ((2, 3), {"axis": 0}), ((2, 3), {"axis": 1}), ((2, 3), {}),
                     ((), {}))


class Cumsum(Scan):
    calls = np.cumsum
    methods = ("cumsum",)
    linear = "a"
    domain = _scan_cases

    def init(a, **attrs):
        """To which -0.0 may be added and stays what it is, as in NumPy."""
        return -0.0 if a.dtype.kind == "f" else complex(-0.0, -0.0) if a.dtype.kind == "c" else 0

    def step(total, item, k):
        return total + item.astype(total.dtype)

    def types(a: ArrayType, axis=None, dtype=None) -> ArrayType:
        return _scanned(a, axis, dtype or result_dtype(np.cumsum, (a.dtype,)))

    def vjp(dy, a, axis=None, dtype=None):
        return reshaped(np.flip(np.cumsum(np.flip(dy, axis), axis), axis), a.shape)


class Cumprod(Scan):
    """Its derivatives divide by nothing: there may be zeros."""

    calls = np.cumprod
    methods = ("cumprod",)

    def domain(rng):
        zeros = [2.0, 0.0, -1.5, 0.5], [3.0, 0.0, 2.0, 0.0]
        return [*_scan_cases(rng), *(((np.array(items),), {}) for items in zeros)]

    def init(a, **attrs):
        return 1

    def step(total, item, k):
        return total * item.astype(total.dtype)

    def types(a: ArrayType, axis=None, dtype=None) -> ArrayType:
        return _scanned(a, axis, dtype or result_dtype(np.cumprod, (a.dtype,)))

    def jvp(t, a, y, axis=None, dtype=None):
        terms = delayed(y, axis or 0, 1) * reshaped(t, y.shape)
        return recurrence_along(axis or 0, reshaped(a, y.shape), terms)

    def vjp(dy, a, y, axis=None, dtype=None):
        k = axis or 0
        sums = recurrence_along(k, advanced(reshaped(a, y.shape), k), dy, down=True)
        return reshaped(delayed(y, k, 1) * sums, a.shape)


def recurrence_along(axis: int, factors: Any, terms: Any, down: bool = False) -> Any:
    """The linear recurrence along any axis."""
    if axis == 0:
        return recurrence(factors, terms, down)
    first = recurrence(np.moveaxis(factors, axis, 0), np.moveaxis(terms, axis, 0), down)
    return np.moveaxis(first, 0, axis)


def delayed(x: Any, axis: int, first: int) -> Any:
    """Every element in the place of the next, with `first` in the first place. Padded before it is cut, as `x` may
    turn out to be empty at run time."""
    if 0 in x.shape:
        return x
    width = (1, 0) if x.ndim == 1 else tuple((int(k == axis), 0) for k in range(x.ndim))
    return np.pad(x, width, constant_values=first)[from_here(axis, slice(None, -1))]


def advanced(x: Any, axis: int) -> Any:
    """Every element in the place of the one before, with 0 in the last place; see `delayed`."""
    if 0 in x.shape:
        return x
    width = (0, 1) if x.ndim == 1 else tuple((0, int(k == axis)) for k in range(x.ndim))
    return np.pad(x, width)[from_here(axis, slice(1, None))]


class Diff(Op):
    """Differences of neighbours, `n` times."""

    calls = np.diff
    linear = "a"

    def front(args, kwargs, spelling):
        """What is put before and behind is joined first."""
        def with_ends(a, n=1, axis=-1, prepend=None, append=None):
            a = value(a)
            if prepend is None and append is None:
                return a if n == 0 else None
            k = arguments.axis(axis, a.ndim)
            parts = [p if p is a else _end(p, a, k) for p in (prepend, a, append) if p is not None]
            return np.diff(np.concatenate(parts, axis=k), n, k)
        return with_ends(*args, **kwargs)

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (a,), attrs = super().bind(args, kwargs)
        a = value(a)
        if a.ndim == 0:
            raise ShapeError("diff requires input that is at least one dimensional")
        axis = arguments.axis(attrs.get("axis", -1), a.ndim)
        n = arguments.whole(attrs.get("n", 1), "n")
        if n < 0:
            raise ShapeError(f"order must be non-negative but got {n}")
        return (a,), ({} if axis == a.ndim - 1 else {"axis": axis}) | ({} if n == 1 else {"n": n})

    def types(a: ArrayType, n=1, axis=-1) -> ArrayType:
        sizes = list(a.sizes)
        sizes[axis] = not_negative(sizes[axis] - n)
        return ArrayType(a.dtype, tuple(sizes))

    def definition(a, n=1, axis=-1):
        k, difference = axis % a.ndim, np.not_equal if a.dtype.kind == "b" else np.subtract
        for _ in range(n):
            a = difference(a[from_here(k, slice(1, None))], a[from_here(k, slice(None, -1))])
        return a

    def vjp(dy, a, n=1, axis=-1):
        if 0 in dy.shape:
            return np.zeros_like(a)
        width = tuple((int(k == axis % a.ndim),) * 2 for k in range(a.ndim))
        for _ in range(n):
            dy = -np.diff(np.pad(dy, width), axis=axis)
        return dy

    def batch(lead, a, n=1, axis=-1):
        return np.diff(a, n, axis if axis < 0 else axis + 1)

    def domain(rng):
        return arrays_of(rng, ((4,), {}), ((3, 4), {"axis": 0}), ((5,), {"n": 2}), ((2, 3), {}))


def _end(part: Any, a: Any, axis: int) -> Any:
    """Something to put before or behind `a`; a number is spread over one place."""
    part = value(part)
    return part if part.ndim else np.broadcast_to(part, (*a.shape[:axis], 1, *a.shape[axis + 1:]))


class Trapezoid(Rewritten):
    """The integral of samples over equal steps `dx`, or over points `x`."""

    calls = np.trapezoid

    def rewrite(y, x=None, dx=1.0, axis=-1):
        y = value(y)
        k = arguments.axis(axis, y.ndim)
        pairs = y[from_here(k, slice(1, None))] + y[from_here(k, slice(None, -1))]
        if x is None:
            return np.sum(dx * pairs / 2.0, axis=k)
        x = value(x)
        steps = np.diff(x) if x.ndim == 1 else np.diff(x, axis=k)
        if steps.ndim == 1 and y.ndim > 1:
            steps = np.reshape(steps, along(steps.size, k, y.ndim))
        return np.sum(steps * pairs / 2.0, axis=k)
