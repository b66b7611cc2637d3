"""Lists that a loop fills: one item per iteration becomes a record of the loop.

While the loop is read, a `Recording` stands in place of the list; afterwards a `RecordedList` does:
its parts are items known one by one and arrays that hold the items of a whole loop. `home` is the
list itself: `Reader.contents` says what stands in its place.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...containers import LEAVES
from ...core.errors import NotSupported, as_raised
from ...core.grammar import raising
from ...core.sizes import Extent, Size
from ...core.types import ArrayType
from ...ops.value import Value
from ..branches.casts import cast
from ..branches.journal import Attribute, Item
from ..branches.structures import Fixed, Node, Slot, Template, build, capture, open_slots
from ..objects.objects import made_of
from ..raising.demand import Unroll, static
from ..values import contained, known_of
from .list_demands import WantsCarried, WantsRows, known_or, refusal, wants_other
from .tokens import APPENDED, Token

if TYPE_CHECKING:
    from ..reader import Reader


@dataclass(eq=False)
class Recording:
    """A list while a loop that appends to it is read. `appended` are the items of this iteration, `newest` the last
    items before the loop, as far as they are known one by one; `last` are the last ones now, as many as are carried,
    and `count` is how many there are now, if that is carried. `sample` is an item that an iteration appends, if all
    items before the loop are known."""

    __tree_leaf__: ClassVar[bool] = True
    home: list[Any]
    newest: tuple[Any, ...]
    before: RecordedList
    loop: Any
    position: Any = None
    last: tuple[Any, ...] = ()
    count: Any = None
    sample: tuple[Any, ...] = ()
    appended: tuple[Any, ...] = ()
    conditional: bool = False  # not every iteration appends an item
    put: list[Any] = field(default_factory=list)  # what was appended on any path
    token: Token = field(init=False)

    def __post_init__(self) -> None:
        self.token = Token(self.loop)

    def cannot_change(self, reader: Reader, what: str) -> Exception:
        """What to raise where the list is used otherwise than by appending an item in each iteration."""
        from .item_templates import sample_of

        return wants_other(reader, self.loop, self.home, refusal(reader, what), sample_of(reader, self))

    def append(self, reader: Reader, item: Any) -> None:
        """Notes the item of this iteration; one in a loop or branch inside asks for another way to read the list."""
        from ..operators import binary

        inside = refusal(reader, "appending to this list in an inner loop or branch")
        if not isinstance(self.appended, tuple):
            raise Unroll(self.loop, inside)
        if reader.loops[-1].plan.key is not self.loop:
            raise WantsRows(self.home, self.loop, inside)
        for value in contained(item):
            reader.aliases.relate(value, self.token, APPENDED)
        self.put.append(item)
        reader.journal.write(Attribute(self, "appended"), (*self.appended, item))
        if self.last:
            reader.journal.write(Attribute(self, "last"), (*self.last[1:], item))
        if self.count is not None:
            reader.journal.write(Attribute(self, "count"), binary(reader, operator.add, self.count, 1))

    def length(self, reader: Reader) -> Any:
        from ..operators import binary

        if self.count is not None:
            return self.count
        if self.conditional:
            raise WantsCarried(self.home, counted=True)
        known = self.before.length(reader) + len(self.appended)
        return binary(reader, operator.add, self.position, known)

    def item(self, reader: Reader, index: Any) -> Any:
        """`xs[-1]`, `xs[-2]`; other items are not at hand while the loop runs."""
        known = known_of(index)
        if isinstance(known, int) and -MOST_CARRIED <= known < 0:
            if -known <= len(self.appended) and not self.conditional:
                return self.appended[known]
            if -known <= len(self.last):
                self._check_there(reader, -known)
                return self.last[known]
            if -known <= len(self.newest) or self.sample:
                raise WantsCarried(self.home, newest=-known)
        raise self.cannot_change(reader, "reading an item of a list that the loop appends to")

    def _check_there(self, reader: Reader, count: int) -> None:
        """Has the program raise where the list has not so many items."""
        from ..branches.conditions import branch
        from ..operators import binary

        if count > len(self.newest) + (0 if self.conditional else len(self.appended)):
            too_short = binary(reader, operator.lt, self.length(reader), count)
            branch(reader, too_short, lambda: _raise_out_of_range(reader), lambda: None)


MOST_CARRIED = 8


def _raise_out_of_range(reader: Reader) -> None:
    reader.builder.emit(raising(IndexError, "list index out of range", reader.builder.origin))


@dataclass(frozen=True, eq=False)
class Part:
    """Consecutive items of a `RecordedList`: the items of a loop, stacked in one array per slot. If they were chosen
    of more, `chosen` has the mask, and the arrays with those that were not."""

    __tree_leaf__: ClassVar[bool] = True
    template: Template
    arrays: tuple[Value, ...]
    length: Extent
    token: Token = field(default_factory=Token)
    fresh: Callable[[], Value] | None = None  # one more array of the items, where there is one slot
    chosen: tuple[Value, tuple[Value, ...]] | None = None

    def chosen_by(self, mask: Value, arrays: tuple[Value, ...]) -> Part:
        return replace(self, chosen=(mask, arrays))

    def item(self, reader: Reader, index: Any) -> Any:
        types = [slot.type for slot in open_slots(self.template)]
        contents = iter([_of_class(reader, self._element(reader, array, index), type)
                         for array, type in zip(self.arrays, types)])
        made = build(reader, self.template, contents, str)
        for container in containers_in(made):
            reader.aliases.derive(container, (self.token,))
            self._note_loop(reader, container)
        return made

    def _note_loop(self, reader: Reader, container: Any) -> None:
        """Lists in an item are there as arrays because this loop filled the list around them."""
        held = reader.contents.get(id(container))
        if isinstance(held, RecordedList):
            parts = tuple(replace(part, token=Token(self.token.loop)) for part in held.parts if isinstance(part, Part))
            reader.journal.write(Item(reader.contents, id(container)), held.with_parts(parts))

    def _element(self, reader: Reader, array: Value, index: Any) -> Value:
        from ..calls.applying import apply_op

        element = Value(apply_op(reader, operator.getitem, (array, index), {}).atom)
        reader.aliases.derive(element, (array, self.token), "It is an item of a list filled by a loop.")
        return element

    def slice(self, reader: Reader, index: slice) -> Part:
        arrays = tuple(self._element(reader, array, index) for array in self.arrays)
        return Part(self.template, arrays, arrays[0].shape[0], self.token)

    def array(self, reader: Reader) -> Value:
        """The items as one array, as `np.array` makes it."""
        from ..calls.applying import apply_op

        template = self.template
        if self.fresh is not None:
            return self.fresh()
        if isinstance(template, Slot) or isinstance(template, Node) and issubclass(template.cls, RecordedList):
            return self.arrays[0]
        if (
            isinstance(template, Node)
            and template.cls in (tuple, list)
            and all(isinstance(child, Slot) for child in template.children)
        ):
            return apply_op(reader, np.stack, (list(self.arrays),), {"axis": 1})
        raise refusal(reader, "an array of these items")


def _of_class(reader: Reader, element: Value, type: ArrayType) -> Value:
    """An item as it was appended: a number of Python's is no longer NumPy's when it comes out of an array."""
    return Value(cast(reader, element.atom, type)) if type.weak and not element.ndim else element


def containers_in(value: Any, around: tuple[Any, ...] = ()) -> Iterator[Any]:
    """The containers and objects in an item: they are made anew whenever it is read, so that a write to
    one would not be seen in the list."""
    if isinstance(value, RecordedList):
        yield value.home
        return
    kind = made_of(type(value))
    if kind is LEAVES or value is None or any(value is each for each in around):
        return
    if not isinstance(value, tuple):
        yield value
    for child in kind.split(value)[1]:
        yield from containers_in(child, (*around, value))


def containers_among(group: list[Any]) -> Iterator[Any]:
    """The containers and objects among what may be one (see `Aliases`)."""
    return (each for each in group if not isinstance(each, Token | Value))


def containers_of(reader: Reader, parts: tuple[tuple[Any, ...] | Part, ...]) -> Iterator[Any]:
    """The containers and objects that the program appended to a list with these parts."""
    for part in parts:
        if isinstance(part, Part):
            yield from containers_among(reader.aliases.group(part.token))
        else:
            for item in part:
                yield from containers_in(item)


def note_items(reader: Reader, token: Token, part: Part | tuple[Any, ...]) -> None:
    """Notes that a list has the items of a part: written to, they would change in it."""
    if isinstance(part, Part):
        return reader.aliases.derive(token, (part.token, *part.arrays), APPENDED)
    for value in contained(list(part)):
        reader.aliases.relate(value, token, APPENDED)


@dataclass(eq=False)
class RecordedList:
    """A list of which some items were recorded by loops. Not changed: `home` gets another one. With a loop `within`,
    these are the items of one of its iterations, and those before are not at hand."""

    __tree_leaf__: ClassVar[bool] = True
    home: list[Any]
    parts: tuple[tuple[Any, ...] | Part, ...] = field(default=())
    within: Any = None

    def with_parts(self, parts: tuple[tuple[Any, ...] | Part, ...]) -> RecordedList:
        return replace(self, parts=parts)

    def all_parts(self, reader: Reader) -> tuple[tuple[Any, ...] | Part, ...]:
        """The parts, of which there are no others."""
        if self.within is not None:
            raise self.cannot_change(reader, "reading a list to which the loop appends")
        return self.parts

    def as_row(self, reader: Reader) -> Template:
        """The list as an item of a longer one: as the array of its items, and whether these are numbers of Python's."""
        from .item_templates import row_of_rows

        parts = [part for part in self.parts if part != () and self.within is None]
        if len(parts) == 1 and isinstance(parts[0], Part) and isinstance(parts[0].template, Slot):
            return Node(RecordedList, parts[0].template.type.weak, (capture(reader, parts[0].arrays[0]),))
        if len(parts) == 1 and isinstance(parts[0], Part) and self._has_rows(parts[0]):
            return row_of_rows(reader, parts[0])
        return Fixed(self)

    @classmethod
    def from_row(cls, reader: Reader, weak: bool, array: Value) -> RecordedList:
        item = Slot(replace(array.type.with_sizes(array.type.sizes[1:]), weak=weak))
        return recorded(reader, (Part(item, (array,), array.shape[0]),))

    def length(self, reader: Reader) -> Any:
        total: Any = 0
        for part in self.all_parts(reader):
            total = total + (len(part) if isinstance(part, tuple) else part.length)
        return total

    def append(self, reader: Reader, item: Any) -> None:
        """Notes the item of this iteration; one in a loop or branch inside asks for another way to read the list."""
        reader.aliases.check_write(reader, self.home)
        self._become(reader, (*self.parts, (item,)))

    def extend(self, reader: Reader, other: Any) -> None:
        reader.aliases.check_write(reader, self.home)
        self._become(reader, (*self.parts, *all_parts_of(reader, other)))

    def _become(self, reader: Reader, parts: tuple[Any, ...]) -> None:
        place = Item(reader.contents, id(self.home))
        reader.journal.write(place, self.with_parts(parts))

    def cannot_change(self, reader: Reader, what: str) -> Exception:
        """What to raise where an item is written: unrolled, the loop that filled the list leaves one
        that can be changed."""
        from .item_templates import sample_of

        loops = self.loops() if self.within is None else [self.within]
        if not loops:
            return known_or(reader, self.length(reader), refusal(reader, what))
        return wants_other(reader, loops[-1], self.home, refusal(reader, what), sample_of(reader, self))

    def loops(self) -> list[Any]:
        """The loops that filled the list."""
        return [part.token.loop for part in self.parts if isinstance(part, Part) and part.token.loop is not None]

    def array(self, reader: Reader) -> Value:
        """All items as one array, as `np.array` makes it."""
        from ..calls.applying import apply_op

        pieces = [
            part.array(reader) if isinstance(part, Part) else apply_op(reader, np.array, (list(part),), {})
            for part in self.all_parts(reader)
            if part != ()
        ]
        if not pieces:
            return apply_op(reader, np.zeros, (0,), {})
        return pieces[0] if len(pieces) == 1 else apply_op(reader, np.concatenate, (pieces,), {})

    def item(self, reader: Reader, index: Any) -> Any:
        """The item at an index, which may be dynamic where all items are recorded, or are of one type."""
        from .joining import joined
        from .opening import open_to_change

        parts = [part for part in self.all_parts(reader) if part != ()]
        only = joined(reader, parts)
        if only is not None and self._has_rows(only) and not isinstance(index, slice):
            return open_to_change(reader, self, "this item").item(reader, index)
        if only is not None:
            return (
                recorded(reader, (only.slice(reader, index),)) if isinstance(index, slice) else only.item(reader, index)
            )
        if isinstance(index, slice):
            return self._sliced(reader, index, parts)
        return self._item_at(reader, static(reader, index, "the index of this list"), parts)

    def _has_rows(self, part: Part) -> bool:
        """Whether items are lists in one array, whose items the program may write to."""
        from .item_templates import is_row

        return is_row(part.template)

    def _sliced(self, reader: Reader, index: slice, parts: list[Any]) -> Any:
        """The items of a slice one by one, where it is known how many there are."""
        length = self.length(reader)
        if isinstance(length, Size):
            raise refusal(reader, "a slice of a list filled by several loops")
        bounds = (static(reader, bound, "the bounds of this slice") for bound in (index.start, index.stop, index.step))
        return reader.own([self._item_at(reader, k, parts) for k in range(length)[slice(*bounds)]])

    def _item_at(self, reader: Reader, k: int, parts: list[Any]) -> Any:
        for part in parts if k >= 0 else reversed(parts):
            length = len(part) if isinstance(part, tuple) else part.length
            if isinstance(length, Size):
                return part.item(reader, k)
            if -length <= k < length:
                return part[k] if isinstance(part, tuple) else part.item(reader, k)
            k = k - length if k >= 0 else k + length
        raise as_raised(IndexError("list index out of range"), reader.builder.origin)


def parts_of(value: Any) -> tuple[tuple[Any, ...] | Part, ...]:
    """The parts of a list, recorded or not."""
    return value.parts if isinstance(value, RecordedList) else (tuple(value),)


def spread(parts: tuple[tuple[Any, ...] | Part, ...]) -> list[Any]:
    """The items and parts of a list in one row."""
    return [item for part in parts for item in (part if isinstance(part, tuple) else (part,))]


def all_parts_of(reader: Reader, value: Any) -> tuple[tuple[Any, ...] | Part, ...]:
    """The parts of a list that is at hand as a whole."""
    return value.all_parts(reader) if isinstance(value, RecordedList) else parts_of(value)


COMPARISONS = {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}


def combined(reader: Reader, function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """`left + right` of lists, `left * 2`, and comparisons; no other operator has a meaning for them."""
    if function in COMPARISONS and all(isinstance(v, (list, RecordedList)) for v in (left, right)):
        from ..library.calls import call_library
        from ..library.ordering import compared_lists
        from ..operators import binary

        if any(isinstance(v, list) and not v for v in (left, right)):
            lengths = (len(v) if isinstance(v, list) else v.length(reader) for v in (left, right))
            return binary(reader, function, *lengths)
        return call_library(reader, compared_lists, (function, left, right), {})
    if function in (operator.eq, operator.ne) and not all(isinstance(v, (list, RecordedList)) for v in (left, right)):
        return function is operator.ne               # of another type
    if function is operator.mul:
        items, count = (left, right) if isinstance(left, RecordedList) else (right, left)
        if isinstance(known_of(count), int):
            return recorded(reader, tuple(all_parts_of(reader, items)) * known_of(count))
    if function is not operator.add or not all(isinstance(v, (list, RecordedList)) for v in (left, right)):
        refused = NotSupported(
            "this operator is not supported on a list filled by a loop",
            reader.builder.origin,
            instead="Convert it to an array first: np.array(items).",
        )
        lengths = (v.length(reader) for v in (left, right) if isinstance(v, RecordedList) and v.within is None)
        raise known_or(reader, next(lengths, 0), refused)
    return recorded(reader, (*all_parts_of(reader, left), *all_parts_of(reader, right)))


def recorded(reader: Reader, parts: tuple[Any, ...]) -> RecordedList:
    """A new list with these parts."""
    home = reader.own([])
    made = RecordedList(home, parts)
    reader.journal.write(Item(reader.contents, id(home)), made)
    return made
