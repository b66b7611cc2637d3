"""Powers of one value that meet in a product of derivatives: they are one power, or none.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(a: f64, x: f64)
...     effect comment(text='reverse')
...     p: f64 = power(x, 3)
...     q: f64 = power(x, 2)
...     t: f64 = divide(a, p)
...     y: f64 = multiply(t, q)
...     u: f64 = multiply(a, q)
...     z: f64 = multiply(u, x)
...     return y, z
... ''')
function f(a: f64, x: f64)
    effect comment(text='reverse')
    p: f64 = power(x, 3)
    q: f64 = power(x, 2)
    t: f64 = divide(a, p)
    y: f64 = divide(a, x)
    u: f64 = multiply(a, q)
    t_1: f64 = power(x, 3)
    z: f64 = multiply(a, t_1)
    return y, z
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.builder import Builder
from ..core.grammar import Atom, Const, Let, Var
from ..ops.arithmetic import Divide, Multiply
from ..ops.float_signs import is_not_negative
from ..ops.powers import Power
from .changes import with_operand
from .neutral import known
from .quotients import without
from .rewriter import array_type

if TYPE_CHECKING:
    from .fold import Fold

Exponent = int | float


class Factor(NamedTuple):
    """A power of a base; the base itself is one."""

    atom: Atom
    base: Var
    exponent: Exponent


@with_operand("power", "multiply", "divide")
def _joined(fold: Fold, stmt: Let) -> Any:
    """a / x ** 1.5 * x ** 0.5 → a / x, a * x ** 2 * x → a * x ** 3, in derivatives."""
    if not fold.is_plain_derivative(stmt, "f"):
        return None
    sides = (stmt.args,) if stmt.op is Divide else (stmt.args, stmt.args[::-1])
    return next((found for terms, atom in sides for factor in _factors(fold, atom)
                 if (found := _with(fold, stmt, terms, factor)) is not None), None)


def _factors(fold: Fold, atom: Atom) -> Iterator[Factor]:
    """What an atom is a power of."""
    if not isinstance(atom, Var):
        return
    yield Factor(atom, atom, 1)
    power = fold.defined_by(atom, "power")
    if power is None or power.attrs or not isinstance(power.args[0], Var):
        return
    exponent = known(power.args[1])
    if isinstance(exponent, int | float) and exponent > 0:
        yield Factor(atom, power.args[0], exponent)


def _with(fold: Fold, stmt: Let, terms: Atom, factor: Factor) -> Any:
    """A product or quotient of terms, among which is another power of a factor's base, and the factor."""
    sign = -1 if stmt.op is Divide else 1
    for other in _powers(fold, factor.base):
        for name, its in (("divide", -1), ("multiply", 1)):
            exponent = sign * factor.exponent + its * other.exponent
            if sign == its == -1 or factor.exponent == other.exponent or not _may_join(fold, factor, other):
                continue
            rest = without(fold, stmt, terms, other.atom, name)
            if rest is not None:
                return _times(fold, stmt, rest, factor.base, exponent)
    return None


def _powers(fold: Fold, base: Var) -> list[Factor]:
    """The base, and the powers of it that were computed before."""
    users = (user for user in fold.uses.users.get(base, ()) if isinstance(user, Let) and user.op is Power)
    made = (factor for user in users if fold.definition.get(user.target) is user
            for factor in _factors(fold, user.target) if factor.base is base and factor.atom is not base)
    return [Factor(base, base, 1), *made]


def _may_join(fold: Fold, one: Factor, other: Factor) -> bool:
    """Whether the product is nan for the same numbers: roots of what is below 0 are, but not squares."""
    if any(not fold.same_type(array_type(each.atom), array_type(each.base)) for each in (one, other)):
        return False
    if all(float(each.exponent).is_integer() for each in (one, other)):
        return True
    builder = Builder(fold.assumptions)
    builder.numbering.definitions = fold.definition
    with builder.active():
        return is_not_negative(one.base)


def _times(fold: Fold, stmt: Let, rest: Atom, base: Var, exponent: Exponent) -> Any:
    size, op = abs(exponent), Multiply if exponent > 0 else Divide
    power: Atom = base
    if size != 1:
        power = fold.emit(stmt, Power, base, Const(size), type=array_type(base))
    return fold.become(stmt, op, rest, power)


RULES = {"multiply": [_joined], "divide": [_joined]}
