"""Sizes times signs of derivatives: they are the number itself.

The derivative of a power spectrum, `np.sum(np.abs(z) ** 2)`, comes out as `2 * np.conj(z)`:

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(z: c128[n])
...     a: f64[n] = absolute(z)
...     effect comment(text='reverse')
...     t: f64[n] = multiply(2, a)
...     s: c128[n] = sign(z)
...     c: c128[n] = conjugate(s)
...     dz: c128[n] = multiply(t, c)
...     return dz
... ''')
function f(z: c128[n])
    a: f64[n] = absolute(z)
    effect comment(text='reverse')
    t: f64[n] = multiply(2, a)
    s: c128[n] = sign(z)
    c: c128[n] = conjugate(s)
    t_1: c128[n] = conjugate(z)
    dz: c128[n] = multiply(2, t_1)
    return dz
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.grammar import Atom, Let, Var, type_of
from .changes import with_operand
from .divisors import DEEPEST
from .quotients import become_last
from .rewriter import array_type, joined

if TYPE_CHECKING:
    from .fold import Fold


@with_operand("sign", "conjugate")
def _size_times_sign(fold: Fold, stmt: Let) -> Any:
    """2 * abs(x) * sign(x) → 2 * x, 2 * abs(z) * conj(sign(z)) → 2 * conj(z), in derivatives."""
    if not fold.is_plain_derivative(stmt):
        return None
    for terms, factor in (stmt.args, stmt.args[::-1]):
        turned = fold.defined_by(factor, "conjugate")
        sign = fold.defined_by(factor if turned is None else turned.args[0], "sign")
        size = None if sign is None else _size(fold, sign.args[0])
        if sign is None or size is None or not _is_factor(fold, size, terms):
            continue
        x = sign.args[0]
        if turned is not None:
            x = fold.emit(stmt, turned.op, x, type=type_of(turned.target), **turned.attrs)
        value = _with(fold, stmt, terms, size, x)
        return fold.or_copy(stmt, value) if value is x else become_last(fold, stmt)
    return None


def _size(fold: Fold, x: Atom) -> Var | None:
    """The size of a number, if it was computed before."""
    users = fold.uses.users.get(x, ()) if isinstance(x, Var) else ()
    return next((user.target for user in users if isinstance(user, Let) and user.op.name == "absolute"
                 and fold.definition.get(user.target) is user), None)


def _is_factor(fold: Fold, size: Var, terms: Atom, depth: int = DEEPEST) -> bool:
    """Whether terms, which nothing else uses, are a size, or a product with it."""
    own = fold.own(terms, "multiply", "divide", "negative") if depth and terms is not size else None
    factors = () if own is None or own.attrs else own.args if own.op.name == "multiply" else own.args[:1]
    return terms is size or any(_is_factor(fold, size, each, depth - 1) for each in factors)


def _with(fold: Fold, like: Let, terms: Atom, size: Var, x: Atom) -> Atom:
    """A product with a number in place of its size: new statements before `like`."""
    if terms is size:
        return x
    own = fold.definition[terms]                                                            # type: ignore[index]
    place = 0 if own.op.name != "multiply" or _is_factor(fold, size, own.args[0]) else 1
    args = (*own.args[:place], _with(fold, like, own.args[place], size, x), *own.args[place + 1:])
    return fold.emit(like, own.op, *args, type=joined(own.op, *map(array_type, args)))


RULES = {"multiply": [_size_times_sign]}
