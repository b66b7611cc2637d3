"""Sums of the diagonals of matrices, in derivatives.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(x: f64[n, n], a: f64[n], b: f64[n])
...     effect comment(text='reverse')
...     e: f64[n, n] = eye(N=<n>)
...     t: f64[n, n] = multiply(x, e)
...     s: f64 = sum(t)
...     o: f64[n, n] = outer(a, b)
...     r: f64 = trace(o)
...     return s, r
... ''')
function f(x: f64[n, n], a: f64[n], b: f64[n])
    effect comment(text='reverse')
    e: f64[n, n] = eye(N=<n>)
    t: f64[n, n] = multiply(x, e)
    s: f64 = trace(x)
    o: f64[n, n] = outer(a, b)
    r: f64 = matmul(a, b)
    return s, r
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.grammar import Let, type_of
from ..ops.diagonals import Trace
from ..ops.products import Matmul
from .changes import with_operand
from .rewriter import array_type

if TYPE_CHECKING:
    from .fold import Fold


@with_operand("multiply")
def _trace(fold: Fold, stmt: Let) -> Any:
    """sum(x * np.eye(n)) → trace(x)."""
    scaled = fold.own(stmt.args[0], "multiply")
    if scaled is None or scaled.attrs or stmt.attrs.keys() - {"spelling"} or not fold.is_derivative(stmt):
        return None
    for unit, other in (scaled.args, scaled.args[::-1]):
        found = fold.defined_by(unit, "eye")
        square = found is not None and not {"M", "k"} & found.attrs.keys()
        if square and array_type(other).rank == 2 and fold.same_type(type_of(other), scaled.target.type):
            return fold.become(stmt, Trace, other)
    return None


@with_operand("outer")
def _of_outer(fold: Fold, stmt: Let) -> Any:
    """trace(np.outer(a, b)) → a @ b, of vectors of one length."""
    outer = fold.own(stmt.args[0], "outer")
    if outer is None or stmt.attrs.keys() - {"spelling"} or not fold.is_derivative(stmt):
        return None
    first, second = map(array_type, outer.args)
    alike = first.dtype == second.dtype == array_type(stmt.target).dtype
    fits = first.rank == second.rank == 1 and fold.same_sizes(first.sizes, second.sizes)
    return fold.become(stmt, Matmul, *outer.args) if alike and fits else None


RULES = {"sum": [_trace], "trace": [_of_outer]}
