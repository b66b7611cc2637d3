"""Diagonals, traces and triangles."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import NotSupported, ShapeError
from ..core.sizes import Extent, least
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .base import Op
from .elements import choose, is_below
from .elementwise import result_dtype, where
from .rewritten import Rewritten
from .shape import Sizes, arrays_of, reshaped
from .slices import not_negative
from .value import emit, value


class Planar(Op):
    """An op on the planes of two axes; `axis1` and `axis2` are left out when they are the first."""

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (a,), attrs = super().bind(args, kwargs)
        a = value(a)
        if a.ndim < 2:
            raise ShapeError("diag requires an array of at least two dimensions")
        axes = tuple(arguments.axis(attrs.pop(f"axis{i + 1}", i), a.ndim) for i in (0, 1))
        if axes[0] == axes[1]:
            raise ShapeError("axis1 and axis2 cannot be the same")
        if axes != (0, 1):
            attrs["axis1"], attrs["axis2"] = axes
        offset = arguments.whole(attrs.pop("offset", 0), "offset")
        return (a,), {"offset": offset, **attrs} if offset else attrs


def diagonal_length(rows: Extent, columns: Extent, offset: int) -> Extent:
    """How long the diagonal `offset` of a matrix is."""
    if rows == columns:
        return not_negative(rows - abs(offset))
    inside = (rows, columns - offset) if offset >= 0 else (rows + offset, columns)
    return not_negative(least(*inside))


def on_diagonal(values: Any, rows: Any, columns: Any, offset: int) -> Any:
    """Matrices that are 0 but for a diagonal, which holds the last axis of `values`."""
    if values.ndim == 1 and rows == columns == values.shape[0] + abs(offset):
        return np.diag(values, offset)
    inside = np.eye(rows, columns, offset, dtype=np.dtype(bool), like=values)
    rest = (rows if offset >= 0 else columns) - values.shape[-1]
    if rest != 0:
        values = np.pad(values, ((0, 0),) * (values.ndim - 1) + ((0, rest),))
    return where(inside, np.expand_dims(values, -1 if offset >= 0 else -2), 0)


def _rest(sizes: Sizes, axis1: int, axis2: int) -> Sizes:
    return tuple(n for k, n in enumerate(sizes) if k not in (axis1, axis2))


class Diagonal(Planar):
    """`np.diag` of a matrix is this, too. In NumPy the result is a view that cannot be written."""

    calls = np.diagonal
    methods = ("diagonal",)
    linear = "a"
    view = True

    def types(a: ArrayType, offset=0, axis1=0, axis2=1) -> ArrayType:
        length = diagonal_length(a.sizes[axis1], a.sizes[axis2], offset)
        return ArrayType(a.dtype, (*_rest(a.sizes, axis1, axis2), length))

    def element(at, a, offset=0, axis1=0, axis2=1):
        rest = list(at[:-1])
        row, column = at[-1] + max(-offset, 0), at[-1] + max(offset, 0)
        for axis, k in sorted([(axis1, row), (axis2, column)], key=lambda pair: pair[0]):
            rest.insert(axis, k)
        return a[tuple(rest)]

    def vjp(dy, a, offset=0, axis1=0, axis2=1):
        planes = on_diagonal(dy, a.shape[axis1], a.shape[axis2], offset)
        if (axis1, axis2) == (a.ndim - 2, a.ndim - 1):
            return planes
        return np.moveaxis(planes, (-2, -1), (axis1, axis2))

    def batch(lead, a, offset=0, axis1=0, axis2=1):
        return np.diagonal(a, offset, axis1 + 1, axis2 + 1)

    def domain(rng):
        return arrays_of(rng, ((3, 3), {}), ((2, 4), {"offset": 1}), ((4, 2), {"offset": -1}),
                         ((2, 3, 4), {"axis1": 2, "axis2": 0}), ((4, 2), {"offset": 1}))


class Diag(Op):
    """The matrix that has a vector as its diagonal `k`."""

    calls = np.diag
    linear = "v"

    def front(args, kwargs, spelling):
        def of_matrix(v, k=0):
            v = value(v)
            if v.ndim == 2:
                k = arguments.whole(k, "k")
                return np.diagonal(v, k) if k else emit(Diagonal, (v.atom,), {}, "np.diag")
            if v.ndim != 1:
                raise ShapeError("Input must be 1- or 2-d.")
            return None
        return of_matrix(*args, **kwargs)

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        operands, attrs = super().bind(args, kwargs)
        return operands, {"k": arguments.whole(attrs["k"], "k")} if "k" in attrs else attrs

    def types(v: ArrayType, k=0) -> ArrayType:
        return ArrayType(v.dtype, (v.sizes[0] + abs(k),) * 2)

    def element(at, v, k=0):
        place = at[0] if k >= 0 else at[1]
        return choose(at[0] + k == at[1], lambda: v[place,], lambda: v.dtype.type(0))

    def vjp(dy, v, k=0):
        return np.diag(dy, k)

    def batch(lead, v, k=0):
        size = v.shape[1] + abs(k)
        return on_diagonal(v, size, size, k)

    def domain(rng):
        return arrays_of(rng, ((3,), {}), ((2,), {"k": 1}), ((2,), {"k": -2}))


class Diagflat(Rewritten):
    calls = np.diagflat

    def rewrite(v, k=0):
        v = value(v)
        return np.diag(reshaped(v, (v.size,)), k)


class Trace(Planar):
    calls = np.trace
    methods = ("trace",)
    linear = "a"

    def types(a: ArrayType, offset=0, axis1=0, axis2=1) -> ArrayType:
        return ArrayType(result_dtype(np.sum, (a.dtype,)), _rest(a.sizes, axis1, axis2))

    def definition(a, offset=0, axis1=0, axis2=1):
        return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1)

    def vjp(dy, a, offset=0, axis1=0, axis2=1):
        first, second = sorted((axis1, axis2))
        ones = np.eye(a.shape[first], a.shape[second], offset if axis1 < axis2 else -offset,
                      dtype=a.dtype, like=a)
        if a.ndim == 2:
            return dy * ones
        own = tuple(n if k in (first, second) else 1 for k, n in enumerate(a.shape))
        lying = np.reshape(ones, own)
        return np.expand_dims(dy, (first, second)) * lying

    def batch(lead, a, offset=0, axis1=0, axis2=1):
        return np.trace(a, offset, axis1 + 1, axis2 + 1)

    domain = Diagonal.domain


class Triangle(Op):
    """The part of matrices (the last two axes) on one side of diagonal `k`."""

    linear = "m"

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        (m,), attrs = super().bind(args, kwargs)
        m, k = value(m), arguments.whole(attrs.get("k", 0), "k")
        if m.ndim < 2:
            raise NotSupported(f"{cls.name} of a vector is not supported", why="NumPy converts it to a matrix first.",
                               instead="Build the matrix explicitly: np.broadcast_to(v, (v.size, v.size)).")
        return (m,), {"k": k} if k else {}

    @classmethod
    def batch(cls, lead: Any, m: Any, k: int = 0) -> Any:
        return cls.calls[0](m, k)


def _triangle_cases(rng: Any) -> Any:
    return arrays_of(rng, ((3, 3), {}), ((2, 4), {"k": 1}), ((2, 3, 3), {"k": -1}))


class Tril(Triangle):
    calls = np.tril
    domain = _triangle_cases

    def types(m: ArrayType, k=0) -> ArrayType:
        return m

    def element(at, m, k=0):
        return choose(is_below(at[-1], at[-2] + (k + 1)), lambda: m[at], lambda: m.dtype.type(0))

    def vjp(dy, m, k=0):
        return np.tril(dy, k)


class Triu(Triangle):
    calls = np.triu
    domain = _triangle_cases

    def types(m: ArrayType, k=0) -> ArrayType:
        return m

    def element(at, m, k=0):
        return choose(is_below(at[-1], at[-2] + k), lambda: m.dtype.type(0), lambda: m[at])

    def vjp(dy, m, k=0):
        return np.triu(dy, k)
