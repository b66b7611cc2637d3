"""Lists to which one side of an `if` appends more items than the other: what each appends is an array, and these meet.

    if x > 0:                            if x > 0:
        ys.append(x)                         items = np.array([x])
                                         else:
                                             items = np.zeros(0)

In loops that carry no sizes each iteration records whether there is an item instead (see `maybe`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.grammar import Merge, Var
from ...core.sizes import Size, Unknown
from ...core.types import INT, ArrayType
from ...core.walk import atom_of_size
from ..branches.journal import Contents, Item, Place
from ..branches.structures import Fixed, Node, Slot, Template, open_slots
from ..branches.template_joins import known_outside
from ..calls.applying import apply_op
from ..raising.demand import Roots
from ..values import contained
from .joining import columns_of, template_of_all
from .open_lists import OpenList
from .recorded import Part, RecordedList, parts_of, spread
from .tokens import APPENDED

if TYPE_CHECKING:
    from ..branches.branches import Side
    from ..reader import Reader


class Uneven(NamedTuple):
    """A list with what both sides leave of it as it was, and what each has behind that, as templates."""

    home: list[Any]
    kept: tuple[Any, ...]
    item: Template
    sides: tuple[Template, Template]
    together: Template
    appended: list[Any]

    def become(self, reader: Reader, arrays: tuple[Any, ...]) -> None:
        """Puts the list that follows the `if` in place."""
        for array in arrays:
            array.atom.name = array.atom.name or "items"
        part = Part(self.item, arrays, arrays[0].shape[0])
        for value in contained(self.appended):
            reader.aliases.relate(value, part.token, APPENDED)
        reader.journal.write(Item(reader.contents, id(self.home)), RecordedList(self.home, (*self.kept, part)))


@dataclass
class Finder:
    """Finds the lists of two sides that have different numbers of items; `at_end` makes the state at the end of a
    side the current one, `moment` is when they began."""

    reader: Reader
    sides: tuple[Side, Side]
    at_end: Any
    moment: int
    merges: list[Merge]

    def all(self, cond: Any) -> Iterator[Uneven]:
        """The lists, which are no places to be merged any more."""
        if self.reader.recursion.active or self.reader.loops and not self.reader.loops[-1].is_open:
            return
        places = {key: place for side in self.sides for key, place in side.outer.items()}
        homes = {id(home): home for home in map(self._list_at, places.values()) if home is not None}
        if not homes or not self._rests_on_values(cond):
            return
        for home in homes.values():
            found = self._uneven(home)
            if found is not None:
                for key, place in places.items():
                    if self._list_at(place) is home:
                        for side in self.sides:
                            side.outer.pop(key, None)
                yield found

    def _rests_on_values(self, cond: Any) -> bool:
        """Whether a condition cannot be known while the function is read; else it had better be."""
        roots = Roots(self.reader)
        roots.follow(cond.atom)
        return bool(roots.others)

    def _list_at(self, place: Place) -> list[Any] | None:
        if isinstance(place, Contents) and isinstance(place.holder, list):
            return place.holder
        if isinstance(place, Item) and place.holder is self.reader.contents:
            home = self.reader.owned[place.key][0]
            return home if isinstance(home, list) else None
        return None

    def _uneven(self, home: list[Any]) -> Uneven | None:
        held = []
        for side in self.sides:
            with self._at_end_of(side):
                whole = self.reader.contents.get(id(home), home)
                if not isinstance(whole, (list, RecordedList)) or getattr(whole, "within", None) is not None or (
                        isinstance(whole, OpenList)):
                    return None
                held.append(spread(parts_of(whole)))
        count = next((k for k, pair in enumerate(zip(*held)) if pair[0] is not pair[1]), min(map(len, held)))
        rests = [items[count:] for items in held]
        if len(rests[0]) == len(rests[1]) and not any(isinstance(item, Part) for item in (*rests[0], *rests[1])):
            return None
        item = template_of_all(self.reader, [part for rest in rests for part in grouped(rest)])
        types = [] if item is None else [slot.type for slot in open_slots(item)]
        if item is None or not types or not all(known_outside(type, self.moment) for type in types):
            return None
        rows = [self._row(side, rest, types) for side, rest in zip(self.sides, rests)]
        lengths = [row[0].shape[0] for row in rows]
        self.merges.append(Merge(Var(INT), *map(atom_of_size, lengths)))
        length = Size.of(Unknown(self.merges[-1].target))
        self.reader.assumptions.within(self.merges[-1].target, 0, None)
        slots = tuple(Slot(array.type.with_sizes((length, *array.type.sizes[1:]))) for array in rows[0])
        one, other = (Node(tuple, None, tuple(Fixed(array, array.atom) for array in row)) for row in rows)
        return Uneven(home, grouped(held[0][:count]), item, (one, other), Node(tuple, None, slots), sum(rests, []))

    def _row(self, side: Side, rest: list[Any], types: list[ArrayType]) -> list[Any]:
        """An array for each slot of the items that a side has; without elements where it has none."""
        with self._at_end_of(side):
            if rest:
                return columns_of(self.reader, grouped(rest))
            return [apply_op(self.reader, np.zeros, ((0, *type.sizes),), {"dtype": type.dtype}) for type in types]

    def _at_end_of(self, side: Side) -> AbstractContextManager[None]:
        made: AbstractContextManager[None] = self.at_end(self.reader, side)
        return made


def grouped(items: list[Any]) -> tuple[Any, ...]:
    """Items in parts, as a list holds them."""
    parts: list[Any] = []
    for item in items:
        if isinstance(item, Part):
            parts.append(item)
        elif parts and isinstance(parts[-1], tuple):
            parts[-1] = (*parts[-1], item)
        else:
            parts.append((item,))
    return tuple(parts)
