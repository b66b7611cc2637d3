"""Systems of equations with triangular matrices, by `scipy.linalg`, and what is solved with them.

Only the triangle that is meant is read, and only it has a derivative.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import BadArgument, NotSupported, ShapeError
from ..core.grammar import Var, type_of
from ..core.types import ArrayType
from . import arguments
from .arguments import Args, Bound, Kwargs
from .base import Op, callable_of
from .elementwise import aligned, size_text
from .matrices import adjoint, checked, identity_like, well_conditioned
from .products import transposed
from .rewritten import Rewritten
from .statistics import conjugated
from .value import Value, apply, emit, value

NAMES = {"N": 0, "T": 1, "C": 2}
IGNORED = ("overwrite_b", "overwrite_a", "check_finite")


def solve_triangular(a: Any, b: Any, **attrs: Any) -> Any:
    """`scipy.linalg.solve_triangular` in rules."""
    if not isinstance(a, Value) and not isinstance(b, Value):
        return callable_of("scipy.linalg.solve_triangular")(a, b, **attrs)
    return apply(SolveTriangular, (a, b), attrs)


def _half(x: Any, lower: bool, unit_diagonal: bool) -> Any:
    """The triangle that is read."""
    beyond = (-1 if lower else 1) if unit_diagonal else 0
    return (np.tril if lower else np.triu)(x, beyond) if beyond else (np.tril if lower else np.triu)(x)


def _turned(x: Any, trans: int) -> Any:
    return adjoint(x) if trans == 2 else transposed(x) if trans else x


def _a_jvp(t, a, b, y, trans=0, lower=False, unit_diagonal=False):
    moved = _turned(_half(t, lower, unit_diagonal), trans) @ y
    return -solve_triangular(a, moved, **_attrs(trans, lower, unit_diagonal))


def _b_jvp(t, a, b, y, **attrs):
    return solve_triangular(a, t, **attrs)


def _attrs(trans: int, lower: bool, unit_diagonal: bool) -> Kwargs:
    given = {"trans": trans, "lower": lower, "unit_diagonal": unit_diagonal}
    return {key: item for key, item in given.items() if item}


def _b_vjp(dy, a, b, y, trans=0, lower=False, unit_diagonal=False):
    if trans == 2:
        return conjugated(solve_triangular(a, conjugated(dy), **_attrs(0, lower, unit_diagonal)))
    return solve_triangular(a, dy, **_attrs(1 - trans, lower, unit_diagonal))


def _a_vjp(dy, a, b, y, trans=0, lower=False, unit_diagonal=False):
    t = _b_vjp(dy, a, b, y, trans, lower, unit_diagonal)
    left, right = (y, t) if trans else (t, y)
    product = np.outer(left, right) if b.ndim == 1 else left @ transposed(right)
    return -_half(conjugated(product) if trans == 2 else product, lower, unit_diagonal)


@cache
def _dtype(a: np.dtype, b: np.dtype) -> np.dtype:
    """The dtype that SciPy chooses: single precision for numbers of 16 bits and less."""
    half = np.dtype(np.float16)
    if half in (a, b):
        raise NotSupported("array type float16 is unsupported in linalg", instead="Use float32.")
    return callable_of("scipy.linalg.solve_triangular")(np.ones((1, 1), a), np.ones(1, b)).dtype


class SolveTriangular(Op):
    """One matrix; `b` is a vector, or has one in each column. Stacks of matrices go to `np.linalg.solve`."""

    name = "solve_triangular"
    calls = "scipy.linalg.solve_triangular", solve_triangular
    loop = None, "LAPACK computes it"
    heavy = True
    jvp = _a_jvp, _b_jvp
    vjp = _a_vjp, _b_vjp

    def front(args, kwargs, spelling):
        (a, b), attrs = SolveTriangular.bind(args, kwargs)
        a = _part(a, attrs.get("lower", False))
        return emit(SolveTriangular, (a.atom, b.atom), attrs, spelling) if a.ndim == 2 and b.ndim in (1, 2) \
            else _stacked(a, b, **attrs)

    @classmethod
    def bind(cls, args: Args, kwargs: Kwargs) -> Bound:
        kwargs = {key: item for key, item in kwargs.items() if key not in IGNORED}
        (a, b), attrs = super().bind(args, kwargs)
        trans = arguments.known(attrs.pop("trans", 0), "trans")
        flags = {key: bool(arguments.known(item, key)) for key, item in attrs.items()}
        trans = NAMES.get(trans, trans)
        if trans not in (0, 1, 2):
            raise BadArgument(f"trans is {trans!r}", instead="Pass 0, 1 or 2, or 'N', 'T' or 'C'.")
        return (value(a), value(b)), _attrs(trans, flags.get("lower", False), flags.get("unit_diagonal", False))

    def types(a: ArrayType, b: ArrayType, trans=0, lower=False, unit_diagonal=False) -> ArrayType:
        checked(a)
        if a.rank != 2 or b.rank not in (1, 2):
            raise NotSupported("solve_triangular of stacks of matrices is not supported",
                               instead="Use np.linalg.solve.")
        if not current().assumptions.equal(a.sizes[0], b.sizes[0]):
            raise ShapeError(f"shapes of a ({size_text(a.sizes[0])}, {size_text(a.sizes[0])}) and b "
                             f"({size_text(b.sizes[0])}, …) are incompatible")
        return ArrayType(_dtype(a.dtype, b.dtype), b.sizes)

    def batch(lead, a, b, **attrs):
        if lead[0] or b.ndim > 3:
            return _stacked(*_as_columns(lead, a, b), **attrs)[..., 0] if b.ndim - lead[1] == 1 else \
                _stacked(*aligned(lead, (a, b)), **attrs)
        if b.ndim == 2:
            return solve_triangular(a, b.T, **attrs).T
        columns = np.reshape(np.moveaxis(b, 0, 1), (b.shape[1], b.shape[0] * b.shape[2]))
        found = solve_triangular(a, columns, **attrs)
        return np.moveaxis(np.reshape(found, (b.shape[1], b.shape[0], b.shape[2])), 1, 0)

    def domain(rng):
        ways = {}, {"lower": True}, {"trans": 1}, {"trans": 2, "lower": True}, {"unit_diagonal": True, "trans": 1}
        return [((well_conditioned(rng, 3, 3), rng.normal(size=shape)), dict(attrs))
                for attrs in ways for shape in ((3,), (3, 2))]


def _as_columns(lead: Any, a: Any, b: Any) -> Any:
    return aligned(lead, (a, b[..., None]))


def _stacked(a: Any, b: Any, trans: int = 0, lower: bool = False, unit_diagonal: bool = False) -> Any:
    """Many systems at once."""
    half = _half(a, lower, unit_diagonal)
    if unit_diagonal:
        half = half + identity_like(a, a.shape[-1])
    return np.linalg.solve(_turned(half, trans), b)


def _part(a: Any, lower: bool) -> Any:
    """What is read of `a`: of the sum that `cho_factor` gives only the factor."""
    known = current().numbering.definitions
    total = known.get(a.atom) if isinstance(a.atom, Var) else None
    if total is None or total.op.name != "add":
        return a
    rest = known.get(total.args[1]) if isinstance(total.args[1], Var) else None
    beyond = "triu" if lower else "tril"
    is_rest = rest is not None and rest.op.name == beyond and rest.attrs.get("k") == (1 if lower else -1)
    return Value(total.args[0]) if is_rest and type_of(total.args[0]) == a.type else a


class ChoFactor(Rewritten):
    """The factor in one triangle, in the other one what stands there in `a`, as LAPACK leaves it."""

    name = "cho_factor"
    calls = ("scipy.linalg.cho_factor",)

    def rewrite(a, lower=False, overwrite_a=False, check_finite=True):
        a, lower = value(a), bool(arguments.known(lower, "lower"))
        checked(a.type)
        factor = np.linalg.cholesky(a, upper=not lower)
        rest = np.triu(a, 1) if lower else np.tril(a, -1)
        return factor + rest, lower


class ChoSolve(Rewritten):
    """Two triangular systems."""

    name = "cho_solve"
    calls = ("scipy.linalg.cho_solve",)

    def rewrite(c_and_lower, b, overwrite_b=False, check_finite=True):
        c, lower = c_and_lower
        c, lower = value(c), bool(arguments.known(lower, "lower"))
        adjoined = 2 if c.dtype.kind == "c" else 1
        first, second = (0, adjoined) if lower else (adjoined, 0)
        return solve_triangular(c, solve_triangular(c, value(b), trans=first, lower=lower), trans=second, lower=lower)
