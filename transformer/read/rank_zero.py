"""Arrays without axes, such as `np.zeros(())` and `x[0, ...]`: which ops give one where others give a
number, and what becomes of one that is a number on some paths.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..core.errors import NotSupported
from ..core.grammar import Atom, Let, type_of
from ..core.types import ArrayType
from ..ops.value import Value
from .values import Axisless, PerhapsAxisless, contained, is_array

if TYPE_CHECKING:
    from .reader import Reader


def gives_array(stmt: Let, given: list[Value]) -> bool:
    """Whether a result without axes is an array in NumPy; `given` are the arrays among the arguments."""
    kind = stmt.op.makes_array or ("of arrays" if stmt.op.view and stmt.op.name != "get" else None)
    if isinstance(kind, dict):
        kind = kind.get(stmt.attrs.get("spelling"))
    return kind == "always" or kind == "of arrays" and _is_array(stmt.args[0], given)


def _is_array(operand: Atom, given: list[Value]) -> bool:
    """Whether an operand is an array; functions of NumPy make one of Python's numbers."""
    type = type_of(operand)
    return isinstance(type, ArrayType) and bool(
        type.sizes or type.weak or any(array.atom is operand for array in given)
    )


def changed(reader: Reader, old: PerhapsAxisless, new: Any) -> Value:
    """What `s op= v` leaves in `s`: raises where, in NumPy, another name would see the change."""
    holders = sum(value is old for value in _named(reader))
    if holders > 1 or not isinstance(new, Value) or new.type != old.type:
        raise NotSupported(
            "a 0-d array that has two names cannot be changed in place here",
            reader.builder.origin,
            why="On some paths it is an array, whose change NumPy shows under all names; on others it is a number.",
            instead="Write `s = s + v`, or use a 1-d array: np.zeros(1).",
        )
    reader.aliases.check_write(reader, old)
    made = PerhapsAxisless(new.atom)
    reader.aliases.derive(made, (old,))
    return made


def note_number(reader: Reader, number: Value) -> None:
    """Notes an argument that has two names when one of them is bound anew by `op=`: as an array it would
    change for both."""
    is_argument = any(number is argument for argument in reader.arguments.values)
    if is_argument and sum(value is number for value in _named(reader)) > 1:
        reader.arguments.numbers_needed[number.atom] = None  # type: ignore[index]


def _named(reader: Reader) -> Iterator[Any]:
    """What is bound to the names of all calls being read, and held in their containers."""
    frames = dict.fromkeys(frame for each in reader.frames for frame in each.lineage())
    for frame in frames:
        for name, value in frame.names.items():
            if name != frame.result:
                yield from contained(value)


def as_numbers(result: Any, given: tuple[Any, ...]) -> Any:
    """What a function of NumPy gives that is read as Python: a number, not an array without axes, if no argument."""
    if type(result) is tuple:
        return tuple(as_numbers(item, given) for item in result)
    made = isinstance(result, Axisless) and not any(result is argument for argument in given)
    return Value(result.atom) if made else result


def as_given(result: Any) -> Any:
    """What one gives that makes an array of it."""
    return as_array(result) if isinstance(result, Value) and not result.ndim else result


def as_array(number: Value) -> Value:
    """A number that NumPy gives as an array without axes."""
    return number if is_array(number) else Axisless(number.atom)
