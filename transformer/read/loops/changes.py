"""What an iteration of a loop turns out to change, when its body has been read: the loop carries it from then on.

    total = 0                       carried as an int at first
    for x in xs:
        total = total + x           f64, so that the carry is widened
        last = x                    carried as well, if it is read behind the loop
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from ...core.errors import NotSupported
from ...core.grammar import Var
from ...core.sizes import Size
from ..branches.journal import Cell, Place
from ..branches.structures import (
    Clash,
    Missing,
    Slot,
    Template,
    atoms,
    capture,
    declared,
    open_slots,
    same_objects,
    same_template,
    slots,
)
from ..lists.held import Held
from ..lists.item_templates import is_list, items_of_list, open_template
from ..lists.open_lists import OpenList, capture_opened
from ..lists.tokens import appended_arrays
from ..objects.deques import bounded
from ..raising.demand import Opens, Unroll
from .carrying import Carried

if TYPE_CHECKING:
    from .loop_reading import LoopReading


class Changes:
    """What the body of a loop changes, as far as it has been read."""

    def __init__(self, loop: LoopReading) -> None:
        self.loop = loop
        self.reader = loop.reader
        self.carried = loop.carried
        self.records = loop.records
        self._absent: set[tuple[int, Any]] = set()  # attributes that the body found missing

    def widen(self, mark: int) -> bool:
        """Has the loop carry what the body changed since a mark; whether that was more than it had been guessed."""
        loop, changes = self.loop, self.reader.journal.changes(mark)
        changed = [self._update(carried) for carried in list(self.carried.values())]
        changed += [
            self._discover(place, old)
            for key, (place, old) in changes.items()
            if key not in self.carried and self.reader.existed(place, old, loop.made)
        ]
        changed.append(loop.sizes.settle(self.carried.values()))
        changed.append(self.records.collect(loop))
        before = {key: old for key, (place, old) in changes.items() if isinstance(place, Cell)}
        appended = [*self.records.arrays(), *self._appended()]
        changed.append(loop.sharing.found_more(self.carried, appended, before))
        return any(changed)

    def _appended(self) -> Iterator[tuple[Hashable, int, Any]]:
        """The arrays that are items of lists which the loop carries."""
        for place in self.loop.open_lists():
            for value in appended_arrays(self.reader, place.list):
                yield ("appended", id(place.list)), 0, value

    def _update(self, carried: Carried) -> bool:
        """What a carried place holds at the end of the body; True if that widens its template."""
        carried.final = carried.capture(self.reader)
        if carried.late and self._is_from_before(carried.place, carried.template, carried.final):
            carried.late = False
            return True
        widened = carried.widen(self.loop.joiner().join(carried.template, carried.final))
        if widened:
            self._check_sizes(carried)
            self._remember(carried)
        else:
            carried.close(self.reader)
            widened = carried.turns_mixed(self.reader) | carried.falls(self.reader) | carried.loses(self.reader)
        return widened

    def _remember(self, carried: Carried) -> None:
        """Keeps the type for the next time this loop is read, as a part of a loop around it."""
        template = carried.template
        if (
            isinstance(template, Slot)
            and carried.place.name
            and not any(isinstance(size, Size) for size in template.type.sizes)
        ):
            self.loop.remembered[carried.place.name] = template

    def _discover(self, place: Place, old: Any) -> bool:
        """A place that the body changes, which was not in the guess."""
        if self.records.looks_after(place):
            return False
        if place.holder is self.reader.contents and isinstance(place.get(), OpenList):
            return self._discover_open(place, old)
        if self.records.is_append(place, old):
            return True
        self.records.check_change(place, old)
        initial, final = self._captured_before(place, old), capture(self.reader, place.value())
        template = self.loop.joiner().join(initial, final)
        if isinstance(template, Clash) and is_list(initial) and is_list(final) and self._opens(place, old):
            return True
        if isinstance(initial, Missing):
            return self._discover_new(place, final, template)
        if same_template(template, initial) and same_objects(template, initial):
            return False
        self.carried[place.identity] = carried = Carried(place, template, initial, final)
        self._remember(carried)
        return True

    def _discover_open(self, place: Place, old: Any) -> bool:
        """A list that lies in arrays, of which the body has written items, or made it longer or shorter."""
        held, items = Held(self.reader, self.reader.owned[place.key][0]), place.get().items.template
        initial = self._captured_before(place, old, items)
        final = capture(self.reader, held.value())
        carried = Carried(held, self.loop.joiner().join(initial, final), initial, final, items=items)
        self._check_sizes(carried)
        self.carried[held.identity] = carried
        return True

    def _check_sizes(self, carried: Carried) -> None:
        """Has the loop carry sizes if it leaves a list longer or shorter than it found it."""
        differs = any(isinstance(slot, Clash) and slot.by_size for slot in slots(carried.template))
        if isinstance(carried.place, Held) and differs and not self.loop.is_open:
            raise Opens(self.loop.plan.key)

    def _opens(self, place: Place, old: Any) -> bool:
        """Carries a name that is given another list as arrays of items, if the lists are alike."""
        if self.loop.plan.key not in self.reader.opened:
            return False
        lists = [self.reader.usable(value) for value in (old, place.value())]
        found = [items_of_list(self.reader, self.loop.joiner(), value) for value in lists]
        samples = [items for items in found if items is not None]
        items = samples[0] if len(samples) == 1 else self.loop.joiner().join(*samples) if samples else None
        if items is None or any(slot.type.sizes for slot in open_slots(items)):
            return False
        if any(bounded(self.reader, value) for value in lists):
            return False
        template = open_template(self.reader, lists[0], items)
        self.carried[place.identity] = Carried(place, template, template, items=items)
        return True

    def _captured_before(self, place: Place, old: Any, items: Template | None = None) -> Template:
        """What a place held before the body; of a list, as arrays of these items."""
        mark = self.reader.journal.mark()
        self.reader.journal.write(place, old)
        try:
            with self.reader.builder.nested():
                if items is None:
                    return capture(self.reader, place.value())
                held = Held(self.reader, self.reader.owned[place.key][0])
                return capture_opened(self.reader, held.value(), items)
        finally:
            self.reader.journal.rollback(mark)

    def _discover_new(self, place: Place, final: Template, template: Template) -> bool:
        """A name that is bound in the body. If it may still be unbound at the end of the body, what
        the iteration before left counts; else it is carried only for what follows the loop."""
        self._check_absence(place)
        template = declared(template, self.reader.declared, self.reader.key_of(place), self.reader.assumptions)
        partial = self._is_from_before(place, template, final)
        if not partial and not self.loop.matters_later(place):
            return False
        carried = Carried(place, template, Missing(), final, late=not partial)
        self.carried[place.identity] = carried
        if not partial:
            carried.close(self.reader)
        return partial

    def _is_from_before(self, place: Place, template: Template, final: Template) -> bool:
        """Whether what a place holds may be what the iteration before has left: at the end of the body, or where it is
        used."""
        is_needed = not self.loop.needed.isdisjoint((place.key, self.reader.key_of(place)))
        return is_needed or any(
            fixed.atom in self.reader.partial for fixed in atoms(template, final) if isinstance(fixed.atom, Var))

    def found_absent(self, fields: dict[str, Any], name: str) -> None:
        """Notes that the body found an attribute missing, which a later iteration may have."""
        self._absent.add((id(fields), name))

    def _check_absence(self, place: Place) -> None:
        if (id(place.holder), place.key) in self._absent:
            why = f"whether the attribute {place.key!r} exists depends on the iteration"
            instead = "Initialise it (to None) when the object is created."
            raise Unroll(self.loop.plan.key, NotSupported(why, self.loop.origin, instead=instead))
