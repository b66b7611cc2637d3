"""`filter` and `sorted`."""

from __future__ import annotations

from itertools import combinations, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.value import Value
from .comprehensions import append, for_each
from .conditions import branch, truth
from .containers import iterated
from .demand import need, static
from .folds import all_are_pythons
from .iteration import iteration_of
from .recorded import RecordedList
from .values import UNKNOWN, has_dynamic, known_of, stripped

if TYPE_CHECKING:
    from .reader import Reader


def filtered(reader: Reader, function: Any, iterable: Any) -> Any:
    """`filter`: a list of the items for which the function holds."""
    kept: list[Any] = reader.own([])

    def add(item: Any) -> None:
        cond = truth(reader, item if function is None else reader.call(function, (item,), {}))
        branch(reader, cond, lambda: append(reader, kept, item), lambda: None)

    for_each(reader, iteration_of(reader, iterable), "filter", add)
    return reader.usable(kept)


def ordered(reader: Reader, iterable: Any, *, key: Any = None, reverse: Any = False) -> Any:
    """`sorted`, of what is known."""
    if isinstance(iterable, (Value, RecordedList)):
        return _ordered_array(reader, iterable, key, reverse)
    items = iterated(reader, iterable)
    if items and all(isinstance(item, Value) and not item.ndim for item in items) and has_dynamic(items):
        return _ordered_array(reader, items, key, reverse)
    keys = items if key is None else [reader.call(key, (item,), {}) for item in items]
    keys = _deciding(keys) or [
        static(reader, item, "what is sorted", SORTING)
        if not isinstance(item, tuple)
        else _known_tuple(reader, item)
        for item in keys
    ]
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=bool(known_of(reverse)))
    return reader.own([items[k] for k in order])


SORTING = "Sort an array of the items: np.sort(np.array(items))."


def _ordered_array(reader: Reader, items: Any, key: Any, reverse: Any) -> Any:
    """The items that the program computes, in an array; numbers of Python's in a list that is one."""
    from .library.calls import call_library
    from .library.ordering import sorted_items

    array = reader.call(np.asarray, (items,), {})
    if array.ndim != 1 and key is None:
        raise ValueError("The truth value of an array with more than one element is ambiguous. "
                         "Use a.any() or a.all()")
    found = call_library(reader, sorted_items, (array, key, bool(static(reader, reverse, "`reverse`"))), {})
    return RecordedList.from_row(reader, True, found) if array.ndim == 1 and all_are_pythons(reader, items) else found


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
        need(reader, next(part for part in item if known_of(part) is UNKNOWN), "what is sorted")
    return stripped(item)
