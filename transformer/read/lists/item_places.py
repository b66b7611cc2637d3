"""Places of items in the arrays of a list (see `open_lists`): parts of them, all but one, and whether there is any."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import as_raised
from ...core.grammar import raising
from ...ops.value import Value
from ..calls.applying import apply_op

if TYPE_CHECKING:
    from ..reader import Reader

EMPTY = "pop from empty list"


def part_of(reader: Reader, array: Value, index: slice) -> Value:
    """A part of the items, which changes no more with the list."""
    return Value(apply_op(reader, operator.getitem, (array, index), {}).atom)


def beside(removed: slice) -> slice | None:
    """Where the items are that `del` of a slice leaves, if they lie in one piece."""
    if removed.step is not None:
        return None
    if removed.stop is None:
        return slice(None, 0 if removed.start is None else removed.start)
    return slice(removed.stop, None) if removed.start is None else None


def without(reader: Reader, arrays: tuple[Value, ...], index: Any, length: Any) -> list[Value]:
    """The arrays of a list of this length without the item at an index."""
    from ..operators import binary

    if isinstance(index, int) and index in (0, -1):
        kept = slice(1, None) if index == 0 else slice(None, -1)
        return [part_of(reader, array, kept) for array in arrays]
    place = index if isinstance(index, int) else from_start(reader, index, length)
    behind = binary(reader, operator.add, place, 1)
    parts = [[part_of(reader, Value(array.atom), cut) for cut in (slice(None, place), slice(behind, None))]
             for array in arrays]
    return [apply_op(reader, np.concatenate, (each,), {}) for each in parts]


def from_start(reader: Reader, index: Any, length: Any) -> Any:
    """The place of an item, which is counted from the end where it is negative."""
    from ..branches.conditions import branch
    from ..operators import binary

    return branch(reader, binary(reader, operator.lt, index, 0),
                  lambda: binary(reader, operator.add, index, length), lambda: index)


def check_filled(reader: Reader, length: Any, kind: type[Exception] = IndexError, message: str = EMPTY) -> None:
    """Has the program raise where what it takes an item of has none, such as a list that `pop` is called of."""
    from ..branches.conditions import branch
    from ..operators import binary

    def raised() -> None:
        reader.builder.emit(raising(kind, message, reader.builder.origin))

    if reader.assumptions.certainly_at_least(-length, 0):                # where a `pop` before has raised
        raise as_raised(kind(message), reader.builder.origin)
    if not reader.assumptions.follows(length, 1):
        branch(reader, binary(reader, operator.eq, length, 0), raised, lambda: None)
        reader.assumptions.found_at_least(length, 1)
