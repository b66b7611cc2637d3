"""Factors that two terms of a derivative have in common: they are multiplied by once.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(dh: f64[n], h: f64[n], z: f64[n], s: f64)
...     effect comment(text='reverse')
...     a: f64[n] = multiply(dh, h)
...     t: f64[n] = multiply(dh, s)
...     b: f64[n] = multiply(t, z)
...     dz: f64[n] = subtract(a, b)
...     return dz
... ''')
function f(dh: f64[n], h: f64[n], z: f64[n], s: f64)
    effect comment(text='reverse')
    a: f64[n] = multiply(dh, h)
    t: f64[n] = multiply(dh, s)
    b: f64[n] = multiply(t, z)
    t_1: f64[n] = multiply(s, z)
    t_2: f64[n] = subtract(h, t_1)
    dz: f64[n] = multiply(dh, t_2)
    return dz
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core.grammar import Atom, Let, Var
from ..core.types import ArrayType
from ..ops.arithmetic import Multiply
from .changes import with_operand
from .divisors import DEEPEST, ONE
from .rewriter import array_type, joined
from .shapes import covers

if TYPE_CHECKING:
    from .fold import Fold


@dataclass(frozen=True)
class Product:
    """The products and quotients that nothing else uses, from the outermost inwards, and which operand of the last is
    taken for a factor."""

    path: tuple[Let, ...]
    place: int

    @property
    def factor(self) -> Atom:
        return self.path[-1].args[self.place]

    @property
    def rest(self) -> Atom:
        """The other operand of the last product."""
        return self.path[-1].args[1 - self.place]

    def without(self) -> Iterator[tuple[Any, Atom]]:
        """What is done to the rest, the innermost first."""
        return ((each.op, each.args[1]) for each in self.path[-2::-1])


@with_operand("multiply", "divide")
def _taken_out(fold: Fold, stmt: Let) -> Any:
    """x * a - x * b → x * (a - b)."""
    if not _is_ours(fold, stmt) or stmt.attrs or array_type(stmt.target).dtype.kind not in "fc":
        return None
    seconds = {id(product.factor): product for product in _products(fold, stmt.args[1])}
    for first in _products(fold, stmt.args[0]):
        second = seconds.get(id(first.factor))
        if second is not None and _fits(fold, stmt, first, second):
            return _once(fold, stmt, first, second)
    return None


@with_operand("multiply", "divide")
def _itself_taken_out(fold: Fold, stmt: Let) -> Any:
    """x - x * b → x * (1 - b), and likewise x * b + x."""
    if not _is_ours(fold, stmt) or stmt.attrs or array_type(stmt.target).dtype.kind not in "fc":
        return None
    for alone, place in ((stmt.args[0], 1), (stmt.args[1], 0)):
        for product in _products(fold, stmt.args[place]):
            if product.factor is alone and _fits_beside_one(fold, stmt, product, place):
                rest = _without(fold, stmt, product)
                terms = (ONE, rest) if place else (rest, ONE)
                type = joined(stmt.op, *map(array_type, terms))
                return fold.become(stmt, Multiply, product.factor, fold.emit(stmt, stmt.op, *terms, type=type))
    return None


def _fits_beside_one(fold: Fold, stmt: Let, product: Product, place: int) -> bool:
    """Whether the factor times what is left, to which 1 is added, has the type of the statement."""
    inner = joined(stmt.op, *(array_type(ONE), _type_without(product))[::1 if place else -1])
    return array_type(product.rest).is_inexact and _gives(fold, stmt, product.factor, inner)


def _is_ours(fold: Fold, stmt: Let) -> bool:
    """Whether a statement is of a derivative, and not of what is computed again, which is written as it was."""
    return fold.is_derivative(stmt) and (stmt.target.primal is not None or not fold.derived.isdisjoint(
        (stmt.target, *(atom for atom in stmt.args if isinstance(atom, Var)))))


def _products(fold: Fold, atom: Atom) -> Iterator[Product]:
    """The ways to see an atom as a product with a variable."""
    path: list[Let] = []
    while len(path) < DEEPEST:
        inner = fold.own(atom, "multiply", "divide")
        if inner is None or inner.attrs:
            return
        path.append(inner)
        atom = inner.args[0]
        is_last = fold.own(atom, "multiply", "divide") is None
        for place in (1, 0) if is_last else (1,):
            if inner.op is Multiply and isinstance(inner.args[place], Var):
                yield Product(tuple(path), place)


def _fits(fold: Fold, stmt: Let, first: Product, second: Product) -> bool:
    """Whether the factor times what is left has the type of the statement."""
    types = [_type_without(product) for product in (first, second)]
    is_float = all(array_type(product.rest).is_inexact for product in (first, second))
    return is_float and _gives(fold, stmt, first.factor, joined(stmt.op, *types))


def _gives(fold: Fold, stmt: Let, factor: Atom, inner: ArrayType) -> bool:
    """Whether a product of a factor and what has this type has the type of the statement."""
    own, wanted = array_type(factor), array_type(stmt.target)
    found = joined(Multiply, own.with_sizes(()), inner.with_sizes(()))
    is_fitting = found.dtype == wanted.dtype and (own.weak and inner.weak) == wanted.weak
    return is_fitting and bool(covers(fold, (factor, inner), stmt.target))


def _type_without(product: Product) -> ArrayType:
    type = array_type(product.rest)
    for op, other in product.without():
        type = joined(op, type, array_type(other))
    return type


def _once(fold: Fold, stmt: Let, first: Product, second: Product) -> Any:
    parts = [_without(fold, stmt, product) for product in (first, second)]
    inner = fold.emit(stmt, stmt.op, *parts, type=joined(stmt.op, *map(array_type, parts)))
    args = (inner, first.factor) if first.place else (first.factor, inner)
    return fold.become(stmt, Multiply, *args)


def _without(fold: Fold, like: Let, product: Product) -> Atom:
    """A product without its factor: new statements before `like`."""
    value = product.rest
    for op, other in product.without():
        value = fold.emit(like, op, value, other, type=joined(op, array_type(value), array_type(other)))
    return value


RULES = {"add": [_taken_out, _itself_taken_out], "subtract": [_taken_out, _itself_taken_out]}
