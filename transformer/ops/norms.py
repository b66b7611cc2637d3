"""Norms of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import BadArgument, ShapeError
from ..core.sizes import product
from ..core.types import ArrayType
from . import arguments
from .elementwise import result_dtype
from .reduction import Axis, Reduction, cases_of, folded, kept, normal_cases
from .shape import reshaped, widened
from .statistics import conjugated, real_part, squared_size, zero_safe
from .value import Value, call, emit, value


class Norm(Reduction):
    """The Euclidean norm over any axes, or with `ord` the p-norm of vectors.

    Its derivative at 0 is 0. Other norms are written with the reductions they are made of.
    """

    calls = np.linalg.norm

    def front(args, kwargs, spelling):
        return _norm(*args, **kwargs)

    def types(x: ArrayType, axis=None, *, ord=None, keepdims=False) -> ArrayType:
        return folded(x, axis, keepdims, result_dtype(np.linalg.norm, (x.dtype,)))

    def definition(x, axis=None, ord=None, keepdims=False):
        if ord is None:
            return np.sqrt(np.sum(squared_size(x if x.dtype.kind in "fc" else x.astype(float)),
                                  axis=axis, keepdims=keepdims))
        return np.sum(np.abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1 / ord)

    def jvp(t, x, y, axis=None, ord=None, keepdims=False):
        if ord is not None:
            slope = _slope(x, kept(y, axis, keepdims), ord)
            return real_part(np.sum(slope * t, axis=axis, keepdims=keepdims))
        is_vector = x.ndim == 1 and not keepdims
        moved = conjugated(x) @ t if is_vector else np.sum(conjugated(x) * t, axis=axis, keepdims=keepdims)
        return real_part(moved) / zero_safe(y)

    def vjp(dy, x, y, axis=None, ord=None, keepdims=False):
        if ord is not None:
            return _slope(x, kept(y, axis, keepdims), ord) * kept(dy, axis, keepdims)
        return conjugated(x) * kept(dy / zero_safe(y), axis, keepdims)

    def batch(lead, x, axis=None, ord=None, keepdims=False):
        if axis is not None:
            inner = axis + 1 if isinstance(axis, int) else tuple(k + 1 for k in axis)
            return np.linalg.norm(x, ord, inner, keepdims)
        lengths = np.linalg.norm(reshaped(x, (x.shape[0], product(x.shape[1:]))), ord, 1)
        return widened(lengths, x.ndim - 1) if keepdims else lengths

    def domain(rng):
        vectors = ((rng.normal(size=(3, 4)),), {"axis": 1, "ord": 3})
        return [*cases_of(normal_cases)(rng), vectors]


def _slope(x: Any, length: Any, ord: Any) -> Any:
    """The derivative of the p-norm by `x`."""
    return conjugated(np.sign(x)) * (np.abs(x) / zero_safe(length)) ** (ord - 1)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = value(x)
    ord = arguments.known(ord, "the order of a norm")
    keepdims = bool(arguments.known(keepdims, "keepdims"))
    axes = tuple(range(x.ndim)) if axis is None else arguments.axes(axis, x.ndim)
    if ord is None and (axis is None or len(axes) <= 2) or ord == "fro" and len(axes) == 2:
        return _emitted(x, axes, None, keepdims)
    if len(axes) == 1:
        return _vector_norm(x, axes[0], ord, keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, axes[0], axes[1], ord, keepdims)
    raise ShapeError("Improper number of dimensions to norm.")


def _emitted(x: Value, axes: tuple[int, ...], ord: Any, keepdims: bool) -> Any:
    reduced: Axis = arguments.reduced_axes(axes, x.ndim)
    attrs = {"axis": reduced, "ord": ord, "keepdims": keepdims or None}
    attrs = {key: item for key, item in attrs.items() if item is not None}
    return emit(Norm, (x.atom,), attrs, "np.linalg.norm")


def _vector_norm(x: Any, axis: int, ord: Any, keepdims: bool) -> Any:
    if isinstance(ord, str) or isinstance(ord, complex):
        raise BadArgument(f"Invalid norm order '{ord}' for vectors")
    how: dict[str, Any] = {"axis": arguments.reduced_axes(axis, x.ndim), "keepdims": keepdims}
    x = x if x.type.is_inexact else x.astype(float)
    if ord == 2:
        return _emitted(x, (axis,), None, keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(np.abs(x).dtype), **how)
    if ord in (1, np.inf, -np.inf):
        reduction: Any = {1: np.sum, np.inf: np.max, -np.inf: np.min}[ord]
        return reduction(np.abs(x), **how)
    return _emitted(x, (axis,), ord, keepdims)


def _matrix_norm(x: Value, row: int, column: int, ord: Any, keepdims: bool) -> Any:
    if ord in (2, -2, "nuc"):
        return _of_singular_values(x, row, column, ord, keepdims)
    if ord not in (1, -1, np.inf, -np.inf):
        raise BadArgument("Invalid norm order for matrices.")
    x = x if x.type.is_inexact else x.astype(float)
    summed, extreme = (row, column) if abs(ord) == 1 else (column, row)
    lengths = np.sum(np.abs(x), axis=summed, keepdims=keepdims)
    left = extreme if keepdims or extreme < summed else extreme - 1
    return (np.max if ord > 0 else np.min)(lengths, axis=left, keepdims=keepdims)


def _of_singular_values(x: Value, row: int, column: int, ord: Any, keepdims: bool) -> Any:
    """The largest of the singular values, the smallest, or their sum."""
    is_last = (row, column) == (x.ndim - 2, x.ndim - 1)
    matrices = x if is_last else call(np.moveaxis, (x, (row, column), (-2, -1)), {})
    values: Any = np.linalg.svdvals(matrices)
    result = np.sum(values, axis=-1) if ord == "nuc" else values[..., 0 if ord == 2 else -1]
    return np.expand_dims(result, tuple(sorted((row, column)))) if keepdims else result
