"""Numbers that are Python's on some paths and NumPy's on others.

Where paths meet they have NumPy's type. The value is the same in both classes, with two exceptions:
truth values of Python add up, those of NumPy do not; and a float64 makes a float64 of a float32 that it meets,
where a number of Python's becomes a float32. So arithmetic on such truth values, and of such numbers with
narrower ones, is refused.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import NotSupported
from ...core.grammar import Atom, Block, Const, Let, Undefined, Var, type_of
from ...core.halves import PYTHON_KINDS, finfo, promoted
from ...core.types import ArrayType
from ...core.walk import all_statements
from ...ops.value import Value, is_python, is_weak, value
from .asked_classes import note_sources
from .joins import holds_exactly

if TYPE_CHECKING:
    from ..reader import Reader

MOST_FOLLOWED = 64


def note_class(reader: Reader, var: Var, *sources: Atom) -> None:
    """Notes that a variable is one of these, of which some may be Python's."""
    note_sources(reader, var, *sources)
    if not is_weak(var.type) and any(_may_be_python(reader, source, MOST_FOLLOWED) for source in sources):
        reader.classes.mixed.add(var)


def note_class_after_loop(reader: Reader, var: Var, following: Atom, *sources: Atom) -> None:
    """The same for what a loop leaves: `following`, unless there is no iteration. The dtypes of a loop over nothing do
    not stand in the way of others."""
    note_class(reader, var, *sources, following)
    if var in reader.classes.mixed and not _may_be_python(reader, following, MOST_FOLLOWED):
        reader.classes.left_by_loops.add(var)


def check_truths(reader: Reader, op: Any, args: tuple[Any, ...], spelling: str | None) -> None:
    """Raises where truth values of either class are added up, or the like."""
    if not op.elementwise or op.keeps_truth or op.asks_truth or op.name == "cast" or not is_python(spelling):
        return
    if op.symbol in COMPARING or not reader.classes.mixed or not all(map(_is_truth, args)):
        return
    atoms = [arg.atom for arg in args if isinstance(arg, Value)]
    if not all(is_weak(type_of(atom)) for atom in atoms) and all(
        _may_be_python(reader, atom, MOST_FOLLOWED) for atom in atoms
    ):
        raise NotSupported(
            "arithmetic on bools that are Python or NumPy bools depending on the path is not supported",
            reader.builder.origin,
            why="True + True is 2 in Python and True in NumPy.",
            instead="Convert them: int(x > 0) + int(x > 1).",
        )


def check_widths(reader: Reader, op: Any, args: tuple[Any, ...]) -> None:
    """Raises where a number of either class meets a narrower one: that decides the dtype of what they give."""
    if not reader.classes.mixed or not op.elementwise or op.symbol in COMPARING or op.name == "cast":
        return
    operands = [value(arg) for arg in args if isinstance(arg, Value | int | float | complex | np.generic)]
    if not any(_is_narrow(operand.type) for operand in operands):
        return
    may_be = [not operand.ndim and _may_be_python(reader, operand.atom, MOST_FOLLOWED, reader.classes.left_by_loops)
              for operand in operands]
    either = [operand for operand, may in zip(operands, may_be) if may and not is_weak(operand.type)]
    of_numpy = promoted(_met(operand, False) for operand in operands)
    of_python = promoted(_met(operand, may) for operand, may in zip(operands, may_be))
    if of_python.kind in "fc" and finfo(of_python).bits < finfo(of_numpy).bits:
        common = f"a number that is a Python number or {either[0].type} depending on the path"
        raise NotSupported(f"cannot combine {ArrayType(of_python)} with {common}", reader.builder.origin,
                           why=f"The result is {ArrayType(of_python)} for a Python number and {ArrayType(of_numpy)} "
                               "for a NumPy number.",
                           instead="Use a NumPy number on all paths, np.float64(0.5), or a Python number: float(s).")


def check_items(reader: Reader, op: Any, args: tuple[Any, ...]) -> None:
    """Raises where a number of either class is an item of an array: that has the dtype of Python's numbers with them,
    and may be narrower without."""
    if not reader.classes.mixed or not op.variadic or not args:
        return
    items = [value(item) for item in _numbers_in(args[0])]
    may_be = [not item.ndim and _may_be_python(reader, item.atom, MOST_FOLLOWED, reader.classes.left_by_loops)
              for item in items]
    either = [item for item, may in zip(items, may_be) if may and not is_weak(item.type)]
    if not either or (of_numpy := promoted(item.dtype for item in items)) == promoted(
        _of_python(item.dtype) if may else item.dtype for item, may in zip(items, may_be)
    ):
        return
    raise NotSupported(
        f"cannot combine an array with a number that is a Python number or {either[0].type} depending on the path",
        reader.builder.origin,
        why=f"The result is {of_numpy} for a NumPy number, and wider for a Python number.",
        instead="Use a NumPy number on all paths, x.dtype.type(0.5), or a Python number: float(s).",
    )


def _of_python(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """What an array is of that holds a number of Python's in place of one of this dtype."""
    return np.dtype({"b": bool, "f": float, "c": complex}.get(dtype.kind, int))


def _numbers_in(items: Any) -> Iterator[Any]:
    """The numbers and arrays in nested lists."""
    for item in items if isinstance(items, (list, tuple)) else ():
        if isinstance(item, Value | int | float | complex | np.generic):
            yield item
        else:
            yield from _numbers_in(item)


def check_digits(reader: Reader, block: Block) -> None:
    """Raises where digits would show that a number of Python's became one of a narrower dtype, as NumPy's are that it
    may be instead: 0.3 as float32, in a float64."""
    for stmt in all_statements(block) if reader.classes.mixed else ():
        if isinstance(stmt, Let):
            bits = max(map(_bits, map(type_of, stmt.targets)))
            for atom in stmt.args:
                if 0 < _bits(type_of(atom)) < bits and _lost_digits(reader, atom):
                    raise NotSupported(
                        f"cannot convert a number that is a Python number or {type_of(atom)} depending on the path to "
                        "path",
                        stmt.origin,
                        why=f"After the branch it is rounded to {type_of(atom)}, which would change the result.",
                        instead="Use one class on all paths: np.float32(0.3), or float(s).",
                    )


def _bits(type: Any) -> int:
    """The width of a floating point number, or of each part of a complex one; 0 of anything else."""
    return int(finfo(type.dtype).bits) if isinstance(type, ArrayType) and type.is_inexact else 0


def _lost_digits(reader: Reader, atom: Atom) -> bool:
    """Whether a number, on a path where it is Python's, may have digits that its type has not."""
    dtype, numbering = type_of(atom).dtype, reader.builder.numbering     # type: ignore[union-attr]
    pending, seen = [atom], set()
    while pending:
        each = pending.pop()
        if isinstance(each, Const) and not holds_exactly(dtype, each.value):
            return True
        if each in seen or not isinstance(each, Var) or not _may_be_python(
            reader, each, MOST_FOLLOWED, reader.classes.left_by_loops
        ):
            continue
        seen.add(each)
        stmt = numbering.definitions.get(each)
        if each in numbering.met:
            pending += numbering.met[each]
        elif stmt is not None and stmt.op.hands_on and each in reader.classes.sources:
            pending += reader.classes.sources[each]
        elif stmt is not None and stmt.op.name in ("cast", "negative", "positive"):
            pending += stmt.args
        else:
            return True
    return False


def _is_narrow(type: ArrayType) -> bool:
    return type.is_inexact and finfo(type.dtype).bits < 64


def _met(operand: Value, is_python: bool) -> Any:
    """What an operand is to the dtype of a result."""
    weak = (is_python or operand.type.weak) and operand.dtype.kind != "b"
    return PYTHON_KINDS["i" if operand.dtype.kind == "u" else operand.dtype.kind] if weak else operand.dtype


COMPARING = ("<", "<=", ">", ">=", "==", "!=")


def _is_truth(arg: Any) -> bool:
    return isinstance(arg, bool) or isinstance(arg, Value) and not arg.ndim and arg.dtype.kind == "b"


def _may_be_python(reader: Reader, atom: Atom, depth: int, but: Container[Any] = ()) -> bool:
    """Whether a number may be Python's, if none of those is that are left out."""
    if isinstance(atom, Undefined) or not isinstance(type_of(atom), ArrayType) or atom in but:
        return False
    if is_weak(type_of(atom)) or atom in reader.classes.mixed:
        return True
    stmt = reader.builder.numbering.definitions.get(atom) if isinstance(atom, Var) and depth else None
    return isinstance(stmt, Let) and _hands_class_on(stmt) and all(
        _may_be_python(reader, operand, depth - 1, but) for operand in stmt.args
    )


def _hands_class_on(stmt: Let) -> bool:
    """Whether a statement gives a number of Python's for such numbers."""
    return bool(stmt.op.elementwise and stmt.args and is_python(stmt.attrs.get("spelling")) and not (
        stmt.op.name == "cast" and not is_weak(type_of(stmt.args[0]))))
