"""The lists to which one loop appends: which they are, and what the loop records for them."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from ..core.errors import NotSupported
from ..core.grammar import Atom, Record, Var
from ..core.sizes import Extent
from ..core.types import SeqType
from ..core.walk import Copier, atom_vars
from ..ops.sequences import stacked
from ..ops.value import Value
from .applying import apply_op
from .carrying import Carried
from .demand import Unroll
from .deques import bounded
from .journal import Attribute, Cell, Contents, Item, Keys, Place
from .maybe import Maybe
from .recorded import Part, RecordedList, Recording, Token, parts_of, refusal
from .structures import Clash, Node, Slot, Template, atoms, capture, constants, is_constant, loosened, slots, types_in
from .values import Conflict, cell_of, may_be_array

if TYPE_CHECKING:
    from .loop_reading import LoopReading
    from .reader import Reader


class Records:
    """Lists that the loop with a key appends to, exactly once per iteration."""

    def __init__(self, reader: Reader, key: Any, made: int) -> None:
        self.reader = reader
        self.key = key
        self.made = made
        self._lists: dict[int, Recording] = {}
        self._before: dict[int, Any] = {}
        self._templates: dict[int, Template] = {}
        self._values: dict[int, list[Any]] = {}
        self._atoms: dict[int, list[Atom]] = {}
        self._targets: dict[int, list[Var]] = {}

    def is_append(self, place: Place, old: Any) -> bool:
        """Notes a list if all that the body did to it was to append one item."""
        if self._is_under_condition(place, old):
            return True
        home, before, after = self._change(place, old)
        if home is None or id(home) in self._lists or bounded(self.reader, home):
            return False
        if len(after) != len(before) + 1 or any(a is not b for a, b in zip(after, before)):
            return False
        self._before[id(home)] = parts_of(old)
        last = before[-1:] if not isinstance(before[-1:], Part) else []
        self._lists[id(home)] = Recording(home, tuple(last), RecordedList(home, parts_of(old)), self.key)
        return True

    def _is_under_condition(self, place: Place, old: Any) -> bool:
        """Notes a list whose length depends on a branch in the body."""
        if place.holder is not self.reader.contents or not isinstance(place.get(), Conflict):
            return False
        home = self.reader.owned[place.key][0]
        if not isinstance(home, list) or id(home) in self._lists or bounded(self.reader, home):
            return False
        parts = self._before[id(home)] = parts_of(old if isinstance(old, RecordedList) else home)
        self._lists[id(home)] = Recording(home, (), RecordedList(home, parts), self.key, conditional=True)
        return True

    def check_change(self, place: Place, old: Any) -> None:
        """Raises if the body changes a list or the keys of a dictionary in a way that no carry can follow."""
        if isinstance(place, Keys):
            raise Unroll(
                self.key,
                NotSupported(
                    "a dictionary that gets or loses keys in this loop",
                    self.reader.builder.origin,
                    instead="Give it all its keys before the loop.",
                ),
            )
        lost = isinstance(place, Item) and place.holder is self.reader.contents
        if lost or isinstance(place, Contents) and len(old) != len(place.get()):
            raise Unroll(self.key, refusal(self.reader, "a list that does not get exactly one item in each iteration"))

    def _change(self, place: Place, old: Any) -> tuple[Any, list[Any], list[Any]]:
        if isinstance(place, Contents) and isinstance(place.holder, list):
            return place.holder, list(old), list(place.holder)
        if (
            isinstance(place, Item)
            and place.holder is self.reader.contents
            and isinstance(old, RecordedList)
            and isinstance(place.get(), RecordedList)
        ):
            return old.home, _spread(old), _spread(place.get())
        return None, [], []

    def enter(self, position: Value) -> None:
        """Puts a recording in place of each list."""
        for recording in self._lists.values():
            recording.position = position
            self.reader.journal.write(Item(self.reader.contents, id(recording.home)), recording)

    def carry_last(self, loop: LoopReading, home: list[Any]) -> None:
        """Carries the newest item of a list from iteration to iteration."""
        recording = self._lists[id(home)]
        recording.carries_last = True
        place = Attribute(recording, "last")
        recording.last = recording.newest[-1]
        initial = capture(self.reader, recording.last)
        loop.carried[place.identity] = Carried(place, loosened(initial, object, object), initial)

    def note_last(self) -> None:
        for recording in self._lists.values():
            if recording.carries_last and isinstance(recording.appended, tuple) and recording.appended:
                self.reader.journal.write(Attribute(recording, "last"), recording.appended[-1])

    def collect(self, loop: LoopReading) -> bool:
        """What the body appended; the loop has to be unrolled if that is not one item of one type."""
        for key, recording in self._lists.items():
            appended = recording.appended
            if recording.position is None:  # found in this very pass
                continue
            if isinstance(appended, Conflict) or len(appended) != 1:
                raise Unroll(
                    self.key, refusal(self.reader, "a list that does not get exactly one item in each iteration")
                )
            if isinstance(appended[0], Maybe) and not recording.conditional:
                recording.conditional = True
                return True
            captured = capture(self.reader, appended[0])
            template = loop.joiner().checked(loosened(captured, object, object))
            if not all(map(is_constant, constants(template))):
                raise Unroll(self.key, refusal(self.reader, "a list of such items"))
            if any(isinstance(slot, Clash) for slot in slots(template)):
                raise Unroll(self.key, refusal(self.reader, "a list of items of different sizes"))
            self._templates[key] = template
            self._atoms[key] = [fixed.atom for fixed in atoms(template, captured) if fixed.atom is not None]
            self._values[key] = [fixed.value for fixed in atoms(template, captured)]
            self._check_unwritten(loop, self._values[key])
        return False

    def _check_unwritten(self, loop: LoopReading, values: list[Any]) -> None:
        """An array that is written in place by every iteration would change in the list, too."""
        for value in values:
            if isinstance(value, Value) and Cell(cell_of(value)).identity in loop.carried:
                raise NotSupported(
                    "an array that the loop writes in place is appended to a list",
                    loop.origin,
                    why="All items of the list are that one array.",
                    instead="Append a copy: xs.append(x.copy()).",
                )

    def arrays(self) -> Iterator[tuple[Hashable, int, Any]]:
        """The arrays appended in an iteration: they may be written no more while the list lives."""
        for key, values in self._values.items():
            for k, value in enumerate(values):
                if may_be_array(value):
                    yield ("recorded", key), k, value

    def tokens(self) -> dict[Hashable, Any]:
        """What stands for the memory of each list's items (see `Aliases`)."""
        return {("recorded", key): recording.token for key, recording in self._lists.items()}

    def substitute(self, copier: Copier) -> None:
        self._atoms = {key: list(map(copier.atom, atoms)) for key, atoms in self._atoms.items()}

    def used(self) -> Iterator[Var]:
        for atoms_ in self._atoms.values():
            for atom in atoms_:
                yield from atom_vars(atom)

    def finish(self) -> list[Record]:
        """The records of the loop."""
        records = []
        for key, values in self._atoms.items():
            types = list(types_in(self._templates[key]))
            self._targets[key] = [Var(SeqType(type)) for type in types]
            records += [Record(target, atom) for target, atom in zip(self._targets[key], values)]
        return records

    def leave(self, length: Extent | None, loop: LoopReading) -> None:
        """Puts what was recorded in place of each list."""
        for key, recording in self._lists.items():
            assert length is not None
            targets = self._targets[key]
            template = self._templates[key]
            arrays = tuple(stacked(target, length) for target in targets)
            if isinstance(template, Node) and template.cls is Maybe:
                part = self._those_there(template.children[1], arrays, recording.token)
            else:
                fresh = partial(stacked, targets[0], length) if _is_flat(template) else None
                part = Part(template, arrays, length, recording.token, fresh)
            whole = RecordedList(recording.home, (*self._before[key], part))
            self.reader.journal.write(Item(self.reader.contents, key), whole)


    def _those_there(self, template: Template, arrays: tuple[Value, ...], token: Token) -> Part:
        """The items that were appended, of those that may be."""
        mask, items = arrays[0], arrays[1:]
        if not items:
            raise Unroll(self.key, refusal(self.reader, "a list of such items"))

        def kept(array: Value) -> Value:
            return Value(apply_op(self.reader, operator.getitem, (array, mask), {}).atom)

        found = tuple(map(kept, items))
        fresh = partial(kept, items[0]) if _is_flat(template) else None
        return Part(template, found, found[0].shape[0], token, fresh)


def _is_flat(template: Template) -> bool:
    """Whether an item is a number or array, or a list that becomes one."""
    return isinstance(template, Slot) or isinstance(template, Node) and template.cls is RecordedList


def _spread(value: RecordedList) -> list[Any]:
    """The items and parts of a list in one row."""
    return [item for part in value.parts for item in (part if isinstance(part, tuple) else (part,))]
