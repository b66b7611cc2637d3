"""Ops over all lanes of a named axis, which are gone when that has become an axis of arrays, or of devices."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.sizes import Extent
from ..core.types import ArrayType
from .base import Op
from .creation import arange
from .reduction import as_float
from .value import Value, emit, value

GONE = None, "lanes have become an axis before"


def printed(name: str, *attributes: str) -> Callable[..., ast.expr]:
    """How an op is printed where the lanes are devices: as the call that users write."""
    def source(*operands: ast.expr, axis_name: Any, **attrs: Any) -> ast.expr:
        function = ast.Attribute(ast.Name("transformer"), name)
        given = [axis_name, *(attrs[each] for each in attributes)]
        return ast.Call(function, [*operands, *(ast.parse(repr(each), mode="eval").body for each in given)], [])
    return source


def _rows(rng):
    return [((rng.normal(size=shape),), {"axis_name": "i"}) for shape in ((), (3,))]


def _unchanged(x: ArrayType, axis_name: Any = None) -> ArrayType:
    return x


class Combined(Op):
    """What a function of NumPy makes of what all lanes have; each of them gets it."""

    loop = GONE
    domain = _rows

    def __init_subclass__(cls, by: Callable[..., Any]) -> None:
        super().__init_subclass__()
        cls.over_lanes = staticmethod(lambda size, x: by(x, axis=0))
        cls.over_devices = staticmethod(lambda size, name, count, x: cls.applied(by(x, axis=0), axis_name=name))
        cls.batch = staticmethod(lambda lead, x, axis_name=None: cls.applied(x, axis_name=axis_name))

    def run(x, axis_name=None):
        return x


class Psum(Combined, by=np.sum):
    """The transpose of a sum over lanes is a sum over lanes, as in JAX: the derivative of what all lanes give."""

    source = printed("psum")
    types = _unchanged
    noun = "total"
    linear = "x"

    def vjp(dy, x, axis_name=None):
        return Psum.applied(dy, axis_name=axis_name)


class Pmean(Combined, by=np.mean):
    source = printed("pmean")
    noun = "mean"
    linear = "x"

    def types(x: ArrayType, axis_name: Any = None) -> ArrayType:
        return x if x.is_inexact else ArrayType(np.dtype(np.float64), x.sizes)

    def vjp(dy, x, axis_name=None):
        return Pmean.applied(dy, axis_name=axis_name)

    def run(x, axis_name=None):
        return np.mean([x], axis=0)


def _extreme_tangent(t, x, y, axis_name=None):
    """The mean of the tangents of the lanes that are extreme."""
    at, count = _extremes(x, y, axis_name)
    return Psum.applied(at * t, axis_name=axis_name) / count


def _extreme_cotangent(dy, x, y, axis_name=None):
    """Lanes that are extreme get equal shares."""
    at, count = _extremes(x, y, axis_name)
    return at * (Psum.applied(dy, axis_name=axis_name) / count)


def _extremes(x, y, axis_name):
    """Whether a lane is extreme, and how many are."""
    at = x == y
    return at, as_float(Psum.applied(at.astype(np.int64), axis_name=axis_name), x)


class Pmax(Combined, by=np.max):
    """Lanes that are equally large share the derivative equally."""

    source = printed("pmax")
    types = _unchanged
    noun = "largest"
    jvp = _extreme_tangent
    vjp = _extreme_cotangent


class Pmin(Combined, by=np.min):
    """Lanes that are equally small share the derivative equally."""

    source = printed("pmin")
    types = _unchanged
    noun = "smallest"
    jvp = _extreme_tangent
    vjp = _extreme_cotangent


class AllGather(Op):
    source = printed("all_gather")
    noun = "everywhere"
    name = "all_gather"
    linear = "x"
    loop = GONE

    def types(x: ArrayType, axis_name: Any = None, size: Extent = 1) -> ArrayType:
        return ArrayType(x.dtype, (size, *x.sizes))

    def vjp(dy, x, axis_name=None, size=1):
        total = Psum.applied(dy, axis_name=axis_name)
        return total[emit(AxisIndex, (), {"axis_name": axis_name}) if isinstance(total, Value) else 0]

    def run(x, axis_name=None, size=1):
        return np.asarray(x)[None]

    def batch(lead, x, axis_name=None, size=1):
        return np.moveaxis(AllGather.applied(x, axis_name=axis_name, size=size), 1, 0)

    def over_lanes(lanes, x, size):
        return x

    def over_devices(lanes, name, count, x, size):
        everywhere = AllGather.applied(x, axis_name=name, size=count)
        return np.reshape(everywhere, (lanes * count, *x.shape[1:]))

    def domain(rng):
        return [((rng.normal(size=shape),), {"axis_name": "i", "size": 1}) for shape in ((), (3,))]


class AxisIndex(Op):
    source = printed("axis_index")
    noun = "number"
    name = "axis_index"
    differs = True
    derivative = None, "it is an integer"
    loop = GONE

    def types(axis_name: Any = None) -> ArrayType:
        return ArrayType(np.dtype(np.int64))

    def run(axis_name=None):
        return np.int64(0)

    def over_lanes(size):
        return arange(size)

    def over_devices(size, name, count):
        return emit(AxisIndex, (), {"axis_name": name}) * value(size) + arange(size)
