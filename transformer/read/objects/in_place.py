"""`container op= value`: a list, a set or a dictionary is changed itself, so that all its names see it."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.value import Value
from ..branches.journal import Contents
from ..lists.recorded import RecordedList, Recording, combined
from ..operators import is_count
from ..raising.demand import static
from ..values import ContainerMethod, is_array, known_of
from .containers import call_method, check_owned, container_kind

if TYPE_CHECKING:
    from ..reader import Reader

METHODS: dict[tuple[Any, Callable[..., Any]], str] = {
    (list, operator.add): "extend",
    (dict, operator.or_): "update",
    (set, operator.or_): "update",
    (set, operator.and_): "intersection_update",
    (set, operator.sub): "difference_update",
    (set, operator.xor): "symmetric_difference_update",
}


def changed_in_place(reader: Reader, function: Callable[..., Any], old: Any, value: Any) -> Any:
    """The container after `old op= value`; None where Python makes something else instead."""
    if isinstance(old, Recording | RecordedList):
        return _of_recorded(reader, function, old, value)
    kind = container_kind(old)
    if kind is list and function is operator.mul and not _is_array(value):
        return _repeated(reader, old, value)
    name = METHODS.get((kind, function))
    if name is None or _is_numpys(value) or kind is set and not isinstance(value, set | frozenset):
        return None
    check_owned(reader, old, SYMBOLS[function])
    call_method(reader, ContainerMethod(old, name), (value,), {})
    return old


SYMBOLS = {operator.add: "+=", operator.or_: "|=", operator.and_: "&=", operator.sub: "-=", operator.xor: "^="}


def _of_recorded(reader: Reader, function: Callable[..., Any], old: Any, value: Any) -> Any:
    if function is operator.add and not _is_numpys(value):
        call_method(reader, ContainerMethod(old, "extend"), (value,), {})
        return reader.usable(old.home)
    if function is operator.mul and isinstance(old, RecordedList) and isinstance(known_of(value), int):
        more = combined(reader, function, old, known_of(value) - 1)
        name, given = ("extend", (more,)) if known_of(value) > 0 else ("clear", ())
        call_method(reader, ContainerMethod(old, name), given, {})
        return reader.usable(old.home)
    if isinstance(old, Recording):
        raise old.cannot_change(reader, "this operator on a list that a loop fills")
    return None


def _repeated(reader: Reader, old: list[Any], count: Any) -> list[Any] | None:
    """`old *= count`; None where the count is none, so that `old * count` says what is wrong."""
    if isinstance(count, Value) and not is_count(count):
        return None
    count = static(reader, count, "the number of repetitions of a sequence")
    if not isinstance(count, int | np.integer):
        return None
    check_owned(reader, old, "*=")
    reader.journal.write(Contents(old), tuple(deque(old * count, reader.lists.deques.get(id(old)))))
    return old


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or is_array(value)


def _is_numpys(value: Any) -> bool:
    """Whether NumPy decides what an operator does to a list and this: it makes an array of both."""
    return _is_array(value) or isinstance(value, np.generic) or isinstance(value, Value) and not value.type.weak
