"""Tuples and lists that are compared: the first items that differ decide, as Python has it.

    (a, c) < (b, d)                      c < d if a == b else a < b
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.value import Value
from ..calls.applying import apply_op
from ..raising.demand import Roots, need, static
from ..values import UNKNOWN, contained, has_dynamic, known_of, stripped

if TYPE_CHECKING:
    from ..reader import Reader


def are_sequences(left: Any, right: Any) -> bool:
    return any(isinstance(left, cls) and isinstance(right, cls) for cls in (tuple, list))


def are_mappings(left: Any, right: Any) -> bool:
    """Whether both are dictionaries, and at most one has an order that counts."""
    both = isinstance(left, dict) and isinstance(right, dict)
    return both and not (isinstance(left, OrderedDict) and isinstance(right, OrderedDict))


def compared_mappings(reader: Reader, function: Callable[..., Any], left: Any, right: Any) -> Any:
    """Whether two dictionaries are equal, or are not."""
    if left.keys() != right.keys():
        return function is operator.ne
    sides = (tuple(reader.usable(side[key]) for key in left) for side in (left, right))
    return compared_items(reader, function, *sides)


def compared_items(reader: Reader, function: Callable[..., Any], left: Any, right: Any) -> Any:
    """A comparison of two sequences, such as shapes."""
    if function not in (operator.eq, operator.ne):
        return _ordered(reader, function, left, right)
    from ..operators import are_equal

    equal: Any = len(left) == len(right)
    for one, other in zip(left, right) if equal else ():
        equal = _both(reader, equal, are_equal(reader, one, other))
        if equal is False:
            break
    if function is operator.eq:
        return equal
    return apply_op(reader, operator.not_, (equal,), {}) if isinstance(equal, Value) else not equal


def _both(reader: Reader, one: Any, other: Any) -> Any:
    """`one and other`, both at hand."""
    for value, rest in ((one, other), (other, one)):
        known = known_of(value)
        if known is not UNKNOWN:
            return rest if known else False
    return apply_op(reader, np.logical_and, (one, other), {})


def _ordered(reader: Reader, function: Callable[..., Any], left: Any, right: Any) -> Any:
    """Which comes first; what rests on arguments that may be known had better be."""
    roots = Roots(reader)
    for item in contained((left, right)):
        roots.follow(item)
    if roots.others or roots.loops:
        return _by_items(reader, function, tuple(zip(left, right)), (len(left), len(right)))
    return function(*(static(reader, _known(reader, side), "a sequence that is compared") for side in (left, right)))


def _by_items(reader: Reader, function: Callable[..., Any], pairs: tuple[Any, ...], lengths: tuple[int, int]) -> Any:
    from ..branches.conditions import branch, truth
    from ..operators import are_equal, binary

    if not pairs:
        return function(*lengths)
    (one, other), rest = pairs[0], pairs[1:]

    def first() -> Any:
        ordered = compared_items if are_sequences(one, other) else binary
        return truth(reader, ordered(reader, function, one, other))

    if not rest and lengths[0] == lengths[1]:
        return first()
    equal = truth(reader, are_equal(reader, one, other))
    return branch(reader, equal, lambda: _by_items(reader, function, rest, lengths), first)


def _known(reader: Reader, items: Any) -> Any:
    if has_dynamic(items):
        need(reader, next(i for i in contained(items) if known_of(i) is UNKNOWN), "what is compared")
    return stripped(items)
