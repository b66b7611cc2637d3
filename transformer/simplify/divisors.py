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

from typing import TYPE_CHECKING, Any

from ..core.grammar import Atom, Const, Let, Var, type_of
from ..core.sizes import Size
from ..core.types import ArrayType
from ..core.walk import size_of_atom
from ..ops.arithmetic import Add, Divide, Multiply, Negative, Subtract
from ..ops.elementary import Exp
from ..ops.indexing import only_inserts
from ..ops.powers import Power
from ..ops.reduction import gone, reduced_count
from ..ops.statistics import Mean
from .changes import with_operand
from .neutral import number
from .quotients import divides, without
from .rewriter import array_type, joined
from .signs import negated

if TYPE_CHECKING:
    from .fold import Fold

ONE = Const(1)
DEEPEST = 4                    # divisors one behind the other


@with_operand("divide")
def _total_over(fold: Fold, stmt: Let) -> Any:
    """np.sum(a / s) → np.sum(a) / s for one divisor of all terms: fewer divisions."""
    quotient = _quotient(fold, stmt, stmt.args[0]) or _quotient_that_is_added(fold, stmt, stmt.args[0])
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


def _quotient_that_is_added(fold: Fold, stmt: Let, atom: Atom) -> Let | None:
    """A quotient `q` in `q - np.mean(q)`, which is divided once when the mean is."""
    found = fold.defined_by(atom, "divide") if fold.is_derivative(stmt) else None
    users: Any = fold.uses.users.get(atom, ()) if isinstance(atom, Var) else ()
    others = [user for user in users if user is not stmt]
    if found is None or found.attrs or not array_type(found.target).is_inexact:
        return None
    is_added = len(others) == 1 and _is_sum(others[0]) and fold.uses.counts.get(found.target) == 2
    return found if is_added else None


def _is_sum(stmt: Any) -> bool:
    return isinstance(stmt, Let) and stmt.op in (Add, Subtract) and not stmt.attrs


def _one_for_all(fold: Fold, stmt: Let, divisor: Atom) -> Atom | None:
    """A divisor that is the same along the axes of a sum, by the axes of the sum's result."""
    rank, own = array_type(stmt.args[0]).rank, array_type(divisor)
    folded = {k - rank + own.rank for k in gone(rank, stmt.attrs.get("axis"))}
    if any(k >= 0 and own.sizes[k] != 1 for k in folded):
        return None
    if stmt.attrs.get("keepdims") or max(folded, default=-1) < 0:
        return divisor
    widened = fold.defined_by(divisor, "get", "expand_dims")
    return widened.args[0] if widened is not None and inserted(widened) == folded else None


def inserted(stmt: Let) -> set[int] | None:
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
    if array_type(widened.target).rank != rank or inserted(widened) != set(gone(rank, axis)) or axis is None:
        return None
    terms = fold.emit(stmt, stmt.op, quotient.args[0], type=stmt.target.type, **stmt.attrs)
    return fold.become(stmt, Divide, terms, widened.args[0])


@with_operand("divide", "negative")
def _over_both(fold: Fold, stmt: Let) -> Any:
    """a / s - b / s * c → (a - b * c) / s, -a / s - b / s → -(a + b) / s."""
    if stmt.attrs:
        return None
    for place in (0, 1):
        sign = fold.own(stmt.args[place], "negative")
        quotient = _quotient(fold, stmt, stmt.args[place] if sign is None else sign.args[0])
        divisor = None if quotient is None else quotient.args[1]
        if quotient is None or not isinstance(divisor, Var):
            continue
        paths = [_to_divisor(fold, atom, divisor) for atom in stmt.args]
        if all(paths) and _fits(fold, stmt, divisor, paths):
            return _divided_once(fold, stmt, divisor, *(_without(fold, stmt, path) for path in paths))
    return None


def _to_divisor(fold: Fold, atom: Atom, divisor: Var) -> list[Let]:
    """The products and quotients that nothing else uses, and signs of such, from `atom` inwards, to one by this
    divisor."""
    path: list[Let] = []
    while len(path) < DEEPEST:
        inner = fold.own(atom, "multiply", "divide", "negative")
        if inner is None or inner.attrs:
            return []
        path.append(inner)
        if inner.op is Divide and inner.args[1] is divisor:
            return path
        atom = inner.args[0]
    return []


def _without(fold: Fold, like: Let, path: list[Let]) -> Atom:
    """What a path of products and quotients gives without the last divisor: new statements before `like`."""
    value = path[-1].args[0]
    for each in path[-2::-1]:
        args = (value, *each.args[1:])
        value = fold.emit(like, each.op, *args, type=joined(each.op, *map(array_type, args)))
    return value


def _fits(fold: Fold, stmt: Let, divisor: Var, paths: list[list[Let]]) -> bool:
    """Whether the numerators are floating point numbers, which give the type of the statement when divided once."""
    if not all(array_type(path[-1].args[0]).is_inexact for path in paths):
        return False
    types = []
    for path in paths:
        type = array_type(path[-1].args[0])
        for each in path[-2::-1]:
            type = joined(each.op, type, *map(array_type, each.args[1:]))
        types.append(type)
    return divides(fold, stmt.target, joined(stmt.op, *types), array_type(divisor))


def _divided_once(fold: Fold, stmt: Let, divisor: Var, a: Atom, b: Atom) -> Any:
    type = joined(stmt.op, array_type(a), array_type(b))
    opposite = negated(fold, a, type.dtype) if stmt.op is Subtract and type.dtype.kind == "f" else None
    if opposite is None or not fold.same_type(array_type(opposite), array_type(a)):
        return fold.become(stmt, Divide, fold.emit(stmt, stmt.op, a, b, type=type), divisor)
    total = fold.emit(stmt, Add, opposite, b, type=type)
    return fold.become(stmt, Negative, fold.emit(stmt, Divide, total, divisor, type=stmt.target.type))


@with_operand("divide")
def _by_share(fold: Fold, stmt: Let) -> Any:
    """a / s / n * e → a / n * p where there is p = e / s."""
    if stmt.attrs:
        return None
    for first, other in (stmt.args, stmt.args[::-1]):
        outer: list[Let] = []
        quotient = _quotient(fold, stmt, first)
        while quotient is not None and len(outer) < DEEPEST:
            share = _share(fold, other, quotient.args[1])
            if share is not None and fold.has_type(share, stmt.target):
                return fold.become(stmt, Multiply, _without(fold, stmt, [*outer, quotient]), share)
            outer.append(quotient)
            quotient = _quotient(fold, stmt, quotient.args[0])
    return None


@with_operand("divide")
def _by_other_share(fold: Fold, stmt: Let) -> Any:
    """a / s * e → a * (1 - z) for s = 1 + e, where e = np.exp(x) and there is z = 1 / s: the derivative of a logistic
    function as it is written by hand, which is not nan where e is infinite."""
    if stmt.attrs:
        return None
    for first, other in (stmt.args, stmt.args[::-1]):
        if not _is_exponential(fold, other):
            continue
        path: list[Let] = []
        quotient = _quotient(fold, stmt, first)
        while quotient is not None and len(path) < DEEPEST:
            path.append(quotient)
            share = _logistic(fold, quotient.args[1], other)
            if share is not None and fold.has_type(share, stmt.target):
                rest = fold.emit(stmt, Subtract, ONE, share, type=type_of(share))
                return fold.become(stmt, Multiply, _without(fold, stmt, path), rest)
            quotient = _quotient(fold, stmt, quotient.args[0])
    return None


@with_operand("add")
def _over_other_share(fold: Fold, stmt: Let) -> Any:
    """a * e / s → a * (1 - z), likewise: the tangent of a logistic function."""
    total = fold.defined_by(stmt.args[1], "add") if fold.is_derivative(stmt) and not stmt.attrs else None
    for part in () if total is None else total.args:
        share = _logistic(fold, stmt.args[1], part) if _is_exponential(fold, part) else None
        if share is None or not fold.has_type(share, stmt.target):
            continue
        terms = without(fold, stmt, stmt.args[0], part, "multiply")
        if terms is not None:
            return fold.become(stmt, Multiply, terms, fold.emit(stmt, Subtract, ONE, share, type=type_of(share)))
    return None


def _is_exponential(fold: Fold, atom: Atom) -> bool:
    """Whether an atom is a number to the power of something."""
    stmt = fold.definition.get(atom) if isinstance(atom, Var) else None
    base = None if stmt is None or stmt.op is not Power else number(stmt.args[0])
    return stmt is not None and (stmt.op is Exp or isinstance(base, int | float) and base > 0)


def _logistic(fold: Fold, whole: Atom, part: Atom) -> Var | None:
    """1 / (1 + e), if it was computed before in the same block."""
    total = fold.defined_by(whole, "add")
    is_total = total is not None and any(
        number(one) == 1 and other is part for one, other in (total.args, total.args[::-1]))
    for user in fold.uses.users.get(whole, ()) if is_total and isinstance(whole, Var) else ():
        if isinstance(user, Let) and user.op is Divide and number(user.args[0]) == 1 and fold.is_before(user):
            return user.target
    return None


@with_operand("divide")
def _number_over(fold: Fold, stmt: Let) -> Any:
    """3 * (a / s) → 3 * a / s, of floating point numbers; a tangent that has a name keeps its line."""
    number, inner = stmt.args[0], _quotient(fold, stmt, stmt.args[1])
    if not isinstance(number, Const) or inner is None or stmt.attrs or not array_type(inner.args[0]).is_inexact:
        return None
    primal = inner.target.primal
    if not fold.is_generated and primal is not None and primal.name:
        return None
    type = joined(Multiply, array_type(number), array_type(inner.args[0]))
    if isinstance(inner.args[0], Const) or not divides(fold, stmt.target, type, array_type(inner.args[1])):
        return None
    return fold.become(stmt, Divide, fold.emit(stmt, Multiply, number, inner.args[0], type=type), inner.args[1])


@with_operand("sum", "divide")
def _mean(fold: Fold, stmt: Let) -> Any:
    """np.sum(x, axis=1) / s / n → np.mean(x, axis=1) / s, of float32 and wider."""
    count = stmt.args[1]
    if not fold.is_derivative(stmt) or stmt.attrs or not _is_whole(count):
        return None
    path: list[Let] = []
    inner = fold.own(stmt.args[0], "sum", "divide")
    while inner is not None and inner.op is Divide and not inner.attrs and len(path) < DEEPEST:
        path.append(inner)
        inner = fold.own(inner.args[0], "sum", "divide")
    if inner is None or not _is_mean(fold, inner, count, array_type(stmt.target)):
        return None
    attrs = {key: value for key, value in inner.attrs.items() if key != "spelling"}
    if not path:
        return fold.become(stmt, Mean, inner.args[0], **attrs)
    value: Atom = fold.emit(stmt, Mean, inner.args[0], type=inner.target.type, **attrs)
    for each in path[:0:-1]:
        value = fold.emit(stmt, Divide, value, each.args[1], type=each.target.type)
    return fold.become(stmt, Divide, value, path[0].args[1])


def _is_mean(fold: Fold, total: Let, count: Atom, wanted: ArrayType) -> bool:
    """Whether a sum that is divided by so many, and has this type then, is one of as many."""
    terms = array_type(total.args[0]) if total.args else wanted
    is_plain = total.op.name == "sum" and total.attrs.keys() <= {"axis", "keepdims", "spelling"}
    if not is_plain or not terms.rank or terms.dtype.kind not in "fc" or terms.dtype.itemsize < 4:
        return False
    counted = reduced_count(terms.sizes, total.attrs.get("axis"))
    return terms.dtype == wanted.dtype and fold.assumptions.certainly_equal(size_of_atom(count), counted)


def _is_whole(atom: Atom) -> bool:
    return isinstance(atom, Size) or isinstance(atom, Const) and isinstance(atom.value, int)


def _share(fold: Fold, part: Atom, whole: Atom) -> Var | None:
    """The quotient of two variables, if it was computed before in the same block."""
    if not isinstance(part, Var) or not isinstance(whole, Var):
        return None
    for user in fold.uses.users.get(part, ()):
        if isinstance(user, Let) and user.op is Divide and user.args == (part, whole) and fold.is_before(user):
            return user.target
    return None


def _quotient(fold: Fold, stmt: Let, atom: Atom) -> Let | None:
    """The quotient, which nothing else uses, that an operand of a statement of a derivative is."""
    if not fold.is_derivative(stmt) or array_type(stmt.target).dtype.kind not in "fc":
        return None
    found = fold.own(atom, "divide")
    return found if found is not None and not found.attrs else None


RULES = {"sum": [_total_over], "add": [_over_both], "subtract": [_over_both], "squeeze": [_squeezed],
         "multiply": [_by_share, _by_other_share, _number_over], "divide": [_mean, _over_other_share]}
