"""Numbers that are Python's on some paths and NumPy's on others.

Where paths meet they have NumPy's type. The value is the same in both classes, with one exception:
truth values of Python add up, those of NumPy do not. So arithmetic on such truth values is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import NotSupported
from ..core.grammar import Atom, Let, Undefined, Var, type_of
from ..core.types import ArrayType
from ..ops.value import Value, is_python, is_weak

if TYPE_CHECKING:
    from .reader import Reader

MOST_FOLLOWED = 64


def note_class(reader: Reader, var: Var, *sources: Atom) -> None:
    """Notes that a variable is one of these, of which some may be Python's."""
    if not is_weak(var.type) and any(_may_be_python(reader, source, MOST_FOLLOWED) for source in sources):
        reader.mixed.add(var)


def check_truths(reader: Reader, op: Any, args: tuple[Any, ...], spelling: str | None) -> None:
    """Raises where truth values of either class are added up, or the like."""
    if not op.elementwise or op.keeps_truth or op.asks_truth or op.name == "cast" or not is_python(spelling):
        return
    if op.symbol in COMPARING or not reader.mixed or not all(map(_is_truth, args)):
        return
    atoms = [arg.atom for arg in args if isinstance(arg, Value)]
    if not all(is_weak(type_of(atom)) for atom in atoms) and all(
        _may_be_python(reader, atom, MOST_FOLLOWED) for atom in atoms
    ):
        raise NotSupported(
            "arithmetic on truth values that are Python's or NumPy's, depending on the path",
            reader.builder.origin,
            why="True + True is 2 for Python, and True for NumPy.",
            instead="Convert them: int(x > 0) + int(x > 1).",
        )


COMPARING = ("<", "<=", ">", ">=", "==", "!=")


def _is_truth(arg: Any) -> bool:
    return isinstance(arg, bool) or isinstance(arg, Value) and not arg.ndim and arg.dtype.kind == "b"


def _may_be_python(reader: Reader, atom: Atom, depth: int) -> bool:
    if isinstance(atom, Undefined) or not isinstance(type_of(atom), ArrayType):
        return False
    if is_weak(type_of(atom)) or atom in reader.mixed:
        return True
    stmt = reader.builder.numbering.definitions.get(atom) if isinstance(atom, Var) and depth else None
    return isinstance(stmt, Let) and _hands_class_on(stmt) and all(
        _may_be_python(reader, operand, depth - 1) for operand in stmt.args
    )


def _hands_class_on(stmt: Let) -> bool:
    """Whether a statement gives a number of Python's for such numbers."""
    return bool(stmt.op.elementwise and stmt.args and is_python(stmt.attrs.get("spelling")) and not (
        stmt.op.name == "cast" and not is_weak(type_of(stmt.args[0]))))
