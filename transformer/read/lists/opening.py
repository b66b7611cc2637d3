"""Lists that become arrays of their items (see `open_lists`) where they are made or changed: items are written at
places that the program computes, or nobody knows how many there are.

    best = [0.0] * n                     best = np.zeros(n)
    for i in range(1, n):                for i in range(1, n):
        best[i] = best[i - 1] + x[i]         best[i] = best[i - 1] + x[i]
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import NotSupported
from ...ops import indexing
from ...ops.integers import affine
from ...ops.value import Value
from ..aliases import reachable
from ..branches.joins import same
from ..branches.journal import Form, Item
from ..branches.structures import Slot, capture, loosened
from ..branches.template_joins import Joiner
from ..calls.applying import apply_op
from ..frames import stamp
from ..loops.iteration import non_negative
from ..objects.deques import bounded
from ..values import may_be_array
from .item_templates import as_items, can_be_items, is_row, items_of_list
from .joining import template_of_all
from .list_demands import WantsOpen
from .open_lists import OpenList, opened
from .recorded import Part, RecordedList, containers_of
from .row_lists import RowList
from .tokens import APPENDED, Token, token_of

if TYPE_CHECKING:
    from ..reader import Reader


def repeated(reader: Reader, items: list[Any], count: Any) -> OpenList | None:
    """`[item] * count` with a number that the program computes; None for items that lie in no array."""
    template = loosened(capture(reader, items[0]), object, object) if len(items) == 1 else None
    if not isinstance(template, Slot):
        return None
    length, type = non_negative(reader, affine(count)), template.type
    array = apply_op(reader, np.full, ((length, *type.sizes), items[0]), {"dtype": type.dtype})
    home = reader.own([])
    made = OpenList(home, (Part(template, (array,), length, token_of(reader, home)),))
    if may_be_array(items[0]):
        reader.aliases.relate(items[0], token_of(reader, home), APPENDED)
    reader.journal.write(Item(reader.contents, id(home)), made)
    return made


def open_to_change(reader: Reader, held: RecordedList, what: str) -> OpenList:
    """The list as arrays of its items, which can be changed; raises where it has others."""
    if isinstance(held, OpenList):
        return held
    template = None if held.within is not None else template_of_all(reader, held.parts)
    template = None if template is None else as_items(template)
    if template is None or not can_be_items(template):
        raise held.cannot_change(reader, what)
    if is_row(template):
        _check_apart(reader, held, what)
    made: OpenList = replace(opened(reader, held, template), filled=tuple(held.loops()))
    for container in containers_of(reader, held.parts) if is_row(template) else ():
        reader.aliases.relate(container, made.items.arrays[0], APPENDED)
    reader.journal.write(Form(reader.contents, id(held.home)), made)
    return made


PLACE = "The position is not known when the function is transformed."


def open_known(reader: Reader, items: list[Any], what: str, why: str = PLACE) -> OpenList:
    """A list of items that are known one by one, as arrays of them, so that it is changed at a place that the program
    computes: in front of the loop, if it was there before."""
    refused = NotSupported(f"{what} is not supported", reader.builder.origin, why=why,
                           instead="Give all items the same type and shape, or convert the list to an array: "
                                   "np.array(items).")
    template = items_of_list(reader, Joiner(reader.assumptions, stamp(), reader.guessing), items)
    if any(reader.made_before(items, loop.made) for loop in reader.loops):
        raise WantsOpen(items, template, refused)
    if template is None or bounded(reader, items):
        raise refused
    made: OpenList = opened(reader, items, template)
    reader.journal.write(Item(reader.contents, id(items)), made)
    return made


def _check_apart(reader: Reader, held: RecordedList, what: str) -> None:
    """Raises if another list has the lists that are items of this one: it would not see what is written to them."""
    tokens = {id(part.token) for part in held.parts if isinstance(part, Part)}
    rows = [*containers_of(reader, held.parts)]
    for value in reachable(reader):
        if isinstance(value, Token) and id(value) not in tokens and any(
                reader.aliases.are_related(row, value) for row in rows):
            raise held.cannot_change(reader, what)
        other = reader.contents.get(id(value)) if isinstance(value, list) else value
        parts = other.parts if isinstance(other, RecordedList) and other.home is not held.home else ()
        if any(isinstance(part, Part) and id(part.token) in tokens for part in parts):
            raise held.cannot_change(reader, what)


def swap_rows(reader: Reader, places: list[tuple[Any, Any]], rows: list[Any]) -> bool:
    """`rows[i], rows[k] = rows[k], rows[i]` of lists in a list of lists; False for all else."""
    if not all(isinstance(row, RowList) for row in rows):
        return False
    table = rows[0].table
    owners = [getattr(owner, "home", owner) for owner, _ in places]
    if any(each is not table for each in (*owners, *(row.table for row in rows))):
        return False
    left = [row.index for row in rows]
    for _, index in places:
        found = next((k for k, other in enumerate(left) if same(index, other)), None)
        if found is None:
            return False
        del left[found]
    held: OpenList = reader.contents[id(table)]
    held.check_apart(reader)
    cell, parts = held.items.arrays[0], [Value(row.items.arrays[0].atom) for row in rows]
    for (_, index), part in zip(places, parts):
        reader.write(cell, indexing.write(Value(cell.atom), part, index).atom)
    return True
