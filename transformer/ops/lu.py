"""LU decomposition with pivots, by `scipy.linalg`.

The order of the rows is constant close by; the derivative of the factors is that of the matrix with its rows in
this order (F. de Hoog, R. Anderssen, M. Lukas, "Differentiation of matrix functionals using triangular
factorization", 2011).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import NotSupported
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Kwargs
from .base import callable_of
from .matrices import MatrixOp, checked, right_solved, well_conditioned
from .products import transposed
from .value import Value, apply, emit, value


def lu(a: Any) -> Any:
    """`scipy.linalg.lu` in rules."""
    return apply(Lu, (a,), {}) if isinstance(a, Value) else callable_of("scipy.linalg.lu")(a)


def _moved(t: Any, p: Any, lower: Any, upper: Any) -> Any:
    """The tangents of both factors."""
    inside = right_solved(np.linalg.solve(lower, transposed(p) @ t), upper)
    return lower @ np.tril(inside, -1), np.triu(inside) @ upper


def _pulled(dlower: Any, dupper: Any, p: Any, lower: Any, upper: Any) -> Any:
    """The cotangent of the matrix."""
    inside = np.tril(transposed(lower) @ dlower, -1) + np.triu(dupper @ transposed(upper))
    return p @ np.linalg.solve(transposed(lower), right_solved(inside, transposed(upper)))


def _lu_jvp(t, a, y):
    return None, *_moved(t, *y)


def _lu_vjp(dy, a, y):
    return _pulled(*dy[1:], *y)


class Lu(MatrixOp):
    """``a == p @ lower @ upper``, for square matrices."""

    calls = "scipy.linalg.lu", lu
    jvp = _lu_jvp
    vjp = _lu_vjp

    @classmethod
    def front(cls, args: Args, kwargs: Kwargs, spelling: str | None) -> Any:
        return _decomposed(spelling, *args, **kwargs)

    def types(a: ArrayType) -> tuple[ArrayType, ArrayType, ArrayType]:
        only_floating(a)
        whole = ArrayType(checked(a), a.sizes)
        return ArrayType(np.empty(0, whole.dtype).real.dtype, a.sizes), whole, whole

    def batch(lead, a):
        return lu(a)

    def run(a):
        return tuple(callable_of("scipy.linalg.lu")(a))

    def domain(rng):
        return [((well_conditioned(rng, *shape)[..., ::-1, :],), {}) for shape in ((3, 3), (2, 2), (2, 3, 3))]


def only_floating(a: ArrayType) -> None:
    if not a.is_inexact:
        raise NotSupported("an LU decomposition of integers is not supported",
                           instead="Convert them with np.astype(a, float).")


def _decomposed(spelling, a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    p, lower, upper = emit(Lu, (value(a).atom,), {}, spelling)
    if arguments.known(permute_l, "permute_l"):
        return p @ lower, upper
    if arguments.known(p_indices, "p_indices"):
        p = np.argmax(p, axis=-1)
    return p, lower, upper


def lu_factor(a: Any) -> Any:
    """`scipy.linalg.lu_factor` in rules."""
    return apply(LuFactor, (a,), {}) if isinstance(a, Value) else callable_of("scipy.linalg.lu_factor")(a)


def _factor_jvp(t, a, y):
    p, lower, upper = lu(a)
    dlower, dupper = _moved(t, p, lower, upper)
    return dlower + dupper, None


def _factor_vjp(dy, a, y):
    return _pulled(dy[0], dy[0], *lu(a))


class LuFactor(MatrixOp):
    """Both factors in one matrix, and with which row each row changed its place."""

    name = "lu_factor"
    calls = "scipy.linalg.lu_factor", lu_factor
    jvp = _factor_jvp
    vjp = _factor_vjp

    @classmethod
    def front(cls, args: Args, kwargs: Kwargs, spelling: str | None) -> Any:
        a = args[0] if args else kwargs["a"]
        return emit(LuFactor, (value(a).atom,), {}, spelling)

    def types(a: ArrayType) -> tuple[ArrayType, ArrayType]:
        only_floating(a)
        return ArrayType(checked(a), a.sizes), ArrayType(np.dtype(np.int32), a.sizes[:-1])

    def batch(lead, a):
        return lu_factor(a)

    def run(a):
        return tuple(callable_of("scipy.linalg.lu_factor")(a))

    domain = Lu.domain
