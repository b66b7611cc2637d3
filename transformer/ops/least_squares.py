"""Least squares.

    x = np.linalg.lstsq(a, b)[0]        db = pinv(a).T @ dx
                                        da = -np.outer(db, x) + np.outer(b - a @ x, pinv(a) @ db)

for real matrices of full column rank; for others a term more (G. Golub, V. Pereyra, 1973). The rank must not
change close by.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import BadArgument, ShapeError
from ..core.types import ArrayType
from . import arguments
from .arguments import Kwargs
from .base import Op
from .creation import is_zeros, zeros
from .elementwise import size_text, where
from .matrices import adjoint, at_least, real_dtype, working_dtype
from .products import equal, transposed
from .singular_values import size_attrs
from .statistics import conjugated, real_part, squared_size
from .value import emit, value


def _inverse(a: Any, rcond: Any) -> Any:
    """The pseudo-inverse with which `lstsq` solves."""
    limits: Kwargs = {"rtol": None} if rcond is None else {"rcond": rcond}
    return np.linalg.pinv(a, **limits)


def _outer(x: Any, y: Any) -> Any:
    """``np.outer(x, y)``, summed over the columns where there are several."""
    return np.outer(x, y) if x.ndim == 1 else x @ transposed(y)


def _a_jvp(t, a, b, y, rcond=None, over=False, wide=False):
    x, p, turned = y[0], _inverse(a, rcond), adjoint(t)
    beside = turned @ (adjoint(p) @ x)
    moved = p @ (adjoint(p) @ (turned @ (b - a @ x))) - p @ (t @ x) + beside - p @ (a @ beside)
    return moved, _rest_moved(-t @ x, a, b, y), None, _values_moved(t, a)


def _rest_moved(t: Any, a: Any, b: Any, y: Any) -> Any:
    """The tangent of the residuals, to which the rest is orthogonal but for the direct change `t` of it."""
    if y[1].shape == (0,):
        return None
    return 2 * real_part(np.sum(conjugated(b - a @ y[0]) * t, axis=0, keepdims=b.ndim == 1))


def _values_moved(t: Any, a: Any) -> Any:
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return real_part(np.diagonal(adjoint(u) @ t @ adjoint(vh), axis1=-2, axis2=-1))


def _b_jvp(t, a, b, y, rcond=None, over=False, wide=False):
    return _inverse(a, rcond) @ t, _rest_moved(t, a, b, y), None, None


def _b_vjp(dy, a, b, y, rcond=None, over=False, wide=False):
    db = transposed(_inverse(a, rcond)) @ dy[0]
    pulled = _rest_pulled(dy, a, b, y)
    return db if pulled is None else db + pulled


def _rest_pulled(dy: Any, a: Any, b: Any, y: Any) -> Any:
    """What the cotangent of the residuals gives that of what is left of `b`."""
    return None if y[1].shape == (0,) or is_zeros(dy[1]) else 2 * conjugated(b - a @ y[0]) * dy[1]


def _a_vjp(dy, a, b, y, rcond=None, over=False, wide=False):
    x, p = y[0], _inverse(a, rcond)
    back = transposed(p) @ dy[0]
    rest, across = b - a @ x, dy[0] - transposed(a) @ back
    da = _outer(conjugated(rest), p @ conjugated(back)) - _outer(back, x)
    da = da + _outer(transposed(p) @ conjugated(x), conjugated(across))
    pulled = _rest_pulled(dy, a, b, y)
    if pulled is not None:
        da = da - _outer(pulled, x)
    if not is_zeros(dy[3]):
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        da = da + conjugated(u * dy[3]) @ conjugated(vh)
    return da


class Lstsq(Op):
    """The solution, the residuals, the rank, the singular values. A vector `b` has one axis. There are no
    residuals where the columns depend on each other, which nothing but the rank tells, and where `a` has not `over`
    as many rows as columns."""

    calls = (np.linalg.lstsq,)
    loop = None, "LAPACK computes it"
    silent = "over", "wide"
    heavy = True
    jvp = _a_jvp, _b_jvp
    vjp = _a_vjp, _b_vjp

    def front(args, kwargs, spelling):
        return _solved(*args, **kwargs)

    def types(a: ArrayType, b: ArrayType, rcond: Any = None, over: bool = False,
              wide: bool = False) -> tuple[ArrayType, ...]:
        if not (a.is_inexact and b.is_inexact):
            raise BadArgument("np.linalg.lstsq of integers is not supported",
                              instead="Convert them with np.astype(a, float).")
        if a.rank != 2:
            raise ShapeError(f"{a.rank}-dimensional array given. Array must be two-dimensional")
        if b.rank not in (1, 2):
            raise ShapeError(f"{b.rank}-dimensional array given. Array must be two-dimensional")
        if not equal(a.sizes[0], b.sizes[0]):
            raise ShapeError(f"Incompatible dimensions: {size_text(a.sizes[0])} and {size_text(b.sizes[0])} rows")
        rows, columns = a.sizes
        dtype, count = working_dtype(a, b), rows if wide else columns
        rest = (*b.sizes[1:], 1)[:1] if over else (0,)
        real = real_dtype(dtype)
        return (ArrayType(dtype, (columns, *b.sizes[1:])), ArrayType(real, rest), ArrayType(np.dtype(np.int32)),
                ArrayType(real, (count,)))

    def batch(lead, a, b, rcond=None, over=False, wide=False):
        vector = b.ndim - lead[1] == 1
        if not lead[0] and vector:
            return _of_columns(a, b, rcond, over)
        count = (a if lead[0] else b).shape[0]
        a = a if lead[0] else np.broadcast_to(a, (count, *a.shape))
        b = b if lead[1] else np.broadcast_to(b, (count, *b.shape))
        return _of_stack(a, b[..., None] if vector else b, vector, rcond, over)

    def run(a, b, rcond=None, over=False, wide=False):
        return np.linalg.lstsq(a, b, rcond)

    def domain(rng):
        over, wide = {"over": True}, {"wide": True}
        cases = ((4, 2), (4,), over), ((3, 2), (3, 2), over), ((3, 3), (3,), {}), ((2, 3), (2,), wide)
        return [((rng.normal(size=a), rng.normal(size=b)), dict(attrs)) for a, b, attrs in cases]


def _of_columns(a: Any, b: Any, rcond: Any, over: bool) -> Any:
    """One matrix with many vectors, which are rows of `b`."""
    x, rest, rank, values = Lstsq.applied(a, transposed(b), **_attrs(rcond, over), **size_attrs(a))
    rest = zeros(ArrayType(values.dtype, (b.shape[0], 0))) if rest.shape == (0,) else rest[:, None]
    return transposed(x), rest, np.broadcast_to(rank, (b.shape[0],)), \
        np.broadcast_to(values, (b.shape[0], *values.shape))


def _of_stack(a: Any, b: Any, vector: bool, rcond: Any, over: bool) -> Any:
    """A matrix for each element of the batch."""
    x, values = _inverse(a, rcond) @ b, np.linalg.svdvals(a)
    rest = np.sum(squared_size(b - a @ x), axis=-2)
    rest = rest if over else rest[..., :0]
    return x[..., 0] if vector else x, rest, _rank(a, values, rcond), values


def _rank(a: Any, values: Any, rcond: Any) -> Any:
    rows, columns = a.shape[-2:]
    size = rows if at_least(rows, columns) else columns
    eps: Any = float(np.finfo(values.dtype).eps)
    limit = eps * value(size) if rcond is None else rcond
    return np.sum(values > limit * values[..., :1], axis=-1).astype(np.int32)


def _attrs(rcond: Any, over: bool) -> Kwargs:
    return ({} if rcond is None else {"rcond": rcond}) | ({"over": True} if over else {})


def _floating(x: Any) -> Any:
    return x if x.type.is_inexact else x.astype(float)


def _solved(a, b, rcond=None):
    a, b, rcond = _floating(value(a)), _floating(value(b)), arguments.known(rcond, "rcond")
    rcond = None if rcond is None else float(rcond)
    wide = size_attrs(a)
    over = not wide and not equal(*a.shape[-2:])
    found = emit(Lstsq, (a.atom, b.atom), _attrs(rcond, over) | wide, "np.linalg.lstsq")
    x, residuals, rank, values = found
    if residuals.shape != (0,):
        residuals = residuals[:where(rank == a.shape[1], residuals.shape[0], 0)]
    return x, residuals, rank, values
