"""Truth values that are known: of numbers and sizes that are compared, and of what is joined or denied.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(x: f64, c: bool, m: bool[n], k: bool[n])
...     p: float = divide(1.0, 3.0)
...     z: bool = equal(p, 0)
...     d: bool = bitwise_and(z, c)
...     w: f64 = where(d, 1.0, p)
...     y: f64 = multiply(w, x)
...     a: bool[n] = where(m, k, m, spelling='np.where')
...     b: bool[n] = where(m, m, k, spelling='np.where')
...     return y, a, b
... ''')
function f(x: f64, c: bool, m: bool[n], k: bool[n])
    p: float = divide(1.0, 3.0)
    y: f64 = multiply(p, x)
    a: bool[n] = bitwise_and(m, k)
    b: bool[n] = bitwise_or(m, k)
    return y, a, b
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.grammar import Atom, Const, Let, type_of
from ..core.types import INT
from ..ops.comparison import Equal, NotEqual
from ..ops.logic import BitwiseAnd, BitwiseOr
from ..ops.proofs import JOINED
from .apart import affine
from .changes import CONSTANT, SIZE, with_operand
from .constants import ARITHMETIC, INTEGER, extent
from .neutral import number
from .rewriter import array_type
from .signs import DEEPEST

if TYPE_CHECKING:
    from .fold import Fold

COMPARISONS: dict[str, Callable[..., Any]] = {
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
    "greater_equal": operator.ge, "equal": operator.eq, "not_equal": operator.ne}
EQUALITIES = (operator.eq, operator.ne)
NUMBERS = INTEGER, type_of(Const(1.0))


@with_operand(CONSTANT)
def _compared(fold: Fold, stmt: Let) -> Any:
    """1 / 3 == 0 → False."""
    values = [_computed(fold, atom, DEEPEST) for atom in stmt.args]
    if any(value is None or isinstance(value, complex) for value in values):
        return None
    return fold.instead(stmt, Const(bool(COMPARISONS[stmt.op.name](*values))))


def _computed(fold: Fold, atom: Atom, depth: int) -> Any:
    """The Python number that an atom is, or is computed as from such ones; None for anything else."""
    made = fold.defined_by(atom, *ARITHMETIC) if depth and type_of(atom) in NUMBERS else None
    if made is None:
        return number(atom)
    values = [_computed(fold, each, depth - 1) for each in made.args]
    if any(value is None or isinstance(value, bool) for value in values):
        return None
    try:
        return ARITHMETIC[made.op.name](*values)
    except ArithmeticError:
        return None


@with_operand(SIZE)
def _sizes_compared(fold: Fold, stmt: Let) -> Any:
    """n == m, where the two were found to be equal."""
    first, second = (extent(atom) for atom in stmt.args)
    if first is None or second is None:
        return None
    difference = fold.assumptions.normal(first - second)
    return fold.instead(stmt, Const(COMPARISONS[stmt.op.name](difference, 0))) if type(difference) is int else None


def _certain(fold: Fold, stmt: Let) -> Any:
    """8 * k < 0, where k is the position of a loop."""
    if any(type_of(atom) != INT for atom in stmt.args):
        return None
    difference = affine(fold, stmt.args[0]) - affine(fold, stmt.args[1])
    low, below = fold.assumptions.lower_bound(difference), fold.assumptions.lower_bound(-difference)
    least, most = -math.inf if low is None else low, math.inf if below is None else -below
    compare = COMPARISONS[stmt.op.name]
    if compare(least, 0) != compare(most, 0) or compare in EQUALITIES and least <= 0 <= most:
        return None
    return fold.instead(stmt, Const(compare(least, 0)))


@with_operand(CONSTANT)
def _decided(fold: Fold, stmt: Let) -> Any:
    """x and True → x, x and False → False, x & False → False; and as it is with `or`."""
    for one, other in (stmt.args, stmt.args[::-1]):
        if not isinstance(one, Const) or array_type(other).dtype.kind != "b" or array_type(other).sizes:
            continue
        if one.type.dtype.kind != "b" and stmt.op.name.startswith("bitwise"):
            continue
        result = other if bool(one.value) == JOINED[stmt.op.name] else one
        if isinstance(result, Const):
            result = Const(bool(result.value) if array_type(stmt.target).weak else np.bool_(result.value))
        return fold.instead(stmt, result)
    return None


@with_operand(CONSTANT)
def _negated(fold: Fold, stmt: Let) -> Any:
    x, = stmt.args
    known = isinstance(x, Const) and x.type.dtype.kind == "b"
    return fold.instead(stmt, Const(not x.value)) if known else None        # type: ignore[union-attr]


@with_operand("logical_not")
def _denied(fold: Fold, stmt: Let) -> Any:
    """not not c → c, of a truth value."""
    inner = fold.defined_by(stmt.args[0], "logical_not")
    is_truth = inner is not None and type_of(inner.args[0]) == stmt.target.type
    return fold.instead(stmt, inner.args[0]) if inner is not None and is_truth else None


@with_operand("equal", "not_equal")
def _unequal(fold: Fold, stmt: Let) -> Any:
    """not a == b → a != b, which is so for nan as well."""
    inner = fold.own(stmt.args[0], "equal", "not_equal")
    if inner is None or stmt.attrs or inner.attrs or not fold.has_type(inner.target, stmt.target):
        return None
    return fold.become(stmt, NotEqual if inner.op is Equal else Equal, *inner.args)


def _chosen(fold: Fold, stmt: Let) -> Any:
    """where(c, a, c) → c & a, and where(c, c, a) → c | a, of arrays of truth values."""
    condition, then, orelse = stmt.args
    for kept, other, op in ((orelse, then, BitwiseAnd), (then, orelse, BitwiseOr)):
        types = [array_type(atom) for atom in (stmt.target, condition, other)]
        if kept is condition and all(type.dtype == bool and not type.weak for type in types) and types[0].rank and all(
                fold.same_type(type, types[0]) for type in types):
            return fold.become(stmt, op, condition, other)
    return None


RULES = {
    "where": [_chosen],
    "logical_not": [_negated, _denied, _unequal],
    "logical_and": [_decided],
    "logical_or": [_decided],
    "bitwise_and": [_decided],
    "bitwise_or": [_decided],
    **{name: [_compared, _sizes_compared, _certain] for name in COMPARISONS},
}
