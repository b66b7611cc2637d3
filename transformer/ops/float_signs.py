"""Floating point numbers that are certainly not below 0: sums of squares, exponentials, roots. Any of them may be nan.

What is asked is how a number, or the elements of an array, came about, as far as the builder that is current knows. A
zero may have either sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.builder import current
from ..core.grammar import Atom, Const, Let, Var, type_of
from ..core.types import ArrayType

DEEPEST = 12                           # statements one behind the other that are looked at

Rule = Callable[[Let, int], bool]


def is_not_negative(atom: Atom, depth: int = DEEPEST) -> bool:
    """Whether certainly no element is below 0; nan is not."""
    if isinstance(atom, Const):
        return not isinstance(atom.value, complex) and bool(atom.value >= 0)
    type = type_of(atom)
    if not isinstance(type, ArrayType) or type.dtype.kind not in "fbu":
        return False
    if type.dtype.kind in "bu":
        return True
    stmt = current().numbering.definitions.get(atom) if isinstance(atom, Var) and depth else None
    rule = RULES.get(stmt.op.name) if stmt is not None else None
    return stmt is not None and rule is not None and rule(stmt, depth - 1)


def _always(stmt: Let, depth: int) -> bool:
    return True


def _all(stmt: Let, depth: int) -> bool:
    return all(is_not_negative(atom, depth) for atom in stmt.args)


def _any(stmt: Let, depth: int) -> bool:
    return any(is_not_negative(atom, depth) for atom in stmt.args)


def _first(stmt: Let, depth: int) -> bool:
    return "initial" not in stmt.attrs and is_not_negative(stmt.args[0], depth)


def _chosen(stmt: Let, depth: int) -> bool:
    return all(is_not_negative(atom, depth) for atom in stmt.args[1:])


def _multiplied(stmt: Let, depth: int) -> bool:
    return stmt.args[0] is stmt.args[1] or _all(stmt, depth)


def _multiplied_by_itself(stmt: Let, depth: int) -> bool:
    """`d @ d` of a vector."""
    first: Any = type_of(stmt.args[0])
    return stmt.args[0] is stmt.args[1] and first.rank == 1


def _to_even_power(stmt: Let, depth: int) -> bool:
    exponent = stmt.args[1]
    return isinstance(exponent, Const) and exponent.value % 2 == 0


RULES: dict[str, Rule] = {
    **dict.fromkeys(("absolute", "cosh", "exp", "exp2", "norm", "sqrt", "square", "std", "var"), _always),
    **dict.fromkeys(("add", "concatenate", "minimum", "stack"), _all),
    **dict.fromkeys(("broadcast_to", "cast", "copy", "expand_dims", "get", "load", "max", "mean", "min", "moveaxis",
                     "ravel", "reshape", "same", "squeeze", "sum", "swapaxes", "transpose"), _first),
    **dict.fromkeys(("dot", "inner", "matmul", "vdot"), _multiplied_by_itself),
    "maximum": _any, "multiply": _multiplied, "power": _to_even_power, "where": _chosen,
}
