"""What the ops on matrices have in common: the matrices lie in the last two axes of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import NotSupported, ShapeError
from ..core.halves import is_half, of_core, promoted
from ..core.sizes import Extent
from ..core.types import ArrayType
from .base import Op
from .products import transposed
from .statistics import conjugated
from .value import Value, call


class MatrixOp(Op):
    """An op on a stack of matrices: a batch axis is one more axis of the stack."""

    heavy = True
    loop = None, "LAPACK computes it"

    @classmethod
    def batch(cls, lead: Any, a: Any, **attrs: Any) -> Any:
        return cls.calls[0](a, **attrs)


def check_matrix(a: ArrayType) -> None:
    if a.rank < 2:
        raise ShapeError(f"{a.rank}-dimensional array given. Array must be at least "
                         "two-dimensional")


def checked(a: ArrayType) -> np.dtype:
    """The dtype that `np.linalg` works in for a stack of square matrices; raises for others."""
    check_matrix(a)
    if not current().assumptions.equal(a.sizes[-1], a.sizes[-2]):
        raise ShapeError("Last 2 dimensions of the array must be square")
    return working_dtype(a)


def working_dtype(*operands: ArrayType) -> np.dtype:
    dtype = of_core(promoted(x.dtype for x in operands))
    if is_half(dtype):
        raise NotSupported(f"array type {dtype} is unsupported in linalg", instead="Use float32.")
    return dtype if dtype.kind in "fc" else np.dtype(float)


def real_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the absolute value."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def adjoint(x: Any) -> Any:
    """The conjugate transpose of matrices."""
    return conjugated(transposed(x))


def hermitian(x: Any) -> Any:
    """The symmetric (Hermitian) part of matrices."""
    return (x + adjoint(x)) / 2


def over_matrices(x: Any, rank: int) -> Any:
    """One number per matrix, to be multiplied with the matrices."""
    return x[..., None, None] if rank > 2 else x


def over_rows(x: Any) -> Any:
    """One vector per matrix, to be multiplied with each of its rows."""
    return x[..., None, :] if x.ndim > 1 else x


def diagonals(x: Any) -> Any:
    """The diagonal of each matrix."""
    return np.diagonal(x, axis1=-2, axis2=-1)


def right_solved(x: Any, a: Any) -> Any:
    """``x @ inv(a)``."""
    return transposed(np.linalg.solve(transposed(a), transposed(x)))


def only_real(a: ArrayType, name: str) -> None:
    if a.dtype.kind == "c":
        raise NotSupported(f"{name} of a complex matrix is not supported",
                           why="Its derivative is not implemented.",
                           instead="Work on the real matrix [[a.real, -a.imag], [a.imag, a.real]].")


def at_least(left: Extent, right: Extent) -> bool:
    """Whether one size of a matrix is at least as large as another."""
    return left == right or current().assumptions.at_least(left, right)


def well_conditioned(rng: Any, *shape: int) -> Any:
    """Matrices that are safely invertible."""
    return rng.normal(size=shape) + 3 * np.eye(shape[-1])


def positive_definite(rng: Any, *shape: int) -> Any:
    a = rng.normal(size=shape)
    return a @ np.swapaxes(a, -1, -2) + 2 * np.eye(shape[-1])


def identity_like(x: Any, size: Extent) -> Any:
    """An identity matrix in the dtype of `x`."""
    if isinstance(x, Value):
        return call(np.eye, (size,), {"dtype": x.dtype})
    return np.eye(size, dtype=x.dtype)                                 # type: ignore[arg-type]
