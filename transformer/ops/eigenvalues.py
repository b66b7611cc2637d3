"""Eigenvalues and eigenvectors of general matrices.

They are complex numbers here, whatever the matrix; where all imaginary parts are 0, NumPy gives real ones.
The derivative of the eigenvalues is that of P. D. Lax; that of the vectors keeps their length at 1, and
their largest element real, as LAPACK gives them. It divides by the differences of the eigenvalues: where two are
equal the vectors have no derivative, and those of the eigenvalues are right only if all vectors are
independent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import NotSupported
from ..core.halves import promoted
from ..core.types import ArrayType
from .arguments import Args, Kwargs
from .creation import arange
from .factorizations import inverse_gaps
from .matrices import MatrixOp, checked, over_rows
from .products import transposed
from .value import emit, value


def complex_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the eigenvalues of a matrix."""
    return promoted((dtype if dtype.kind in "fc" else np.dtype(float), np.dtype(np.complex64)))


def complex_eigvals(a):
    """`np.linalg.eigvals`, which gives real numbers for some matrices, in complex ones for all of them."""
    return np.linalg.eigvals(a) + 0j


def complex_eig(a):
    """`np.linalg.eig`, which gives real arrays for some matrices, in complex ones for all of them."""
    w, v = np.linalg.eig(a)
    return w + 0j, v + 0j


class _Eigen(MatrixOp):
    """An op on any square matrix, with LAPACK's `geev`."""

    of_real: type[_Eigen]

    @classmethod
    def front(cls, args: Args, kwargs: Kwargs, spelling: str | None) -> Any:
        return _plain(cls, spelling, *args, **{key: item for key, item in kwargs.items() if key not in IGNORED})

    def domain(rng):
        found = (rng.normal(size=shape) for shape in ((3, 3), (2, 2), (2, 3, 3)))
        apart = np.diag([0.0, 4.0, 8.0])
        return [((a + apart[:a.shape[-1], :a.shape[-1]] + 0j,), {}) for a in found]


IGNORED = ("overwrite_a", "overwrite_b", "check_finite")


def _plain(op, spelling, a, b=None, left=False, right=True, homogeneous_eigvals=False):
    if b is not None or left or homogeneous_eigvals:
        raise NotSupported(f"scipy.linalg.{op.name} with b, left or homogeneous_eigvals is not supported",
                           instead="Omit them; instead of passing b, take the eigenvalues of np.linalg.solve(b, a).")
    a = value(a)
    op = op if right else Eigvals
    if a.dtype.kind != "c":
        return emit(op.of_real, (a.atom,), {})
    return emit(op, (a.atom,), {}, spelling if right else None)


def _as_complex(a: Any, like: Any) -> Any:
    """A matrix in the dtype of the eigenvectors."""
    return a if a.dtype == like.dtype else a.astype(like.dtype)


def _values_jvp(t, a, y):
    _, v = np.linalg.eig(a)
    return np.diagonal(_turned(t, v), axis1=-2, axis2=-1)


def _turned(t: Any, v: Any) -> Any:
    """A change of the matrix in the basis of its eigenvectors."""
    return np.linalg.solve(v, _as_complex(t, v) @ v)


def _values_vjp(dy, a, y):
    _, v = np.linalg.eig(a)
    return np.linalg.solve(transposed(v), dy[..., None] * transposed(v))


class Eigvals(_Eigen):
    calls: Any = np.linalg.eigvals, "scipy.linalg.eigvals"
    jvp = _values_jvp
    vjp = _values_vjp

    def types(a: ArrayType) -> ArrayType:
        return ArrayType(complex_dtype(checked(a)), a.sizes[:-1])

    def run(a):
        return complex_eigvals(a)


def _pivots(v: Any) -> Any:
    """One at the largest element of each vector, divided by it; zero at the others."""
    places = arange(v.shape[-1])[:, None]
    here = (places == over_rows(np.argmax(np.abs(v), axis=-2))).astype(v.dtype)
    return here / over_rows(np.sum(here * v, axis=-2))


def _eig_jvp(t, a, y):
    w, v = y
    inside = _turned(t, v)
    x = v @ (inverse_gaps(w) * inside)
    length = np.real(np.sum(np.conj(v) * x, axis=-2))
    phase = np.imag(np.sum(_pivots(v) * x, axis=-2))
    return np.diagonal(inside, axis1=-2, axis2=-1), x - v * over_rows(length + phase * 1j)


def _eig_vjp(dy, a, y):
    (dw, dv), (w, v) = dy, y
    along = np.sum(dv * v, axis=-2)
    dx = dv - np.conj(v) * over_rows(np.real(along)) - _pivots(v) * over_rows(np.imag(along) * 1j)
    back = transposed(v)
    inside = inverse_gaps(w) * (back @ dx)
    return np.linalg.solve(back, inside @ back + dw[..., None] * back)


class Eig(_Eigen):
    calls: Any = np.linalg.eig, "scipy.linalg.eig"
    alone = {0: Eigvals}
    jvp = _eig_jvp
    vjp = _eig_vjp

    def types(a: ArrayType) -> tuple[ArrayType, ArrayType]:
        dtype = complex_dtype(checked(a))
        return ArrayType(dtype, a.sizes[:-1]), ArrayType(dtype, a.sizes)

    def run(a):
        return complex_eig(a)


class ComplexEigvals(Eigvals):
    """Those of a real matrix: in complex arithmetic they would have other digits, and pairs would not be conjugate."""

    name = "complex_eigvals"
    calls = (complex_eigvals,)
    helper = True
    in_memory = Eigvals

    def domain(rng):
        return _real_matrices(rng)


class ComplexEig(Eig):
    """Those of a real matrix, in real arithmetic as well."""

    name = "complex_eig"
    calls = (complex_eig,)
    alone = {0: ComplexEigvals}
    helper = True
    in_memory = Eig

    def domain(rng):
        return _real_matrices(rng)


Eigvals.of_real, Eig.of_real = ComplexEigvals, ComplexEig


def _real_matrices(rng):
    """Those with real eigenvalues: of others, the signs of vectors that LAPACK gives rest on rounding."""
    return [((np.real(a + a.mT),), {}) for (a,), _ in _Eigen.domain(rng)]
