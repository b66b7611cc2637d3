"""Items of lists and tuples at an index that the program computes: those of an array, if all are of one type."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...containers import kind_of
from ...core.errors import NotSupported
from ...core.grammar import Var
from ...core.sizes import Size
from ...core.types import ArrayType
from ...ops import indexing
from ...ops import value as values
from ...ops.value import Value
from ..branches.asked_classes import note_sources
from ..branches.casts import PYTHON
from ..branches.structures import capture, loosened, stripped_type
from ..branches.testing import Untested
from ..calls.applying import apply_op
from ..objects.objects import ATTRIBUTES, made_of
from ..raising.demand import Roots, Unroll, static
from ..raising.errors import as_user_error
from ..values import UNKNOWN, contained, is_array, is_number, known_of, may_be_array, stripped
from .joining import in_arrays
from .lengths import picked_by_length
from .list_demands import WantsOpen

if TYPE_CHECKING:
    from ..reader import Reader

INSTEAD = "Give all items the same type and shape."
EXACT = 2**53          # integers up to it are floats as they are
OF_ONE_TYPE = "Convert the list to one array, np.array(items), and read and write its rows."


def picked(reader: Reader, items: Sequence[Any], index: Any, what: str) -> Any:
    """`items[index]`. Written to, an array that is found by a computed index would change in the list."""
    from ..objects.containers import item

    def of_array() -> Any:
        return _of_array(reader, [item(reader, items, k) for k in range(len(items))], index)

    return _static_or(reader, items, index, what, of_array, lambda known: item(reader, items, known))


def _static_or(reader: Reader, items: Sequence[Any], index: Any, what: str,
               computed: Callable[[], Any], known: Callable[[Any], Any]) -> Any:
    """What is found by an index that is known, if it is known or can be made so. For one that the program computes
    short loops are unrolled first, if nothing else decides it."""
    place = "item", reader.builder.origin
    if known_of(index) is UNKNOWN and (place in reader.tested or _is_computed(reader, index)):
        found = computed()
        if found is not None:
            return found
    try:
        number = static(reader, index, what, _advice(reader, items, index))
    except Unroll as request:
        refusal = request.refusal
        if not all(map(is_number, contained(list(items)))):
            raise
        later = Untested(place, refusal.message, refusal.origin, why=refusal.why, instead=refusal.instead)
        raise Unroll(request.loop, later) from None
    return known(stripped(number))


def _advice(reader: Reader, items: Sequence[Any], index: Any) -> str:
    """Items of one type are taken by a computed index, but for arrays that are written."""
    are_alike = known_of(index) is UNKNOWN and _are_alike(reader, items)
    return OF_ONE_TYPE if are_alike else INSTEAD


def _is_computed(reader: Reader, index: Any) -> bool:
    """Whether an index rests on what no unrolled loop and no argument decides, as one of each lane does not."""
    roots = Roots(reader)
    roots.follow(index)
    return bool(roots.others) or not roots.paths.isdisjoint(reader.arguments.mapped)


def _of_array(reader: Reader, items: Sequence[Any], index: Any) -> Any:
    """The item at a computed index; None where items differ in type. Of tuples, each of their parts is taken."""
    if not _is_index(index):
        return None
    if _are_tuples(items):
        parts = [_of_array(reader, column, index) for column in zip(*items)]
        return None if any(part is None for part in parts) else _tuple_of(type(items[0]), parts)
    type_of_all = _type_of_all(reader, items) or _type_of_mixed(reader, items)
    if type_of_all is not None:
        return _taken(reader, items, index, type_of_all)
    if _are_objects(items):
        rows = in_arrays(reader, items, objects=True)
        return None if rows is None else rows.item(reader, index)
    return picked_by_length(reader, items, index)


def _taken(reader: Reader, items: Sequence[Any], index: Any, type: ArrayType) -> Any:
    item = apply_op(reader, operator.getitem, (_array_of(reader, items), index), {})
    if type.sizes:
        arrays = tuple(item for item in items if isinstance(item, Value))
        reader.aliases.derive(item, arrays, "It is one of the items of a list.")
    item = _of_class(reader, type, item)
    if type.weak and isinstance(item, Value) and isinstance(item.atom, Var):
        note_sources(reader, item.atom, *map(values.atom, items))
    return item


def replaced(reader: Reader, items: list[Any], index: Any, value: Any) -> list[Any]:
    """The items after `items[index] = value`."""
    def at(known: Any) -> list[Any]:
        changed = list(items)
        with as_user_error(reader):
            changed[known] = value
        return changed

    what = "the index of a list"
    try:
        return _static_or(reader, items, index, what, lambda: _opened(reader, items, index, value), at)
    except Unroll as request:
        if _is_of_any_length(reader, request.loop):
            _opened(reader, items, index, value)
        raise


def _is_of_any_length(reader: Reader, loop: Any) -> bool:
    """Whether the program does not say how often a loop runs that is being read."""
    return any(each.plan.key == loop and not isinstance(each.plan.length, int) for each in reader.loops)


def _are_objects(items: Sequence[Any]) -> bool:
    return bool(items) and all(made_of(type(item)) is ATTRIBUTES for item in items)


def _are_tuples(items: Sequence[Any]) -> bool:
    """Whether all items are tuples of one class with as many items."""
    first = items[0] if items else None
    return isinstance(first, tuple) and bool(first) and all(
        type(item) is type(first) and len(item) == len(first) for item in items)


def _tuple_of(cls: type, parts: list[Any]) -> tuple[Any, ...]:
    made: tuple[Any, ...] = kind_of(cls).build(cls, None, parts)
    return made


def _are_alike(reader: Reader, items: Sequence[Any]) -> bool:
    """Whether all items have one type, or are tuples of such."""
    if _are_tuples(items):
        return all(_are_alike(reader, column) for column in zip(*items))
    return _type_of_all(reader, items) is not None


def _opened(reader: Reader, items: list[Any], index: Any, value: Any) -> list[Any] | None:
    """Has a loop carry the items in an array, if the list was there before; else they are taken out of one here."""
    alike = _are_alike(reader, [*items, value])
    if alike and _is_index(index) and any(reader.made_before(items, loop.made) for loop in reader.loops):
        refused = NotSupported("a list with items of different types is not supported here", reader.builder.origin,
                               instead=INSTEAD)
        raise WantsOpen(items, loosened(capture(reader, value), object, object), refused)
    return _in_array(reader, items, index, value)


def _in_array(reader: Reader, items: Sequence[Any], index: Any, value: Any) -> list[Any] | None:
    """The items when the one at a computed index is another; None where they are not numbers of one type, or tuples."""
    if items and _are_tuples([*items, value]):
        pairs = zip(zip(*items), value)
        columns = [_in_array(reader, column, index, part) for column, part in pairs]
        return None if None in columns else [_tuple_of(type(value), list(row)) for row in zip(*columns)]
    type_of_all = _type_of_all(reader, [*items, value])
    if type_of_all is None or type_of_all.sizes or not items or not _is_index(index):
        return None
    written = Value(indexing.write(_array_of(reader, items), value, index).atom)
    return [_of_class(reader, type_of_all, apply_op(reader, operator.getitem, (written, k), {}))
            for k in range(len(items))]


def _array_of(reader: Reader, items: Sequence[Any]) -> Value:
    found: Value = apply_op(reader, np.array, ([*items],), {})
    return found


def _is_index(index: Any) -> bool:
    return isinstance(index, Size) or isinstance(index, Value) and not index.ndim and index.dtype.kind in "iu"


def _type_of_all(reader: Reader, items: Sequence[Any]) -> ArrayType | None:
    """The type of all items; it is one of Python's if all of them are."""
    types = [_type_of(reader, item) for item in items]
    if not types or any(type is None for type in types):
        return None
    known = [type for type in types if type is not None]
    first = known[0]
    if any(type.dtype != first.dtype or type.sizes != first.sizes for type in known):
        return None
    return next((type for type in known if not type.weak), first)


def _type_of_mixed(reader: Reader, items: Sequence[Any]) -> ArrayType | None:
    """That of floats, where the items are Python's floats and integers, all of which are floats too: as where a branch
    leaves the one or the other."""
    types = [_type_of(reader, item) for item in items]
    if not all(type is not None and type.weak and type.dtype.kind in "if" for type in types):
        return None
    is_float = all(abs(known_of(item)) <= EXACT for item in items if known_of(item) is not UNKNOWN
                   and isinstance(known_of(item), int))
    return next((type for type in types if type is not None and type.dtype.kind == "f"), None) if is_float else None


def _type_of(reader: Reader, item: Any) -> ArrayType | None:
    if not is_number(item) and not is_array(item) or may_be_array(item) and not item.ndim:
        return None
    type = stripped_type(values.atom(item))
    return type.with_sizes(tuple(map(reader.assumptions.normal, type.sizes)))


def _of_class(reader: Reader, type: ArrayType, item: Any) -> Any:
    """A number of an array as one of Python's, where all items are."""
    if not type.weak:
        return item
    return apply_op(reader, PYTHON[type.dtype.kind], (item,), {})
