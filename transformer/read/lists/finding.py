"""`in`, `index` and `count` of lists of numbers, or of tuples of numbers, that lie in arrays."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import reduce
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import NotSupported, as_raised
from ...core.grammar import raising
from ...ops.value import Value
from ..branches.structures import Fixed, Node, Slot, Template, is_constant
from ..calls.applying import apply_op
from ..values import UNKNOWN, known_of
from .joining import in_arrays
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
    if equal.shape[0] == 0:                  # what a loop fills may be empty where it is read first
        return 0
    return apply_op(reader, int, (apply_op(reader, np.argmax, (equal,), {}),), {})


def _equal(reader: Reader, items: RecordedList, wanted: Any, what: str) -> Any:
    """Which items are equal to a number, or to a tuple of such; False where none can be."""
    if wanted is None or isinstance(wanted, str | bytes):
        return False
    if isinstance(wanted, tuple):
        part = in_arrays(reader, items)
        equal = None if part is None else _are_equal(reader, part.template, iter(part.arrays), wanted)
    else:
        array = items.array(reader)
        equal = _are_equal(reader, Slot(array.type), iter([array]), wanted)
    if equal is None or equal is True:
        raise NotSupported(f"`{what}` of a list of arrays, or of these tuples, is not supported", reader.builder.origin,
                           instead="Compare the items in a loop.")
    return equal


def _are_equal(reader: Reader, template: Template, arrays: Iterator[Value], wanted: Any) -> Any:
    """Which items of a template, in arrays for its slots, are equal to what is wanted: an array, or True or False of
    all; None where that is not told."""
    match template:
        case Slot():
            return _equal_numbers(reader, next(arrays), wanted)
        case Node() if issubclass(template.cls, tuple):
            if not isinstance(wanted, tuple) or len(wanted) != len(template.children):
                return False
            found = [_are_equal(reader, *pair) for pair in zip(template.children, repeat(arrays), wanted)]
            return _all(reader, found)
        case Fixed() if is_constant(template) and known_of(wanted) is not UNKNOWN:
            return template.value == known_of(wanted)
    return None


def _equal_numbers(reader: Reader, array: Value, wanted: Any) -> Any:
    from ..operators import binary

    if wanted is None or isinstance(wanted, tuple | str | bytes):
        return False if array.ndim == 1 else None
    equal = binary(reader, operator.eq, array, wanted)
    return equal if array.ndim == 1 and isinstance(equal, Value) and equal.ndim == 1 else None


def _all(reader: Reader, found: list[Any]) -> Any:
    """Which of the items are equal in all parts."""
    if any(each is False for each in found):
        return False
    if any(each is None for each in found):
        return None
    masks = [each for each in found if isinstance(each, Value)]
    return reduce(lambda one, other: apply_op(reader, operator.and_, (one, other), {}), masks) if masks else True
