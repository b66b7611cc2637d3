"""Lists in a list of lists that gets items: their arrays are rows of the array of the other one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ...core.types import ArrayType
from ...ops.value import Value
from ..branches.structures import Slot, Template, open_slots
from ..branches.template_joins import Joiner
from ..frames import stamp
from ..values import cell_of
from .item_templates import are_same, is_as_weak, is_row, items_of_list, node_of
from .list_demands import refusal
from .open_lists import SEVERAL_TYPES, OpenList, held_now
from .recorded import Part

if TYPE_CHECKING:
    from ..reader import Reader


@dataclass(eq=False)
class RowList(OpenList):
    """A list that is the item at this index of another one, the `table`: its array is a part of that one's."""

    lies_in_table: ClassVar[bool] = True

    table: list[Any] = field(default_factory=list)
    index: Any = None

    def _fitting(self, reader: Reader, template: Template) -> OpenList:
        items = self.items.template
        if are_same(reader, template, items) and is_as_weak(items, template):
            return super()._fitting(reader, template)
        table = held_now(reader, self.table)
        joined = items_of_list(reader, Joiner(reader.assumptions, stamp(), reader.guessing), self, template)
        if joined is None:
            raise self.cannot_change(reader, SEVERAL_TYPES)
        row = node_of(joined, [Slot(ArrayType(slot.type.dtype, self.items.arrays[0].type.sizes))
                             for slot in open_slots(joined)])
        if table._fitting(reader, row) is not table:
            raise self.cannot_change(reader, SEVERAL_TYPES)
        return self

    def as_row(self, reader: Reader) -> Template:
        self._check_in_table(reader)
        return super().as_row(reader)

    def all_parts(self, reader: Reader) -> tuple[tuple[Any, ...] | Part, ...]:
        self._check_in_table(reader)
        return super().all_parts(reader)

    def set_item(self, reader: Reader, index: Any, item: Any) -> None:
        self._check_in_table(reader)
        super().set_item(reader, index, item)

    def _check_in_table(self, reader: Reader) -> None:
        """Raises if the items of the other list lie in another array by now, as a loop carries it with its size, or of
        another dtype."""
        table = reader.contents.get(id(self.table))
        if not isinstance(table, OpenList) or not is_row(table.items.template) or (
                cell_of(table.items.arrays[0]) is not cell_of(self.items.arrays[0])):
            raise self.cannot_change(reader, "a list that has a name, in a list of lists that a loop changes,")

    def _part(self, reader: Reader, arrays: list[Value]) -> Part:
        raise self.cannot_change(reader, "changing the length of a list in a list of lists")

    def cannot_change(self, reader: Reader, what: str) -> Exception:
        table = reader.contents.get(id(self.table))
        return table.cannot_change(reader, what) if isinstance(table, OpenList) else refusal(reader, what)
