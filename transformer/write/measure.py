"""How wide values will be in print, near enough to decide what fits on a line."""

from __future__ import annotations

from typing import Any

from ..core.grammar import Const, Let, Var
from ..core.sizes import Size
from ..ops.regions import Slot
from .demand import WRITES

UNNAMED = 4


def width_of_atom(atom: Any) -> int:
    """The width of a variable or number."""
    if isinstance(atom, Var):
        return len(atom.name) if atom.name else UNNAMED
    if isinstance(atom, Const):
        return len(atom.name or repr(atom.value))
    return _width(atom)


def own_width(stmt: Let) -> int:
    """The width of an expression without the variables in it."""
    numbers = sum(width_of_atom(atom) for atom in stmt.args if not isinstance(atom, Var))
    if "index" in stmt.attrs:
        return 2 + _width(stmt.attrs["index"]) + numbers + (4 if stmt.op.name in WRITES else 0)
    if stmt.op.symbol is not None and "spelling" not in stmt.attrs:
        loose = stmt.op.symbol in "+-"                 # it often stands in parentheses
        return (1 if len(stmt.args) == 1 else 5 if loose else 3) + numbers
    spelling = stmt.attrs.get("spelling") or stmt.op.name + "np."
    attrs = sum(len(key) + 3 + _width(item) for key, item in stmt.attrs.items() if key != "spelling")
    return len(spelling) + 2 * max(len(stmt.args), 1) + attrs + numbers


def _width(value: Any) -> int:
    if isinstance(value, Slot):
        return 0                                   # its operand counts
    if isinstance(value, tuple):
        return sum(map(_width, value)) + 2 * len(value)
    if isinstance(value, slice):
        return 1 + sum(_width(item) for item in (value.start, value.stop, value.step) if item is not None)
    if isinstance(value, Size):
        return 3 * len(value.terms)
    return len(str(value)) if isinstance(value, (int, float, str)) else 4
