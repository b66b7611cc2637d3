"""Singular value decomposition, and what is made of singular values.

The derivative of the singular values is that of J. Townsend, "Differentiating the singular value
decomposition" (2016). That of the vectors divides by the differences of squares of singular values:
where two are equal, or one is 0, it is infinite or nan. Complex vectors are known up to a factor of size
1 for each pair; their derivative is right for what does not depend on these factors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import NotDifferentiable, NotSupported
from ..core.sizes import Extent
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Kwargs
from .factorizations import inverse_gaps
from .matrices import MatrixOp, adjoint, at_least, check_matrix, diagonals, over_rows, real_dtype, working_dtype
from .products import equal, transposed
from .statistics import conjugated, real_part
from .value import apply, emit, value

IGNORED = ("overwrite_a", "check_finite", "lapack_driver")


def is_wide(rows: Extent, columns: Extent) -> bool:
    """Whether there are fewer rows than columns, so that the rows are as many as the singular values; a guard."""
    if at_least(rows, columns):
        return False
    at_least(columns, rows)
    return True


def size_attrs(a: Any) -> Kwargs:
    """What the types of a decomposition need to know of a matrix."""
    check_matrix(a.type)
    return {"wide": True} if is_wide(*a.shape[-2:]) else {}


def _values_jvp(t, a, y, wide=False):
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return real_part(diagonals(adjoint(u) @ t @ adjoint(vh)))


def _values_vjp(dy, a, y, wide=False):
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return conjugated(u * over_rows(dy)) @ conjugated(vh)


def _shapes(*shapes: tuple[int, ...]) -> Any:
    """A domain of matrices with singular values that are far apart."""
    def domain(rng: Any) -> Any:
        return [((_spread(rng, shape),), _wide(shape)) for shape in shapes]
    return domain


def _wide(shape: tuple[int, ...]) -> Kwargs:
    return {"wide": True} if shape[-2] < shape[-1] else {}


def _spread(rng: Any, shape: tuple[int, ...]) -> Any:
    u, _, vh = np.linalg.svd(rng.normal(size=shape), full_matrices=False)
    return u * np.arange(1.0, u.shape[-1] + 1)[::-1] @ vh


class Svdvals(MatrixOp):
    """Singular values, the largest first."""

    calls = np.linalg.svdvals, "scipy.linalg.svdvals"
    jvp = _values_jvp
    vjp = _values_vjp
    domain = _shapes((3, 3), (4, 2), (2, 3), (2, 3, 2))

    silent = ("wide",)

    def front(args, kwargs, spelling):
        kwargs = {key: item for key, item in kwargs.items() if key not in IGNORED}
        (a,), _ = Svdvals.bind(args, {("a" if key == "x" else key): item for key, item in kwargs.items()})
        return emit(Svdvals, (value(a).atom,), size_attrs(value(a)), spelling)

    def types(a: ArrayType, wide: bool = False) -> ArrayType:
        check_matrix(a)
        return ArrayType(real_dtype(working_dtype(a)), (*a.sizes[:-2], a.sizes[-2 if wide else -1]))

    def batch(lead, a, wide=False):
        return np.linalg.svdvals(a)

    def run(a, wide=False):
        return np.linalg.svdvals(a)


def _phase(inside: Any, s: Any) -> Any:
    """The turn of complex vectors that comes from the diagonal; real ones have none."""
    return np.imag(diagonals(inside)) / s * 1j


def _turned(u: Any, inside: Any, s: Any) -> Any:
    return u * over_rows(_phase(inside, s)) if u.dtype.kind == "c" else None


def _sum(*terms: Any) -> Any:
    first, *rest = [term for term in terms if term is not None]
    return sum(rest, first)


def _outside(x: Any, u: Any, inside: Any, s: Any) -> Any:
    """The part of `x` that `u` does not span, over the singular values; None where `u` spans all."""
    rows, columns = u.shape[-2:]
    return None if equal(rows, columns) else (x - u @ inside) / over_rows(s)


def _svd_jvp(t, a, y, full_matrices=False, wide=False):
    _check_reduced(full_matrices)
    u, s, vh = y
    v, gaps, row, column = adjoint(vh), inverse_gaps(s * s), over_rows(s), s[..., None]
    inside = adjoint(u) @ t @ v
    du = _sum(u @ (gaps * (inside * row + column * adjoint(inside))), _turned(u, inside, s),
              _outside(t @ v, u, inside, s))
    dv = _sum(v @ (gaps * (column * inside + adjoint(inside) * row)),
              _outside(adjoint(t) @ u, v, adjoint(inside), s))
    return du, real_part(diagonals(inside)), adjoint(dv)


def _svd_vjp(dy, a, y, full_matrices=False, wide=False):
    _check_reduced(full_matrices)
    u, s, vh = y
    gu, gv, v, gaps = conjugated(dy[0]), transposed(dy[2]), adjoint(vh), inverse_gaps(s * s)
    across, down = adjoint(u) @ gu, vh @ gv
    left, right = gaps * across, gaps * down
    inside = (left + adjoint(left)) * over_rows(s) + s[..., None] * (right + adjoint(right))
    rows = _sum(u @ inside + u * over_rows(dy[1]), _turned(u, across, s), _outside(gu, u, across, s)) @ vh
    columns = _outside(gv, v, down, s)
    return conjugated(rows if columns is None else rows + u @ adjoint(columns))


def _check_reduced(full_matrices: bool) -> None:
    if full_matrices:
        raise NotDifferentiable("the derivative of np.linalg.svd with full_matrices=True is not defined",
                                why="The singular vectors without a singular value are not unique.",
                                instead="Pass full_matrices=False.")


class Svd(MatrixOp):
    """``a == u * s @ vh``; with `full_matrices`, `u` and `vh` are square, and have no derivative."""

    calls = np.linalg.svd, "scipy.linalg.svd"
    alone = {1: Svdvals}
    silent = ("wide",)
    jvp = _svd_jvp
    vjp = _svd_vjp

    @classmethod
    def front(cls, args: Args, kwargs: Kwargs, spelling: str | None) -> Any:
        return _decomposed(spelling, *args, **{key: item for key, item in kwargs.items() if key not in IGNORED})

    def types(a: ArrayType, full_matrices: bool = True, wide: bool = False) -> tuple[ArrayType, ...]:
        check_matrix(a)
        dtype, (*stack, rows, columns) = working_dtype(a), a.sizes
        count = rows if wide else columns
        left, right = (rows, columns) if full_matrices else (count, count)
        return (ArrayType(dtype, (*stack, rows, left)), ArrayType(real_dtype(dtype), (*stack, count)),
                ArrayType(dtype, (*stack, right, columns)))

    def domain(rng):
        shapes = (3, 3), (4, 2), (2, 3), (2, 3, 2)
        return [((_spread(rng, shape),), {"full_matrices": False, **_wide(shape)}) for shape in shapes]

    def batch(lead, a, full_matrices=True, wide=False):
        return np.linalg.svd(a, full_matrices=full_matrices)

    def run(a, full_matrices=True, wide=False):
        return tuple(np.linalg.svd(a, full_matrices))


def _decomposed(spelling, a, full_matrices=True, compute_uv=True, hermitian=False):
    a = value(a)
    check_matrix(a.type)
    if arguments.known(hermitian, "hermitian"):
        raise NotSupported("np.linalg.svd with hermitian=True is not supported",
                           instead="Omit it, or use np.linalg.eigh.")
    if not arguments.known(compute_uv, "compute_uv"):
        return apply(Svdvals, (a,), {})
    full = bool(arguments.known(full_matrices, "full_matrices"))
    full = full and not equal(*a.shape[-2:])
    return emit(Svd, (a.atom,), {"full_matrices": full, **size_attrs(a)}, spelling)
