"""Factorisations of matrices: cholesky, eigenvalues, qr; and the pseudo-inverse.

Where NumPy reads half of a matrix that is meant to be symmetric (Hermitian), rules are right for symmetric tangents;
what that is for the matrix as it is says the engine (`transform/symmetric.py`). The rules are those of M. Giles (see
`linear_algebra`), for `qr` those of H.-J. Liao et al., "Differentiable programming tensor networks" (2019).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import NotSupported, ShapeError
from ..core.types import ArrayType
from . import arguments
from .base import Op
from .matrices import (
    MatrixOp,
    adjoint,
    check_matrix,
    checked,
    diagonals,
    identity_like,
    only_real,
    over_rows,
    positive_definite,
    right_solved,
    well_conditioned,
    working_dtype,
)
from .products import transposed
from .statistics import conjugated
from .value import apply, emit, value


def _half_lower(x):
    """The lower triangle with half of the diagonal."""
    return (np.tril(x) + np.tril(x, -1)) / 2


def _cholesky_jvp(t, a, y):
    t = np.linalg.solve(y, adjoint(np.linalg.solve(y, t)))
    return y @ _half_lower(t)


def _cholesky_vjp(dy, a, y):
    upper = transposed(y)
    t = np.linalg.solve(upper, _half_lower(upper @ dy))
    return conjugated(np.linalg.solve(adjoint(y), transposed(t)))


class Cholesky(MatrixOp):
    """NumPy reads the lower triangle only."""

    symmetric = True
    calls = (np.linalg.cholesky,)
    of_lapack = True
    jvp = _cholesky_jvp
    vjp = _cholesky_vjp

    def front(args, kwargs, spelling):
        kwargs = dict(kwargs)
        if arguments.known(kwargs.pop("upper", False), "upper"):
            return adjoint(apply(Cholesky, (adjoint(value(args[0])),), {}, spelling))
        operands, attrs = Cholesky.bind(args, kwargs)
        return emit(Cholesky, (value(operands[0]).atom,), attrs, spelling)

    def types(a: ArrayType) -> ArrayType:
        return ArrayType(checked(a), a.sizes)

    def domain(rng):
        return [((positive_definite(rng, *shape),), {}) for shape in ((3, 3), (2, 2), (2, 3, 3))]


def is_positive_definite(a):
    """Whether `np.linalg.cholesky` takes these matrices."""
    try:
        np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        return False
    return True


class IsPositiveDefinite(Op):
    """What a `try` around `np.linalg.cholesky` asks for."""

    name = "is_positive_definite"
    calls = (is_positive_definite,)
    helper = True
    heavy = True
    loop = None, "LAPACK computes it"
    derivative = None, "its result is piecewise constant"

    def types(a: ArrayType) -> ArrayType:
        checked(a)
        return ArrayType(np.dtype(bool))

    def batch(lead, a):
        raise NotSupported("is_positive_definite cannot be batched", instead="Test one matrix at a time.")

    def domain(rng):
        return [((positive_definite(rng, 3, 3),), {}), ((-positive_definite(rng, 2, 2),), {})]


class SymmetricOp(MatrixOp):
    """An op on a symmetric matrix of which NumPy reads one triangle, `UPLO`."""

    symmetric = True

    @classmethod
    def front(cls, args: Any, kwargs: Any, spelling: str | None) -> Any:
        a, half = _matrix_and_half(*args, **kwargs)
        if half not in ("L", "U"):
            raise ShapeError("UPLO argument must be 'L' or 'U'")
        return emit(cls, ((a if half == "L" else transposed(a)).atom,), {}, spelling)

    def domain(rng):
        found = (rng.normal(size=shape) for shape in ((3, 3), (2, 2), (2, 3, 3)))
        apart = np.diag([0.0, 4.0, 8.0])
        return [((a + np.swapaxes(a, -1, -2) + apart[:a.shape[-1], :a.shape[-1]],), {})
                for a in found]


def _matrix_and_half(a, UPLO="L"):
    return value(a), arguments.known(UPLO, "UPLO").upper()


def inverse_gaps(w):
    """``1 / (w[j] - w[i])``, and 0 on the diagonal."""
    ones = identity_like(w, w.shape[-1])
    return 1 / (over_rows(w) - w[..., None] + ones) - ones


def _eigh_jvp(t, a, y):
    w, v = y
    turned = transposed(v) @ t @ v
    return diagonals(turned), v @ (inverse_gaps(w) * turned)


def _eigh_vjp(dy, a, y):
    (dw, dv), (w, v) = dy, y
    turned = inverse_gaps(w) * (transposed(v) @ dv)
    return (v * over_rows(dw) + v @ turned) @ transposed(v)


def _eigvalsh_jvp(t, a, y):
    _, v = np.linalg.eigh(a)
    return diagonals(transposed(v) @ t @ v)


def _eigvalsh_vjp(dy, a, y):
    _, v = np.linalg.eigh(a)
    return v * over_rows(dy) @ transposed(v)


class Eigvalsh(SymmetricOp):
    """Eigenvalues in ascending order."""

    gives_symmetric = True
    calls = (np.linalg.eigvalsh,)
    jvp = _eigvalsh_jvp
    vjp = _eigvalsh_vjp

    def types(a: ArrayType) -> ArrayType:
        only_real(a, "np.linalg.eigvalsh")
        return ArrayType(checked(a), a.sizes[:-1])


class Eigh(SymmetricOp):
    """Eigenvalues and eigenvectors. Where two eigenvalues are equal the eigenvectors have no
    derivative: it is then infinite or nan."""

    calls = (np.linalg.eigh,)
    alone = {0: Eigvalsh}
    jvp = _eigh_jvp
    vjp = _eigh_vjp

    def types(a: ArrayType) -> tuple[ArrayType, ArrayType]:
        only_real(a, "np.linalg.eigh")
        dtype = checked(a)
        return ArrayType(dtype, a.sizes[:-1]), ArrayType(dtype, a.sizes)


def _qr_jvp(t, a, y):
    q, r = y
    scaled = right_solved(t, r)
    inside = transposed(q) @ scaled
    lower = np.tril(inside, -1)
    turn = lower - transposed(lower)
    return q @ (turn - inside) + scaled, (inside - turn) @ r


def _qr_vjp(dy, a, y):
    (dq, dr), (q, r) = dy, y
    inside = r @ transposed(dr) - transposed(dq) @ q
    both = np.tril(inside) + transposed(np.tril(inside, -1))
    return right_solved(dq + q @ both, transposed(r))


class Qr(MatrixOp):
    """The reduced factorisation of matrices with at least as many rows as columns."""

    calls = (np.linalg.qr,)
    jvp = _qr_jvp
    vjp = _qr_vjp

    def types(a: ArrayType, mode: str = "reduced") -> tuple[ArrayType, ArrayType]:
        check_matrix(a)
        only_real(a, "np.linalg.qr")
        if mode != "reduced":
            raise NotSupported(f"np.linalg.qr with mode={mode!r} is not supported", instead="Omit `mode`.")
        if not current().assumptions.at_least(a.sizes[-2], a.sizes[-1]):
            raise NotSupported("np.linalg.qr of a matrix with more columns than rows is not supported",
                               why="Its derivative is not implemented.",
                               instead="Factorise the leading square part.")
        dtype = working_dtype(a)
        square = (*a.sizes[:-2], a.sizes[-1], a.sizes[-1])
        return ArrayType(dtype, a.sizes), ArrayType(dtype, square)

    def domain(rng):
        return [((well_conditioned(rng, 3, 3),), {}), ((rng.normal(size=(4, 2)),), {}),
                ((rng.normal(size=(2, 3, 2)),), {})]


def _outside(p, a):
    """The projections ``1 - a @ p`` and ``1 - p @ a`` that a pseudo-inverse leaves."""
    return (identity_like(p, a.shape[-2]) - a @ p, identity_like(p, a.shape[-1]) - p @ a)


def _pinv_jvp(t, a, y, **attrs):
    rows, columns = _outside(y, a)
    left, right = y @ adjoint(y), adjoint(y) @ y
    return -y @ t @ y + left @ adjoint(t) @ rows + columns @ adjoint(t) @ right


def _pinv_vjp(dy, a, y, **attrs):
    rows, columns = _outside(y, a)
    left, right = y @ adjoint(y), adjoint(y) @ y
    back = transposed(dy)
    turned = rows @ back @ left + right @ back @ columns
    return conjugated(turned) - transposed(y) @ dy @ transposed(y)


class Pinv(MatrixOp):
    """The pseudo-inverse, differentiable where the rank does not change (Golub, Pereyra 1973). `rcond` or `rtol`
    says which singular values count as 0; with ``rtol=None`` it depends on the number of rows and columns."""

    calls = (np.linalg.pinv,)
    jvp = _pinv_jvp
    vjp = _pinv_vjp

    @classmethod
    def bind(cls, args: Any, kwargs: Any) -> Any:
        (a,), attrs = super().bind(args, kwargs)
        limits = {key: arguments.known(item, key) for key, item in attrs.items()}
        for key, item in limits.items():
            if not isinstance(item, int | float | np.number | None):
                raise NotSupported(f"np.linalg.pinv with a different {key} for each matrix is not supported",
                                   instead="Pass one number.")
        return (a,), {key: item if item is None else float(item) for key, item in limits.items()}

    def types(a: ArrayType, rcond: Any = None, *, rtol: Any = 1e-15) -> ArrayType:
        check_matrix(a)
        return ArrayType(working_dtype(a), (*a.sizes[:-2], a.sizes[-1], a.sizes[-2]))

    def domain(rng):
        plain = [((rng.normal(size=shape),), {}) for shape in ((3, 2), (2, 3), (2, 3, 2))]
        return [*plain, ((rng.normal(size=(3, 2)),), {"rtol": None}), ((rng.normal(size=(3, 2)),), {"rcond": 1e-8})]
