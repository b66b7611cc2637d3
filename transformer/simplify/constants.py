"""Numbers that are known: folded where all operands are, collected in products, doubled sums.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(t: f64, x: f64[n], k: int)
...     a: int = multiply(2, 3)
...     b: f64[n] = multiply(x, a)
...     c: f64[n] = multiply(b, t)
...     d: f64[n] = multiply(0.5, c)
...     e: f64[n] = multiply(t, x)
...     f: f64[n] = add(e, e)
...     i: int = add(k, 1)
...     j: int = subtract(i, 1)
...     l: f64[n] = multiply(f, j)
...     return d, l
... ''')
function f(t: f64, x: f64[n], k: int)
    t_1: f64[n] = multiply(x, 3)
    d: f64[n] = multiply(t_1, t)
    e: f64[n] = multiply(t, x)
    t_2: f64 = multiply(2, t)
    f: f64[n] = multiply(t_2, x)
    i: int = add(k, 1)
    l: f64[n] = multiply(f, k)
    return d, l
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.grammar import Atom, Const, Let, Var, type_of
from ..core.sizes import Extent, Greatest, Least, Size
from ..core.types import ArrayType
from ..core.walk import atom_of_size
from ..ops.arithmetic import Add, Multiply, Subtract
from .changes import CONSTANT, SIZE, with_operand
from .neutral import known, number
from .rewriter import array_type, joined
from .signs import DEEPEST

if TYPE_CHECKING:
    from .fold import Fold

ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul,
    "divide": operator.truediv, "negative": operator.neg}
INTEGER = type_of(Const(1))
FLOAT64_NUMBER = ArrayType(np.dtype(np.float64))
LARGEST_FACTOR = 1000          # whole numbers up to here may be multiplied across a rounding


# -- all operands known --------------------------------------------------------------------------

@with_operand(CONSTANT)
def _folded(fold: Fold, stmt: Let) -> Any:
    """2 * 3 → 6; not 1 / 3, as no one would write it out."""
    values = [known(atom) for atom in stmt.args]
    if stmt.attrs or any(value is None or isinstance(value, bool) for value in values):
        return None
    seed = _without_seed(fold, stmt)
    if seed is not None:
        return seed
    try:
        with np.errstate(all="ignore"):
            result = plain(ARITHMETIC[stmt.op.name](*values))
    except ArithmeticError:
        return None
    if not _is_short(result, list(map(plain, values))):
        return None
    if int in map(type, values) and isinstance(result, float) and result.is_integer():
        return fold.integer_instead(stmt, Const(int(result))) or fold.instead(stmt, Const(result))
    return fold.instead(stmt, Const(result))


def plain(value: Any) -> Any:
    """A number as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def _is_short(result: Any, values: list[Any]) -> bool:
    """Whether a number is as easily read as those that it comes from."""
    if isinstance(result, int):
        return abs(result) < 2 ** 63
    return not isinstance(result, complex) and math.isfinite(result) and (
        len(repr(result)) <= 1 + sum(len(repr(value)) for value in values))


def _without_seed(fold: Fold, stmt: Let) -> Any:
    """1.0 * 2 → 2 where that meets floating point numbers: the 1.0 is the seed of a derivative."""
    if stmt.op.name != "multiply" or array_type(stmt.target).dtype.kind != "f":
        return None
    for one, other in (stmt.args, stmt.args[::-1]):
        type = type_of(other)
        if number(one) == 1 and array_type(one).dtype.kind == "f" and type == INTEGER:
            return fold.integer_instead(stmt, other)
    return None


# -- whole numbers -------------------------------------------------------------------------------

@with_operand(CONSTANT, SIZE)
def _whole(fold: Fold, stmt: Let) -> Any:
    """Sums of Python integers: sizes are added up, (k + 1) - 1 → k."""
    if stmt.target.type != INTEGER or stmt.attrs:
        return None
    first, second = (extent(atom) for atom in stmt.args)
    if first is not None and second is not None:
        return atom_of_size(_combined(stmt.op.name, first, second))
    if second is None or stmt.op.name == "multiply":
        return None
    return _chained(fold, stmt, second if stmt.op.name == "add" else -second)


def extent(atom: Atom) -> Extent | None:
    """A size or an integer constant, as a size."""
    if isinstance(atom, Size):
        return atom
    value = number(atom)
    return value if type(value) is int else None


def _combined(name: str, first: Extent, second: Extent) -> Extent:
    if name == "multiply":
        return first * second
    return first + second if name == "add" else first - second


def _chained(fold: Fold, stmt: Let, shift: Extent) -> Any:
    """(x + a) + b → x + (a + b); not if x is the position of a loop, as x + a is its index then."""
    inner = fold.defined_by(stmt.args[0], "add", "subtract")
    if inner is None or inner.target.type != INTEGER or inner.attrs:
        return None
    x, own = inner.args[0], extent(inner.args[1])
    if own is None and inner.op.name == "add":
        x, own = inner.args[1], extent(inner.args[0])
    if own is None or type_of(x) != INTEGER or x in fold.positions:
        return None
    total = shift + (own if inner.op.name == "add" else -own)
    if total == 0:
        return fold.instead(stmt, x)
    if isinstance(total, int) and total < 0:
        return fold.become(stmt, Subtract, x, Const(-total))
    return fold.become(stmt, Add, x, atom_of_size(total))


@with_operand(SIZE)
def _nested_extreme(fold: Fold, stmt: Let) -> Any:
    """max(max(n, 0), 1) → max(n, 1)."""
    first, second = stmt.args
    bound, kind = number(second), {"maximum": Greatest, "minimum": Least}[stmt.op.name]
    atom = next(first.atoms(), None) if isinstance(first, Size) else None
    if type(bound) is not int or not isinstance(atom, Greatest | Least) or not isinstance(atom, kind):
        return None
    if type(atom.second) is not int or first != Size.of(atom):
        return None
    joined = (max if kind is Greatest else min)(bound, atom.second)
    return fold.become(stmt, stmt.op, atom_of_size(atom.first), Const(joined), **stmt.attrs)


# -- factors -------------------------------------------------------------------------------------

@with_operand(CONSTANT)
def _collected(fold: Fold, stmt: Let) -> Any:
    """(c * x) * d → cd * x, also where c stands deeper in a product that nothing else uses."""
    for constant, product in (stmt.args[::-1], stmt.args):
        value = number(constant)
        if value is None or not isinstance(product, Var) or fold.own(product, "multiply", "divide") is None:
            continue
        if fold.instead(stmt, product) is not None and _scaled(fold, product, value):
            return product
    return None


def _scaled(fold: Fold, product: Var, factor: Any, depth: int = DEEPEST) -> bool:
    """Multiplies the constant in a product by a factor, in place."""
    stmt = fold.own(product, "multiply", "divide")
    if stmt is None or depth == 0 or stmt.attrs or array_type(product).dtype.kind not in "fc":
        return False
    places = (0, 1) if stmt.op.name == "multiply" else (0,)
    for place in places:
        own = stmt.args[place]
        value = number(own) if array_type(own) != FLOAT64_NUMBER else known(own)
        if value is not None and _combine(value, factor):
            found = _written(value, factor, has_dtype(stmt.args[1 - place], product))
            fold.change(product)
            _put(fold, stmt, place, Const(found) if array_type(own).weak else Const(float(found), FLOAT64_NUMBER))
            return True
    factors = [atom for place in places if isinstance(atom := stmt.args[place], Var)]
    if not any(has_dtype(atom, product) and _scaled(fold, atom, factor, depth - 1) for atom in factors):
        return False
    fold.change(product)
    return True


def has_dtype(atom: Atom, like: Var) -> bool:
    return isinstance(atom, Var) and array_type(atom).dtype == array_type(like).dtype


def _combine(first: Any, second: Any) -> bool:
    """Whether two factors may become one: exactly, or with one rounding less."""
    if isinstance(first, complex) or isinstance(second, complex):
        return False
    if is_power_of_two(first) or is_power_of_two(second):
        return math.isfinite(first * second) and _is_short(first * second, [first, second])
    return (float(first).is_integer() and float(second).is_integer()
            and abs(first * second) <= LARGEST_FACTOR)


def _written(first: Any, second: Any, as_integer: bool) -> Any:
    """The product of two factors, without a decimal point where one of them had none."""
    product = first * second
    whole = isinstance(product, float) and product.is_integer()
    return int(product) if as_integer and whole and int in (type(first), type(second)) else product


@with_operand(CONSTANT)
def _first(fold: Fold, stmt: Let) -> Any:
    """x * 2 → 2 * x, in generated code; x * y * 2 and 2 * (x * y) → 2 * x * y, which is exact; x * y * 3 stays."""
    leads = number(stmt.args[0]) is not None
    x, factor = stmt.args[::-1] if leads else stmt.args
    value = number(factor)
    if not fold.is_generated or stmt.attrs or value is None or not isinstance(x, Var):
        return None
    product = fold.own(x, "multiply", "divide")
    if product is None:
        return None if leads else fold.become(stmt, stmt.op, factor, x)
    if leads and (abs(value) == 1 or product.attrs or not has_dtype(product.args[0], stmt.target)):
        return None
    if array_type(x).dtype.kind != "f" or isinstance(value, complex) or not is_power_of_two(value):
        return None
    return _led_by(fold, stmt, Const(value), product) if fold.has_type(x, stmt.target) else None


@with_operand("multiply")
def _before_all(fold: Fold, stmt: Let) -> Any:
    """t * (0.5 * x) → 0.5 * t * x, in generated code, where t is no larger than x; t * (2 * x * y) → 2 * t * x * y, in
    derivatives."""
    first, second = stmt.args
    path = _path_to_number(fold, second)
    if stmt.attrs or not path or array_type(stmt.target).dtype.kind != "f":
        return None
    if not (fold.is_derivative(stmt) or fold.is_generated and len(path) == 1):
        return None
    value = number(path[-1].args[0])
    if not isinstance(value, int | float) or not is_power_of_two(value):
        return None
    if not (isinstance(first, Var) and has_dtype(first, stmt.target)) or not all(
            has_dtype(product.args[1], product.target) and array_type(first).rank <= array_type(product.args[1]).rank
            for product in path):
        return None
    atom = _times(fold, stmt, value, first)
    for product in path[:0:-1]:
        type = joined(Multiply, array_type(atom), array_type(product.args[1]))
        atom = fold.emit(stmt, Multiply, atom, product.args[1], type=type)
    return fold.become(stmt, stmt.op, atom, path[0].args[1])


def _times(fold: Fold, stmt: Let, value: float, atom: Var) -> Atom:
    """A power of two times an atom, which may begin with a number itself."""
    led = fold.defined_by(atom, "multiply")
    own = None if led is None or led.attrs else number(led.args[0])
    if led is not None and isinstance(own, int | float) and has_dtype(led.args[1], atom):
        value, atom = _written(value, own, True), led.args[1]                            # type: ignore[assignment]
    return atom if value == 1 else fold.emit(stmt, Multiply, Const(value), atom, type=type_of(atom))


def _path_to_number(fold: Fold, atom: Atom) -> list[Let]:
    """The products that nothing else uses, from the outermost to that which begins with a number; none without it."""
    path: list[Let] = []
    while len(path) < DEEPEST:
        product = fold.own(atom, "multiply")
        if product is None or product.attrs:
            return []
        path.append(product)
        atom = product.args[0]
        if number(atom) is not None:
            return path
    return []


def is_power_of_two(value: float) -> bool:
    return math.isfinite(value) and abs(math.frexp(value)[0]) == 0.5


def _put(fold: Fold, stmt: Let, place: int, atom: Atom) -> None:
    args = list(stmt.args)
    args[place] = atom
    fold.become(stmt, stmt.op, *args, **stmt.attrs)


# -- doubled sums --------------------------------------------------------------------------------

def _doubled(fold: Fold, stmt: Let) -> Any:
    """x + x → 2 * x; where x is a product, the 2 comes first in it: t * x + t * x → 2 * t * x."""
    x, other = stmt.args
    if x is not other or not isinstance(x, Var) or stmt.attrs:
        return None
    if array_type(x).dtype.kind not in "fciu" or not fold.has_type(x, stmt.target):
        return None
    product = fold.defined_by(x, "multiply", "divide")
    if product is None or fold.uses.counts.get(x) != 2 or array_type(x).dtype.kind not in "fc":
        return fold.become(stmt, Multiply, Const(2), x)
    return _led_by(fold, stmt, Const(2), product)


def _like_terms(fold: Fold, stmt: Let) -> Any:
    """2 * x - 0.5 * x → 1.5 * x, in derivatives."""
    if not fold.is_plain_derivative(stmt, "f"):
        return None
    (first, x), (second, y) = (_multiple(fold, atom) for atom in stmt.args)
    if not isinstance(x, Var) or x is not y or first is None or second is None:
        return None
    total = ARITHMETIC[stmt.op.name](first, second)
    if not fold.has_type(x, stmt.target) or not math.isfinite(total) or not _is_short(total, [first, second]):
        return None
    return fold.become(stmt, Multiply, Const(total), x) if total else None


def _multiple(fold: Fold, atom: Atom) -> tuple[Any, Atom]:
    """A number and what it multiplies."""
    product = fold.defined_by(atom, "multiply", "negative")
    if product is None or product.attrs:
        return 1, atom
    if product.op.name == "negative":
        factor, x = _multiple(fold, product.args[0])
        return (None if factor is None else -factor), x
    factor = number(product.args[0])
    return (factor if isinstance(factor, int | float) else None), product.args[1]


def _led_by(fold: Fold, stmt: Let, factor: Const, product: Let) -> Any:
    """Makes `stmt` the product with a power of two before its first factor."""
    first, second = product.args
    value = number(first)
    if value is not None and _combine(value, factor.value):
        return fold.become(stmt, product.op, Const(value * factor.value), second, **product.attrs)
    if not has_dtype(first, stmt.target) or product.attrs:
        return fold.become(stmt, Multiply, factor, product.target)
    return fold.become(stmt, product.op, _scaled_first(fold, stmt, factor, first), second)


def _scaled_first(fold: Fold, stmt: Let, factor: Const, atom: Atom, depth: int = DEEPEST) -> Var:
    """A product with a power of two before its first factor, as new statements before `stmt`."""
    product = fold.own(atom, "multiply", "divide") if depth else None
    if product is None or product.attrs or not has_dtype(product.args[0], stmt.target):
        return fold.emit(stmt, Multiply, factor, atom, type=type_of(atom))
    first = _scaled_first(fold, stmt, factor, product.args[0], depth - 1)
    return fold.emit(stmt, product.op, first, product.args[1], type=type_of(atom))


RULES = {
    "add": [_doubled, _like_terms, _whole, _folded],
    "subtract": [_like_terms, _whole, _folded],
    "multiply": [_whole, _folded, _collected, _first, _before_all],
    "divide": [_folded],
    "maximum": [_nested_extreme],
    "minimum": [_nested_extreme],
    "negative": [_folded],
}
