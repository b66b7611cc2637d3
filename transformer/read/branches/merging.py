"""Merging what the two sides of an `If` leave in a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.grammar import Atom, Block, Const, Merge, Undefined, Var
from ...core.naming import ResultName
from ...core.sizes import Extent, Unknown, leaves
from ...ops.value import Value
from ..desugar.forks import EVERYWHERE
from ..lists.item_templates import kept, names_in
from ..lists.maybe import item_names
from ..lists.recorded import Part, RecordedList, Recording, spread
from ..values import Conflict, may_be_array
from .casts import NOTHING, cast
from .joins import same_atom
from .journal import Contents, Keys, Name, Place
from .mixed import note_class
from .structures import (
    Clash,
    Node,
    Slot,
    Template,
    atoms,
    build,
    capture,
    open_slots,
    slots,
    value_of,
)

if TYPE_CHECKING:
    from ..reader import Reader


@dataclass
class Meeting:
    """A place where the branches meet (None: the result), and what each has there."""

    place: Place | None
    sides: tuple[Template, Template]
    template: Template


def _is_appended(place: Place | None) -> bool:
    return place is not None and isinstance(place.holder, Recording) and place.key == "appended"


def _items_in(reader: Reader, side: Template) -> list[Any]:
    """The items of a list as they were captured, and the parts of it that loops filled."""
    if isinstance(side, Node):
        return list(side.children)
    value = getattr(side, "value", None)
    items = spread(value.parts) if isinstance(value, RecordedList) else []
    return [item if isinstance(item, Part) else capture(reader, item) for item in items]


class Merger:
    """Makes the merges of one `If`. Equal pairs of versions get one merge, so aliases stay aliases."""

    def __init__(self, reader: Reader, cond: Value, blocks: tuple[Block, Block]) -> None:
        self.reader = reader
        self.cond = cond
        self.blocks = blocks
        self.merges: list[Merge] = []
        self.of_items = False  # whether what is merged was appended to a list
        self._known: dict[tuple[int, int], Value] = {}

    def merge(self, meeting: Meeting) -> Any:
        """What a place holds behind the branches."""
        template, (one, other), place = meeting.template, meeting.sides, meeting.place
        self.of_items = _is_appended(place)
        key = self.reader.key_of(place)
        names = item_names(template) if self.of_items else names_in(template, place.name if place else None)
        contents = iter(
            [
                self._slot(slot, left, right, called, (key, k))
                for k, (called, slot, left, right) in enumerate(
                    zip(names, open_slots(template), atoms(template, one), atoms(template, other))
                )
            ]
        )
        return build(self.reader, template, contents, lambda clash: self._unmerged(meeting, clash.reason))

    def _unmerged(self, meeting: Meeting, reason: str) -> Conflict:
        """What stands for a part that differs, until somebody uses it."""
        place = meeting.place
        if place is not None and (isinstance(place, Contents | Keys) or place.holder is self.reader.contents):
            return self._list_conflict(place, meeting.sides)
        by_size = any(isinstance(clash, Clash) and clash.by_size for clash in slots(meeting.template))
        conflict = self._conflict(place.name if place else None, reason, self.reader.key_of(place) if by_size else None)
        conflict.mentioned = place.name if isinstance(place, Name) else EVERYWHERE if place else None
        return conflict

    def _slot(self, slot: Slot, left: Any, right: Any, name: str | None, place: Any) -> Value:
        key = (id(left.value), id(right.value))
        if (slot.type.sizes or slot.array) and key in self._known:
            return self._known[key]
        pair = [self._cast(fixed.atom, slot.type, block) for fixed, block in zip((left, right), self.blocks)]
        own = (left.atom, right.atom) if all(isinstance(atom, Const) for atom in pair) else pair
        merged = self._known[key] = slot.holding(self._merged(slot.type, pair, own, name, place))
        if isinstance(merged.atom, Var) and merged.atom not in pair:
            note_class(self.reader, merged.atom, left.atom, right.atom)
        self._note_aliases(merged, left.value, right.value)
        return merged

    def _cast(self, atom: Any, type: Any, block: Block) -> Any:
        if atom is NOTHING:                      # sizes that are merged here are 0 where there is nothing
            merged = {merge.target for merge in self.merges}
            type = type.with_sizes(tuple(0 if merged & _variables(size) else size for size in type.sizes))
        with self.reader.builder.resumed(block):
            return cast(self.reader, atom, type)

    def _merged(self, type: Any, pair: list[Any], own: Sequence[Any], name: str | None, place: Any) -> Atom:
        if same_atom(*pair) and same_atom(*own):         # 1 and 1.0 differ where the program asks for the class
            return pair[0]
        known = self._alike(type, pair) if self.of_items else None
        if known is not None:
            return known
        target = Var(type, name)
        if any(isinstance(atom, Undefined) or atom in self.reader.partial for atom in pair):
            self.reader.partial[target] = place
        if isinstance(name, ResultName):
            self.reader.provisional[target] = tuple(pair)
        self.merges.append(Merge(target, *pair))
        return target

    def _alike(self, type: Any, pair: list[Any]) -> Var | None:
        """A merge of these two: lists that get an item on one side have it in the same iterations."""
        alike = (
            merge.target
            for merge in self.merges
            if merge.target.type == type and not type.sizes
            and same_atom(merge.then, pair[0]) and same_atom(merge.orelse, pair[1])
        )
        return next(alike, None)

    def _note_aliases(self, merged: Value, left: Any, right: Any) -> None:
        arrays = tuple(value for value in (left, right) if may_be_array(value))
        self.reader.aliases.derive(merged, arrays)

    def _list_conflict(self, place: Place | None, sides: tuple[Template, Template]) -> Conflict:
        what, instead = (
            ("a dictionary whose keys depend", "Give it the same keys in both branches.")
            if isinstance(place, Keys)
            else ("a list whose length depends", "Append in both branches, or select by a mask: x[x > 0].")
        )
        conflict = Conflict(f"{what} on a branch of this `if`", self.reader.builder.origin, self.cond, instead=instead)
        conflict.home = place.holder if isinstance(place, Keys) else None
        conflict.by_length, conflict.mentioned = not isinstance(place, Keys), EVERYWHERE
        if place is not None and conflict.by_length:
            conflict.list = place.holder if isinstance(place, Contents) else self.reader.owned[place.key][0]
        longer = max((_items_in(self.reader, side) for side in sides), key=len)
        for item in longer[-1:]:
            if not isinstance(item, Part):
                conflict.sample, conflict.sampled = (value_of(item),), kept(item)
        return conflict

    def _conflict(self, name: str | None, reason: str, key: Any) -> Conflict:
        one, _, other = reason.partition(" and ")
        instead = _instead(one, other)
        if one == other:
            reason = f"{one} and a different one"
        if reason.endswith("and nothing"):
            message = f"{name!r} is assigned in one branch only" if name else "this is defined in one branch only"
        else:
            is_returned = isinstance(name, ResultName) or name is not None and name == self.reader.frame.result
            verb = "return" if is_returned else f"leave {name!r} as" if name else "give"
            message = f"the branches of this `if` {verb} {reason}"
        return Conflict(
            message,
            self.reader.builder.origin,
            cond=self.cond,
            instead=instead,
            place=key,
        )


def _variables(size: Extent) -> set[Var]:
    return {leaf.var for leaf in leaves(size) if isinstance(leaf, Unknown)}


def _instead(one: str, other: str) -> str:
    """What to write where these two meet."""
    if one == other == "a function":
        return "Call it in both branches."
    if all(each.startswith(("a ", "an ")) for each in (one, other)):
        return ("Move the code that uses it into both branches, or use the same class, attributes, keys and "
                "length in both.")
    if "None" in (one, other):
        return ("Initialise it with a number or an array of the type that it has elsewhere, and keep a separate flag, "
                "or make the condition static.")
    return "Give both branches the same type (add a cast), shape and structure, or make the condition static."
