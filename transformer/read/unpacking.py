"""Unpacking: `a, b = pair`, `first, *rest = items`, of containers and arrays whose length the program may find."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import gast

from ..core.errors import NotSupported, ShapeError, as_raised
from ..core.sizes import Size
from ..ops.value import Value
from .calls.applying import apply_op
from .kinds import type_name
from .lists.opening import swap_rows
from .lists.recorded import RecordedList
from .lists.row_lists import RowList
from .objects.containers import iterated

if TYPE_CHECKING:
    from .reader import Reader


def bind_sequence(reader: Reader, target: Any, value: Any) -> None:
    """`a, b = value`"""
    if value is None or isinstance(value, Value) and not value.ndim:
        raise as_raised(TypeError(f"cannot unpack non-iterable {type_name(value)} object"), reader.builder.origin)
    starred = [k for k, part in enumerate(target.elts) if isinstance(part, gast.Starred)]
    count = len(target.elts)
    if _is_of_any_length(reader, value):
        checkpoint = reader.checkpoint()
        try:
            return _bind_parts(reader, target.elts, value, starred)
        except NotSupported:                     # with the loops unrolled that filled it, it may be another list
            reader.restore(checkpoint)
    items = iterated(reader, value) if starred else _as_many(reader, value, count)
    if starred and len(items) >= count - 1 or not starred and len(items) == count:
        return _bind_items(reader, target.elts, items, starred)
    many = "too many" if len(items) > count else "not enough"
    expected = f"at least {count - 1}" if starred else str(count)
    raise ShapeError(f"{many} values to unpack (expected {expected}, got {len(items)})", reader.builder.origin)


def _as_many(reader: Reader, value: Any, count: int) -> list[Any]:
    """The items of what is unpacked into so many names; the program tests the size of an array that is not known."""
    from .library.calls import call_library
    from .library.selecting import check_count

    try:
        return iterated(reader, value)
    except NotSupported:
        if not isinstance(value, Value) or not isinstance(value.shape[0], Size):
            raise
        call_library(reader, check_count, (value, count), {})
        return [apply_op(reader, operator.getitem, (value, k), {}) for k in range(count)]


def _is_of_any_length(reader: Reader, value: Any) -> bool:
    """Whether the program finds how many items a list has."""
    length = value.length(reader) if isinstance(value, RecordedList) and value.within is None else 0
    return isinstance(length, Size) and bool(length.unknowns)


def _bind_parts(reader: Reader, targets: list[Any], value: RecordedList, starred: list[int]) -> None:
    """`a, b = value`, `a, *rest, b = value` of a list of which the program finds the length."""
    from .assignment import bind
    from .library.calls import call_library
    from .library.selecting import check_count, check_count_at_least

    first = starred[0] if starred else len(targets)
    after = len(targets) - first - 1 if starred else 0
    call_library(reader, check_count_at_least if starred else check_count, (value, first + after), {})
    _bind_items(reader, targets[:first], [value.item(reader, k) for k in range(first)], [])
    if starred:
        bind(reader, targets[first].value, value.item(reader, slice(first, -after or None)))
        _bind_items(reader, targets[first + 1:], [value.item(reader, k) for k in range(-after, 0)], [])


def _bind_items(reader: Reader, targets: list[Any], items: list[Any], starred: list[int]) -> None:
    from .assignment import bind

    if not starred:
        if len(targets) > 1 and any(isinstance(item, RowList) for item in items) and _swaps(reader, targets, items):
            return
        for target, item in zip(targets, items):
            bind(reader, target, item)
        return
    first, after = starred[0], len(targets) - starred[0] - 1
    middle = items[first : len(items) - after]
    _bind_items(reader, targets[:first], items[:first], [])
    bind(reader, targets[first].value, reader.own(list(middle)))
    _bind_items(reader, targets[first + 1 :], items[len(items) - after :], [])


def _swaps(reader: Reader, targets: list[Any], items: list[Any]) -> bool:
    """Whether lists in a list of lists change their places, which is done then."""
    if not all(isinstance(target, gast.Subscript) and _is_plain(target) for target in targets):
        return False
    places = [(reader.evaluate_owner(target.value), reader.evaluate(target.slice)) for target in targets]
    return swap_rows(reader, places, items)


def _is_plain(target: Any) -> bool:
    """Whether nothing that is assigned before can change where a subscript leads."""
    parts = [target.value, *gast.walk(target.slice)]
    return not any(isinstance(part, gast.Call | gast.Subscript | gast.Attribute) for part in parts)
