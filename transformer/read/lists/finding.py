"""`in`, `index` and `count` of lists of numbers that lie in an array."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import NotSupported, as_raised
from ...core.grammar import raising
from ...ops.value import Value
from ..calls.applying import apply_op
from .recorded import RecordedList

if TYPE_CHECKING:
    from ..reader import Reader


def is_among(reader: Reader, items: RecordedList, wanted: Any) -> Any:
    """`wanted in items`."""
    equal = _equal(reader, items, wanted, "in")
    return equal if equal is False else apply_op(reader, bool, (apply_op(reader, np.any, (equal,), {}),), {})


def count_of(reader: Reader, items: RecordedList, wanted: Any) -> Any:
    """`items.count(wanted)`."""
    equal = _equal(reader, items, wanted, "count")
    return 0 if equal is False else apply_op(reader, int, (apply_op(reader, np.count_nonzero, (equal,), {}),), {})


def index_of(reader: Reader, items: RecordedList, wanted: Any) -> Any:
    """`items.index(wanted)`."""
    from ..branches.conditions import branch

    def raised() -> None:
        reader.builder.emit(raising(ValueError, "the number is not in the list", reader.builder.origin))

    equal = _equal(reader, items, wanted, "index")
    if equal is False:
        raise as_raised(ValueError(f"{wanted!r} is not in list"), reader.builder.origin)
    branch(reader, apply_op(reader, np.any, (equal,), {}), lambda: None, raised)
    return apply_op(reader, int, (apply_op(reader, np.argmax, (equal,), {}),), {})


def _equal(reader: Reader, items: RecordedList, wanted: Any, what: str) -> Any:
    """Which items are equal to a number; False where none can be."""
    from ..operators import binary

    if wanted is None or isinstance(wanted, str | bytes):
        return False
    array = items.array(reader)
    equal = binary(reader, operator.eq, array, wanted)
    if array.ndim != 1 or not isinstance(equal, Value) or equal.ndim != 1:
        raise NotSupported(f"`{what}` of a list of arrays or tuples is not supported", reader.builder.origin,
                           instead="Compare the items in a loop.")
    return equal
