"""Changes of the order of axes. All results are views in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from ..core.errors import BadArgument, ShapeError, as_raised
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .base import Op
from .elements import permuted
from .rewritten import Rewritten
from .shape import arrays_of, later
from .value import Value, value


class Transpose(Op):
    """`axes` is left out when it reverses all axes."""

    calls = np.transpose
    methods = "transpose", "T"
    linear = "a"
    view = True

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        a = value(args[0])
        axes = kwargs.get("axes", args[1] if len(args) == 2 else args[1:] or None)
        if axes is None:
            return super().bind((a,), {})
        axes = arguments.axes(axes, a.ndim, "repeated axis in transpose")
        if len(axes) != a.ndim:
            raise ShapeError("axes don't match array")
        reverses = axes == tuple(range(a.ndim))[::-1]
        return super().bind((a,), {} if reverses else {"axes": axes})

    def types(a: ArrayType, axes=None) -> ArrayType:
        order = range(a.rank)[::-1] if axes is None else axes
        return a.strong().with_sizes(tuple(a.sizes[k] for k in order))

    def element(at, a, axes=None):
        return permuted(a, at, range(a.ndim)[::-1] if axes is None else axes)

    def vjp(dy, a, axes=None):
        return np.transpose(dy, inverse(axes))

    def batch(lead, a, axes=None):
        order = range(a.ndim - 1)[::-1] if axes is None else axes
        return np.transpose(a, (0, *(k + 1 for k in order)))

    def write_back(base, part, axes=None):
        return np.transpose(part, inverse(axes))

    def domain(rng):
        return arrays_of(rng, ((2, 3), {}), ((2, 3, 4), {"axes": (2, 0, 1)}), ((3,), {}))


def inverse(axes: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The permutation that undoes another; None reverses."""
    return None if axes is None else tuple(sorted(range(len(axes)), key=lambda k: axes[k]))


class Swapaxes(Op):
    calls = np.swapaxes
    methods = ("swapaxes",)
    linear = "a"
    view = True

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (a,), attrs = super().bind(args, kwargs)
        a = value(a)
        first, second = sorted(arguments.axis(attrs[name], a.ndim) for name in ("axis1", "axis2"))
        return (a,), {"axis1": first, "axis2": second}

    def types(a: ArrayType, axis1=None, axis2=None) -> ArrayType:
        sizes = list(a.sizes)
        sizes[axis1], sizes[axis2] = sizes[axis2], sizes[axis1]
        return a.with_sizes(tuple(sizes))

    def element(at, a, axis1=None, axis2=None):
        order = list(range(a.ndim))
        order[axis1], order[axis2] = axis2, axis1
        return permuted(a, at, order)

    def vjp(dy, a, axis1=None, axis2=None):
        return np.swapaxes(dy, axis1, axis2)

    def batch(lead, a, axis1=None, axis2=None):
        return np.swapaxes(a, axis1 + 1, axis2 + 1)

    def write_back(base, part, axis1=None, axis2=None):
        return np.swapaxes(part, axis1, axis2)

    def domain(rng):
        return arrays_of(rng, ((2, 3, 4), {"axis1": 0, "axis2": 2}),
                         ((2, 3), {"axis1": 0, "axis2": 1}))


class MatrixTranspose(Rewritten):
    calls = np.matrix_transpose, np.linalg.matrix_transpose
    methods = ("mT",)

    def rewrite(x):
        x = value(x)
        if x.ndim < 2:
            raise ShapeError("matrix transpose with ndim < 2 is undefined")
        return np.swapaxes(x, -2, -1)


class Moveaxis(Op):
    calls = np.moveaxis
    linear = "a"
    view = True

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (a,), attrs = super().bind(args, kwargs)
        a = value(a)
        source, destination = (
            arguments.axes(attrs[name], a.ndim, f"repeated axis in `{name}` argument")
            for name in ("source", "destination"))
        if len(source) != len(destination):
            raise ShapeError("`source` and `destination` arguments must have the same number of "
                             "elements")
        alone = arguments.alone
        return (a,), {"source": alone(source), "destination": alone(destination)}

    def types(a: ArrayType, source=None, destination=None) -> ArrayType:
        return a.with_sizes(tuple(a.sizes[k] for k in moved_axes(a.rank, source, destination)))

    def element(at, a, source=None, destination=None):
        return permuted(a, at, moved_axes(a.ndim, source, destination))

    def vjp(dy, a, source=None, destination=None):
        return np.moveaxis(dy, destination, source)

    def batch(lead, a, source=None, destination=None):
        return np.moveaxis(a, later(source), later(destination))

    def write_back(base, part, source=None, destination=None):
        return np.moveaxis(part, destination, source)

    def domain(rng):
        return arrays_of(rng, ((2, 3, 4), {"source": 0, "destination": 2}),
                         ((2, 3, 4), {"source": (0, 1), "destination": (2, 0)}))


def moved_axes(rank: int, source: Any, destination: Any) -> list[int]:
    """The permutation that `np.moveaxis` stands for."""
    source = (source,) if isinstance(source, int) else source
    destination = (destination,) if isinstance(destination, int) else destination
    order = [k for k in range(rank) if k not in source]
    for place, k in sorted(zip(destination, source, strict=True)):
        order.insert(place, k)
    return order


class Rollaxis(Rewritten):
    calls = np.rollaxis

    def rewrite(a, axis, start=0):
        a = value(a)
        axis, start = arguments.axis(axis, a.ndim), arguments.whole(start, 'start')
        start += a.ndim if start < 0 else 0
        if not 0 <= start <= a.ndim:
            raise as_raised(AxisError(start, a.ndim + 1))
        return np.moveaxis(a, axis, start - (axis < start))


def counted_axis(axis: int, x: Value, name: str) -> int:
    """An axis of an array, counted from the front; `name` is that of the argument."""
    if not -x.ndim <= axis < x.ndim:
        raise BadArgument(f"{name} is {axis}, but the array has {x.ndim} axes")
    return axis % x.ndim


def joined_axes(x: Value, axis: int) -> Value:
    """Two neighbouring axes as one."""
    return np.reshape(x, (*x.shape[:axis], x.shape[axis] * x.shape[axis + 1], *x.shape[axis + 2:]))   # type: ignore
