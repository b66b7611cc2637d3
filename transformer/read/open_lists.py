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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import as_raised
from ..core.grammar import Effect, Var
from ..core.sizes import Extent
from ..core.types import ArrayType
from ..ops import indexing
from ..ops.value import Value
from .applying import apply_op
from .casts import cast
from .joining import columns_of
from .journal import Item
from .recorded import (
    APPENDED,
    Part,
    RecordedList,
    Recording,
    Token,
    WantsOpen,
    WantsSize,
    all_parts_of,
    refusal,
    spread,
)
from .structures import (
    Fixed,
    Joiner,
    Node,
    Slot,
    Template,
    atoms,
    capture,
    is_constant,
    loosened,
    open_slots,
    slots,
    with_slots,
)
from .values import Conflict, contained, may_be_array

if TYPE_CHECKING:
    from .reader import Reader

WHAT = "a list that gets items of several types"


class Held(Item):
    """What stands in place of a list (see `Reader.contents`), which keeps its identity when it changes."""

    __slots__ = ("list", "label", "token")

    def __init__(self, reader: Reader, home: list[Any]) -> None:
        super().__init__(reader.contents, id(home))
        self.list, self.label, self.token = home, _name_of(reader, home), token_of(reader, home)

    @property
    def identity(self) -> Any:
        return Item, id(self.holder), self.key

    @property
    def name(self) -> str | None:
        return self.label

    def value(self) -> Any:
        return self.holder.get(self.key, self.list)

    def of_value(self, value: Any) -> Any:
        if not isinstance(value, OpenList):
            return value
        return replace(value, home=self.list, parts=(replace(value.items, token=self.token),))


def _name_of(reader: Reader, home: list[Any]) -> str | None:
    return next((name for name, value in reader.frame.names.items() if value is home), None)


@dataclass(eq=False)
class OpenList(RecordedList):
    """A list whose items lie in the arrays of its only part."""

    @property
    def items(self) -> Part:
        part = self.parts[0]
        assert isinstance(part, Part)
        return part

    def as_row(self, reader: Reader) -> Template:
        return _node(self.items.template, [capture(reader, array) for array in self.items.arrays])

    @classmethod
    def from_row(cls, reader: Reader, static: Any, *arrays: Value) -> OpenList:
        types = (array.type.with_sizes(array.type.sizes[1:]) for array in arrays)
        made = cls(reader.own([]), (Part(static.with_types(types), arrays, arrays[0].shape[0]),))
        reader.journal.write(Item(reader.contents, id(made.home)), made)
        return made

    def loops(self) -> list[Any]:
        return []

    # What changes it. `home` gets another one.

    def append(self, reader: Reader, item: Any) -> None:
        self._add(reader, item, lambda array, column: [array, column])

    def extend(self, reader: Reader, other: Any) -> None:
        for part in all_parts_of(reader, other):
            if isinstance(part, Part):
                _now(reader, self.home)._join(reader, part)
            else:
                for item in part:
                    _now(reader, self.home).append(reader, item)

    def insert(self, reader: Reader, index: Any, item: Any) -> None:
        def spliced(array: Value, column: Value) -> list[Value]:
            if isinstance(index, int) and index == 0:
                return [column, array]
            return [_part_of(reader, array, slice(None, index)), column, _part_of(reader, array, slice(index, None))]

        self._add(reader, item, spliced)

    def _add(self, reader: Reader, item: Any, spliced: Callable[[Value, Value], list[Value]]) -> None:
        """Puts an item among the others; what is `spliced` of their array and one with the item is joined."""
        reader.aliases.check_write(reader, self.home)
        _note_items(reader, self.home, (item,))
        self._become_joined(reader, columns_of(reader, [(self._fitting(reader, item),)]), spliced)

    def _join(self, reader: Reader, part: Part) -> None:
        """Appends the items of a part."""
        reader.aliases.check_write(reader, self.home)
        if not _are_same(reader, part.template, self.items.template):
            raise WantsOpen(self.home, part.template, refusal(reader, WHAT))
        _note_items(reader, self.home, part)
        self._become_joined(reader, list(part.arrays), lambda array, column: [array, column])

    def _fitting(self, reader: Reader, item: Any) -> Any:
        """The item, if it is of the type of all."""
        template = loosened(capture(reader, item), object, object)
        if not _are_same(reader, template, self.items.template):
            raise WantsOpen(self.home, template, refusal(reader, WHAT))
        return item

    def _become_joined(self, reader: Reader, columns: list[Value],
                       spliced: Callable[[Value, Value], list[Value]]) -> None:
        arrays = [apply_op(reader, np.concatenate, (spliced(array, column),), {})
                  for array, column in zip(self.items.arrays, columns)]
        self._become(reader, (self._part(reader, arrays),))

    def pop(self, reader: Reader, index: Any = -1) -> Any:
        reader.aliases.check_write(reader, self.home)
        self._check_there(reader)
        item = self.item(reader, index)
        self._become(reader, (self._without(reader, index),))
        return item

    def _without(self, reader: Reader, index: Any) -> Part:
        if isinstance(index, int) and index in (0, -1):
            kept = slice(1, None) if index == 0 else slice(None, -1)
            return self._part(reader, [_part_of(reader, array, kept) for array in self.items.arrays])
        arrays = (apply_op(reader, np.delete, (array, index), {"axis": 0}) for array in self.items.arrays)
        return self._part(reader, list(arrays))

    def _check_there(self, reader: Reader) -> None:
        """Has the program raise where there is no item."""
        from .conditions import branch
        from .operators import binary

        def raised() -> None:
            attrs = {"exception": IndexError, "template": (("pop from empty list",),)}
            reader.builder.emit(Effect("raise", (), attrs, reader.builder.origin))

        length = self.length(reader)
        if not reader.assumptions.follows(length, 1):
            branch(reader, binary(reader, operator.eq, length, 0), raised, lambda: None)
            reader.assumptions.found_at_least(length, 1)

    def clear(self, reader: Reader) -> None:
        reader.aliases.check_write(reader, self.home)
        nothing = [_part_of(reader, array, slice(0, 0)) for array in self.items.arrays]
        self._become(reader, (self._part(reader, nothing),))

    def reverse(self, reader: Reader) -> None:
        reader.aliases.check_write(reader, self.home)
        turned = [_part_of(reader, array, slice(None, None, -1)) for array in self.items.arrays]
        self._become(reader, (self._part(reader, turned),))

    def appendleft(self, reader: Reader, item: Any) -> None:
        self.insert(reader, 0, item)

    def popleft(self, reader: Reader) -> Any:
        return self.pop(reader, 0)

    def set_item(self, reader: Reader, index: Any, item: Any) -> None:
        """`xs[index] = item`."""
        if isinstance(index, slice):
            raise refusal(reader, "a slice of a list that loops change is assigned to")
        reader.aliases.check_write(reader, self.home)
        _note_items(reader, self.home, (item,))
        template = self.items.template
        captured = capture(reader, self._fitting(reader, item))
        values = [fixed.value for fixed in atoms(template, captured)]
        arrays = [indexing.write(Value(array.atom), value, index) for array, value in zip(self.items.arrays, values)]
        self._become(reader, (self._part(reader, arrays),))

    def delete_item(self, reader: Reader, index: Any) -> None:
        """`del xs[index]`."""
        if isinstance(index, slice):
            raise refusal(reader, "`del` of a slice of a list that loops change")
        self.pop(reader, index)

    def _part(self, reader: Reader, arrays: list[Value]) -> Part:
        old = self.items
        for array, before in zip(arrays, old.arrays):
            if isinstance(array.atom, Var) and array.atom.name is None:
                array.atom.name = getattr(before.atom, "name", None)
        return replace(old, arrays=tuple(arrays), length=arrays[0].shape[0])

    def cannot_change(self, reader: Reader, what: str) -> Exception:
        return refusal(reader, what)

    def item(self, reader: Reader, index: Any) -> Any:
        try:
            found = super().item(reader, index)
        except IndexError:
            if reader.loops and reader.loops[-1].may_find_longer(self):
                raise WantsSize(self.home) from None
            raise
        for value in contained(found):
            reader.aliases.derive(value, (self.items.token,))
            if reader.mixed_items and isinstance(value, Value) and isinstance(value.atom, Var) and not value.ndim:
                reader.mixed.add(value.atom)
        return found

    def array(self, reader: Reader) -> Value:
        """A copy: `np.array` of a list makes an array of its own."""
        made = self.items.array(reader)
        return Value(apply_op(reader, np.copy, (made,), {}).atom)


CHANGES = frozenset({"append", "extend", "insert", "pop", "clear", "reverse", "appendleft", "popleft"})


@dataclass(frozen=True, eq=False)
class Shape:
    """What an item is, but for the sizes of its arrays."""

    template: Template

    def with_types(self, types: Iterator[ArrayType]) -> Template:
        """The template of items with arrays of these types, numbers of Python's being what they are."""
        weak = [slot.type.weak for slot in open_slots(self.template)]
        return with_slots(self.template, (replace(type, weak=each) for type, each in zip(types, weak)))

    def __transformer_same__(self, other: Shape) -> bool:
        return _are_alike(self.template, other.template)


def _node(template: Template, arrays: list[Any]) -> Node:
    return Node(OpenList, Shape(template), tuple(arrays))


def open_template(reader: Reader, value: Any, items: Template) -> Node:
    """The template of a list as arrays of its items, which are of this template."""
    length: Extent = value.length(reader) if isinstance(value, RecordedList) else len(value)
    types = (slot.type for slot in open_slots(items))
    return _node(items, [Slot(ArrayType(type.dtype, (length, *type.sizes))) for type in types])


def opened(reader: Reader, value: Any, items: Template, name: str | None = None) -> Any:
    """A list as arrays of its items, which are made here; what is no list, as it is."""
    if isinstance(value, list) and reader.contents:
        value = reader.contents.get(id(value), value)
    if isinstance(value, OpenList) or not isinstance(value, list | RecordedList):
        return value
    parts = [part for part in all_parts_of(reader, value) if part != ()]
    types = [slot.type for slot in open_slots(items)]
    if parts:
        columns = [Value(cast(reader, column.atom, ArrayType(type.dtype, column.shape)))
                   for column, type in zip(columns_of(reader, parts), types)]
    else:
        columns = [apply_op(reader, np.zeros, ((0, *type.sizes),), {"dtype": type.dtype}) for type in types]
    for column, own in zip(columns, names_in(_node(items, columns), name)):
        if isinstance(column.atom, Var) and column.atom.name is None:
            column.atom.name = own
    home = value.home if isinstance(value, RecordedList) else value
    for part in parts:
        _note_items(reader, home, part)
    return OpenList(home, (Part(items, tuple(columns), columns[0].shape[0], token_of(reader, home)),))


def names_in(template: Template, name: str | None) -> Iterator[str | None]:
    """What a person calls what is in the slots of a template that has this name: of a list, its arrays."""
    several = isinstance(template, Node) and template.cls is OpenList and len(template.children) > 1
    return (f"{name}_{k}" if several and name else name for k in count())


def sample_of(reader: Reader, value: Any) -> Template | None:
    """The template of an item of a list, if any is known."""
    return next(iter(_templates(reader, value)), None)


def _templates(reader: Reader, value: Any) -> list[Template]:
    held = reader.contents.get(id(value), value) if isinstance(value, list) else value
    found: tuple[Any, ...] = ()
    if isinstance(held, Recording):
        found = (*held.sample, *(held.appended if isinstance(held.appended, tuple) else ()))
        held = held.before
    if isinstance(held, Conflict):                       # some paths have appended to it
        found = held.sample
    parts = held.parts if isinstance(held, RecordedList) else (tuple(held),) if isinstance(held, list) else ()
    return [each.template if isinstance(each, Part) else loosened(capture(reader, each), object, object)
            for each in (*spread(parts), *found)]


def items_of_list(reader: Reader, joiner: Joiner, value: Any, sample: Template | None = None) -> Template | None:
    """The template that all items of a list have, and a sample; None where there is none, or no item is known."""
    templates = [*_templates(reader, value), *([] if sample is None else [sample])]
    if not templates:
        return None
    joined = templates[0]
    for template in templates[1:]:
        joined = joiner.join(joined, template)
    classes = {tuple(slot.type.weak for slot in open_slots(template)) for template in templates}
    reader.mixed_items = reader.mixed_items or len(classes) > 1
    return joined if _can_be_items(joiner.checked(joined)) else None


def _can_be_items(template: Template) -> bool:
    """Whether items are numbers and arrays of sizes that are known, in tuples."""
    match template:
        case Slot():
            return True
        case Node():
            return issubclass(template.cls, tuple) and bool(list(slots(template))) and all(
                map(_can_be_items, template.children))
        case Fixed():
            return is_constant(template)
    return False


def is_list(template: Template) -> bool:
    """Whether a template is that of a list, however its items are held."""
    if isinstance(template, Node):
        return issubclass(template.cls, list | RecordedList)
    return isinstance(template, Fixed) and isinstance(template.value, list | RecordedList)


def _are_same(reader: Reader, one: Template, other: Template) -> bool:
    """Whether items of one template can be kept among those of the other as they are."""
    if not _are_alike(one, other):
        return False
    normal = reader.assumptions.normal
    pairs = zip(open_slots(one), open_slots(other))
    return all(a.type.dtype == b.type.dtype and a.type.rank == b.type.rank
               and all(normal(m) == normal(n) for m, n in zip(a.type.sizes, b.type.sizes)) for a, b in pairs)


def _are_alike(one: Template, other: Template) -> bool:
    match one, other:
        case Slot(), Slot():
            return one.array == other.array
        case Node(), Node():
            return one.cls is other.cls and len(one.children) == len(other.children) and all(
                map(_are_alike, one.children, other.children))
        case Fixed(), Fixed():
            return one.value is other.value
    return False


def _part_of(reader: Reader, array: Value, index: slice) -> Value:
    return Value(apply_op(reader, operator.getitem, (array, index), {}).atom)


def _now(reader: Reader, home: list[Any]) -> OpenList:
    found = reader.contents[id(home)]
    assert isinstance(found, OpenList)
    return found


def _note_items(reader: Reader, home: list[Any], part: Part | tuple[Any, ...]) -> None:
    """Notes that a list has the items of a part: written to, they would change in it."""
    if isinstance(part, Part):
        return reader.aliases.derive(token_of(reader, home), (part.token, *part.arrays), APPENDED)
    for value in contained(list(part)):
        reader.aliases.relate(value, token_of(reader, home), APPENDED)


def token_of(reader: Reader, home: list[Any]) -> Any:
    """What stands for the memory of the items of a list."""
    if id(home) not in reader.tokens:
        reader.tokens[id(home)] = Token()
    return reader.tokens[id(home)]


def appended_arrays(reader: Reader, home: list[Any]) -> Iterator[Value]:
    """The arrays that were appended to a list: written to, they would change in it."""
    for value in reader.aliases.group(token_of(reader, home)):
        if isinstance(value, Value) and may_be_array(value):
            yield value


def call_change(reader: Reader, held: OpenList, name: str, args: tuple[Any, ...]) -> Any:
    """`xs.name(*args)`."""
    try:
        return getattr(held, name)(reader, *args)
    except TypeError as error:
        raise as_raised(error, reader.builder.origin) from None

