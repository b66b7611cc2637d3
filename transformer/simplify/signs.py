"""Signs move outwards through products, quotients and sums over axes, to where an addition, a
subtraction or another sign takes them up. A sign that nothing takes up stays where it is.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(a: f64, b: f64, x: f64)
...     t: f64 = negative(a)
...     y: f64 = multiply(t, x)
...     q: f64 = divide(y, b)
...     s: f64 = add(x, q)
...     u: f64 = negative(x)
...     v: f64 = multiply(u, b)
...     return s, v
... ''')
function f(a: f64, b: f64, x: f64)
    t: f64 = negative(a)
    t_1: f64 = multiply(a, x)
    t_2: f64 = divide(t_1, b)
    s: f64 = subtract(x, t_2)
    u: f64 = negative(x)
    v: f64 = multiply(u, b)
    return s, v
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.grammar import Atom, Const, Let, Var, type_of
from ..core.types import INT
from ..ops.arithmetic import Add, Negative, Subtract, has_opposite
from .changes import CONSTANT, with_operand
from .neutral import is_zero, number
from .rewriter import array_type

if TYPE_CHECKING:
    from .fold import Fold

DEEPEST = 12                   # nested products in which a sign or constant is looked for
PRODUCTS = ("multiply", "divide", "matmul", "dot", "outer", "solve", "solve_triangular")
TOTALS = ("sum", "mean", "trace")
MOVED = ("reshape", "transpose", "expand_dims", "squeeze", "broadcast_to", "moveaxis", "roll", "flip", "diag",
         "diagonal", "tril", "triu")
ODD = (*PRODUCTS, *TOTALS, *MOVED)
PASSING = frozenset(("add", "subtract", "negative", *ODD))
SIGNED = frozenset(("negative", *ODD))


@with_operand(CONSTANT, "negative", *ODD)
def _difference(fold: Fold, stmt: Let) -> Any:
    """a + -b → a - b, -a + b → b - a."""
    if not _is_plain(stmt):
        return None
    dtype = array_type(stmt.target).dtype
    for first, second in (stmt.args, stmt.args[::-1]):
        opposite = negated(fold, second, dtype)
        if opposite is not None:
            return fold.become(stmt, Subtract, first, opposite)
    return None


@with_operand(CONSTANT, "negative", *ODD)
def _sum(fold: Fold, stmt: Let) -> Any:
    """a - -b → a + b."""
    if not _is_plain(stmt):
        return None
    first, second = stmt.args
    opposite = negated(fold, second, array_type(stmt.target).dtype)
    return None if opposite is None else fold.become(stmt, Add, first, opposite)


@with_operand("subtract")
def _both_taken(fold: Fold, stmt: Let) -> Any:
    """x[i] += -a - b → x[i] += -(a + b), which is printed as x[i] -= a + b; likewise x + (-a - b)."""
    place = 1 if stmt.op.name == "addat" else next((k for k in (0, 1) if fold.own(stmt.args[k], "subtract")), 0)
    inner = fold.own(stmt.args[place], "subtract")
    if inner is None or not fold.is_generated or not _is_plain(inner) or not _is_real(inner.target):
        return None
    if is_zero(fold, stmt.args[0]):                                  # it becomes `x[i] = -a - b`
        return None
    opposite = negated(fold, inner.args[0], array_type(inner.target).dtype)
    if opposite is None or not fold.same_type(type_of(opposite), type_of(inner.args[0])):
        return None
    total = fold.emit(stmt, Add, opposite, inner.args[1], type=inner.target.type)
    minus = fold.emit(stmt, Negative, total, type=inner.target.type)
    return fold.become(stmt, stmt.op, *stmt.args[:place], minus, *stmt.args[place + 1:], **stmt.attrs)


@with_operand(*PRODUCTS)
def _taken_away(fold: Fold, stmt: Let) -> Any:
    """x[i] += a * -b → x[i] += -(a * b), which is printed as x[i] -= a * b, in generated code."""
    product = fold.own(stmt.args[1], *PRODUCTS)
    if product is None or not fold.is_generated or not _is_real(product.target) or not _is_subtracted(fold, stmt):
        return None
    opposite = negated(fold, product.target, array_type(product.target).dtype)
    if opposite is None:
        return None
    minus = fold.emit(stmt, Negative, opposite, type=type_of(opposite))
    return fold.become(stmt, stmt.op, stmt.args[0], minus, *stmt.args[2:], **stmt.attrs)


@with_operand("negative", *ODD)
def _opposite(fold: Fold, stmt: Let) -> Any:
    """-(-a) → a, -(-a * b) → a * b, -(2 * a) → -2 * a."""
    x, = stmt.args
    inner = _sign(fold, x, array_type(x).dtype)
    if inner is not None:
        return fold.instead(stmt, inner)
    if fold.instead(stmt, x) is None or not _is_plain(stmt):
        return None
    own = fold.own(x, *ODD)
    turned = own is not None and (
        _take_sign(fold, own) or not _goes_to_uses(fold, stmt) and _flip_constant(fold, own))
    return x if turned else None


@with_operand("subtract")
def _exchanged(fold: Fold, stmt: Let) -> Any:
    """-(a - b) → b - a, in generated code, where the sign has nowhere else to go."""
    inner = fold.own(stmt.args[0], "subtract")
    if inner is None or not fold.is_generated or not _is_real(stmt.target) or not _is_plain(inner) or stmt.attrs:
        return None
    if any(isinstance(user, Let) and user.op.name in PASSING for user in fold.uses.users.get(stmt.target, ())):
        return None
    return fold.become(stmt, Subtract, *inner.args[::-1])


@with_operand("negative", *ODD)
def _total(fold: Fold, stmt: Let) -> Any:
    """np.sum(-a * b) → -np.sum(a * b), in generated code: there are fewer totals than terms."""
    inner = fold.own(stmt.args[0], "negative", *PRODUCTS)
    if inner is None or not fold.is_generated or not _is_real(stmt.target) or not _is_real(stmt.args[0]):
        return None
    opposite = negated(fold, stmt.args[0], array_type(stmt.target).dtype)
    if opposite is None:
        return None
    total = fold.emit(stmt, stmt.op, opposite, type=stmt.target.type, **stmt.attrs)
    return fold.become(stmt, Negative, total)


@with_operand("negative")
def _two_signs(fold: Fold, stmt: Let) -> Any:
    """-a * -b → a * b, 2 * -a → -2 * a, and likewise for quotients."""
    if not _is_real(stmt.target) or not any(fold.defined_by(a, "negative") for a in stmt.args):
        return None
    if stmt.op.name == "divide" and number(stmt.args[1]) is not None:        # `-a / 3`, not `a / -3`
        return None
    first, second = (_unsigned(fold, atom) for atom in stmt.args)
    if first is None or second is None:
        return None
    return fold.become(stmt, stmt.op, first, second, **stmt.attrs)


@with_operand(*PRODUCTS)
def _into_number(fold: Fold, stmt: Let) -> Any:
    """3 * (-a * b) → -3 * (a * b), in generated code."""
    factor, product = number(stmt.args[0]), fold.own(stmt.args[1], *PRODUCTS)
    if not isinstance(factor, int | float) or not factor or product is None or not fold.is_generated or stmt.attrs:
        return None
    opposite = negated(fold, product.target, array_type(product.target).dtype) if _is_real(product.target) else None
    return None if opposite is None else fold.become(stmt, stmt.op, Const(-factor), opposite)


@with_operand("negative")
def _to_number(fold: Fold, stmt: Let) -> Any:
    """2 * a * -b → -2 * a * b, in generated code."""
    product, sign = fold.own(stmt.args[0], "multiply"), fold.defined_by(stmt.args[1], "negative")
    if product is None or sign is None or not fold.is_generated or stmt.attrs or not _is_real(stmt.target):
        return None
    opposite = _sign(fold, stmt.args[1], None)
    if opposite is None or product.attrs or not _flip_constant(fold, product):
        return None
    return fold.become(stmt, stmt.op, product.target, opposite)


@with_operand("negative")
def _of_number(fold: Fold, stmt: Let) -> Any:
    """-ratio * a → -(ratio * a), in derivatives, for a number of Python's of which the opposite is one of NumPy's."""
    first, other = stmt.args
    sign = fold.defined_by(first, "negative")
    if sign is None or stmt.attrs or not fold.is_derivative(stmt) or not _is_real(stmt.target):
        return None
    own, taken = array_type(sign.args[0]), array_type(other)
    fits = own.weak and not taken.weak and taken.dtype == array_type(stmt.target).dtype
    if not fits or not fold.same_type(taken, stmt.target.type):
        return None
    product = fold.emit(stmt, stmt.op, sign.args[0], other, type=stmt.target.type)
    return fold.become(stmt, Negative, product)


@with_operand(CONSTANT, "negative", *PRODUCTS)
def _outwards(fold: Fold, stmt: Let) -> Any:
    """t = -a / b; x[i] -= t; y[i] += t - c → t = a / b; x[i] += t; y[i] -= t + c, in generated code: the sign of
    what is used several times, and is not called after a name of the user's, goes to the uses, if all take it up."""
    primal = stmt.target.primal
    if primal is not None and primal.name or stmt.attrs or not _is_real(stmt.target) or not _goes_to_uses(fold, stmt):
        return None
    value = fold.emit(stmt, stmt.op, *stmt.args, type=stmt.target.type)
    for atom in stmt.args:                                  # of what is about to be used once, by the new statement
        fold.mention(atom, -1)
    if not _take_sign(fold, fold.definition[value]):
        fold.out.pop()
        return None
    stmt.args = ()
    fold.change(stmt.target)
    return fold.become(stmt, Negative, value)


def _goes_to_uses(fold: Fold, stmt: Let) -> bool:
    """Whether all uses of a statement of generated code, which are several, take up a sign."""
    users = fold.uses.users.get(stmt.target, []) if fold.is_generated else []
    return len(users) > 1 and fold.uses.counts.get(stmt.target) == len(users) and (
        all(_takes_up(fold, user, stmt.target) for user in users))


def _takes_up(fold: Fold, user: Any, var: Var, depth: int = DEEPEST) -> bool:
    """Whether a statement is a sum or difference, or another sign, or leads to one: there the sign costs nothing."""
    if not isinstance(user, Let) or not depth or not any(atom is var for atom in user.args):
        return False
    if user.op.name in ("add", "negative") or user.op.name == "subtract" and user.args[0] is not var:
        return not user.attrs
    if user.op.name == "addat" and user.args[1] is var:
        return _is_subtracted(fold, user)
    following = fold.uses.users.get(user.target, [])
    if len(following) != 1 or user.op.name not in ("subtract", *PRODUCTS) or not user.attrs.keys() <= {"spelling"}:
        return False
    after = following[0]
    is_written = isinstance(after, Let) and after.op.name == "addat" and after.args[1] is user.target
    if is_written and not _is_subtracted(fold, after):
        return False
    return is_written or user.op.name != "subtract" and _takes_up(fold, after, user.target, depth - 1)


def _is_subtracted(fold: Fold, addat: Any) -> bool:
    """Whether `x[i] += -v` is `x[i] -= v`: not `np.add.at`, nor `x[i] = -v` of zeros."""
    once = addat.attrs.get("distinct") or not any(array_type(slot).sizes for slot in addat.args[2:])
    return once and not is_zero(fold, addat.args[0])


def _unsigned(fold: Fold, atom: Atom) -> Atom | None:
    """What an atom is the negative of; any real number is that of its opposite."""
    value = number(atom)
    if isinstance(value, (int, float)):
        return Const(-value) if value else None
    return _sign(fold, atom, None)


def negated(fold: Fold, atom: Atom, dtype: np.dtype, depth: int = DEEPEST) -> Atom | None:
    """An atom that is the opposite of another and costs nothing to have; None if there is none.

    Where a product (or the like) that nothing else uses has a sign in it, the sign is taken out:
    the caller has to use the result. `dtype` is that of the sum: integers wrap around in their own.
    """
    if type(atom) is not Var:
        value = number(atom)
        return Const(-value) if isinstance(value, (int, float)) and value < 0 and has_opposite(atom, dtype) else None
    stmt = fold.definition.get(atom)
    if stmt is None or stmt.op.name not in SIGNED:
        return None
    if stmt.op.name == "negative":
        return _sign(fold, atom, dtype)
    return atom if fold.uses.once(stmt.target) and _take_sign(fold, stmt, depth - 1) else None


def _sign(fold: Fold, atom: Atom, dtype: np.dtype | None) -> Atom | None:
    """What an atom is the negative of."""
    stmt = fold.defined_by(atom, "negative")
    if stmt is None or not fold.same_type(type_of(stmt.args[0]), stmt.target.type):
        return None
    own = array_type(stmt.target)
    return stmt.args[0] if own.is_inexact or own.dtype == dtype else None


def _take_sign(fold: Fold, stmt: Let, depth: int = DEEPEST) -> bool:
    """Takes a sign out of what is odd in each operand, in place, if it is of real numbers, or out of a product
    of Python's integers."""
    dtype = array_type(stmt.target).dtype
    whole = stmt.target.type == INT and stmt.op.name == "multiply" and not stmt.attrs
    if depth == 0 or dtype.kind != "f" and not whole:
        return False
    for place, atom in enumerate(stmt.args):
        if number(atom) is not None or _is_real(atom) or whole:
            opposite = negated(fold, atom, dtype, depth)
            if opposite is not None:
                _put(fold, stmt, place, opposite)
                return True
    return False


def _flip_constant(fold: Fold, stmt: Let) -> bool:
    """Turns the sign of the constant that a product or quotient of real numbers begins with."""
    value = number(stmt.args[0]) if stmt.op.name in ("multiply", "divide") else None
    if not _is_real(stmt.target) or not isinstance(value, (int, float)) or value == 0:
        return False
    _put(fold, stmt, 0, Const(-value))
    return True


def _put(fold: Fold, stmt: Let, place: int, atom: Atom) -> None:
    args = list(stmt.args)
    args[place] = atom
    fold.become(stmt, stmt.op, *args, **stmt.attrs)
    fold.change(stmt.target)


def _is_real(atom: Atom) -> bool:
    return array_type(atom).dtype.kind == "f"


def _is_plain(stmt: Let) -> bool:
    """Whether a statement is an operator on numbers, not ``np.add`` as the user spelled it."""
    return not stmt.attrs and array_type(stmt.target).dtype.kind in "iufc"


RULES = {
    "add": [_difference, _both_taken],
    "addat": [_both_taken, _taken_away],
    "subtract": [_sum],
    "negative": [_opposite, _exchanged],
    **{name: [_total] for name in TOTALS},
    "multiply": [_two_signs, _into_number, _to_number, _of_number, _outwards],
    "divide": [_two_signs, _outwards],
}
