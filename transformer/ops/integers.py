"""Integers that a program computes, as sizes: what a slice or a mask leaves of an axis.

An integer is seen through to what it was computed from by sums, differences and products, so that
``x[i:i + 3]`` has three elements wherever it lies inside of x, and ``y[i:i + 3]`` as many as
``x[i:i + 3]`` where it does not.
"""

from __future__ import annotations

from typing import Any

from ..core.builder import current
from ..core.grammar import Atom, Const, Let, Var, type_of
from ..core.sizes import Extent, Size, Unknown
from ..core.types import ArrayType
from .value import Value, emit

PLACES = frozenset(("argmax", "argmin", "argsort", "argpartition", "count_nonzero", "digitize", "flatnonzero",
                    "nonzero", "searchsorted"))      # ops that give places and counts of elements
POLYNOMIAL = frozenset(("add", "subtract", "multiply", "negative"))     # what gives polynomials of polynomials
DEEPEST, MOST_TERMS = 100, 8       # how far an integer is seen through


def affine(integer: Any) -> Extent:
    """An integer (a number, a size, or one that the program computes) as a size."""
    if isinstance(integer, Value):
        integer = integer.atom if integer.known is None else integer.known
    if isinstance(integer, Size):
        return current().assumptions.normal(integer)
    if isinstance(integer, Const):
        return int(integer.value)
    return _affine(integer) if isinstance(integer, Var) else int(integer)


def _affine(var: Var, depth: int = 0) -> Extent:
    """The size that an integer is; kept, so that it is seen through to the same ones every time."""
    sizes = current().numbering.sizes
    if var not in sizes:
        size = _seen_through(var, depth)
        if size is None or (isinstance(size, Size) and len(size.terms) > MOST_TERMS):
            size = Size.of(Unknown(var))
        sizes[var] = size
    return sizes[var]


def _seen_through(var: Var, depth: int) -> Extent | None:
    """What an integer was computed from; None where it is best known by itself."""
    stmt = definition_of(var)
    if stmt is None or depth == DEEPEST or Unknown(var) in current().assumptions.ranges:
        return None
    if not all(map(is_exact, (var, *stmt.args))):
        return None
    return combined(stmt, [_affine(a, depth + 1) if isinstance(a, Var) else affine(a)
                            for a in stmt.args])


def definition_of(atom: Any) -> Let | None:
    """The statement that made a variable, as far as the current builder knows."""
    return current().numbering.definitions.get(atom) if isinstance(atom, Var) else None


def is_exact(atom: Atom) -> bool:
    """Whether an atom is an integer that does not wrap around where Python's would go on."""
    type = type_of(atom)
    return (isinstance(type, ArrayType) and not type.sizes and type.dtype.kind == "i"
            and (type.weak or type.dtype.itemsize == 8))


def combined(stmt: Let, parts: list[Extent]) -> Extent | None:
    """What integer arithmetic on sizes gives, as a size; None where it is none."""
    match stmt.op.name, parts:
        case "add", [left, right]:
            return left + right
        case "subtract", [left, right]:
            return left - right
        case "multiply", [left, right]:
            return left * right
        case "negative", [only]:
            return -only
        case "floor_divide", [left, int(right)] if right > 0:
            return left // right
        case ("same" | "cast" | "positive"), [only]:
            return only
    return None


def shared(op: Any, operands: tuple[Value, ...], attrs: dict[str, Any], spelling: str | None = None
           ) -> Value:
    """The integer that an op gives; the one computed before where the operands are the same."""
    builder = current()
    atoms = tuple(operand.atom for operand in operands)
    full = attrs if spelling is None else {**attrs, "spelling": spelling}
    var = builder.earlier(op, atoms, full)
    if var is None:
        var = emit(op, atoms, attrs, spelling).atom
        builder.numbering.number(var)
    return Value(var)


def as_size(integer: Value, most: Extent) -> Extent:
    """An integer that lies in ``0..most`` as a size."""
    current().assumptions.within(integer.atom, 0, most)
    return Size.of(Unknown(integer.atom))


def count_of(mask: Value) -> Extent:
    """How many elements of an array are true, or not zero: a size that the program computes."""
    from .arithmetic import Cast
    from .logic import is_true
    from .reduction import CountNonzero
    if isinstance(mask.atom, Const):
        return int(bool(mask.atom.value))
    if mask.ndim == 0:
        return as_size(shared(Cast, (is_true(mask),), {"dtype": int}, "int"), 1)
    count = shared(CountNonzero, (mask,), {}, "np.count_nonzero")
    return as_size(shared(Cast, (count,), {"dtype": int}, "int"), mask.size)
