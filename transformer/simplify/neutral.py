"""Operations that leave their operand as it is.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(c: bool[n], x: f64[n])
...     y: f64[n] = multiply(x, 1)
...     z: f64[n] = divide(y, 1.0)
...     zeros: f64[n] = zeros(shape=(<n>,))
...     w: f64[n] = add(zeros, z)
...     u: f64[n] = power(w, 1)
...     v: f64[n] = where(c, u, u)
...     s: f64 = sum(v)
...     return s
... ''')
function f(c: bool[n], x: f64[n])
    zeros: f64[n] = zeros(shape=(<n>,))
    s: f64 = sum(x)
    return s
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.grammar import Atom, Const, If, Let, Loop, Var, type_of
from ..core.halves import can_cast
from ..core.types import BOOL, INT
from ..core.walk import tail_uses
from ..ops.arithmetic import Cast, Multiply, Negative, has_opposite
from ..ops.logic import LogicalNot
from ..ops.proofs import JOINED
from ..ops.shape import ExpandDims
from .aliasing import may_share
from .changes import CONSTANT, with_operand
from .rewriter import array_type, same_atom

if TYPE_CHECKING:
    from .fold import Fold


def number(atom: Atom) -> Any:
    """The Python number that a constant without a name is; None for anything else."""
    if isinstance(atom, Const) and atom.name is None and atom.type.weak:
        return atom.value
    return None


def known(atom: Atom) -> Any:
    """The number that a constant without a name is, Python's or NumPy's; None for anything else."""
    return atom.value if isinstance(atom, Const) and atom.name is None else None


def is_zero(fold: Fold, atom: Atom) -> bool:
    """Whether something is a plain 0, or what the op `zeros` made."""
    return known(atom) == 0 or fold.defined_by(atom, "zeros") is not None


def adds_nothing(fold: Fold, stmt: Let, term: Atom, sign: int = 1) -> bool:
    """Whether adding a zero, or subtracting it where the `sign` is -1, changes nothing: -0.0 + 0.0 is 0.0, for which
    programs write it; derivatives do not care, nor do totals that begin as an array of zeros."""
    if not is_zero(fold, term):
        return False
    if known(term) is None:
        return True
    is_negative = isinstance(known(term), float | np.floating) and np.signbit(known(term))
    return array_type(stmt.target).dtype.kind not in "fc" or fold.is_derivative(stmt) or is_negative == (sign == 1)


@with_operand(CONSTANT)
def _product(fold: Fold, stmt: Let) -> Any:
    dtype = array_type(stmt.target).dtype
    for factor, other in (stmt.args, stmt.args[::-1]):
        if known(factor) == 1:
            found = fold.or_copy(stmt, other)
            if found is not None:
                return found
            if fold.is_generated:
                return _converted(fold, stmt, other)
        if known(factor) == -1 and has_opposite(factor, dtype):
            if fold.has_type(other, stmt.target):
                return fold.become(stmt, Negative, other)
            if isinstance(other, Var) and array_type(other).dtype.kind == "f" and fold.instead(stmt, other) is other:
                return fold.emit(stmt, Negative, other, type=type_of(other))
    return None


def _converted(fold: Fold, stmt: Let, x: Atom) -> Any:
    """1.0 * k → float(k) for an integer k, 1.0 * a → a.astype(float) for an array of them."""
    own, target = type_of(x), array_type(stmt.target)
    if target.weak and own in (INT, BOOL):
        return fold.become(stmt, Cast, x, dtype=float, spelling="float")
    if not fold.same_sizes(array_type(x).sizes, target.sizes) or target.weak:
        return None
    return fold.become(stmt, Cast, x, dtype=target.dtype)


@with_operand(CONSTANT)
def _quotient(fold: Fold, stmt: Let) -> Any:
    numerator, denominator = stmt.args
    if known(denominator) == 1:
        return fold.or_copy(stmt, numerator)
    if known(denominator) == -1 and fold.has_type(numerator, stmt.target):
        return fold.become(stmt, Negative, numerator)
    return None


@with_operand(CONSTANT, "zeros")
def _sum(fold: Fold, stmt: Let) -> Any:
    for term, other in (stmt.args, stmt.args[::-1]):
        if adds_nothing(fold, stmt, term):
            found = fold.or_copy(stmt, other)
            if found is not None:
                return found
    return None


@with_operand(CONSTANT, "zeros")
def _difference(fold: Fold, stmt: Let) -> Any:
    first, second = stmt.args
    return fold.or_copy(stmt, first) if adds_nothing(fold, stmt, second, -1) else None


@with_operand(CONSTANT)
def _power(fold: Fold, stmt: Let) -> Any:
    """x ** 1 → x, 3.0 ** 0 → 1.0."""
    base, exponent = stmt.args
    if known(exponent) == 0 and not isinstance(known(exponent), bool) and isinstance(base, Const):
        return fold.instead(stmt, Const(type(base.value)(1))) if type(base.value) in (int, float) else None
    return fold.instead(stmt, base) if known(exponent) == 1 else None


@with_operand("eye")
def _product_with_unit(fold: Fold, stmt: Let) -> Any:
    """x @ np.eye(n) → x, in generated code."""
    for unit, other in (stmt.args, stmt.args[::-1]):
        if is_unit(fold, unit):
            return fold.or_copy(stmt, other)
    return None


def is_unit(fold: Fold, atom: Atom) -> bool:
    """Whether an atom is the unit matrix, and the user did not write it there."""
    found = fold.defined_by(atom, "eye")
    return found is not None and not {"M", "k"} & found.attrs.keys() and (
        fold.is_generated or "spelling" not in found.attrs)


@with_operand("multiply")
def _scaled_unit(fold: Fold, stmt: Let) -> Any:
    """(np.eye(n) * d) @ x → d[:, None] * x, and likewise from the right, for numbers and vectors d."""
    for place, (atom, other) in enumerate((stmt.args, stmt.args[::-1])):
        scaled = fold.own(atom, "multiply")
        units = [] if scaled is None else [k for k in (0, 1) if is_unit(fold, scaled.args[k])]
        if scaled is None or scaled.attrs or not units or not fold.same_type(type_of(other), stmt.target.type):
            continue
        factor = scaled.args[1 - units[0]]
        rank = array_type(factor).rank
        if rank > 1 or array_type(other).rank > 2 or array_type(scaled.target).dtype != array_type(other).dtype:
            continue
        if rank == 1 and place == 0 and array_type(other).rank == 2:
            sizes = (*array_type(factor).sizes, 1)
            factor = fold.emit(stmt, ExpandDims, factor, type=array_type(factor).with_sizes(sizes), axis=1)
        return fold.become(stmt, Multiply, factor, other)
    return None


def _conjugate(fold: Fold, stmt: Let) -> Any:
    """The conjugate of a real number."""
    return None if array_type(stmt.target).dtype.kind == "c" else _same_type(fold, stmt)


@with_operand("conjugate", "multiply", "divide")
def _conjugated_twice(fold: Fold, stmt: Let) -> Any:
    """np.conj(np.conj(x) * r) → x * r, for real numbers r, in derivatives: those of transforms conjugate before and
    after."""
    x: Atom = stmt.args[0]
    inner, path, place = fold.own(x, "conjugate", "multiply", "divide"), [], 0
    while inner is not None and inner.op.name != "conjugate":
        path.append(inner)
        places = (0, 1) if inner.op is Multiply else (0,)
        place = next((k for k in places if array_type(inner.args[k]).dtype.kind == "c"), -1)
        is_real = place >= 0 and array_type(inner.args[1 - place]).dtype.kind != "c" and not inner.attrs
        inner = fold.own(inner.args[place], "conjugate", "multiply", "divide") if is_real else None
    if inner is None or not path or not fold.is_derivative(stmt) or not fold.has_type(inner.args[0], inner.target):
        return None
    for each in path:
        fold.change(each.target)
    fold.become(path[-1], path[-1].op, *path[-1].args[:place], inner.args[0], *path[-1].args[place + 1:])
    return fold.or_copy(stmt, x)


def _same_type(fold: Fold, stmt: Let) -> Any:
    """Conversions that convert nothing: to its own dtype, the real part of a real number."""
    return fold.instead(stmt, stmt.args[0], copies=not stmt.op.view)


@with_operand("complex_of")
def _part_of_two(fold: Fold, stmt: Let) -> Any:
    """np.real(complex_of(a, b)) → a."""
    made = fold.defined_by(stmt.args[0], "complex_of")
    if made is None:
        return None
    part = made.args[PART[stmt.op.name]]
    return fold.or_copy(stmt, part) if fold.has_type(part, stmt.target) else None


PART = {"real": 0, "imag": 1}


@with_operand("cast")
def _there_and_back(fold: Fold, stmt: Let) -> Any:
    """x.astype(np.float64).astype(np.float32) → x for an x of float32: what is between has room for all its values, as
    float64 has not for those of int64, whatever NumPy says; a number of Python's has those of NumPy's."""
    inner = fold.defined_by(stmt.args[0], "cast")
    if inner is None:
        return None
    own, between = array_type(inner.args[0]), array_type(inner.target)
    if own.weak or not fold.has_type(inner.args[0], stmt.target) or between.weak and own.dtype != between.dtype:
        return None
    if own.dtype.kind != between.dtype.kind or not can_cast(own.dtype, between.dtype, "safe"):
        return None
    return fold.or_copy(stmt, inner.args[0])


TRUTHS = (True, False), (False, True)              # what a condition chooses itself, and what its opposite does


def _choice(fold: Fold, stmt: Let) -> Any:
    condition, first, second = stmt.args
    if isinstance(condition, Const):
        return fold.instead(stmt, first if condition.value else second)
    if (known(first), known(second)) in TRUTHS and fold.has_type(condition, stmt.target):
        return fold.or_copy(stmt, condition) if known(first) else fold.become(stmt, LogicalNot, condition)
    return fold.instead(stmt, first) if same_atom(first, second) else None


@with_operand(CONSTANT)
def _joined(fold: Fold, stmt: Let) -> Any:
    """c | False → c, c & True → c, of truth values."""
    for constant, other in (stmt.args, stmt.args[::-1]):
        value, is_truth = known(constant), array_type(other).dtype.kind == "b"
        if is_truth and isinstance(value, (bool, np.bool_)) and bool(value) is JOINED[stmt.op.name]:
            return fold.or_copy(stmt, other)
    return None


def _condition(fold: Fold, stmt: Let) -> Any:
    """bool(c) → c for a truth value that is only asked for."""
    x = stmt.args[0]
    if stmt.target.type != BOOL or array_type(x).sizes or array_type(x).dtype.kind != "b":
        return None
    return x if all(_asks(user, stmt.target) for user in fold.uses.users[stmt.target]) else None


def _asks(user: Any, var: Var) -> bool:
    """Whether a statement only asks whether a truth value is true."""
    match user:
        case If() | Loop():
            return user.cond is var and list(tail_uses(user)).count(var) == isinstance(user, Loop)
        case Let():
            return user.op.asks_truth and "spelling" not in user.attrs
    return False


def _copied(fold: Fold, stmt: Let) -> Atom | None:
    """1.0 * x was a copy of it, which may be `x` itself when nothing else uses that any more, in derivatives. A copy of
    a part or of an argument stays: it is memory that may be written in place."""
    x = stmt.args[0]
    made = fold.definition.get(x) if isinstance(x, Var) and fold.uses.once(x) else None
    is_ours = made is not None and not may_share(made) and fold.is_derivative(stmt)
    return fold.instead(stmt, x) if is_ours else None


RULES = {
    "multiply": [_product],
    "copy": [_copied],
    "divide": [_quotient],
    "add": [_sum],
    "subtract": [_difference],
    "power": [_power],
    "matmul": [_product_with_unit, _scaled_unit],
    "dot": [_product_with_unit, _scaled_unit],
    "positive": [_same_type],
    "cast": [_same_type, _condition, _there_and_back],
    "real": [_same_type, _part_of_two],
    "imag": [_part_of_two],
    "conjugate": [_conjugate, _conjugated_twice],
    "where": [_choice],
    **dict.fromkeys(JOINED, [_joined]),
}
