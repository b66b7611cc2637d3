"""Divisors that terms of a derivative have in common: they are divided by once, when they have been added up.

The derivative of a softmax comes out as it is written by hand:

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(e: f64[n, m], s: f64[n, 1], dp: f64[n, m])
...     p: f64[n, m] = divide(e, s)
...     effect comment(text='reverse')
...     t: f64[n, m] = multiply(dp, p)
...     u: f64[n, m] = divide(t, s)
...     ds: f64[n, 1] = sum(u, axis=1, keepdims=True)
...     v: f64[n, m] = divide(dp, s)
...     de: f64[n, m] = subtract(v, ds)
...     dx: f64[n, m] = multiply(de, e)
...     return dx
... ''')
function f(e: f64[n, m], s: f64[n, 1], dp: f64[n, m])
    p: f64[n, m] = divide(e, s)
    effect comment(text='reverse')
    t: f64[n, m] = multiply(dp, p)
    u: f64[n, m] = divide(t, s)
    t_1: f64[n, 1] = sum(t, axis=1, keepdims=True)
    ds: f64[n, 1] = divide(t_1, s)
    v: f64[n, m] = divide(dp, s)
    t_2: f64[n, m] = subtract(dp, t_1)
    de: f64[n, m] = divide(t_2, s)
    dx: f64[n, m] = multiply(t_2, p)
    return dx
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..core.grammar import Atom, Let, Var
from ..ops.arithmetic import Add, Divide, Multiply, Negative, Subtract
from ..ops.indexing import only_inserts
from ..ops.reduction import gone
from .changes import with_operand
from .quotients import divides
from .rewriter import array_type
from .signs import negated

if TYPE_CHECKING:
    from .fold import Fold


@with_operand("divide")
def _total_over(fold: Fold, stmt: Let) -> Any:
    """np.sum(a / s) → np.sum(a) / s for one divisor of all terms: fewer divisions."""
    quotient = _quotient(fold, stmt, stmt.args[0])
    if quotient is None or not stmt.attrs.keys() <= {"axis", "keepdims", "spelling"}:
        return None
    terms, divisor = quotient.args
    single = _one_for_all(fold, stmt, divisor)
    if single is None or not fold.same_sizes(array_type(terms).sizes, array_type(quotient.target).sizes):
        return None
    plain = {key: value for key, value in stmt.attrs.items() if key != "spelling"}
    type = stmt.op.types(array_type(terms), **plain)
    if not divides(fold, stmt.target, type, array_type(single)):
        return None
    return fold.become(stmt, Divide, fold.emit(stmt, stmt.op, terms, type=type, **stmt.attrs), single)


def _one_for_all(fold: Fold, stmt: Let, divisor: Atom) -> Atom | None:
    """A divisor that is the same along the axes of a sum, by the axes of the sum's result."""
    rank, own = array_type(stmt.args[0]).rank, array_type(divisor)
    folded = {k - rank + own.rank for k in gone(rank, stmt.attrs.get("axis"))}
    if any(k >= 0 and own.sizes[k] != 1 for k in folded):
        return None
    if stmt.attrs.get("keepdims") or max(folded, default=-1) < 0:
        return divisor
    widened = fold.defined_by(divisor, "get", "expand_dims")
    return widened.args[0] if widened is not None and _inserted(widened) == folded else None


def _inserted(stmt: Let) -> set[int] | None:
    """The new axes in the result of a statement that does nothing else."""
    if stmt.op.name == "expand_dims":
        axis = stmt.attrs["axis"]
        return {axis} if isinstance(axis, int) else set(axis)
    index = stmt.attrs["index"]
    return {k for k, entry in enumerate(index) if entry is None} if only_inserts(index) else None


@with_operand("divide")
def _squeezed(fold: Fold, stmt: Let) -> Any:
    """np.squeeze(a / s[None], axis=0) → np.squeeze(a, axis=0) / s."""
    quotient = _quotient(fold, stmt, stmt.args[0])
    widened = None if quotient is None else fold.defined_by(quotient.args[1], "get", "expand_dims")
    if quotient is None or widened is None or not fold.has_type(quotient.args[0], quotient.target):
        return None
    axis, rank = stmt.attrs.get("axis"), array_type(quotient.target).rank
    if array_type(widened.target).rank != rank or _inserted(widened) != set(gone(rank, axis)) or axis is None:
        return None
    terms = fold.emit(stmt, stmt.op, quotient.args[0], type=stmt.target.type, **stmt.attrs)
    return fold.become(stmt, Divide, terms, widened.args[0])


@with_operand("divide")
def _over_both(fold: Fold, stmt: Let) -> Any:
    """a / s - b / s → (a - b) / s, -a / s - b / s → -(a + b) / s."""
    first, second = (_quotient(fold, stmt, atom) for atom in stmt.args)
    if first is None or second is None or first.args[1] is not second.args[1] or stmt.attrs:
        return None
    (a, divisor), b = first.args, second.args[0]
    types = [array_type(a), array_type(b)]
    type = replace(stmt.op.types(*types), weak=all(each.weak for each in types))
    if not isinstance(divisor, Var) or not divides(fold, stmt.target, type, array_type(divisor)):
        return None
    opposite = negated(fold, a, type.dtype) if stmt.op is Subtract and type.dtype.kind == "f" else None
    if opposite is None or not fold.same_type(array_type(opposite), array_type(a)):
        return fold.become(stmt, Divide, fold.emit(stmt, stmt.op, a, b, type=type), divisor)
    total = fold.emit(stmt, Add, opposite, b, type=type)
    return fold.become(stmt, Negative, fold.emit(stmt, Divide, total, divisor, type=stmt.target.type))


@with_operand("divide")
def _by_share(fold: Fold, stmt: Let) -> Any:
    """a / s * e → a * p where there is p = e / s."""
    for first, other in (stmt.args, stmt.args[::-1]):
        quotient = _quotient(fold, stmt, first)
        share = None if quotient is None or stmt.attrs else _share(fold, other, quotient.args[1])
        if share is not None and quotient is not None and fold.has_type(quotient.args[0], stmt.target) and (
                fold.has_type(share, stmt.target)):
            return fold.become(stmt, Multiply, quotient.args[0], share)
    return None


def _share(fold: Fold, part: Atom, whole: Atom) -> Var | None:
    """The quotient of two variables, if it was computed before in the same block."""
    if not isinstance(part, Var) or not isinstance(whole, Var):
        return None
    for user in fold.uses.users.get(part, ()):
        if isinstance(user, Let) and user.op is Divide and user.args == (part, whole) and any(
                user is stmt for stmt in fold.out):
            return user.target
    return None


def _quotient(fold: Fold, stmt: Let, atom: Atom) -> Let | None:
    """The quotient, which nothing else uses, that an operand of a statement of a derivative is."""
    if not fold.is_derivative(stmt) or array_type(stmt.target).dtype.kind not in "fc":
        return None
    found = fold.own(atom, "divide")
    return found if found is not None and not found.attrs else None


RULES = {"sum": [_total_over], "add": [_over_both], "subtract": [_over_both], "multiply": [_by_share],
         "squeeze": [_squeezed]}
