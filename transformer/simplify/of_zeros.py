"""Products of zeros, in derivatives: where a program uses one result of several (the vectors of `eigh`), the cotangents
of the others are zeros, and add nothing. A number 0 may be the program's own, whose derivative may be nan.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(q: f64[n, n], d: f64[n, n])
...     effect comment(text='reverse')
...     zeros: f64[n, n] = zeros(shape=(<n>, <n>))
...     t: f64[n, n] = matmul(q, zeros)
...     u: f64[n, n] = tril(t)
...     v: f64[n, n] = subtract(u, d)
...     return v
... ''')
function f(q: f64[n, n], d: f64[n, n])
    effect comment(text='reverse')
    zeros: f64[n, n] = zeros(shape=(<n>, <n>))
    t: f64[n, n] = zeros(shape=(<n>, <n>))
    u: f64[n, n] = zeros(shape=(<n>, <n>))
    v: f64[n, n] = negative(d)
    return v
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.grammar import Let
from ..ops.arithmetic import Negative
from ..ops.creation import FLOAT64, Zeros
from .changes import with_operand
from .rewriter import array_type

if TYPE_CHECKING:
    from .fold import Fold

PRODUCTS = "multiply", "matmul", "dot"
ELEMENTS = "negative", "tril", "triu"               # each element is one of the operand, its opposite, or 0


@with_operand("zeros")
def _zeros(fold: Fold, stmt: Let) -> Any:
    target = array_type(stmt.target)
    if not target.rank or not fold.is_derivative(stmt) or not any(fold.defined_by(atom, "zeros") for atom in stmt.args):
        return None
    return fold.become(stmt, Zeros, shape=target.sizes, **({} if target.dtype == FLOAT64 else {"dtype": target.dtype}))


@with_operand("zeros")
def _opposite(fold: Fold, stmt: Let) -> Any:
    """np.zeros(n) - x → -x."""
    first, second = stmt.args
    is_opposite = fold.defined_by(first, "zeros") and fold.has_type(second, stmt.target)
    if not is_opposite or not fold.is_plain_derivative(stmt):
        return None
    return fold.become(stmt, Negative, second)


RULES = {"subtract": [_opposite], **dict.fromkeys((*PRODUCTS, *ELEMENTS), [_zeros])}
