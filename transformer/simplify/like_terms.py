"""Terms of a derivative that are multiples of one product: they are one term.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(da: f64, x: f64, size: f64, r: f64, v: f64)
...     effect comment(text='reverse')
...     s: f64 = multiply(3, x)
...     p: f64 = multiply(da, s)
...     q: f64 = multiply(da, x)
...     t: f64 = multiply(q, 3)
...     dx: f64 = add(p, t)
...     h: f64 = multiply(0.25, size)
...     a: f64 = subtract(r, h)
...     dr: f64 = subtract(a, h)
...     m: f64 = negative(v)
...     b: f64 = multiply(r, m)
...     c: f64 = multiply(r, v)
...     dv: f64 = subtract(b, c)
...     return s, dx, h, dr, dv
... ''')
function f(da: f64, x: f64, size: f64, r: f64, v: f64)
    effect comment(text='reverse')
    s: f64 = multiply(3, x)
    p: f64 = multiply(da, s)
    q: f64 = multiply(da, x)
    t: f64 = multiply(q, 3)
    t_1: f64 = multiply(2, da)
    dx: f64 = multiply(t_1, s)
    h: f64 = multiply(0.25, size)
    a: f64 = subtract(r, h)
    t_2: f64 = multiply(0.5, size)
    dr: f64 = subtract(r, t_2)
    m: f64 = negative(v)
    b: f64 = multiply(r, m)
    c: f64 = multiply(r, v)
    t_3: f64 = multiply(-2, r)
    dv: f64 = multiply(t_3, v)
    return s, dx, h, dr, dv

Where the terms come in with opposite signs they stay: what is left of them could be another infinity, or zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.grammar import Atom, Const, Let, Var
from ..ops.arithmetic import Add, Multiply, Negative
from .changes import with_operand
from .neutral import number
from .rewriter import array_type, same_atom

if TYPE_CHECKING:
    from .fold import Fold

DEEPEST = 8                            # products that are in each other
LARGEST = 2**24                        # a multiple, as float32 has it


class Term(NamedTuple):
    """A number times factors, and divided by divisors, in any order."""

    number: float
    factors: list[Atom]
    divisors: list[Atom]

    def is_like(self, other: Term) -> bool:
        return _are_the_same(self.factors, other.factors) and _are_the_same(self.divisors, other.divisors)


def _are_the_same(atoms: list[Atom], others: list[Atom]) -> bool:
    """Whether two lists have the same atoms, in any order."""
    rest = list(others)
    for atom in atoms:
        found = next((k for k, each in enumerate(rest) if same_atom(atom, each)), None)
        if found is None:
            return False
        del rest[found]
    return not rest


@with_operand("multiply", "divide", "negative", "add", "subtract")
def _of_one_product(fold: Fold, stmt: Let) -> Any:
    """d * x + 2 * d * x → 3 * (d * x), and likewise where the first is the last one of a sum: a - d * x - 2 * d * x →
    a - 3 * (d * x)."""
    if not fold.is_plain_derivative(stmt, "f"):
        return None
    first, second = stmt.args
    multiple = _multiple(fold, stmt, first, second, stmt.op is Add)
    if multiple is not None:
        return fold.become(stmt, Multiply, *multiple)
    inner = fold.own(first, "add", "subtract")
    if inner is None or inner.attrs or not fold.is_derivative(inner):
        return None
    begin, last = inner.args
    multiple = _multiple(fold, stmt, last, second, stmt.op is inner.op)
    if multiple is None or not fold.has_type(inner.target, stmt.target):
        return None
    return fold.become(stmt, inner.op, begin, fold.emit(stmt, Multiply, *multiple, type=stmt.target.type))


def _multiple(fold: Fold, stmt: Let, first: Atom, second: Atom, alike: bool) -> tuple[Atom, Atom] | None:
    """A number and the term whose multiple two terms are together, if both are of the type of the statement and come
    in with one sign: they are added (`alike`), or taken off each other."""
    if not all(isinstance(atom, Var) and fold.has_type(atom, stmt.target) for atom in (first, second)):
        return None
    one, other = _term(fold, first), _term(fold, second)
    product = one.number * other.number
    if not one.is_like(other) or not product or (product > 0) is not alike:
        return None
    for base, term, added in ((first, one, other), (second, other, one)):
        times = 1 + abs(added.number / term.number)
        if times.is_integer() and times < LARGEST:
            sign = 1 if base is first or alike else -1
            return _times(sign * int(times), base, term)
    return None


def _times(times: int, base: Atom, term: Term) -> tuple[Atom, Atom]:
    """A number and what it multiplies: 0.5 and `x`, where 2 and ``0.25 * x`` would do."""
    number = times * term.number
    is_exact = term.number.is_integer() or math.frexp(times)[0] in (0.5, -0.5)
    if len(term.factors) > 1 or term.divisors or not is_exact:
        return Const(times), base
    return Const(int(number) if term.number.is_integer() else number), term.factors[0]


def _term(fold: Fold, atom: Atom) -> Term:
    """An atom as a number times what it is a multiple of."""
    total, factors, divisors = 1.0, list[Atom](), list[Atom]()
    for factor, is_divisor in _factors(fold, atom, 0):
        found = number(factor)
        if isinstance(found, int | float) and not is_divisor:
            total *= found
        else:
            (divisors if is_divisor else factors).append(factor)
    return Term(total, factors, divisors)


def _factors(fold: Fold, atom: Atom, depth: int) -> Iterator[tuple[Atom, bool]]:
    """What is multiplied, and what is divided by, through products and quotients."""
    stmt = fold.defined_by(atom, "multiply", "divide", "negative") if depth < DEEPEST else None
    if stmt is None or stmt.attrs or array_type(stmt.target).dtype.kind != "f":
        yield atom, False
        return
    yield from _factors(fold, stmt.args[0], depth + 1)
    if stmt.op is Negative:
        yield Const(-1), False
    elif stmt.op is Multiply:
        yield from _factors(fold, stmt.args[1], depth + 1)
    else:
        yield stmt.args[1], True


RULES = {"add": [_of_one_product], "subtract": [_of_one_product]}
