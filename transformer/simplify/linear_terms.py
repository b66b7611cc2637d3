"""Terms of a derivative that are linear in what they are of, with one matrix: it is applied once, to their sum.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(a: f64[n, n], x: f64[n], u: f64[n], v: f64[n])
...     effect comment(text='reverse')
...     s: f64[n] = solve(a, u)
...     t: f64[n] = solve(a, v)
...     y: f64[n] = subtract(s, t)
...     p: f64 = matmul(u, x)
...     w: f64[n] = multiply(2, x)
...     q: f64 = matmul(w, u)
...     z: f64 = add(p, q)
...     return y, z, w
... ''')
function f(a: f64[n, n], x: f64[n], u: f64[n], v: f64[n])
    effect comment(text='reverse')
    s: f64[n] = solve(a, u)
    t: f64[n] = solve(a, v)
    t_1: f64[n] = subtract(u, v)
    y: f64[n] = solve(a, t_1)
    p: f64 = matmul(u, x)
    w: f64[n] = multiply(2, x)
    q: f64 = matmul(w, u)
    z: f64 = multiply(3, p)
    return y, z, w
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.grammar import Atom, Const, Let, Var, type_of
from ..ops.arithmetic import Add, Multiply, Negative, Subtract
from .changes import with_operand
from .neutral import number
from .rewriter import array_type, same_atom

if TYPE_CHECKING:
    from .fold import Fold

# Of which operands these ops are linear in each.
LINEAR = {"matmul": (0, 1), "dot": (0, 1), "outer": (0, 1), "solve": (1,), "solve_triangular": (1,)}
DOTS = ("matmul", "dot")


class Dot(NamedTuple):
    """The product of two vectors, in any order, times a number."""

    factor: Any
    stmt: Let
    left: Atom
    right: Atom

    def is_like(self, other: Dot) -> bool:
        return any(same_atom(self.left, left) and same_atom(self.right, right)
                   for left, right in ((other.left, other.right), (other.right, other.left)))


@with_operand("negative", *LINEAR)
def _applied_once(fold: Fold, stmt: Let) -> Any:
    """solve(a, x) - solve(a, y) → solve(a, x - y), -solve(a, x) - solve(a, y) → -solve(a, x + y)."""
    if not fold.is_derivative(stmt) or stmt.attrs or not _is_real(stmt.target):
        return None
    sign = fold.own(stmt.args[0], "negative") if stmt.op is Subtract else None
    first = fold.own(stmt.args[0] if sign is None else sign.args[0], *LINEAR)
    second = fold.own(stmt.args[1], *LINEAR)
    place = None if first is None or second is None else _other_operand(fold, first, second)
    if first is None or second is None or place is None or not fold.has_type(first.target, stmt.target):
        return None
    terms = (first.args[place], second.args[place])
    total = fold.emit(stmt, stmt.op if sign is None else Add, *terms, type=type_of(terms[0]))
    args = (*first.args[:place], total, *first.args[place + 1:])
    if sign is None:
        return fold.become(stmt, first.op, *args, **first.attrs)
    return fold.become(stmt, Negative, fold.emit(stmt, first.op, *args, type=stmt.target.type, **first.attrs))


def _other_operand(fold: Fold, first: Let, second: Let) -> int | None:
    """The operand in which two applications of one op differ, if it is linear in that."""
    if first is second or first.op is not second.op or first.attrs != second.attrs:
        return None
    return next((k for k in LINEAR[first.op.name] if _differ_in(fold, first, second, k)), None)


def _differ_in(fold: Fold, first: Let, second: Let, place: int) -> bool:
    """Whether this operand alone is another one, of the same type."""
    pairs = list(zip(first.args, second.args, strict=True))
    mine, others = pairs.pop(place)
    is_same = all(same_atom(*pair) for pair in pairs)
    return is_same and _is_real(mine) and fold.same_type(type_of(mine), type_of(others))


@with_operand(*DOTS, "multiply")
def _dots(fold: Fold, stmt: Let) -> Any:
    """u @ x + (2 * x) @ u → 3 * (u @ x), of vectors."""
    if not fold.is_derivative(stmt) or stmt.attrs or not _is_real(stmt.target):
        return None
    first, second = (_dot(fold, atom) for atom in stmt.args)
    if first is None or second is None or not first.is_like(second):
        return None
    factor = first.factor + second.factor if stmt.op.name == "add" else first.factor - second.factor
    if not factor or not fold.has_type(first.stmt.target, stmt.target):
        return None
    return fold.become(stmt, Multiply, Const(factor), _product(fold, stmt, first))


def _product(fold: Fold, like: Let, dot: Dot) -> Atom:
    """The product without its number, which is there already if there was none."""
    if (dot.left, dot.right) == dot.stmt.args:
        return dot.stmt.target
    return fold.emit(like, dot.stmt.op, dot.left, dot.right, type=type_of(dot.stmt.target), **dot.stmt.attrs)


def _dot(fold: Fold, atom: Atom) -> Dot | None:
    """A product of vectors, which nothing else uses, without the numbers that it is multiplied by."""
    outer = fold.own(atom, "multiply")
    factor = 1 if outer is None else number(outer.args[0])
    stmt = fold.own(atom if outer is None else outer.args[1], *DOTS)
    if stmt is None or not isinstance(factor, int | float) or any(array_type(each).rank != 1 for each in stmt.args):
        return None
    (first, left), (second, right) = (_multiple(fold, each) for each in stmt.args)
    return Dot(factor * first * second, stmt, left, right)


def _multiple(fold: Fold, atom: Atom) -> tuple[Any, Atom]:
    """A number and the vector that it multiplies."""
    product = fold.defined_by(atom, "multiply")
    factor = None if product is None or product.attrs else number(product.args[0])
    if product is None or not isinstance(factor, int | float) or not fold.same_type(
            type_of(product.args[1]), type_of(atom)):
        return 1, atom
    return factor, product.args[1]


def _is_real(atom: Atom) -> bool:
    return isinstance(atom, Var) and array_type(atom).dtype.kind == "f"


RULES = {"add": [_applied_once, _dots], "subtract": [_applied_once, _dots]}
