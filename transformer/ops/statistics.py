"""Means, variances and ranges."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import ShapeError
from ..core.sizes import Extent, Size, Unknown, greatest
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .elementwise import result_dtype, where
from .reduction import (
    Axis,
    Reduction,
    apart_cases,
    cases_of,
    folded,
    inner_axes,
    kept,
    normal_cases,
    reduced_count,
)
from .shape import along
from .value import named, value


class Mean(Reduction):
    calls = np.mean
    methods = ("mean",)
    linear = "a"
    domain = cases_of(normal_cases)

    def types(a: ArrayType, axis=None, dtype=None, *, keepdims=False) -> ArrayType:
        return folded(a, axis, keepdims, dtype or result_dtype(np.mean, (a.dtype,)))

    def definition(a, axis=None, dtype=None, keepdims=False):
        if dtype is not None or a.dtype.kind in "biu":
            a = a.astype(float if dtype is None else dtype)
        return np.sum(a, axis=axis, keepdims=keepdims) / reduced_count(a.shape, axis)

    def vjp(dy, a, axis=None, dtype=None, keepdims=False):
        return kept(dy / divisor(a.shape, axis), axis, keepdims)


def divisor(shape: tuple[Extent, ...], axis: Axis) -> Extent:
    """The count of elements, to divide a cotangent by: where a mask selects none there is nothing that it goes to, but
    a number of Python divided by 0 would raise."""
    count = reduced_count(shape, axis)
    computed = isinstance(count, Size) and any(isinstance(atom, Unknown) for atom in count.atoms())
    return greatest(count, 1) if computed or count == 0 else count


INFINITY = named(np.inf, "np.inf")


def conjugated(x: Any) -> Any:
    """The complex conjugate, where there is one to speak of."""
    return np.conj(x) if x.dtype.kind == "c" else x


def squared_size(x: Any) -> Any:
    """The square of the absolute value, without a root."""
    if x.dtype.kind != "c":
        return x * x
    return np.real(x) * np.real(x) + np.imag(x) * np.imag(x)


def real_part(x: Any) -> Any:
    return np.real(x) if x.dtype.kind == "c" else x


class Spread(Reduction):
    """Variance or standard deviation; `ddof` is taken off the number of elements."""

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        dtype = kwargs.get("dtype")
        operands, attrs = super().bind(args, {key: item for key, item in kwargs.items() if key != "dtype"})
        if dtype is not None and arguments.dtype(dtype) != cls.types(operands[0].type).dtype:
            operands = (np.astype(operands[0], arguments.dtype(dtype)),)
        if "ddof" in attrs:
            attrs["ddof"] = arguments.extent(attrs["ddof"], "ddof")
        return operands, attrs


def _spread_cases(rng: Any) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    cases = [case for case in cases_of(normal_cases)(rng) if case[0][0].ndim]
    return [*cases, ((rng.normal(size=(3, 4)),), {"axis": 1, "ddof": 1})]


def deviation(a: Any, axis: Axis) -> Any:
    """`a` about its mean along `axis`, which broadcasts by itself where the axes are the first ones."""
    first = axis is None or axis in (0, tuple(range(np.size(axis))))
    return a - np.mean(a, axis=axis, keepdims=not first)


def zero_safe(length: Any) -> Any:
    """A length to divide by: what it divides, and every derivative of that, is 0 where it is 0."""
    return where(length == 0, INFINITY, length)


class Var(Spread):
    calls = np.var
    methods = ("var",)
    domain = _spread_cases

    def types(a: ArrayType, axis=None, *, ddof=0, keepdims=False) -> ArrayType:
        return folded(a, axis, keepdims, result_dtype(np.var, (a.dtype,)))

    def definition(a, axis=None, ddof=0, keepdims=False):
        if a.dtype.kind in "biu":
            a = a.astype(float)                                      # a sum of integers may wrap around
        count = reduced_count(a.shape, axis)
        mean = np.sum(a, axis=axis, keepdims=True) / count
        total = np.sum(squared_size(a - mean), axis=axis, keepdims=keepdims)
        return total / (count if ddof == 0 else greatest(count - ddof, 0))          # in the precision of the array

    def jvp(t, a, y, axis=None, ddof=0, keepdims=False):
        moved = np.sum(conjugated(deviation(a, axis)) * t, axis=axis, keepdims=keepdims)
        return 2 * real_part(moved) / (reduced_count(a.shape, axis) - ddof)

    def vjp(dy, a, y, axis=None, ddof=0, keepdims=False):
        scale = 2 * kept(dy, axis, keepdims) / (divisor(a.shape, axis) - ddof)
        return scale * conjugated(deviation(a, axis))


class Std(Spread):
    """Its derivative is 0 where all elements are equal."""

    calls = np.std
    methods = ("std",)
    domain = _spread_cases

    def types(a: ArrayType, axis=None, *, ddof=0, keepdims=False) -> ArrayType:
        return folded(a, axis, keepdims, result_dtype(np.std, (a.dtype,)))

    def definition(a, axis=None, ddof=0, keepdims=False):
        return np.sqrt(Var.definition(a, axis, ddof, keepdims))

    def jvp(t, a, y, axis=None, ddof=0, keepdims=False):
        moved = np.sum(conjugated(deviation(a, axis)) * t, axis=axis, keepdims=keepdims)
        return real_part(moved) / (reduced_count(a.shape, axis) - ddof) / zero_safe(y)

    def vjp(dy, a, y, axis=None, ddof=0, keepdims=False):
        scale = dy / (reduced_count(a.shape, axis) - ddof) / zero_safe(y)
        return kept(scale, axis, keepdims) * conjugated(deviation(a, axis))


class PeakToPeak(Reduction):
    name = "ptp"
    calls = np.ptp
    domain = cases_of(apart_cases)

    def types(a: ArrayType, axis=None, *, keepdims=False) -> ArrayType:
        return folded(a, axis, keepdims, a.dtype)

    def definition(a, axis=None, keepdims=False):
        return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


def _weighted_mean(a: Any, weights: Any) -> Any:
    return np.average(a, weights=weights)


class Average(Reduction):
    calls = np.average
    operands = "a", "weights"

    def front(args, kwargs, spelling):
        bound = inspect.signature(np.average).bind(*args, **kwargs).arguments
        if bound.get("weights") is not None or bound.get("returned", False):
            return None
        given = {key: item for key, item in bound.items() if item is not None}
        return np.mean(value(given.pop("a")), **given)

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        bound = inspect.signature(np.average).bind(*args, **kwargs).arguments
        weights = value(bound.pop("weights"))
        (a, _), attrs = super().bind((bound.pop("a"), weights), bound)
        if weights.ndim != a.ndim and (weights.ndim != 1 or not isinstance(attrs.get("axis"), int)):
            raise ShapeError("Axis must be specified when shapes of a and weights differ.",
                             why="Weights must have the shape of the array, or be a vector along one axis.")
        sizes = a.shape if weights.ndim == a.ndim else (a.shape[attrs["axis"]],)
        if not all(map(current().assumptions.equal, sizes, weights.shape)):
            raise ShapeError("Shape of weights must be consistent with shape of a along specified axis.")
        return (a, weights), attrs

    def types(a: ArrayType, weights: ArrayType, axis=None, *, keepdims=False) -> ArrayType:
        return folded(a, axis, keepdims, result_dtype(_weighted_mean, (a.dtype, weights.dtype)))

    def definition(a, weights, axis=None, keepdims=False):
        if weights.ndim == a.ndim:
            total = np.sum(weights, axis=axis, keepdims=keepdims)
        else:
            total = np.sum(weights)
            weights = np.reshape(weights, along(weights.shape[0], axis, a.ndim))
        return np.sum(a * weights, axis=axis, keepdims=keepdims) / total

    def batch(lead, a, weights, axis=None, keepdims=False):
        a = a if lead[0] else a[None]
        weights = weights if lead[1] else weights[None]
        if weights.ndim != a.ndim:
            lying = along(weights.shape[1], axis + 1, a.ndim)
            weights = np.reshape(weights, (weights.shape[0], *lying[1:]))
        inner = inner_axes(a, axis)
        total = np.sum(weights, axis=inner, keepdims=keepdims)
        return np.sum(a * weights, axis=inner, keepdims=keepdims) / total

    def run(a, weights, axis=None, keepdims=False):
        return np.average(a, axis, weights, keepdims=keepdims)

    def domain(rng):
        a, weights = rng.normal(size=(2, 3)), rng.uniform(0.5, 2, (2, 3))
        return [((a, weights), {}), ((a, weights), {"axis": 0}),
                ((a, weights[0]), {"axis": 1, "keepdims": True})]
