"""Least squares.

    x = np.linalg.lstsq(a, b)[0]        db = pinv(a).T @ dx
                                        da = -np.outer(db, x) + np.outer(b - a @ x, pinv(a) @ db)

for real matrices of full column rank; for others a term more (G. Golub, V. Pereyra, 1973). The rank must not
change close by.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import ShapeError
from ..core.types import ArrayType
from . import arguments
from .base import Op
from .elementwise import aligned, size_text, where
from .matrices import adjoint, at_least, real_dtype, working_dtype
from .products import equal, transposed
from .statistics import conjugated, squared_size
from .value import emit, value


def _inverse(a: Any, rcond: Any) -> Any:
    """The pseudo-inverse with which `lstsq` solves."""
    return np.linalg.pinv(a, rtol=None) if rcond is None else np.linalg.pinv(a, rcond)


def _outer(x: Any, y: Any) -> Any:
    """``np.outer(x, y)``, summed over the columns where there are several."""
    return np.outer(x, y) if x.ndim == 1 else x @ transposed(y)


def _a_jvp(t, a, b, y, rcond=None):
    x, p, turned = y[0], _inverse(a, rcond), adjoint(t)
    beside = turned @ (adjoint(p) @ x)
    moved = p @ (adjoint(p) @ (turned @ (b - a @ x))) - p @ (t @ x) + beside - p @ (a @ beside)
    return moved, None, None, real_diagonal(t, a)


def real_diagonal(t: Any, a: Any) -> Any:
    """The tangent of the singular values."""
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    inside = np.diagonal(adjoint(u) @ t @ adjoint(vh), axis1=-2, axis2=-1)
    return np.real(inside) if inside.dtype.kind == "c" else inside


def _b_jvp(t, a, b, y, rcond=None):
    return _inverse(a, rcond) @ t, None, None, None


def _b_vjp(dy, a, b, y, rcond=None):
    return transposed(_inverse(a, rcond)) @ dy[0]


def _a_vjp(dy, a, b, y, rcond=None):
    x, p = y[0], _inverse(a, rcond)
    back = transposed(p) @ dy[0]
    rest, across = b - a @ x, dy[0] - transposed(a) @ back
    da = _outer(conjugated(rest), p @ conjugated(back)) - _outer(back, x)
    return da + _outer(transposed(p) @ conjugated(x), conjugated(across))


class Lstsq(Op):
    """The solution, the residuals, the rank, the singular values. A vector `b` has one axis. The residuals are
    written with the solution, from which they have their derivative; here nobody looks at them."""

    calls = (np.linalg.lstsq,)
    loop = None, "LAPACK computes it"
    heavy = True
    jvp = _a_jvp, _b_jvp
    vjp = _a_vjp, _b_vjp

    def front(args, kwargs, spelling):
        return _solved(*args, **kwargs)

    def types(a: ArrayType, b: ArrayType, rcond: float | None = None) -> tuple[ArrayType, ...]:
        if a.rank != 2:
            raise ShapeError(f"{a.rank}-dimensional array given. Array must be two-dimensional")
        if b.rank not in (1, 2):
            raise ShapeError(f"{b.rank}-dimensional array given. Array must be two-dimensional")
        if not equal(a.sizes[0], b.sizes[0]):
            raise ShapeError(f"Incompatible dimensions: {size_text(a.sizes[0])} and {size_text(b.sizes[0])} rows")
        rows, columns = a.sizes
        dtype, count = working_dtype(a, b), columns if at_least(rows, columns) else rows
        rest = (*b.sizes[1:], 1)[:1] if at_least(rows, columns) and not equal(rows, columns) else (0,)
        real = real_dtype(dtype)
        return (ArrayType(dtype, (columns, *b.sizes[1:])), ArrayType(real, rest), ArrayType(np.dtype(np.int32)),
                ArrayType(real, (count,)))

    def batch(lead, a, b, rcond=None):
        vector = b.ndim - lead[1] == 1
        a, b = aligned(lead, (a, b[..., None] if vector else b))
        x, values = _inverse(a, rcond) @ b, np.linalg.svdvals(a)
        rows, columns = a.shape[-2:]
        rest = np.sum(squared_size(b - a @ x), axis=-2)
        rest = rest if at_least(rows, columns) and not equal(rows, columns) else rest[..., :0]
        return x[..., 0] if vector else x, rest, _rank(a, values, rcond), values

    def domain(rng):
        return [((rng.normal(size=a), rng.normal(size=b)), {})
                for a, b in (((4, 2), (4,)), ((3, 2), (3, 2)), ((3, 3), (3,)), ((2, 3), (2,)))]


def _rank(a: Any, values: Any, rcond: Any) -> Any:
    rows, columns = a.shape[-2:]
    size = rows if at_least(rows, columns) else columns
    limit = float(np.finfo(values.dtype).eps) * size if rcond is None else rcond
    return np.sum(values > limit * values[..., :1], axis=-1).astype(np.int32)


def _solved(a, b, rcond=None):
    a, b, rcond = value(a), value(b), arguments.known(rcond, "rcond")
    rcond = None if rcond is None else float(rcond)
    found = emit(Lstsq, (a.atom, b.atom), {} if rcond is None else {"rcond": rcond}, "np.linalg.lstsq")
    x, residuals, rank, values = found
    if residuals.shape != (0,):
        residuals = _residuals(a, b, x, rank)
    return x, residuals, rank, values


def _residuals(a: Any, b: Any, x: Any, rank: Any) -> Any:
    """The sums of squares of what is left, none of them where the columns depend on each other."""
    rest = np.sum(squared_size(b - a @ x), axis=0, keepdims=b.ndim == 1)
    return rest[:where(rank == a.shape[1], rest.shape[0], 0)]
