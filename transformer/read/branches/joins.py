"""What two leaves that meet have in common: one type for both, or that they are the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.builder import current
from ...core.grammar import Atom, Const, Undefined, Var, type_of
from ...core.guards import Assumptions
from ...core.halves import PYTHON_KINDS, finfo, of_numpy, promoted
from ...core.sizes import Size
from ...core.types import ArrayType
from ...ops.value import Value
from ..values import may_be_array


@dataclass
class Guessing:
    """Whether what is read is a guess: in a loop whose types have not settled, numbers may be Python's that turn
    out to be NumPy's. `allowed` notes that such a number would have been rounded."""

    now: bool = False
    allowed: bool = False


def joined_type(one: ArrayType, other: ArrayType, assumptions: Assumptions) -> ArrayType | None:
    """The type that holds values of both types; None where only a cast could give one.

    Python numbers take the wider kind among themselves, and NumPy's choice with others (NEP 50).
    """
    if one == other:
        return one
    if one.rank != other.rank:
        return None
    if not all(assumptions.equal(a, b) for a, b in zip(one.sizes, other.sizes)):
        return None
    if one.dtype == other.dtype:
        return one if not one.weak else other
    if one.weak and other.weak:
        return max(one, other, key=lambda type: "bifc".index(type.dtype.kind))
    if one.weak or other.weak:
        weak, strong = (one, other) if one.weak else (other, one)
        if strong.dtype.kind == "b":
            return weak
        if weak.dtype.kind == "b":
            return None
        return ArrayType(promoted((strong.dtype, PYTHON_KINDS[weak.dtype.kind])))
    return None


def is_rounded(atom: Atom | None, type: ArrayType) -> bool:
    """Whether a number of Python's would be another one in a dtype of NumPy's, as 300 in int8 and 1e300 in float32. Of
    one that is written down only the last digits are rounded, as where it meets a float32 otherwise; of what is
    computed digits would be lost at every step."""
    own = None if atom is None else type_of(atom)
    if not isinstance(own, ArrayType) or not own.weak or own.dtype.kind == "b" or own.dtype == type.dtype:
        return False
    written = _written_down(atom)
    if written is not None:
        return not all(_holds(type.dtype, value) for value in written)
    return own.is_inexact and type.is_inexact and finfo(type.dtype).bits < finfo(own.dtype).bits


def _written_down(atom: Atom | None) -> list[Any] | None:
    """The numbers that stand in the program, perhaps with a sign as in ``-np.inf``, of which this one is one: branches
    and iterations may choose. None if it is computed."""
    numbering = current().numbering
    written, pending, seen = [], [atom], set()
    while pending:
        each = pending.pop()
        stmt = numbering.definitions.get(each) if isinstance(each, Var) else None
        if isinstance(each, Const):
            written.append(each.value)
        elif isinstance(each, Var) and each in numbering.met:
            pending += [] if each in seen else numbering.met[each]
            seen.add(each)
        elif stmt is not None and stmt.op.name in ("negative", "positive") and isinstance(stmt.args[0], Const):
            written.append(stmt.args[0].value * (-1 if stmt.op.name == "negative" else 1))
        elif not isinstance(each, Undefined):
            return None
    return written


def _holds(dtype: np.dtype, value: Any) -> bool:
    """Whether a dtype has this number, or one that is as close as its digits allow."""
    found = _in_dtype(dtype, value)
    is_close = found is not None and isinstance(value, float | complex) and bool(np.isfinite(found))
    return is_close or holds_exactly(dtype, value)


def holds_exactly(dtype: np.dtype, value: Any) -> bool:
    """Whether a dtype has this number with all its digits."""
    found = _in_dtype(dtype, value)
    return found is not None and (value != value or bool(found.item() == value))


def _in_dtype(dtype: np.dtype, value: Any) -> Any:
    """The number of a dtype that comes closest to one of Python's; None where there is none."""
    try:
        with np.errstate(all="ignore"):
            return of_numpy(dtype).type(value)
    except OverflowError:
        return None


def differ_by_size(one: ArrayType, other: ArrayType, assumptions: Assumptions) -> bool:
    """Whether there would be a type for both if their sizes were equal."""
    return one.rank == other.rank and joined_type(one, other.with_sizes(one.sizes), assumptions) is not None


def same(one: Any, other: Any) -> bool:
    """Whether two leaves are one and the same for a program: 1, 1.0 and True are three."""
    if one is other:
        return True
    if isinstance(one, Value) and isinstance(other, Value):
        return not may_be_array(one) and not may_be_array(other) and same_atom(one.atom, other.atom)
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, (float, complex, np.generic)):
        return repr(one) == repr(other)
    if isinstance(one, slice):
        return all(map(same, (one.start, one.stop, one.step), (other.start, other.stop, other.step)))
    if isinstance(one, (bool, int, str, bytes, Size, range, np.dtype, frozenset)):
        return bool(one == other)
    if hasattr(one, "__transformer_same__"):
        return bool(one.__transformer_same__(other))
    return getattr(one, "__self__", None) is not None and _same_method(one, other)


def _same_method(one: Any, other: Any) -> bool:
    function = getattr(one, "__func__", None)
    return (
        function is not None
        and function is getattr(other, "__func__", None)
        and one.__self__ is getattr(other, "__self__", None)
    )


def same_atom(one: Atom, other: Atom) -> bool:
    if one is other:
        return True
    if isinstance(one, Const) and isinstance(other, Const):
        return one.type == other.type and repr(one.value) == repr(other.value) and one.name == other.name
    return isinstance(one, Size) and one == other
