"""Arithmetic with arrays of one number, in derivatives: it is done with the number, and sums of products do without.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(x: f64[n, m], t: f64)
...     effect comment(text='reverse')
...     ones: f64[n] = ones(shape=(<n>,))
...     a: f64[m, m] = einsum(ones, x, x, subscripts='n,ni,nj->ij')
...     filled: f64[n, 1] = full(t, shape=(<n>, 1))
...     twice: f64[n, 1] = multiply(2, filled)
...     return a, twice
... ''')
function f(x: f64[n, m], t: f64)
    effect comment(text='reverse')
    ones: f64[n] = ones(shape=(<n>,))
    a: f64[m, m] = einsum(x, x, subscripts='ni,nj->ij')
    filled: f64[n, 1] = full(t, shape=(<n>, 1))
    t_1: f64 = multiply(2, t)
    twice: f64[n, 1] = full(t_1, shape=(<n>, 1))
    return a, twice
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.grammar import Atom, Const, Let
from ..core.types import FLOAT, ArrayType
from ..ops.arithmetic import Multiply
from ..ops.creation import FLOAT64, Full
from ..ops.einsum import split
from .changes import with_operand
from .rewriter import array_type

if TYPE_CHECKING:
    from .fold import Fold


@with_operand("full", "ones")
def _without_factor(fold: Fold, stmt: Let) -> Any:
    """np.einsum("n,ni,nj->ij", np.full(n, t), x, x) → t * np.einsum("ni,nj->ij", x, x)."""
    inputs, output = split(stmt.attrs["subscripts"])
    place = next((k for k in range(len(inputs)) if _may_go(fold, stmt, inputs, k)), None)
    if place is None or len(inputs) < 3 or not fold.is_generated:
        return None
    number = _number(fold, stmt.args[place])
    assert number is not None
    rest = [*inputs[:place], *inputs[place + 1:]]
    args = (*stmt.args[:place], *stmt.args[place + 1:])
    attrs = {**stmt.attrs, "subscripts": f"{','.join(rest)}->{output}"}
    if isinstance(number, Const) and number.value == 1:
        return fold.become(stmt, stmt.op, *args, **attrs)
    product = fold.emit(stmt, stmt.op, *args, type=array_type(stmt.target), **attrs)
    return fold.become(stmt, Multiply, number, product)


def _may_go(fold: Fold, stmt: Let, inputs: list[str], place: int) -> bool:
    """Whether an operand holds one number, and others have all of its axes."""
    if _number(fold, stmt.args[place]) is None or array_type(stmt.target).dtype != FLOAT64:
        return False
    normal = fold.assumptions.normal
    own, *others = [dict(zip(inputs[k], map(normal, array_type(stmt.args[k]).sizes)))
                    for k in (place, *(other for other in range(len(inputs)) if other != place))]
    return all(any(label in other and other[label] == size for other in others) for label, size in own.items())


@with_operand("full")
def _whole(fold: Fold, stmt: Let) -> Any:
    """2 * np.full(n, t) → np.full(n, 2 * t)."""
    if not fold.is_generated or stmt.attrs or array_type(stmt.target).dtype != FLOAT64:
        return None
    numbers = [atom if not array_type(atom).rank else _number(fold, atom) for atom in stmt.args]
    if None in numbers or not array_type(stmt.target).rank:
        return None
    number = fold.emit(stmt, stmt.op, *numbers, type=stmt.op.types(*map(array_type, numbers)))      # type: ignore[arg-type]
    return fold.become(stmt, Full, number, shape=array_type(stmt.target).sizes)


def _one(fold: Fold, stmt: Let) -> Any:
    """np.expand_dims(t, 0) → np.full(1, t), of a number t."""
    t, target = stmt.args[0], array_type(stmt.target)
    if not fold.is_derivative(stmt) or array_type(t) not in (ArrayType(FLOAT64), FLOAT) or target.dtype != FLOAT64:
        return None
    return fold.become(stmt, Full, t, shape=target.sizes)


def _number(fold: Fold, atom: Atom) -> Atom | None:
    """The number, a float64 or Python's, of which an array is full."""
    made = fold.defined_by(atom, "full", "ones")
    if made is None or array_type(atom).dtype != FLOAT64:
        return None
    number: Atom = made.args[0] if made.args else Const(1.0)
    return number if array_type(number) in (ArrayType(FLOAT64), FLOAT) else None


RULES = {
    "einsum": [_without_factor],
    "expand_dims": [_one],
    **dict.fromkeys(("multiply", "divide", "negative", "add", "subtract"), [_whole]),
}
