"""How large expressions will be in print, near enough to decide what is nested and what fits a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.grammar import Const, Let, Var, type_of
from ..core.sizes import Size
from ..core.types import ArrayType
from ..core.walk import WRITES
from ..ops.regions import Slot
from .aliasing import is_array
from .ranges import is_integer

UNNAMED = 4  # the width of a name that is made up later
SHORT = 8  # columns besides the names of what may be written more than once
MOST_REPEATS = 2  # times that one operation on numbers is written
REPEATED = ("add", "subtract", "multiply")
SHORT_PART = 6  # the same of a part of an array


def width_of_atom(atom: Any) -> int:
    """The width of a variable or number."""
    if isinstance(atom, Var):
        return len(atom.name) if atom.name else UNNAMED
    if isinstance(atom, Const):
        return len(atom.name or repr(atom.value))
    return _width(atom)


def own_width(stmt: Let) -> int:
    """The width of an expression without the variables in it."""
    numbers = sum([width_of_atom(atom) for atom in stmt.args if type(atom) is not Var])
    if _inserts(stmt):
        new = 1 if isinstance(stmt.attrs["axis"], int) else len(stmt.attrs["axis"])
        return 3 * array_type(stmt.target).rank + 3 * new
    if "index" in stmt.attrs:
        return _width(stmt.attrs["index"]) + numbers + (4 if stmt.op.name in WRITES else 0)
    if stmt.op.symbol is not None and "spelling" not in stmt.attrs:
        loose = stmt.op.symbol in "+-"  # it often stands in parentheses
        return (1 if len(stmt.args) == 1 else 5 if loose else 3) + numbers
    spelling = stmt.attrs.get("spelling") or stmt.op.name + "np."
    shown = {} if stmt.op.name == "cast" and "spelling" in stmt.attrs else stmt.attrs
    attrs = sum(len(key) + 3 + _width(item) for key, item in shown.items() if key != "spelling")
    return len(spelling) + 2 * max(len(stmt.args), 1) + attrs + numbers


def _inserts(stmt: Let) -> bool:
    """Whether a statement is printed as `x[:, None]`."""
    return stmt.op.name == "expand_dims" and array_type(stmt.args[0]).rank > 0


def array_type(atom: Any) -> ArrayType:
    return type_of(atom)                                                     # type: ignore[return-value]


def _width(value: Any) -> int:
    if isinstance(value, Slot):
        return 0  # its operand counts
    if isinstance(value, tuple):
        return sum(map(_width, value)) + 2 * len(value)
    if isinstance(value, slice):
        return 1 + sum(_width(item) for item in (value.start, value.stop, value.step) if item is not None)
    if isinstance(value, Size):
        return 3 * len(value.terms)
    return len(str(value)) if isinstance(value, (int, float, str)) else 4


@dataclass(slots=True)
class Tree:
    """An expression so far: where it is computed, what it reads, how large it is."""

    point: int
    reads: tuple[Var, ...]
    width: int
    ops: int = 1
    calls: int = 0


def is_short(stmt: Let) -> bool:
    """Whether a statement is `x.T`, `x[:, None]` of a vector, `x[1:-1]` with numbers only, `n - k` or `2 * i` of
    integers, `-x` of a number, `2 * np.pi`, or a record as the array that it is kept in."""
    if _is_of_constants(stmt):
        return True
    if _inserts(stmt) and isinstance(stmt.args[0], Var):
        return array_type(stmt.args[0]).rank == 1
    if not any(isinstance(atom, Var) for atom in stmt.args[:2]) or "spelling" in stmt.attrs:
        return stmt.op.name == "transpose" and "axes" not in stmt.attrs
    name, number = stmt.op.name, not is_array(stmt.target)
    if name == "transpose":
        return "axes" not in stmt.attrs
    if name in ("stacked", "unstacked"):
        return True
    if name == "get":
        return not number and len(stmt.args) == 1 and own_width(stmt) <= SHORT_PART
    if name in ("add", "subtract", "multiply") and is_integer(stmt.target):
        return own_width(stmt) <= SHORT and (name != "multiply" or not all(isinstance(a, Var) for a in stmt.args))
    return name == "negative" and number


def most_repeats(stmt: Let) -> int:
    """How often a statement may be written instead of having a name that would be made up: `a * b` of numbers, and
    `1 - a` or `0.5 * a`, which are read as fast as any such name."""
    target, name = stmt.target, stmt.op.name
    if target.name or target.primal is not None and target.primal.name or is_array(target):
        return 1
    if name not in REPEATED or "spelling" in stmt.attrs:
        return 1
    known = sum(not isinstance(atom, Var) for atom in stmt.args)
    if own_width(stmt) > SHORT or not known and name != "multiply":
        return 1
    return MOST_REPEATS


def _is_of_constants(stmt: Let) -> bool:
    """Whether a statement is an operation on numbers that are written down."""
    is_operator = stmt.op.name in ("add", "subtract", "multiply", "divide") and "spelling" not in stmt.attrs
    return is_operator and all(isinstance(atom, Const) for atom in stmt.args)


def weight_of(stmt: Let) -> tuple[int, int]:
    """How much a statement adds to an expression: operations, and calls inside of each other."""
    if stmt.op.name in ("get", "same", "transpose") or _inserts(stmt):
        return 0, 0
    return 1, 0 if stmt.op.symbol is not None and "spelling" not in stmt.attrs else 1
