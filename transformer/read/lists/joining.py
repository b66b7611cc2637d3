"""Lists that several loops filled, read as if one had: their parts, put behind each other.

Where the number of items is known, the loops are unrolled instead, and every item is what it was; where it rests on
values, or on sizes of arrays, all items have to be of one type, and an index may be any number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.sizes import Size
from ...core.types import ArrayType
from ...ops.value import Value
from ..branches.structures import Fixed, Node, Slot, Template, atoms, capture, is_constant, loosened
from ..calls.applying import apply_op
from ..objects.objects import ATTRIBUTES, made_of
from .recorded import Part, RecordedList, all_parts_of, note_items

if TYPE_CHECKING:
    from ..reader import Reader


@dataclass(frozen=True, eq=False)
class Laid:
    """Items in one row: an array for each slot of their template. Those where `mask` holds are there."""

    template: Template
    arrays: tuple[Value, ...]
    mask: Value | None = None


def joined(reader: Reader, parts: list[Any]) -> Part | None:
    """One part with the items of all; None where there is none."""
    if len(parts) == 1:
        return parts[0] if isinstance(parts[0], Part) else None
    if not any(isinstance(part, Part) and isinstance(part.length, Size) for part in parts):
        return None
    _, known = reader.lists.joined.get(tuple(map(id, parts)), (None, None))
    if known is not None and all(reader.builder.sees(array.atom) for array in known.arrays):
        return known
    made = _joined(reader, parts)
    reader.lists.joined[tuple(map(id, parts))] = parts, made
    return made


def join_lists(reader: Reader) -> None:
    """Joins what a loop about to be read may read of lists: in its body this would be done in each iteration."""
    for held in list(reader.contents.values()):
        if isinstance(held, RecordedList):
            joined(reader, [part for part in held.parts if part != ()])


def laid_out(reader: Reader, parts: Sequence[Any]) -> Laid | None:
    """The items of parts in one row, with those that are not there; None if they differ in type."""
    parts = [part for part in parts if part != ()]
    template = template_of_all(reader, parts)
    if template is None:
        return None
    rows = [_laid(reader, part, template) for part in parts]
    mask = None if all(row.mask is None for row in rows) else _behind_each_other(
        reader, [_mask_of(reader, row) for row in rows])
    return Laid(template, tuple(_behind_each_other(reader, list(c)) for c in zip(*(row.arrays for row in rows))), mask)


def _joined(reader: Reader, parts: list[Any]) -> Part | None:
    template = template_of_all(reader, parts)
    arrays = () if template is None else tuple(columns_of(reader, parts))
    return Part(template, arrays, arrays[0].shape[0]) if template is not None and arrays else None


def in_arrays(reader: Reader, items: Any, objects: bool = False) -> Part | None:
    """A list as one part; None where there is no type for all items. They may be `objects` where nobody asks for their
    order, or whether two are equal, which is for their class to say."""
    parts = [part for part in all_parts_of(reader, items) if part != ()]
    if len(parts) == 1 and isinstance(parts[0], Part):
        return parts[0]
    template = template_of_all(reader, parts, objects)
    arrays = () if template is None else tuple(columns_of(reader, parts))
    if template is None or not arrays:
        return None
    made = Part(template, arrays, arrays[0].shape[0])
    for part in parts:
        note_items(reader, made.token, part)
    return made


def columns_of(reader: Reader, parts: Sequence[Any]) -> list[Value]:
    """An array for each slot of the items of parts, which are of one type."""
    return [_behind_each_other(reader, list(column)) for column in zip(*(_columns(reader, part) for part in parts))]


def template_of_all(reader: Reader, parts: Sequence[Any], objects: bool = False) -> Template | None:
    """The template of all items of parts; None if they differ in type."""
    templates = [template for part in parts for template in _templates(reader, part)]
    alike = bool(templates) and all(_are_alike(reader, templates[0], other, objects) for other in templates)
    return templates[0] if alike else None


def _templates(reader: Reader, part: Any) -> Iterator[Template]:
    if isinstance(part, Part):
        yield part.template
    else:
        yield from (loosened(capture(reader, item), object, object) for item in part)


def _are_alike(reader: Reader, one: Template, other: Template, objects: bool) -> bool:
    """Whether items have numbers and arrays of the same types at the same places. Of a list that a loop filled, numbers
    are NumPy's in any case."""
    match one, other:
        case Slot(), Slot():
            return one.array == other.array and _row_type(reader, one.type) == _row_type(reader, other.type)
        case Node(), Node():
            is_object = objects and made_of(one.cls) is ATTRIBUTES and one.static == other.static
            is_kind = one.cls is other.cls and (is_object or issubclass(one.cls, tuple | RecordedList))
            return is_kind and len(one.children) == len(other.children) and all(
                _are_alike(reader, *pair, objects) for pair in zip(one.children, other.children))
        case Fixed(), Fixed():
            return is_constant(one) and is_constant(other) and one.value is other.value
    return False


def _row_type(reader: Reader, type: ArrayType) -> ArrayType:
    return ArrayType(type.dtype, tuple(map(reader.assumptions.normal, type.sizes)))


def _laid(reader: Reader, part: Any, template: Template) -> Laid:
    if isinstance(part, Part) and part.chosen is not None:
        mask, arrays = part.chosen
        return Laid(template, arrays, mask)
    return Laid(template, tuple(_columns(reader, part)))


def _mask_of(reader: Reader, row: Laid) -> Value:
    length = row.arrays[0].shape[0]
    return row.mask if row.mask is not None else apply_op(reader, np.ones, ((length,),), {"dtype": np.bool_})


def _columns(reader: Reader, part: Any) -> list[Any]:
    """An array for each slot of the items of a part."""
    if isinstance(part, Part):
        return list(part.arrays)
    rows = []
    for item in part:
        captured = capture(reader, item)
        rows.append([fixed.value for fixed in atoms(loosened(captured, object, object), captured)])
    return [apply_op(reader, np.array, (list(column),), {}) for column in zip(*rows)]


def _behind_each_other(reader: Reader, column: list[Value]) -> Value:
    """One array of several: what is written to an item of it would not be seen in them."""
    if len(column) == 1:
        return column[0]
    array = apply_op(reader, np.concatenate, (column,), {})
    reader.aliases.derive(array, tuple(column), "It is an item of a list filled by loops.")
    return array
