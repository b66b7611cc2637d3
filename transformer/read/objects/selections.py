"""`filter` and `sorted`."""

from __future__ import annotations

import operator
from itertools import combinations, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.value import Value
from ..branches.conditions import branch, truth
from ..branches.structures import Node
from ..calls.applying import prepared
from ..lists.item_templates import can_be_items
from ..lists.joining import in_arrays
from ..lists.order_keys import keys_of, order_of
from ..lists.recorded import Part, RecordedList, recorded
from ..loops.comprehensions import append, for_each, listed
from ..loops.folds import all_are_pythons, as_whole
from ..loops.iteration import iteration_of
from ..raising.demand import need, static
from ..values import UNKNOWN, DynamicRange, has_dynamic, known_of, stripped
from .containers import iterated
from .object_order import ordering_key
from .objects import ATTRIBUTES, made_of

if TYPE_CHECKING:
    from ..reader import Reader


def filtered(reader: Reader, function: Any, iterable: Any) -> Any:
    """`filter`: a list of the items for which the function holds."""
    kept: list[Any] = reader.own([])

    def add(item: Any) -> None:
        cond = truth(reader, item if function is None else reader.call(function, (item,), {}))
        branch(reader, cond, lambda: append(reader, kept, item), lambda: None)

    for_each(reader, iteration_of(reader, iterable), "filter", add)
    return reader.usable(kept)


def ordered(reader: Reader, iterable: Any, *, key: Any = None, reverse: Any = False) -> Any:
    """`sorted`: where what decides is known, now, else by the program."""
    if isinstance(iterable, DynamicRange) and key is not None:
        return _ordered_range(reader, iterable, key, reverse)
    iterable = listed(reader, iterable)
    key = ordering_key(reader, iterable, key)
    whole = as_whole(reader, iterable)
    if whole is None:
        return _ordered_items(reader, iterated(reader, iterable), key, reverse)
    rows = in_arrays(reader, whole) if isinstance(whole, RecordedList) else None
    if rows is not None and (_are_tuples(rows) or key is not None and _are_objects(rows)):
        return recorded(reader, (rows_in_order(reader, rows, key, reverse),))
    return _ordered_array(reader, whole, key, reverse)


def _ordered_range(reader: Reader, numbers: DynamicRange, key: Any, reverse: Any) -> Any:
    """`sorted(range(n), key=...)`: of all places, the order is what is sorted."""
    order = order_of(reader, keys_of(reader, numbers, key), reverse)
    are_places = (known_of(numbers.start), known_of(numbers.step)) == (0, 1)
    found = order if are_places else reader.call(operator.getitem, (prepared(reader, numbers), order), {})
    return RecordedList.from_row(reader, True, found)


def _ordered_items(reader: Reader, items: list[Any], key: Any, reverse: Any) -> Any:
    """`sorted` of items that are known one by one."""
    if items and all(isinstance(item, Value) and not item.ndim for item in items) and has_dynamic(items):
        return _ordered_array(reader, items, key, reverse)
    keys = items if key is None else [reader.call(key, (item,), {}) for item in items]
    decided = _deciding(keys)
    if decided is None and has_dynamic(keys):
        rows, columns = in_arrays(reader, items, objects=key is not None), in_arrays(reader, keys)
        if rows is not None and columns is not None and (can_be_items(rows.template) or _are_objects(rows)):
            return recorded(reader, (_taken(reader, rows, order_of(reader, columns, reverse)),))
    keys = decided or [
        static(reader, item, "a list that is sorted", SORTING)
        if not isinstance(item, tuple)
        else _known_tuple(reader, item)
        for item in keys
    ]
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=bool(known_of(reverse)))
    return reader.own([items[k] for k in order])


def _are_tuples(rows: Part) -> bool:
    return isinstance(rows.template, Node) and issubclass(rows.template.cls, tuple)


def _are_objects(rows: Part) -> bool:
    return isinstance(rows.template, Node) and made_of(rows.template.cls) is ATTRIBUTES


def rows_in_order(reader: Reader, rows: Part, key: Any, reverse: Any) -> Part:
    """Items that lie in arrays, in their order or in that of their keys."""
    keys = rows if key is None else keys_of(reader, recorded(reader, (rows,)), key)
    return _taken(reader, rows, order_of(reader, keys, reverse))


def _taken(reader: Reader, rows: Part, order: Any) -> Part:
    """The items at places."""
    arrays = (reader.call(operator.getitem, (Value(array.atom), order), {}) for array in rows.arrays)
    return Part(rows.template, tuple(arrays), rows.length, rows.token)


SORTING = "Sort an array instead: np.sort(np.array(items))."


def _ordered_array(reader: Reader, items: Any, key: Any, reverse: Any) -> RecordedList:
    """The items that the program computes, a list of what lies in an array; they are Python's numbers if all were."""
    found = array_in_order(reader, items, key, reverse)
    return RecordedList.from_row(reader, found.ndim == 1 and all_are_pythons(reader, items), found)


def array_in_order(reader: Reader, items: Any, key: Any, reverse: Any) -> Value:
    """Items in an array, in their order or in that of their keys."""
    from ..library.calls import call_library
    from ..library.ordering import sorted_items

    array = reader.call(np.asarray, (items,), {})
    if array.ndim != 1 and key is None:
        raise ValueError("The truth value of an array with more than one element is ambiguous. "
                         "Use a.any() or a.all()")
    if key is None:
        found: Value = call_library(reader, sorted_items, (array, bool(static(reader, reverse, "`reverse`"))), {})
        return found
    rows: Value = array[order_of(reader, keys_of(reader, items, key), reverse)]
    return rows


def _deciding(keys: list[Any]) -> list[Any] | None:
    """The beginnings of tuples, where these are known and decide their order, as the keys of `d.items()` do."""
    if not all(isinstance(key, tuple) for key in keys) or not has_dynamic(keys):
        return None
    known = [list(takewhile(lambda part: not has_dynamic((part,)), key)) for key in keys]
    beginnings = [tuple(map(stripped, key[: min(map(len, known))])) for key in known]
    apart = all(one != other for one, other in combinations(beginnings, 2))
    return beginnings if apart else None


def _known_tuple(reader: Reader, item: Any) -> Any:
    if has_dynamic(item):
        need(reader, next(part for part in item if known_of(part) is UNKNOWN), "a list that is sorted")
    return stripped(item)
