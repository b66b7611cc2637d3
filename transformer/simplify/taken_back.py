"""Factors of what several statements of a derivative use, each of which takes them out again.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(d: f64, g: f64, s: f64, a: f64, b: f64)
...     effect comment(text='reverse')
...     t: f64 = multiply(d, g)
...     r: f64 = divide(t, s)
...     u: f64 = multiply(r, a)
...     y: f64 = divide(u, g)
...     v: f64 = multiply(r, b)
...     z: f64 = divide(v, g)
...     return y, z
... ''')
function f(d: f64, g: f64, s: f64, a: f64, b: f64)
    effect comment(text='reverse')
    t: f64 = multiply(d, g)
    t_1: f64 = divide(d, s)
    u: f64 = multiply(t_1, a)
    v: f64 = multiply(t_1, b)
    return u, v
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..core.grammar import Atom, Const, Let, Var
from ..ops.arithmetic import Divide, Multiply
from .changes import with_operand
from .constants import is_power_of_two
from .divisors import DEEPEST
from .neutral import number
from .quotients import is_constant
from .rewriter import array_type, joined, same_atom
from .shapes import certainly_meet
from .signs import TOTALS

if TYPE_CHECKING:
    from .fold import Fold

Undoes = Callable[[Let, Var], bool]

PLAIN = ("negative", "expand_dims", *TOTALS)


@with_operand("multiply")
def _divided_by_all(fold: Fold, stmt: Let) -> Any:
    """r = d * g / s; r * a / g; r * b / g → r = d / s; r * a; r * b."""
    product = fold.own(stmt.args[0], "multiply") if _is_shared(fold, stmt) else None
    if product is None or product.attrs:
        return None
    for rest, factor in (product.args, product.args[::-1]):
        is_factor = isinstance(factor, Var) or is_constant(fold, factor)
        if is_factor and _is_taken_back(fold, stmt, (rest, stmt.args[1]), _divides_by(factor)):
            return fold.become(stmt, Divide, rest, stmt.args[1])
    return None


@with_operand("multiply")
def _multiplied_by_all(fold: Fold, stmt: Let) -> Any:
    """r = d / (2 * s); 2 * r * a; 2 * r * b → r = d / s; r * a; r * b."""
    product = fold.defined_by(stmt.args[1], "multiply") if _is_shared(fold, stmt) else None
    factor = None if product is None or product.attrs else number(product.args[0])
    if product is None or not isinstance(factor, int | float) or not is_power_of_two(factor):
        return None
    if not _is_taken_back(fold, stmt, (stmt.args[0], product.args[1]), _multiplies_by(factor)):
        return None
    return fold.become(stmt, Divide, stmt.args[0], product.args[1])


def _is_shared(fold: Fold, stmt: Let) -> bool:
    """Whether a quotient of the reverse sweep, not named after anything of the user's, is used several times."""
    is_named = stmt.target.primal is not None and stmt.target.primal.name
    return (fold.is_generated and not is_named and fold.is_derivative(stmt) and not stmt.attrs
            and array_type(stmt.target).dtype.kind == "f" and fold.uses.counts.get(stmt.target, 0) > 1)


def _is_taken_back(fold: Fold, stmt: Let, less: tuple[Atom, Atom], undoes: Undoes) -> bool:
    """Whether all that uses a quotient takes a factor out of it, which it no longer does then, as the quotient is
    that of other atoms, `less`."""
    users = fold.uses.users.get(stmt.target, [])
    types = tuple(map(array_type, less))
    if len(users) != fold.uses.counts.get(stmt.target) or not certainly_meet(fold, *types) or not fold.same_type(
            joined(Divide, *types), stmt.target.type):
        return False
    places = [_place(fold, user, stmt.target, undoes) for user in users]
    if not all(places):
        return False
    fold.change(stmt.target)
    for place in places:
        assert place is not None
        k = 1 if place.op is Divide else 0 if number(place.args[0]) is not None else 1
        fold.become(place, place.op, *place.args[:k], Const(1), *place.args[k + 1:])
    return True


def _place(fold: Fold, user: Any, var: Var, undoes: Undoes, depth: int = DEEPEST) -> Let | None:
    """The statement that takes the factor out of a value, or of what is made of it by products and totals."""
    if not isinstance(user, Let) or not depth:
        return None
    if not user.attrs and undoes(user, var) and fold.has_type(var, user.target):
        return user
    following = fold.uses.users.get(user.target, [])
    if not _passes(user, var) or len(following) != 1 or not fold.uses.once(user.target):
        return None
    return _place(fold, following[0], user.target, undoes, depth - 1)


def _passes(user: Let, var: Var) -> bool:
    """Whether a statement gives a multiple of what it takes."""
    if sum(atom is var for atom in user.args) != 1:
        return False
    is_product = user.op is Multiply or user.op is Divide and user.args[0] is var
    return is_product and not user.attrs or user.op.name in PLAIN


def _divides_by(factor: Atom) -> Undoes:
    return lambda user, var: user.op is Divide and user.args[0] is var and same_atom(user.args[1], factor)


def _multiplies_by(factor: float) -> Undoes:
    return lambda user, var: user.op is Multiply and any(
        number(one) == factor and other is var for one, other in (user.args, user.args[::-1]))


RULES = {"divide": [_divided_by_all, _multiplied_by_all]}
