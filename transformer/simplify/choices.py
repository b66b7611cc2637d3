"""Choices of derivatives: what is not chosen scales nothing, two halves of one choice, and tests that begin with what
is tested.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(c: bool[n], a: f64[n], x: f64[n], y: f64[n])
...     effect comment(text='reverse')
...     t: f64[n] = where(c, a, 0.0, spelling='np.where')
...     u: f64[n] = multiply(t, x)
...     v: f64[n] = where(c, 0.0, a, spelling='np.where')
...     w: f64[n] = divide(v, y)
...     z: f64[n] = add(u, w)
...     return z
... ''')
function f(c: bool[n], a: f64[n], x: f64[n], y: f64[n])
    effect comment(text='reverse')
    t: f64[n] = where(c, a, 0.0, spelling='np.where')
    t_1: f64[n] = multiply(a, x)
    u: f64[n] = where(c, t_1, 0.0, spelling='np.where')
    v: f64[n] = where(c, 0.0, a, spelling='np.where')
    t_2: f64[n] = divide(a, y)
    w: f64[n] = where(c, 0.0, t_2, spelling='np.where')
    z: f64[n] = where(c, t_1, t_2, spelling='np.where')
    return z
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.grammar import Atom, Const, Let, Var, type_of
from ..ops.arithmetic import Add, Multiply, Negative
from ..ops.comparison import Equal, NotEqual
from ..ops.selection import Where
from .changes import CONSTANT, with_operand
from .neutral import known, number
from .rewriter import array_type

if TYPE_CHECKING:
    from .fold import Fold

FACTORS = ("multiply", "divide", "negative")
DEEPEST = 6                    # products in which the half of a choice is looked for


@with_operand("where", *FACTORS)
def _halves(fold: Fold, stmt: Let) -> Any:
    """where(c, a, 0) * x + where(c, 0, b) * y → where(c, a * x, b * y), and where(c, a, 0) + where(c, b, 0) →
    where(c, a + b, 0): of what is not chosen nothing comes in."""
    if not fold.is_generated or stmt.attrs or array_type(stmt.target).dtype.kind != "f":
        return None
    joined = _joined(fold, stmt, *stmt.args)
    return None if joined is None else fold.become(stmt, Where, *joined.args, **joined.attrs)


@with_operand("where", *FACTORS)
def _halves_behind(fold: Fold, stmt: Let) -> Any:
    """d + where(c, a, 0) + where(c, 0, b) → d + where(c, a, b)."""
    sums = fold.own(stmt.args[0], "add")
    if not fold.is_derivative(stmt) or sums is None or sums.attrs or stmt.attrs or (
            array_type(stmt.target).dtype.kind != "f"):
        return None
    for place in (1, 0):
        joined = _joined(fold, stmt, sums.args[place], stmt.args[1])
        if joined is not None:
            chosen = fold.emit(stmt, Where, *joined.args, type=joined.target.type, **joined.attrs)
            return fold.become(stmt, Add, sums.args[1 - place], chosen)
    return None


def _joined(fold: Fold, stmt: Let, *terms: Atom) -> Let | None:
    """The choice that the sum or difference of two halves by one condition is, of the type of `stmt`."""
    first, second = (_half(fold, atom) for atom in terms)
    if first is None or second is None or first[-1].args[0] is not second[-1].args[0]:
        return None
    sides = _side(first[-1]), _side(second[-1])
    chosen = [_with_factors(fold, stmt, path, side) for path, side in zip((first, second), sides)]
    options: list[Atom]
    if sides[0] == sides[1]:
        type = stmt.op.types(*map(type_of, chosen))
        both = fold.emit(stmt, stmt.op, *chosen, type=type)
        options = [Const(0.0), both] if sides[0] == 2 else [both, Const(0.0)]
    else:
        if stmt.op.name == "subtract":
            chosen[1] = _opposite(fold, stmt, chosen[1])
        options = chosen if sides == (1, 2) else chosen[::-1]
    args: tuple[Atom, ...] = (first[-1].args[0], *options)
    target = Var(Where.types(*map(type_of, args)))
    if not fold.same_type(target.type, stmt.target.type):
        return None
    return Let((target,), Where, args, first[-1].attrs)


@with_operand("where")
def _chosen_last(fold: Fold, stmt: Let) -> Any:
    """where(c, a, 0) * x → where(c, a * x, 0), of a derivative: x may be nan or infinite where it is not chosen."""
    if not fold.is_generated or stmt.attrs or array_type(stmt.target).dtype.kind != "f":
        return None
    for place in SCALED[stmt.op.name]:
        choice = fold.own(stmt.args[place], "where")
        side = 0 if choice is None or not array_type(choice.target).rank else _side(choice)
        if choice is not None and side and fold.same_sizes(*(array_type(each.target).sizes for each in (choice, stmt))):
            args = [*choice.args]
            args[side] = _scaled(fold, stmt, place, args[side])
            if fold.same_type(Where.types(*map(type_of, args)), stmt.target.type):
                return fold.become(stmt, Where, *args, **choice.attrs)
    return None


SCALED = {"multiply": (0, 1), "divide": (0,), "negative": (0,)}


def _half(fold: Fold, atom: Atom) -> list[Let] | None:
    """The products and quotients that nothing else uses, from `atom` inwards, and the choice that they scale, which
    is 0 on one side."""
    path: list[Let] = []
    for _ in range(DEEPEST):
        stmt = fold.own(atom, "where", *FACTORS)
        if stmt is None or stmt.op.name != "where" and stmt.attrs:
            return None
        path.append(stmt)
        if stmt.op.name == "where":
            return path if _side(stmt) and array_type(atom).rank else None
        atom = stmt.args[_inner(fold, stmt)]
    return None


def _inner(fold: Fold, stmt: Let) -> int:
    """Which operand of a product is looked into."""
    inner = stmt.op.name == "multiply" and fold.defined_by(stmt.args[0], "where", *FACTORS) is None
    return int(inner)


def _side(choice: Let) -> int:
    """Which operand of a choice counts, if the other one is 0; else 0."""
    zeros = [known(atom) == 0 for atom in choice.args[1:]]
    return 0 if zeros[0] == zeros[1] else 1 + zeros.index(False)


def _with_factors(fold: Fold, like: Let, path: list[Let], side: int) -> Atom:
    """What a choice gives on one side, scaled as the choice is."""
    value = path[-1].args[side]
    for stmt in path[-2::-1]:
        value = _scaled(fold, stmt, _inner(fold, stmt), value, like)
    return value


def _scaled(fold: Fold, stmt: Let, place: int, value: Atom, like: Let | None = None) -> Atom:
    """What a product or a quotient gives with another value at a place."""
    if stmt.op is Multiply and number(value) == 1:
        return stmt.args[1 - place]
    args = (*stmt.args[:place], value, *stmt.args[place + 1:])
    return fold.emit(like or stmt, stmt.op, *args, type=stmt.op.types(*map(type_of, args)))


def _opposite(fold: Fold, like: Let, value: Atom) -> Atom:
    constant = number(value)
    return fold.emit(like, Negative, value, type=type_of(value)) if constant is None else Const(-constant)


@with_operand("where", *FACTORS)
def _chosen_before(fold: Fold, stmt: Let) -> Any:
    """where(c, 2 * where(c, a, b), 0) → where(c, 2 * a, 0): what was not chosen before is not chosen now."""
    if not fold.is_generated:
        return None
    for side in (1, 2):
        path = _chosen_alike(fold, stmt, side)
        if path:
            args = [*stmt.args]
            args[side] = _with_factors(fold, stmt, path, side)
            if fold.same_type(Where.types(*map(type_of, args)), stmt.target.type):
                return fold.become(stmt, stmt.op, *args, **stmt.attrs)
    return None


def _chosen_alike(fold: Fold, stmt: Let, side: int) -> list[Let]:
    """The products that nothing else uses, from one side of a choice inwards, and a choice by the same condition."""
    path: list[Let] = []
    atom = stmt.args[side]
    while len(path) < DEEPEST:
        inner = fold.own(atom, *FACTORS) or fold.defined_by(atom, "where")
        if inner is None or inner.op.name != "where" and inner.attrs:
            return []
        path.append(inner)
        if inner.op.name == "where":
            return path if inner.args[0] is stmt.args[0] else []
        atom = inner.args[_inner(fold, inner)]
    return []


@with_operand(CONSTANT)
def _turned(fold: Fold, stmt: Let) -> Any:
    """0 == x → x == 0, in generated code."""
    first, second = stmt.args
    if not fold.is_generated or isinstance(second, Const) or known(first) is None:
        return None
    return fold.become(stmt, stmt.op, second, first, **stmt.attrs)


RULES = {
    **dict.fromkeys(FACTORS, [_chosen_last]),
    "add": [_halves, _halves_behind],
    "subtract": [_halves, _halves_behind],
    "where": [_chosen_before],
    Equal.name: [_turned],
    NotEqual.name: [_turned],
}
