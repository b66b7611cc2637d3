"""Lists that loops make longer and shorter: stacks, queues, fronts. Their items lie in arrays whose sizes loops carry.

    stack = [root]                       stack = np.array([root])
    while stack:                         while len(stack) > 0:
        node = stack.pop()                   node = stack[-1]
                                             stack = stack[:-1]
        stack.append(left[node])             stack = np.append(stack, left[node])

An array for each number and array of an item: items are alike.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...core.errors import NotSupported, as_raised
from ...core.grammar import Atom, Const, Var
from ...core.halves import can_cast
from ...core.types import FLOAT, ArrayType
from ...ops import indexing
from ...ops.value import Value
from ..branches.asked_classes import note_sources
from ..branches.casts import cast
from ..branches.journal import Item
from ..branches.structures import Node, Slot, Template, atoms, capture, open_slots, types_in, with_slots
from ..branches.template_joins import Joiner
from ..calls.applying import apply_op
from ..frames import stamp
from ..values import View, cell_of, contained
from .item_places import beside, check_filled, part_of, without
from .item_templates import (
    are_same,
    is_as_weak,
    is_row,
    items_of_list,
    names_in,
    node_of,
    sample_of,
    template_of,
)
from .joining import columns_of
from .list_demands import WantsOpen, WantsSize, known_or, refusal, wants_other
from .recorded import Part, RecordedList, all_parts_of, note_items
from .tokens import APPENDED, token_of

if TYPE_CHECKING:
    from ..reader import Reader

SEVERAL_TYPES = "a list with items of different types"


@dataclass(eq=False)
class OpenList(RecordedList):
    """A list whose items lie in the arrays of its only part. `filled` are the loops that filled it before."""

    lies_in_table: ClassVar[bool] = False       # of another list

    filled: tuple[Any, ...] = ()

    @property
    def items(self) -> Part:
        part = self.parts[0]
        assert isinstance(part, Part)
        return part

    def as_row(self, reader: Reader) -> Template:
        return node_of(self.items.template, [capture(reader, array) for array in self.items.arrays])

    @classmethod
    def from_row(cls, reader: Reader, static: Any, *arrays: Value) -> OpenList:
        types = (array.type.with_sizes(array.type.sizes[1:]) for array in arrays)
        made = cls(reader.own([]), (Part(static.with_types(types), arrays, arrays[0].shape[0]),))
        reader.journal.write(Item(reader.contents, id(made.home)), made)
        return made

    def loops(self) -> list[Any]:
        return list(self.filled)

    def name_arrays(self, name: str | None) -> None:
        """Names the arrays that have no name after the list."""
        arrays = self.items.arrays
        for array, own in zip(arrays, names_in(node_of(self.items.template, list(arrays)), name)):
            if isinstance(array.atom, Var) and array.atom.name is None:
                array.atom.name = own

    def all_parts(self, reader: Reader) -> tuple[tuple[Any, ...] | Part, ...]:
        """The items as they are now: writes to the arrays of the list are not seen in those."""
        return (replace(self.items, arrays=tuple(Value(array.atom) for array in self.items.arrays)),)

    # What changes it. Its arrays are written; where they get longer or shorter, `home` gets another list.

    def append(self, reader: Reader, item: Any) -> None:
        self._add(reader, item, lambda array, column: [array, column])

    def extend(self, reader: Reader, other: Any) -> None:
        for part in all_parts_of(reader, other):
            if isinstance(part, Part):
                held_now(reader, self.home)._join(reader, part)
            else:
                for item in part:
                    held_now(reader, self.home).append(reader, item)

    def insert(self, reader: Reader, index: Any, item: Any) -> None:
        def spliced(array: Value, column: Value) -> list[Value]:
            if isinstance(index, int) and index == 0:
                return [column, array]
            return [part_of(reader, array, slice(None, index)), column, part_of(reader, array, slice(index, None))]

        self._add(reader, item, spliced)

    def _add(self, reader: Reader, item: Any, spliced: Callable[[Value, Value], list[Value]]) -> None:
        """Puts an item among the others; what is `spliced` of their array and one with the item is joined."""
        reader.aliases.check_write(reader, self.home)
        item = self._as_item(reader, item)
        note_items(reader, token_of(reader, self.home), (item,))
        fitting = self._fitting(reader, template_of(reader, item))
        types = (slot.type for slot in open_slots(fitting.items.template))
        columns = [Value(cast(reader, column.atom, ArrayType(type.dtype, column.shape)))
                   for column, type in zip(columns_of(reader, [(item,)]), types)]
        fitting._become_joined(reader, columns, spliced)

    def _join(self, reader: Reader, part: Part) -> None:
        """Appends the items of a part."""
        reader.aliases.check_write(reader, self.home)
        fitting = self._fitting(reader, part.template)
        note_items(reader, token_of(reader, self.home), part)
        fitting._become_joined(reader, list(part.arrays), lambda array, column: [array, column])

    def _as_item(self, reader: Reader, item: Any) -> Any:
        """What becomes an item: of a list, its numbers, after which the list may not change any more."""
        template = self.items.template
        if not is_row(template):
            return item
        assert isinstance(template, Node)
        if isinstance(item, OpenList) and item.lies_in_table:
            raise self.cannot_change(reader, "a list that appears twice in a list of lists")
        sample = sample_of(reader, item) if isinstance(item, list | RecordedList) else None
        row = item if sample is None else opened(reader, item, sample)
        if not isinstance(row, OpenList):
            raise self.cannot_change(reader, SEVERAL_TYPES)
        reader.journal.write(Item(reader.contents, id(row.home)), row)
        reader.aliases.relate(row, self.items.arrays[0], APPENDED)
        return row

    def check_apart(self, reader: Reader) -> None:
        """Raises if the program still has a row that is no longer the item of this list, or no longer in its array."""
        from ..aliases import reachable

        if is_row(self.items.template):
            cell = cell_of(self.items.arrays[0])
            for value in reachable(reader):
                if isinstance(value, View) and cell_of(value) is cell:
                    raise self.cannot_change(reader, "replacing a list that has a name, in a list of lists,")

    def _fitting(self, reader: Reader, template: Template) -> OpenList:
        """The list with items of a type that an item of this template has, too."""
        items = self.items.template
        if are_same(reader, template, items) and is_as_weak(items, template):
            reader.lists.mixed_items |= not is_as_weak(template, items)
            return self
        refused = refusal(reader, SEVERAL_TYPES)
        if any(reader.made_before(self.home, loop.made) for loop in reader.loops):
            raise WantsOpen(self.home, template, refused)
        joiner = Joiner(reader.assumptions, stamp(), reader.guessing)
        joined = items_of_list(reader, joiner, self, template)
        if joined is None:
            raise known_or(reader, self.length(reader), refused)
        made: OpenList = opened(reader, self, joined)
        return made

    def _become_joined(self, reader: Reader, columns: list[Value],
                       spliced: Callable[[Value, Value], list[Value]]) -> None:
        arrays = [apply_op(reader, np.concatenate, (spliced(array, column),), {})
                  for array, column in zip(self.items.arrays, columns)]
        self._become(reader, (self._part(reader, arrays),))

    def pop(self, reader: Reader, index: Any = -1) -> Any:
        reader.aliases.check_write(reader, self.home)
        length = self.length(reader)
        check_filled(reader, length)
        item = self.item(reader, index)
        self._become(reader, (self._part(reader, without(reader, self.items.arrays, index, length)),))
        return item

    def clear(self, reader: Reader) -> None:
        reader.aliases.check_write(reader, self.home)
        nothing = [part_of(reader, array, slice(0, 0)) for array in self.items.arrays]
        self._become(reader, (self._part(reader, nothing),))

    def reverse(self, reader: Reader) -> None:
        reader.aliases.check_write(reader, self.home)
        turned = [part_of(reader, array, slice(None, None, -1)) for array in self.items.arrays]
        self._become(reader, (self._part(reader, turned),))

    def sort(self, reader: Reader, *, key: Any = None, reverse: Any = False) -> None:
        from ..objects.selections import array_in_order, rows_in_order

        reader.aliases.check_write(reader, self.home)
        array = self.items.arrays[0]
        if is_row(self.items.template) or key is None and any(column.ndim > 1 for column in self.items.arrays):
            raise self.cannot_change(reader, "`sort` of a list of arrays or lists")
        if not isinstance(self.items.template, Slot):
            rows = rows_in_order(reader, self.items, key, reverse)
            return self._become(reader, (self._part(reader, list(rows.arrays)),))
        found = array_in_order(reader, Value(array.atom), key, reverse)
        self._become(reader, (self._part(reader, [found]),))

    def remove(self, reader: Reader, item: Any) -> None:
        from .finding import index_of

        self.pop(reader, index_of(reader, self, item))

    def appendleft(self, reader: Reader, item: Any) -> None:
        self.insert(reader, 0, item)

    def popleft(self, reader: Reader) -> Any:
        return self.pop(reader, 0)

    def set_item(self, reader: Reader, index: Any, item: Any) -> None:
        """`xs[index] = item`."""
        if isinstance(index, slice):
            raise self.cannot_change(reader, "assignment to a slice of a list that loops change")
        reader.aliases.check_write(reader, self.home)
        item = self._as_item(reader, item)
        self.check_apart(reader)
        note_items(reader, token_of(reader, self.home), (item,))
        fitting = self._fitting(reader, template_of(reader, item))
        if fitting is not self:
            self._become(reader, fitting.parts)
        values = [fixed.value for fixed in atoms(fitting.items.template, capture(reader, item))]
        for array, value in zip(fitting.items.arrays, values):
            new = indexing.write(Value(array.atom), value, index).atom
            try:
                reader.write(array, new)
            except NotSupported as refused:
                raise known_or(reader, self.length(reader), refused) from None

    def delete_item(self, reader: Reader, index: Any) -> None:
        """`del xs[index]`."""
        if not isinstance(index, slice):
            self.pop(reader, index)
        elif (left := beside(index)) is None:
            raise self.cannot_change(reader, "`del` of a slice of a list that loops change")
        else:
            reader.aliases.check_write(reader, self.home)
            self._become(reader, (self._part(reader, [part_of(reader, each, left) for each in self.items.arrays]),))

    def _part(self, reader: Reader, arrays: list[Value]) -> Part:
        old = self.items
        self.check_apart(reader)
        for array, before in zip(arrays, old.arrays):
            reader.aliases.check_write(reader, before)
            reader.aliases.take_over(array, before)
            if isinstance(array.atom, Var) and array.atom.name is None:
                array.atom.name = getattr(before.atom, "name", None)
        return replace(old, arrays=tuple(arrays), length=arrays[0].shape[0])

    def cannot_change(self, reader: Reader, what: str) -> Exception:
        refused = refusal(reader, what)
        if self.filled:
            return wants_other(reader, self.filled[-1], self.home, refused, None)
        return known_or(reader, self.length(reader), refused)

    def _row(self, reader: Reader, index: Any) -> OpenList:
        """An item that is a list: its array is a part of that of this list, so that both see what is written."""
        from .row_lists import RowList
        template = self.items.template
        assert isinstance(template, Node)
        part = apply_op(reader, operator.getitem, (self.items.arrays[0], index), {})
        inner = template.static.template
        items = with_slots(inner, (replace(type, dtype=part.dtype) for type in types_in(inner)))
        made = RowList(reader.own([]), (Part(items, (part,), part.shape[0]),), table=self.home, index=index)
        reader.journal.write(Item(reader.contents, id(made.home)), made)
        return made

    def item(self, reader: Reader, index: Any) -> Any:
        if is_row(self.items.template):
            if isinstance(index, slice):
                raise self.cannot_change(reader, "a slice of a list of lists")
            return self._row(reader, index)
        try:
            found = super().item(reader, index)
        except IndexError:
            if reader.loops and reader.loops[-1].may_find_longer(self):
                raise WantsSize(self.home) from None
            raise
        for value in contained(found):
            reader.aliases.derive(value, (self.items.token,))
            if isinstance(value, Value) and isinstance(value.atom, Var) and not value.ndim:
                self._note_class(reader, value.atom)
        return found

    def _note_class(self, reader: Reader, item: Var) -> None:
        """Notes of which classes an item may be: the array does not know."""
        if reader.lists.mixed_items:
            reader.classes.mixed.add(item)
        if reader.lists.whole_items and item.type == FLOAT:
            note_sources(reader, item, Const(0), Const(0.0))

    def array(self, reader: Reader) -> Value:
        """A copy: `np.array` of a list makes an array of its own."""
        made = self.all_parts(reader)[0].array(reader)          # type: ignore[union-attr]
        return Value(apply_op(reader, np.copy, (made,), {}).atom)


CHANGES = frozenset({"append", "extend", "insert", "pop", "clear", "reverse", "sort", "remove", "appendleft",
                     "popleft"})


def opened(reader: Reader, value: Any, items: Template, name: str | None = None) -> Any:
    """A list as arrays of its items, which are made here; what is no list, as it is."""
    if isinstance(value, list) and reader.contents:
        value = reader.contents.get(id(value), value)
    if not isinstance(value, list | RecordedList):
        return value
    if isinstance(value, OpenList):
        return value if _has_items(value, items) else _with_items(reader, value, items)
    parts = [part for part in all_parts_of(reader, value) if part != ()]
    types = [slot.type for slot in open_slots(items)]
    if parts:
        columns = [Value(_widened(reader, column, type.dtype))
                   for column, type in zip(columns_of(reader, parts), types)]
    else:
        columns = [apply_op(reader, np.zeros, ((0, *type.sizes),), {"dtype": type.dtype}) for type in types]
    home = value.home if isinstance(value, RecordedList) else value
    for part in parts:
        note_items(reader, token_of(reader, home), part)
    made = OpenList(home, (Part(items, tuple(columns), columns[0].shape[0], token_of(reader, home)),))
    made.name_arrays(name)
    return made


def _with_items(reader: Reader, value: OpenList, items: Template) -> OpenList:
    """The list with items of these dtypes and classes; an array that has the dtype stays what it is."""
    arrays = []
    for array, slot in zip(value.items.arrays, open_slots(items)):
        found = array
        if array.dtype != slot.type.dtype:
            found = Value(_widened(reader, array, slot.type.dtype))
            reader.aliases.take_over(found, array)
        arrays.append(found)
    return replace(value, parts=(replace(value.items, template=items, arrays=tuple(arrays)),))


def _widened(reader: Reader, array: Value, dtype: Any) -> Atom:
    """An array in a dtype that has all its numbers."""
    if not can_cast(array.dtype, dtype, "safe"):
        raise refusal(reader, SEVERAL_TYPES)
    return cast(reader, array.atom, ArrayType(dtype, array.shape))


def capture_opened(reader: Reader, value: Any, items: Template, name: str | None = None) -> Template:
    """A list taken apart into arrays of its items; what is no list, as it is."""
    held = opened(reader, value, items, name)
    return held.as_row(reader) if isinstance(held, OpenList) else capture(reader, held)


def capture_copied(reader: Reader, value: Any, items: Template, name: str | None) -> Template:
    """The same of a list that a name stands for: others may, too, and would not see what is written to the arrays."""
    held = opened(reader, value, items, name)
    if isinstance(held, OpenList):
        before = reader.contents.get(id(held.home))
        sources = before.items.arrays if isinstance(before, OpenList) else repeat(held.home)
        related = [(array, reader.aliases.group(source)) for array, source in zip(held.items.arrays, sources)]
        for array, other in ((array, other) for array, group in related for other in group):
            reader.aliases.relate(array, other)
        return held.as_row(reader)
    return capture(reader, held)


def _has_items(value: OpenList, items: Template) -> bool:
    """Whether the items of a list have the dtypes and classes of this template."""
    types = ((slot.type.dtype, slot.type.weak) for slot in open_slots(items))
    return all(one == other for one, other in zip(
        types, ((slot.type.dtype, slot.type.weak) for slot in open_slots(value.items.template)), strict=True))


def held_now(reader: Reader, home: list[Any]) -> OpenList:
    found = reader.contents[id(home)]
    assert isinstance(found, OpenList)
    return found


def call_change(reader: Reader, held: OpenList, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`xs.name(*args, **kwargs)`."""
    try:
        return getattr(held, name)(reader, *args, **kwargs)
    except TypeError as error:
        raise as_raised(error, reader.builder.origin) from None
