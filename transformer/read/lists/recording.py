"""The lists to which one loop appends: which they are, and what the loop records for them."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterator
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from ...core.errors import NotSupported
from ...core.grammar import Atom, Record, Var
from ...core.sizes import Extent
from ...core.types import SeqType
from ...core.walk import Copier, atom_vars
from ...ops.sequences import stacked
from ...ops.value import Value
from ..branches.journal import Attribute, Cell, Contents, Item, Keys, Place
from ..branches.structures import (
    Clash,
    Node,
    Slot,
    Template,
    atoms,
    capture,
    constants,
    is_constant,
    loosened,
    slots,
    types_in,
)
from ..calls.applying import apply_op
from ..loops.carrying import Carried
from ..objects.deques import bounded
from ..raising.demand import Unroll
from ..values import Conflict, cell_of, may_be_array
from .gathering import WHAT, Gathered
from .item_templates import sample_of
from .list_demands import WantsCarried, WantsRows, refusal, wants_other
from .maybe import Maybe, Unknowable, nothing_like
from .open_lists import OpenList
from .recorded import Part, RecordedList, Recording, containers_in, containers_of, parts_of, spread
from .tokens import Token

if TYPE_CHECKING:
    from ..loops.loop_reading import LoopReading
    from ..reader import Reader


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
        self._gathered: dict[int, Gathered] = {}
        self._samples: dict[int, Template | None] = {}

    def fills(self, home: list[Any]) -> bool:
        """Whether this loop appends an item to a list in each iteration."""
        return id(home) in self._lists

    def gather(self, home: list[Any]) -> None:
        """From now on an iteration may append several items to a list."""
        self._lists.pop(id(home), None)
        self._gathered[id(home)] = Gathered(home, self.key)
        self._samples[id(home)] = sample_of(self.reader, home)

    def sample(self, home: list[Any]) -> Template | None:
        """The template of an item that an iteration has appended to a list."""
        return self._samples.get(id(home))

    def forget(self, home: list[Any]) -> None:
        """A list is carried as arrays of its items instead."""
        self._lists.pop(id(home), None)
        self._gathered.pop(id(home), None)

    def looks_after(self, place: Place) -> bool:
        """Whether what stands in a place are the items of one iteration, which `collect` takes."""
        held = place.get() if isinstance(place, Item) and place.holder is self.reader.contents else None
        return isinstance(held, RecordedList) and held.within == self.key and id(held.home) in self._gathered

    def is_append(self, place: Place, old: Any) -> bool:
        """Notes a list if all that the body did to it was to append items."""
        if self._is_under_condition(place, old):
            return True
        if isinstance(old, OpenList):
            return False
        home, before, after = self._change(place, old)
        if home is None or id(home) in self._lists or bounded(self.reader, home):
            return False
        if id(home) in self._gathered:                   # found in this very pass
            return True
        if len(after) <= len(before) or any(a is not b for a, b in zip(after, before)):
            return False
        if len(after) > len(before) + 1 or isinstance(after[-1], Part):
            self.gather(home)
            return True
        self._before[id(home)] = parts_of(old)
        self._note(home, old, parts_of(old), tuple(after[-1:]))
        return True

    def _note(self, home: list[Any], old: Any, parts: tuple[Any, ...], sample: tuple[Any, ...]) -> Recording:
        """A recording of a list that had these parts before the loop."""
        held = RecordedList(home, parts, old.within if isinstance(old, RecordedList) else None)
        items = spread(held.parts)
        known = [*takewhile(lambda item: not isinstance(item, Part), reversed(items))]
        recording = Recording(home, tuple(reversed(known)), held, self.key)
        recording.sample = sample if len(known) == len(items) else ()
        self._lists[id(home)] = recording
        return recording

    def _is_under_condition(self, place: Place, old: Any) -> bool:
        """Notes a list whose length depends on a branch in the body."""
        if place.holder is not self.reader.contents or not isinstance(place.get(), Conflict):
            return False
        home = self.reader.owned[place.key][0]
        if not isinstance(home, list) or bounded(self.reader, home):
            return False
        if id(home) in self._lists or id(home) in self._gathered:
            return False
        parts = self._before[id(home)] = parts_of(old if isinstance(old, RecordedList) else home)
        recording = self._note(home, old, parts, place.get().sample)
        recording.conditional = True
        return True

    def check_change(self, place: Place, old: Any) -> None:
        """Raises if the body changes a list or the keys of a dictionary in a way that no carry can follow."""
        if isinstance(place, Keys):
            raise Unroll(
                self.key,
                NotSupported(
                    "adding or removing keys of a dictionary in this loop is not supported",
                    self.reader.builder.origin,
                    instead="Create all keys before the loop.",
                ),
            )
        lost = isinstance(place, Item) and place.holder is self.reader.contents
        if lost or isinstance(place, Contents) and len(old) != len(place.get()):
            home = self.reader.owned[place.key][0] if lost else place.holder
            raise wants_other(self.reader, self.key, home, refusal(self.reader, WHAT), sample_of(self.reader, home))

    def _change(self, place: Place, old: Any) -> tuple[Any, list[Any], list[Any]]:
        if isinstance(place, Contents) and isinstance(place.holder, list):
            return place.holder, list(old), list(place.holder)
        if (
            isinstance(place, Item)
            and place.holder is self.reader.contents
            and isinstance(old, RecordedList)
            and isinstance(place.get(), RecordedList)
        ):
            return old.home, spread(old.parts), spread(place.get().parts)
        if place.holder is self.reader.contents and isinstance(place.get(), RecordedList):
            return place.get().home, [], spread(place.get().parts)
        return None, [], []

    def enter(self, position: Value) -> None:
        """Puts a recording in place of each list."""
        for recording in self._lists.values():
            recording.position, recording.put = position, []
            self.reader.journal.write(Item(self.reader.contents, id(recording.home)), recording)
        for key, gathered in self._gathered.items():
            held = self.reader.contents.get(key, gathered.home)
            within = held.within if isinstance(held, RecordedList) else None
            row = gathered.begin(RecordedList(gathered.home, parts_of(held), within))
            self.reader.journal.write(Item(self.reader.contents, key), row)

    def carry(self, loop: LoopReading, request: WantsCarried) -> None:
        """Carries the newest items of a list from iteration to iteration, or their number."""
        recording = self._lists[id(request.home)]
        if request.counted:
            recording.count = recording.before.length(self.reader)
        else:
            recording.last = self._newest(recording, request.newest)
        for key in ("count",) if request.counted else ("last",):
            place = Attribute(recording, key)
            initial = capture(self.reader, place.get())
            loop.carried[place.identity] = Carried(place, loosened(initial, object, object), initial)

    def _newest(self, recording: Recording, count: int) -> tuple[Any, ...]:
        """So many of the last items before the loop; zeros, as long as there are none."""
        items = recording.newest[-count:]
        try:
            missing = [nothing_like(item, self.made) for item in recording.sample * (count - len(items))]
        except Unknowable:
            raise Unroll(self.key, refusal(self.reader, "reading an item of a list that the loop appends to")) from None
        return (*missing, *items)

    def collect(self, loop: LoopReading) -> bool:
        """What the body appended; True if another pass has to take that for conditional. The loop has to be unrolled
        if it is not one item of one type."""
        self._templates, self._values, self._atoms = {}, {}, {}          # what an earlier pass appended is gone
        for key, recording in self._lists.items():
            if recording.position is None:  # found in this very pass
                continue
            appended = self._one_item(recording)
            if isinstance(appended, Maybe) and not recording.conditional:
                recording.conditional = True
                return True
            self._collect_item(loop, key, appended)
        for key, gathered in self._gathered.items():
            held = self.reader.contents.get(key)
            if isinstance(held, RecordedList) and held.within is None:  # found in this very pass
                continue
            gathered.collect(self.reader, held, loop.joiner())
            loop.sharing.note_items(("recorded", key), gathered.token,
                                    containers_of(self.reader, parts_of(held)))
            self._check_unwritten(loop, gathered.values)
        return False

    def _one_item(self, recording: Recording) -> Any:
        appended = recording.appended
        if isinstance(appended, tuple) and len(appended) == 1:
            return appended[0]
        refused = refusal(self.reader, WHAT)
        if isinstance(appended, tuple) and appended:
            raise WantsRows(recording.home, self.key, refused)
        raise Unroll(self.key, refused)

    def _collect_item(self, loop: LoopReading, key: int, appended: Any) -> None:
        captured = capture(self.reader, appended)
        template = loop.joiner().checked(loosened(captured, object, object))
        if not all(map(is_constant, constants(template))):
            raise Unroll(self.key, refusal(self.reader, "a list of such items"))
        if any(isinstance(slot, Clash) for slot in slots(template)):
            raise Unroll(self.key, refusal(self.reader, "a list of items of different sizes"))
        self._check_changed(loop, appended)
        loop.sharing.note_items(("recorded", key), self._lists[key].token, containers_in(self._lists[key].put))
        self._templates[key] = template
        self._atoms[key] = [fixed.atom for fixed in atoms(template, captured) if fixed.atom is not None]
        self._values[key] = [fixed.value for fixed in atoms(template, captured)]
        self._check_unwritten(loop, self._values[key])

    def _check_changed(self, loop: LoopReading, item: Any) -> None:
        """A list or an object that the loop changes would change in all items, as it is each of them."""
        places = [carried.place for carried in loop.carried.values()]
        changed = {id(getattr(place, "list", place.holder)) for place in places}
        if any(id(container) in changed for container in containers_in(item)):
            raise Unroll(self.key, refusal(self.reader, "a list that holds one object, which the loop changes,"))

    def _check_unwritten(self, loop: LoopReading, values: list[Any]) -> None:
        """An array that is written in place by every iteration would change in the list, too."""
        for value in values:
            if isinstance(value, Value) and Cell(cell_of(value)).identity in loop.carried:
                raise NotSupported(
                    "appending an array that the loop writes in place is not supported",
                    loop.origin,
                    why="All items of the list would be the same array.",
                    instead="Append a copy: xs.append(x.copy()).",
                )

    def arrays(self) -> Iterator[tuple[Hashable, int, Any]]:
        """The arrays appended in an iteration: they may be written no more while the list lives."""
        gathered = {key: gathered.values for key, gathered in self._gathered.items()}
        for key, values in {**self._values, **gathered}.items():
            for k, value in enumerate(values):
                if may_be_array(value):
                    yield ("recorded", key), k, value

    def tokens(self) -> dict[Hashable, Any]:
        """What stands for the memory of each list's items (see `Aliases`)."""
        lists: dict[int, Recording | Gathered] = {**self._lists, **self._gathered}
        return {("recorded", key): filled.token for key, filled in lists.items()}

    def substitute(self, copier: Copier) -> None:
        self._atoms = {key: list(map(copier.atom, atoms)) for key, atoms in self._atoms.items()}
        for gathered in self._gathered.values():
            gathered.substitute(copier)

    def used(self) -> Iterator[Var]:
        for atoms_ in (*self._atoms.values(), *(gathered.atoms for gathered in self._gathered.values())):
            for atom in atoms_:
                yield from atom_vars(atom)

    def finish(self) -> list[Record]:
        """The records of the loop."""
        recorded = Recorded(self.reader)
        for key, values in self._atoms.items():
            types = types_in(self._templates[key])
            self._targets[key] = [recorded.target(type, atom) for type, atom in zip(types, values)]
            if len(self._targets[key]) == 1:
                self._targets[key][0].name = next(
                    (name for name, value in self.reader.frame.names.items() if id(value) == key), None)
        for gathered in self._gathered.values():
            gathered.targets = [recorded.target(Value(atom).type, atom) for atom in gathered.atoms]
        return recorded.records

    def leave(self, length: Extent | None) -> None:
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
            whole = recording.before.with_parts((*self._before[key], part))
            self.reader.journal.write(Item(self.reader.contents, key), whole)
        for key, gathered in self._gathered.items():
            assert length is not None
            self.reader.journal.write(Item(self.reader.contents, key), gathered.leave(self.reader, length))

    def _those_there(self, template: Template, arrays: tuple[Value, ...], token: Token) -> Part:
        """The items that were appended, of those that may be."""
        mask, items = arrays[0], arrays[1:]
        if not items:
            raise Unroll(self.key, refusal(self.reader, "a list of such items"))

        def kept(array: Value) -> Value:
            return Value(apply_op(self.reader, operator.getitem, (array, mask), {}).atom)

        found = tuple(map(kept, items))
        fresh = partial(kept, items[0]) if _is_flat(template) else None
        return Part(template, found, found[0].shape[0], token, fresh).chosen_by(mask, items)


class Recorded:
    """The records of a loop. Which items there are is recorded once for lists that have them in the same iterations, so
    that their lengths are known to be equal."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.records: list[Record] = []
        self._masks: dict[int, Var] = {}

    def target(self, type: Any, atom: Atom) -> Var:
        """The sequence in which an atom is recorded."""
        number = self.reader.builder.numbering.number(atom) if type.dtype == bool and isinstance(atom, Var) else None
        target = self._masks.get(number) if number is not None else None
        if target is None:
            target = Var(SeqType(type))
            self.records.append(Record(target, atom))
            if number is not None:
                self._masks[number] = target
        return target


def _is_flat(template: Template) -> bool:
    """Whether an item is a number or array, or a list that becomes one."""
    return isinstance(template, Slot) or isinstance(template, Node) and template.cls is RecordedList
