"""Lengths by which a derivative divides, where what they were divided by before tells that they are not 0.

The derivative of a norm at 0 is 0, so it divides by infinity there. That need not be said where the program itself
divides by the norm, as all is nan at 0 already, or where a power of it is a factor:

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(x: f64[n], y: f64, dq: f64[n])
...     q: f64[n] = divide(x, y)
...     effect comment(text='reverse')
...     is_zero: bool = equal(y, 0)
...     s: f64 = where(is_zero, inf, y)
...     total: f64 = sum(dq)
...     t: f64 = divide(total, s)
...     dx: f64[n] = multiply(t, q)
...     p: f64 = power(y, 2)
...     u: f64 = multiply(total, p)
...     v: f64 = divide(u, s)
...     return dx, v
... ''')
function f(x: f64[n], y: f64, dq: f64[n])
    q: f64[n] = divide(x, y)
    effect comment(text='reverse')
    is_zero: bool = equal(y, 0)
    s: f64 = where(is_zero, inf, y)
    total: f64 = sum(dq)
    t: f64 = divide(total, y)
    dx: f64[n] = multiply(t, q)
    p: f64 = power(y, 2)
    u: f64 = multiply(total, y)
    return dx, u
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..core.grammar import Atom, Const, Let, Var
from ..ops.arithmetic import Divide, Multiply
from .changes import with_operand
from .divisors import DEEPEST
from .neutral import known, number
from .rewriter import array_type

if TYPE_CHECKING:
    from .fold import Fold


@with_operand("where")
def _divided_before(fold: Fold, stmt: Let) -> Any:
    """a / y * b / where(y == 0, np.inf, y) → a / y * b / y, which is not finite at 0 either way."""
    length = _length(fold, stmt)
    if length is None or length not in _divisors(fold, stmt.args[0]):
        return None
    return fold.become(stmt, Divide, stmt.args[0], length)


@with_operand("where")
def _power_of_length(fold: Fold, stmt: Let) -> Any:
    """a * y ** 2 / where(y == 0, np.inf, y) → a * y, which is 0 at 0 as well."""
    length, terms = _length(fold, stmt), stmt.args[0]
    if length is None or not fold.has_type(terms, stmt.target):
        return None
    for product in _inwards(fold, terms):
        for place in (0, 1) if product.op is Multiply else (0,):
            power = fold.own(product.args[place], "power")
            if power is not None and power.args[0] is length and _lower(fold, product, place, power):
                return fold.or_copy(stmt, terms)
    return None


def _lower(fold: Fold, product: Let, place: int, power: Let) -> bool:
    """Takes one off the exponent of a factor, if more than 0 is left; says whether it did."""
    length, exponent = power.args
    above = number(exponent)
    if type(above) not in (int, float) or above <= 1 or not fold.has_type(length, power.target):
        return False
    if above == 2:
        fold.become(product, product.op, *product.args[:place], length, *product.args[place + 1:])
    else:
        fold.change(power.target)
        fold.become(power, power.op, length, Const(above - 1))
    return True


@with_operand("multiply", "divide", "expand_dims")
def _times_share(fold: Fold, stmt: Let) -> Any:
    """a / where(y == 0, np.inf, y) * (b / y) → a / y * (b / y)."""
    if stmt.attrs or not fold.is_derivative(stmt):
        return None
    for first, other in (stmt.args, stmt.args[::-1]):
        spread = fold.own(first, "expand_dims")
        for quotient in _inwards(fold, first if spread is None else spread.args[0]):
            length = _length(fold, quotient) if quotient.op is Divide else None
            if length is not None and any(_is_spread(fold, each, length, spread) for each in _divisors(fold, other)):
                return fold.become(quotient, Divide, quotient.args[0], length)
    return None


def _is_spread(fold: Fold, atom: Atom, length: Var, like: Let | None) -> bool:
    """Whether an atom is a length with the new axes that `like` puts in."""
    if like is None:
        return atom is length
    spread = fold.defined_by(atom, like.op.name)
    return spread is not None and spread.args[0] is length and spread.attrs == like.attrs


def _length(fold: Fold, stmt: Let) -> Var | None:
    """What a quotient of a derivative divides by, but where it is 0."""
    guard = fold.defined_by(stmt.args[1], "where")
    if guard is None or stmt.attrs or not fold.is_derivative(stmt) or array_type(stmt.target).dtype.kind != "f":
        return None
    is_zero, infinity, length = guard.args
    test = fold.defined_by(is_zero, "equal")
    tests_it = test is not None and test.args[0] is length and known(test.args[1]) == 0
    is_infinite = isinstance(infinity, Const) and infinity.value == math.inf
    return length if tests_it and is_infinite and isinstance(length, Var) else None


def _inwards(fold: Fold, atom: Atom) -> Iterator[Let]:
    """The products and quotients that nothing else uses, from an atom inwards."""
    for _ in range(DEEPEST):
        inner = fold.own(atom, "multiply", "divide")
        if inner is None or inner.attrs:
            return
        yield inner
        atom = inner.args[0]


def _divisors(fold: Fold, atom: Atom, depth: int = DEEPEST) -> Iterator[Atom]:
    """What an atom, or a factor of it, is divided by."""
    stmt = fold.defined_by(atom, "multiply", "divide", "negative") if depth else None
    if stmt is None or stmt.attrs:
        return
    if stmt.op is Divide:
        product = fold.defined_by(stmt.args[1], "multiply")
        yield from (stmt.args[1], *(product.args if product is not None and not product.attrs else ()))
    for factor in stmt.args if stmt.op is Multiply else stmt.args[:1]:
        yield from _divisors(fold, factor, depth - 1)


RULES = {"divide": [_divided_before, _power_of_length], "multiply": [_times_share]}
