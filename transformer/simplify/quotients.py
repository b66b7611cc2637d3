"""Quotients of derivatives, in which a factor stands above and below the line.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(a: f64[n], b: f64[n])
...     effect comment(text='reverse')
...     t: f64[n] = divide(1.0, b)
...     y: f64[n] = multiply(t, a)
...     u: f64[n] = multiply(2, a)
...     v: f64[n] = multiply(2, b)
...     z: f64[n] = divide(u, v)
...     return y, z
... ''')
function f(a: f64[n], b: f64[n])
    effect comment(text='reverse')
    t: f64[n] = divide(1.0, b)
    y: f64[n] = divide(a, b)
    u: f64[n] = multiply(2, a)
    v: f64[n] = multiply(2, b)
    z: f64[n] = divide(a, b)
    return y, z
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..core.grammar import Atom, Const, Let, Var, type_of
from ..core.sizes import Size
from ..core.types import ArrayType
from ..ops.arithmetic import Divide, Multiply, Negative
from .changes import CONSTANT, with_operand
from .constants import has_dtype, is_power_of_two
from .neutral import known, number
from .rewriter import array_type, joined, same_atom
from .shapes import certainly_meet, covers
from .signs import DEEPEST

if TYPE_CHECKING:
    from .fold import Fold


ONE = Const(1.0)


@with_operand("divide", "expand_dims")
def _over(fold: Fold, stmt: Let) -> Any:
    """1 / b * a → a / b, 2 * (a / (2 * b)) → a / b, in generated code: one rounding less."""
    if not fold.is_plain_derivative(stmt):
        return None
    for first, other in (stmt.args, stmt.args[::-1]):
        spread = fold.own(first, "expand_dims")
        quotient = fold.own(first if spread is None else spread.args[0], "divide")
        if quotient is None or quotient.attrs:
            continue
        found = _times(fold, stmt, quotient, other) if spread is None else _spread(fold, stmt, spread, quotient, other)
        if found is not None:
            return found
    return None


@with_operand("divide", "multiply", "negative")
def _undone(fold: Fold, stmt: Let) -> Any:
    """-(a / b) * b → -a, a * b / c / b → a / c, a / (b / n) / n → a / b, a / (b * n) * n → a / b, in derivatives: two
    roundings less."""
    if not fold.is_plain_derivative(stmt):
        return None
    divides = stmt.op.name == "divide"
    for terms, factor in (stmt.args,) if divides else (stmt.args, stmt.args[::-1]):
        if fold.has_type(terms, stmt.target) and (
                isinstance(factor, (Var, Size)) or is_constant(fold, factor)):
            rest = without(fold, stmt, terms, factor, "multiply" if divides else "divide")
            if rest is not None:
                is_new = isinstance(rest, Var) and fold.uses.counts.get(rest) == 0 and fold.has_type(rest, stmt.target)
                return become_last(fold, stmt) if is_new else fold.or_copy(stmt, rest)
    return None


@with_operand("divide")
def _one(fold: Fold, stmt: Let) -> Any:
    """log(a) + a / a → log(a) + 1, in derivatives."""
    if not fold.is_plain_derivative(stmt):
        return None
    for place, other in ((0, stmt.args[1]), (1, stmt.args[0])):
        quotient = fold.own(stmt.args[place], "divide")
        is_one = quotient is not None and quotient.args[0] is quotient.args[1] and not quotient.attrs
        if is_one and isinstance(other, Var) and fold.has_type(other, stmt.target):
            return fold.become(stmt, stmt.op, *((Const(1), other) if place == 0 else (other, Const(1))))
    return None


def become_last(fold: Fold, stmt: Let) -> Any:
    """Makes `stmt` what was emitted last."""
    made = fold.out.pop()
    assert isinstance(made, Let)
    for atom in made.args:
        fold.mention(atom, -1)
    return fold.become(stmt, made.op, *made.args)


def without(fold: Fold, like: Let, terms: Atom, factor: Atom, name: str, depth: int = DEEPEST) -> Atom | None:
    """A product or quotient without the place in it where it was multiplied, or divided, by a factor: new statements
    before `like`, for those around that place, which nothing else uses."""
    own = fold.defined_by(terms, "multiply", "divide", "negative") if depth else None
    if own is None or own.attrs:
        return None
    found = _rest(fold, like, own, factor, name)
    if found is not None:
        return found
    places = () if not fold.uses.once(own.target) else (0, 1) if own.op.name == "multiply" else (0,)
    for place in places:
        less = without(fold, like, own.args[place], factor, name, depth - 1)
        if less is not None:
            args = (*own.args[:place], less, *own.args[place + 1:])
            types = tuple(map(array_type, args))
            return fold.emit(like, own.op, *args, type=joined(own.op, *types)) if certainly_meet(fold, *types) else None
    return None


def _rest(fold: Fold, like: Let, own: Let, factor: Atom, name: str) -> Atom | None:
    """What a product or quotient is of, if it is this that multiplies, or divides, by a factor."""
    first, second = own.args[0], own.args[-1]
    if own.op.name == name:
        for rest, other in (own.args,) if name == "divide" else (own.args, own.args[::-1]):
            if same_atom(other, factor) and _is_as_wide(fold, rest, own.target):
                return rest
    elif own.op is Divide and same_atom(first, factor) and fold.has_type(second, own.target):
        return fold.emit(like, Divide, ONE, second, type=type_of(own.target))
    beside = _beside(fold, second, factor, name) if own.op is Divide else None
    if beside is None or name == "divide" and not fold.uses.once(own.target) or not _divides(
            fold, own.target, first, beside):
        return None
    return fold.emit(like, Divide, first, beside, type=type_of(own.target))


def _is_as_wide(fold: Fold, rest: Atom, target: Var) -> bool:
    """Whether a factor has the type of a product, or is a number of Python's where that is one of NumPy's."""
    own, wanted = array_type(rest), array_type(target)
    return fold.has_type(rest, target) or own.weak and not wanted.rank and own.dtype == wanted.dtype


def _beside(fold: Fold, divisor: Atom, factor: Atom, name: str) -> Atom | None:
    """`b` of a divisor `b / factor`, by which a quotient is multiplied by the factor, or of `b * factor`."""
    inner = fold.defined_by(divisor, "divide" if name == "multiply" else "multiply")
    if inner is None or inner.attrs:
        return None
    sides = (inner.args,) if name == "multiply" else (inner.args, inner.args[::-1])
    return next((rest for rest, other in sides if same_atom(other, factor)), None)


def _times(fold: Fold, stmt: Let, quotient: Let, other: Atom) -> Any:
    """The product of a quotient that nothing else uses and a factor, as one quotient. With a 1 of NumPy's, that of
    numbers alone: an array is not divided where it may be multiplied."""
    numerator, divisor = quotient.args
    one = number(numerator) if array_type(stmt.target).sizes else known(numerator)
    if _is_unit(one, other) and _divides(fold, stmt.target, other, divisor):
        return fold.become(stmt, Divide, _signed(fold, stmt, other, one), divisor)
    rest = _without_factor(fold, divisor, number(other)) or _beside_constant(fold, divisor, other)
    if rest is not None and _divides(fold, stmt.target, numerator, rest):
        return fold.become(stmt, Divide, numerator, rest)
    return None


def _spread(fold: Fold, stmt: Let, spread: Let, quotient: Let, other: Atom) -> Any:
    """(1 / b)[:, None] * a → a / b[:, None]."""
    numerator, divisor = quotient.args
    fits = isinstance(other, Var) and fold.has_type(other, stmt.target) and array_type(divisor).rank
    if number(numerator) != 1 or not fits:
        return None
    wide = fold.emit(stmt, spread.op, divisor, type=type_of(spread.target), **spread.attrs)
    return fold.become(stmt, Divide, other, wide)


@with_operand("multiply")
def _cancelled(fold: Fold, stmt: Let) -> Any:
    """2 * a / (2 * b) → a / b, 6 * a / c / (2 * b) → 3 * a / c / b, 2 / (2 * b) → 1.0 / b, in generated code."""
    rest = _without_factor(fold, stmt.args[1], number(stmt.args[0]))
    if fold.is_derivative(stmt) and rest is not None and not stmt.attrs and _divides(fold, stmt.target, ONE, rest):
        return fold.become(stmt, Divide, ONE, rest)
    path = _leading(fold, stmt.args[0])
    if not fold.is_derivative(stmt) or not path or stmt.attrs:
        return None
    inner = fold.defined_by(stmt.args[1], "multiply")
    factor, led = None if inner is None else number(inner.args[0]), number(path[-1].args[0])
    rest = _without_factor(fold, stmt.args[1], factor)
    if rest is None or not _divides(fold, stmt.target, stmt.args[0], rest) or not float(led / factor).is_integer():
        return None
    return fold.become(stmt, Divide, _led_by(fold, stmt, path, type(led)(led / factor)), rest)


@with_operand("multiply")
def _cancelled_in_sum(fold: Fold, stmt: Let) -> Any:
    """(2 * a + 2 * b) / (2 * c) → (a + b) / c, in derivatives: that of a length, say."""
    total, divisor = fold.own(stmt.args[0], "add", "subtract"), fold.defined_by(stmt.args[1], "multiply")
    if total is None or divisor is None or total.attrs or not fold.is_plain_derivative(stmt, "f"):
        return None
    factor = number(divisor.args[0])
    rest, paths = _without_factor(fold, stmt.args[1], factor), [_leading(fold, atom) for atom in total.args]
    if rest is None or not all(paths):
        return None
    numbers = [number(path[-1].args[0]) for path in paths]
    if not all(float(each / factor).is_integer() for each in numbers):
        return None
    terms = [_led_by(fold, stmt, path, type(each)(each / factor)) for path, each in zip(paths, numbers, strict=True)]
    type_of_sum = joined(total.op, *map(array_type, terms))
    if not fold.same_type(type_of_sum, type_of(total.target)) or not _divides(fold, stmt.target, total.target, rest):
        return None
    return fold.become(stmt, Divide, fold.emit(stmt, total.op, *terms, type=type_of_sum), rest)


@with_operand(CONSTANT)
def _led_over(fold: Fold, stmt: Let) -> Any:
    """2 * a / 4 → a / 2, in derivatives."""
    divisor, path = number(stmt.args[1]), _leading(fold, stmt.args[0])
    if not path or not fold.is_derivative(stmt) or stmt.attrs or type(divisor) not in (int, float):
        return None
    factor = number(path[-1].args[0])
    if not is_power_of_two(factor) or not float(divisor / factor).is_integer() or not fold.has_type(
            path[-1].args[1], stmt.target):
        return None
    rest = _without_leading(fold, stmt, path)
    return fold.become(stmt, Divide, rest, Const(type(divisor)(divisor / factor)))


@with_operand("negative")
def _multiple_of_ratio(fold: Fold, stmt: Let) -> Any:
    """ratio = -0.5 / n; 2 * -ratio → 1.0 / n, in derivatives: numbers cost nothing."""
    factor, other = number(stmt.args[0]), stmt.args[1]
    sign = fold.defined_by(other, "negative")
    ratio = None if sign is None else fold.defined_by(sign.args[0], "divide")
    if ratio is None or ratio.attrs or stmt.attrs or array_type(stmt.target).rank or not fold.is_derivative(stmt):
        return None
    above = number(ratio.args[0])
    if type(factor) not in (int, float) or type(above) not in (int, float) or not is_power_of_two(factor):
        return None
    if fold.instead(stmt, ratio.target) is None:
        return None
    product = Const(float(-factor * above))
    return fold.instead(stmt, fold.emit(stmt, Divide, product, ratio.args[1], type=type_of(ratio.target)))


@with_operand("multiply")
def _without_constant(fold: Fold, stmt: Let) -> Any:
    """2 * np.pi * a / (2 * np.pi * b) → a / b, in derivatives: what is not known to be a power of two as well."""
    product = fold.own(stmt.args[0], "multiply")
    if product is None or product.attrs or stmt.attrs or not fold.is_derivative(stmt):
        return None
    rest = _beside_constant(fold, stmt.args[1], product.args[0])
    if rest is None or not _divides(fold, stmt.target, product.args[1], rest):
        return None
    return fold.become(stmt, Divide, product.args[1], rest)


@with_operand("multiply", "divide")
def _led_total(fold: Fold, stmt: Let) -> Any:
    """np.sum(2 * a * b) → 2 * np.sum(a * b), in derivatives: there are fewer totals than terms."""
    path = _leading(fold, stmt.args[0])
    if not path or not fold.is_derivative(stmt) or array_type(stmt.target).dtype.kind != "f":
        return None
    if array_type(stmt.target).dtype != array_type(stmt.args[0]).dtype or abs(number(path[-1].args[0])) == 1:
        return None
    factor, terms = path[-1].args[0], _without_leading(fold, stmt, path)
    total = fold.emit(stmt, stmt.op, terms, type=type_of(stmt.target), **stmt.attrs)
    return fold.become(stmt, Multiply, factor, total)


def _without_leading(fold: Fold, like: Let, path: list[Let]) -> Atom:
    """What a number leads, without it: new statements before `like`, of the types of those that the number led."""
    other = path[-1].args[1]
    for inner in path[-2::-1]:
        other = fold.emit(like, inner.op, other, inner.args[1], type=type_of(inner.target))
    return other


def _led_by(fold: Fold, like: Let, path: list[Let], factor: float) -> Atom:
    """What a number leads, led by another one."""
    if factor == 1:
        return _without_leading(fold, like, path)
    other: Atom = fold.emit(like, Multiply, Const(factor), path[-1].args[1], type=type_of(path[-1].target))
    for inner in path[-2::-1]:
        other = fold.emit(like, inner.op, other, inner.args[1], type=type_of(inner.target))
    return other


def _leading(fold: Fold, atom: Atom) -> list[Let]:
    """The products and quotients that nothing else uses, from `atom` inwards, to the one that begins with a number:
    2 * a / b."""
    path: list[Let] = []
    while (stmt := fold.own(atom, "multiply", "divide")) is not None and not stmt.attrs:
        path.append(stmt)
        atom = stmt.args[0]
        if number(atom) is not None:
            return path if stmt.op.name == "multiply" and has_dtype(stmt.args[1], stmt.target) else []
    return []


def _without_factor(fold: Fold, product: Atom, factor: Any) -> Atom | None:
    """What a product is of besides its leading factor, which is this power of two."""
    inner = fold.defined_by(product, "multiply")
    if inner is None or inner.attrs or not isinstance(factor, int | float) or not is_power_of_two(factor):
        return None
    return inner.args[1] if number(inner.args[0]) == factor and has_dtype(inner.args[1], inner.target) else None


def _beside_constant(fold: Fold, product: Atom, factor: Atom) -> Atom | None:
    """What a product is of besides its leading factor, which is this one, made of constants that are not 0."""
    inner = fold.defined_by(product, "multiply")
    if inner is None or inner.attrs or inner.args[0] is not factor or not is_constant(fold, factor):
        return None
    return inner.args[1] if has_dtype(inner.args[1], inner.target) else None


def is_constant(fold: Fold, atom: Atom) -> bool:
    """Whether a number is made of constants, such as ``2 * np.pi``, and is not 0."""
    if isinstance(atom, Const):
        return isinstance(atom.value, int | float) and atom.value != 0 and abs(atom.value) < math.inf
    made = fold.defined_by(atom, "multiply", "divide")
    return made is not None and not array_type(atom).rank and all(is_constant(fold, each) for each in made.args)


def _divides(fold: Fold, target: Var, first: Atom, second: Atom) -> bool:
    """Whether `first / second` has the type of a variable."""
    return divides(fold, target, array_type(first), array_type(second))


def divides(fold: Fold, target: Var, first: ArrayType, second: ArrayType) -> bool:
    """Whether the quotient of two types is that of a variable."""
    wanted = array_type(target)
    found = Divide.types(first.with_sizes(()), second.with_sizes(()))
    fits = found.dtype == wanted.dtype and (first.weak and second.weak) == wanted.weak
    return bool(fits) and covers(fold, (first, second), target)


def _is_unit(factor: Any, other: Atom) -> bool:
    """Whether a factor is 1, or -1 where the other factor has an opposite."""
    return isinstance(other, Var) and (factor == 1 or factor == -1 and array_type(other).dtype.kind in "fc")


def _signed(fold: Fold, stmt: Let, atom: Atom, sign: Any) -> Atom:
    """`atom`, or its opposite: a new statement before `stmt`."""
    return atom if sign == 1 else fold.emit(stmt, Negative, atom, type=type_of(atom))


RULES = {
    "multiply": [_undone, _multiple_of_ratio, _over],
    "divide": [_undone, _led_over, _cancelled, _cancelled_in_sum, _without_constant],
    "add": [_one],
    "subtract": [_one],
    "sum": [_led_total],
    "mean": [_led_total],
}
