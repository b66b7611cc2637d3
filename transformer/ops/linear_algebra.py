"""Linear systems, inverses and determinants of the matrices in the last two axes.

Their rules are those of M. Giles, "Collected matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008).
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import ShapeError
from ..core.sizes import Extent
from ..core.types import ArrayType
from . import arguments
from .base import Op
from .elementwise import aligned, broadcast, size_text
from .matrices import (
    MatrixOp,
    checked,
    identity_like,
    over_matrices,
    real_dtype,
    well_conditioned,
    working_dtype,
)
from .products import transposed
from .rewritten import Rewritten
from .value import value


def _solved(a: Any, x: Any, vector: bool) -> Any:
    """`np.linalg.solve` for vectors in the last axis, also where there are several, or matrices."""
    if vector and x.ndim > 1:
        return np.linalg.solve(a, x[..., None])[..., 0]
    return np.linalg.solve(a, x)


def _times(a: Any, x: Any, vector: bool) -> Any:
    return (a @ x[..., None])[..., 0] if vector and x.ndim > 1 else a @ x


def _solve_matrix_cotangent(dy, a, b, y):
    t = _solved(transposed(a), dy, b.ndim == 1)
    if b.ndim > 1:
        return -t @ transposed(y)
    return -np.outer(t, y) if y.ndim == 1 else -t[..., None] * y[..., None, :]


def _misfit(name: str, signature: str, size: Extent, wanted: Extent) -> ShapeError:
    return ShapeError(f"{name}: Input operand 1 has a mismatch in its core dimension 0, with "
                      f"gufunc signature {signature} (size {size_text(size)} is different from "
                      f"{size_text(wanted)})")


class Solve(Op):
    """`b` is one vector if it has one axis, else it holds matrices (NumPy 2)."""

    calls = (np.linalg.solve,)
    of_lapack = True
    loop = None, "LAPACK computes it"
    heavy = True
    jvp = (lambda t, a, b, y: -_solved(a, _times(t, y, b.ndim == 1), b.ndim == 1),
           lambda t, a, b, y: np.linalg.solve(a, t))
    vjp = (_solve_matrix_cotangent,
           lambda dy, a, b, y: _solved(transposed(a), dy, b.ndim == 1))

    def types(a: ArrayType, b: ArrayType) -> ArrayType:
        checked(a)
        if not b.rank:
            raise ShapeError("solve: Input operand 1 does not have enough dimensions (has 0, "
                             "gufunc core with signature (m,m),(m)->(m) requires 1)")
        vector = b.rank == 1
        rows, rest = (b.sizes[0], ()) if vector else (b.sizes[-2], b.sizes[-1:])
        if not current().assumptions.equal(a.sizes[-1], rows):
            form = ("solve1", "(m,m),(m)->(m)") if vector else ("solve", "(m,m),(m,n)->(m,n)")
            raise _misfit(*form, rows, a.sizes[-1])
        stack = broadcast(a.sizes[:-2], () if vector else b.sizes[:-2])
        return ArrayType(working_dtype(a, b), (*stack, a.sizes[-1], *rest))

    def batch(lead, a, b):
        if b.ndim - lead[1] > 1:
            return np.linalg.solve(*aligned(lead, (a, b)))
        if not lead[1]:
            return np.linalg.solve(a, b)
        if a.ndim - lead[0] == 2 and not lead[0]:
            return np.linalg.solve(a, b.T).T
        a, b = aligned(lead, (a, b[..., None]))
        return np.linalg.solve(a, b)[..., 0]

    def domain(rng):
        shapes = [((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3,)), ((2, 3, 3), (2, 3, 2)),
                  ((2, 2), (3, 2, 1)), ((2, 1, 2, 2), (3, 2, 2))]
        return [((well_conditioned(rng, *a), rng.normal(size=b)), {}) for a, b in shapes]


def _square_domain(rng):
    return [((well_conditioned(rng, *shape),), {}) for shape in ((3, 3), (2, 2), (2, 3, 3))]


def _inv_jvp(t, a, y):
    return -y @ t @ y


def _inv_vjp(dy, a, y):
    return -transposed(y) @ dy @ transposed(y)


class Inv(MatrixOp):
    calls = (np.linalg.inv,)
    of_lapack = True
    jvp = _inv_jvp
    vjp = _inv_vjp
    domain = _square_domain

    def types(a: ArrayType) -> ArrayType:
        return ArrayType(checked(a), a.sizes)


def _log_det_tangent(t, a):
    """The trace of ``inv(a) @ t``."""
    return np.sum(transposed(np.linalg.inv(a)) * t, axis=(-2, -1))


def _log_det_cotangent(factor, a):
    return over_matrices(factor, a.ndim) * transposed(np.linalg.inv(a))


class Det(MatrixOp):
    """Its derivative is ``det(a) * inv(a).T``. Where `a` is singular to NumPy that raises
    LinAlgError, as `np.linalg.inv` does. Close to a singular matrix the errors of the two factors
    cancel and the derivative keeps its accuracy; the second derivative loses digits there."""

    calls = (np.linalg.det,)
    of_lapack = True
    jvp = (lambda t, a, y: y * _log_det_tangent(t, a),)
    vjp = (lambda dy, a, y: _log_det_cotangent(dy * y, a),)
    domain = _square_domain

    def types(a: ArrayType) -> ArrayType:
        return ArrayType(checked(a), a.sizes[:-2])


def _slogdet_jvp(t, a, y):
    trace = _log_det_tangent(t, a)
    if a.dtype.kind == "c":
        return 1j * y[0] * np.imag(trace), np.real(trace)
    return None, trace


def _slogdet_vjp(dy, a, y):
    dsign, dlog = dy
    if a.dtype.kind == "c":
        return _log_det_cotangent(dlog - 1j * np.real(1j * y[0] * dsign), a)
    return _log_det_cotangent(dlog, a)


class Slogdet(MatrixOp):
    """The sign of the determinant and the logarithm of its absolute value."""

    calls = (np.linalg.slogdet,)
    of_lapack = True
    jvp = _slogdet_jvp
    vjp = _slogdet_vjp
    domain = _square_domain

    def types(a: ArrayType) -> tuple[ArrayType, ArrayType]:
        dtype = checked(a)
        return ArrayType(dtype, a.sizes[:-2]), ArrayType(real_dtype(dtype), a.sizes[:-2])


class MatrixPower(Rewritten):
    """Products of matrices with themselves; a negative power inverts first."""

    name = "matrix_power"
    calls = (np.linalg.matrix_power,)

    def rewrite(a, n):
        a, count = value(a), arguments.whole(n, "the exponent")
        checked(a.type)
        if count == 0:
            return np.broadcast_to(identity_like(a, a.shape[-1]), a.shape)
        square, result = a if count > 0 else np.linalg.inv(a), None
        count = abs(count)
        while True:
            if count % 2:
                result = square if result is None else result @ square
            count //= 2
            if not count:
                return result
            square = square @ square


class MultiDot(Rewritten):
    """The product of a list of matrices, from left to right."""

    name = "multi_dot"
    calls = (np.linalg.multi_dot,)

    def rewrite(arrays):
        return reduce(np.dot, map(value, arrays))
