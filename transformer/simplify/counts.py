"""Integers where a derivative computes with floats: they need not be floats before.

    np.float64(k) * x[r]          →  k * x[r]                 with k: int, x: f64[n]
    x[k] += np.float64(k)         →  x[k] += k
    2 * np.float64(r + 1) * x[r]  →  2 * (r + 1) * x[r]       with r: position of a loop
    2.0 * r * x[r]                →  2 * r * x[r]

What counts iterations and elements is so small that a float has all of its digits, and that a few times as many
are no overflow: nobody waits for 2 ** 48 iterations.

>>> from .examples import shown
>>> from .fold import fold
>>> shown(fold, '''
... function f(x: f64[n], s: f32)
...     effect comment(text='reverse')
...     loop r: int in <n>
...         carry t: f64 = f64(0.0)
...         carry u: f64 = f64(0.0)
...         body
...             k: f64 = cast(r, dtype=dtype(f64))
...             a: f64 = multiply(2, k)
...             e: f64 = get(x, r, index=(Slot(k=0),))
...             b: f64 = multiply(a, e)
...             c: f64 = multiply(k, s)
...         next v: f64 = b
...         next w: f64 = c
...     return v, w
... ''')
function f(x: f64[n], s: f32)
    effect comment(text='reverse')
    loop r: int in <n>
        carry t: f64 = f64(0.0)
        carry u: f64 = f64(0.0)
        body
            k: f64 = cast(r, dtype=dtype(f64))
            a: int = multiply(2, r)
            e: f64 = get(x, r, index=(Slot(k=0),))
            b: f64 = multiply(a, e)
            c: f64 = multiply(k, s)
        next v: f64 = b
        next w: f64 = c
    return v, w
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.grammar import Atom, Const, Let, Var, type_of
from ..core.sizes import Dim, Size
from ..core.types import INT, ArrayType
from ..ops.arithmetic import Multiply
from .changes import CONSTANT, with_operand
from .neutral import known
from .rewriter import array_type
from .uses import integer_for

if TYPE_CHECKING:
    from .fold import Fold

LARGEST = 16                   # number that a count is multiplied by, or that is added
DEEPEST = 3                    # operations from a position to what counts


@with_operand("cast")
def _multiple(fold: Fold, stmt: Let) -> Atom | None:
    """`2 * np.float64(k)` → `2 * k`, if floats are made of it anyway."""
    for place, atom in enumerate(stmt.args):
        count, factor = _integer(fold, stmt, atom), stmt.args[1 - place]
        if count is None or not counts(fold, count) or not _is_small(known(factor)) or (
                not _in_floats(fold, stmt.target)):
            continue
        args = (factor, count) if place else (count, factor)
        return fold.emit(stmt, Multiply, *args, type=INT)
    return None


@with_operand(CONSTANT)
def _whole_multiple(fold: Fold, stmt: Let) -> Atom | None:
    """`2.0 * k` → `2 * k`, likewise."""
    for place, count in enumerate(stmt.args):
        factor = known(stmt.args[1 - place])
        is_whole = isinstance(factor, float) and factor.is_integer() and _is_small(int(factor))
        if not is_whole or not fold.is_plain_derivative(stmt, "f") or array_type(stmt.target).dtype != "float64" or (
                not counts(fold, count) or not _in_floats(fold, stmt.target)):
            continue
        whole = Const(int(factor))
        return fold.emit(stmt, Multiply, *((whole, count) if place else (count, whole)), type=INT)
    return None


@with_operand("cast")
def _of_floats(fold: Fold, stmt: Let) -> Any:
    """`np.float64(k) * x` → `k * x` for x of the same dtype."""
    for place, atom in enumerate(stmt.args):
        integer, other = _integer(fold, stmt, atom), type_of(stmt.args[1 - place])
        if integer is not None and decides_dtype(other, type_of(atom)):
            args = (stmt.args[0], integer) if place else (integer, stmt.args[1])
            return fold.become(stmt, stmt.op, *args, **stmt.attrs)
    return None


@with_operand("cast")
def _stored(fold: Fold, stmt: Let) -> Any:
    """`x[k] += np.float64(k)` → `x[k] += k`."""
    integer = _integer(fold, stmt, stmt.args[1])
    if integer is None or not decides_dtype(type_of(stmt.args[0]), type_of(stmt.args[1])):
        return None
    return fold.become(stmt, stmt.op, stmt.args[0], integer, *stmt.args[2:], **stmt.attrs)


def _integer(fold: Fold, stmt: Let, atom: Atom) -> Atom | None:
    """The integer of Python's of which a derivative made this float."""
    made = fold.defined_by(atom, "cast") if fold.is_derivative(stmt) else None
    own = type_of(atom)
    is_float = isinstance(own, ArrayType) and own.dtype == "float64" and not own.sizes
    return made.args[0] if made is not None and is_float and type_of(made.args[0]) == INT else None


def _in_floats(fold: Fold, var: Var) -> bool:
    """Whether an integer gives the same as this float wherever it is used."""
    users = fold.uses.users[var]
    kept = fold.mapping
    return integer_for(var, fold.uses, kept) and all(
        any(decides_dtype(type_of(kept.get(other, other)), var.type) for other in user.args if other is not var)  # type: ignore[union-attr]
        for user in users)


def decides_dtype(type: Any, wanted: Any) -> bool:
    """Whether a number or array is of this dtype whatever number of Python's it meets."""
    return isinstance(type, ArrayType) and not type.weak and type.dtype == wanted.dtype


def counts(fold: Fold, atom: Atom, depth: int = DEEPEST) -> bool:
    """Whether an integer of Python's is made of positions of loops, lengths of axes and small numbers."""
    if type_of(atom) != INT or depth < 0:
        return False
    if not isinstance(atom, Var):
        return _is_small(known(atom)) or isinstance(atom, Size) and _few(atom)
    if atom in fold.positions:
        return True
    made = fold.defined_by(atom, "add", "subtract", "multiply", "negative")
    if made is None or not all(counts(fold, each, depth - 1) for each in made.args):
        return False
    return made.op.name != "multiply" or any(_is_small(known(each)) for each in made.args)


def _few(size: Size) -> bool:
    return all(_is_small(count) and len(monomial) <= 1 and all(isinstance(atom, Dim) for atom in monomial)
               for monomial, count in size.terms.items())


def _is_small(number: Any) -> bool:
    return type(number) is int and abs(number) <= LARGEST


RULES = {
    "multiply": [_multiple, _whole_multiple, _of_floats],
    **{name: [_of_floats] for name in ("divide", "add", "subtract")},
    **{name: [_stored] for name in ("put", "addat")},
}
