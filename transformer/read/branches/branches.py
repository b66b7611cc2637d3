"""Branches on a dynamic condition: both sides are read, and what differs afterwards is merged."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

from ...core.errors import TransformError
from ...core.grammar import Atom, Block, Effect, If, Merge, Var, type_of
from ...core.sizes import Extent, Size, Unknown
from ...core.types import INT, ArrayType
from ...core.walk import atom_of_size, size_of_atom
from ...ops.value import Value
from ..frames import stamp
from ..lists.held import Held
from ..lists.item_templates import can_be_items, is_list, items_of_list, joined_items
from ..lists.maybe import balance
from ..lists.open_lists import OpenList, capture_copied, capture_opened
from ..lists.recorded import RecordedList
from ..lists.uneven import Finder
from ..objects.deques import bounded
from ..raising.demand import Demand, Roots, Unroll
from ..raising.errors import RAISED, is_of_program
from ..raising.texts import raising_with
from ..values import ABSENT, Conflict
from .joins import joined_type, same_atom
from .journal import Contents, Item, Keys, Place, held_now
from .merging import Meeting, Merger
from .or_none import Facts, implied, knowing
from .structures import Clash, Fixed, Template, capture, declared, open_slots
from .template_joins import Joiner, known_outside
from .testing import testing

if TYPE_CHECKING:
    from ..reader import Reader


class Unreachable(Exception):
    """What follows cannot be reached: an exception is raised here whenever the program comes here, by the effect
    `raised` if it is known."""

    def __init__(self, raised: Effect | None = None) -> None:
        super().__init__(raised)
        self.raised = raised


@dataclass
class Side:
    """One branch as read: its statements, what places hold at its end, its result; `outer` are
    those of the places that were there before. `equal` are sizes that are equal at its end, `facts` the conditions
    that are known there; `error` is what the program raises there, as reading found."""

    block: Block
    contents: dict[Hashable, tuple[Place, Any]]
    outer: dict[Hashable, Place]
    result: Any
    alive: bool
    equal: list[tuple[Extent, Extent]]
    error: TransformError | None = None
    facts: Facts = field(default_factory=dict)


def choose(reader: Reader, cond: Value, then: Callable[[], Any], orelse: Callable[[], Any],
           since: int | None = None) -> Any:
    """Reads both sides of an `If` and merges what they leave; gives the merged result. What was made `since` a moment
    before belongs to one side alone."""
    origin, outer = reader.builder.origin, stamp() if since is None else since
    try:
        first = _read_side(reader, cond, True, then, outer)
        second = _read_side(reader, cond, False, orelse, outer)
    except TransformError as error:
        raise decide_instead(reader, cond, error) from None
    for side, sign in (first, "equal"), (second, "not_equal"):
        side.equal += _compared(reader, cond, sign)
    if not (first.alive and second.alive):
        return _go_on_with_one(reader, cond, first, second)
    balance(reader, (first, second), outer)
    merger = Merger(reader, cond, (first.block, second.block))
    uneven = [*Finder(reader, (first, second), _at_end_of, outer, merger.merges).all(cond)]
    meetings = _meetings(reader, cond, (first, second), outer, merger.merges)
    merged = [(meeting, merger.merge(meeting)) for meeting in meetings]
    rows = [merger.merge(Meeting(None, row.sides, row.together)) for row in uneven]
    if first.block or second.block or merger.merges:
        reader.builder.emit(If(cond.atom, first.block, second.block, merger.merges, origin))
    for row, arrays in zip(uneven, rows):
        row.become(reader, arrays)
    result = None
    for meeting, value in merged:
        if meeting.place is None:
            result = value
        elif isinstance(meeting.place, Contents | Keys) and isinstance(value, Conflict):
            reader.journal.write(Item(reader.contents, id(meeting.place.holder)), value)
        else:
            reader.journal.write(meeting.place, meeting.place.of_value(value))
    return result


def _read_side(reader: Reader, cond: Value, holds: bool, read: Callable[[], Any], moment: int) -> Side:
    mark, denied = reader.journal.mark(), len(reader.assumptions.denied)
    result, alive, error = None, True, None
    with reader.builder.nested() as block, knowing(reader, implied(reader, cond.atom, holds)):
        try:
            result = read()
        except Unreachable:
            alive = False
        except RAISED as raised:
            if not _is_of_side(raised, reader) or not _may_raise(reader, cond, raised):
                raise
            alive, error = False, raised
            emit_raise(reader, raised, denied)
        changes = reader.journal.changes(mark)
        contents = held_now(changes)
        reader.journal.rollback(mark)
        equal, facts = reader.assumptions.tested(), reader.facts
    outer = {key: place for key, (place, old) in changes.items() if reader.existed(place, old, moment)}
    return Side(block, contents, outer, result, alive, equal, error, facts)


def _is_of_side(error: Exception, reader: Reader) -> TypeGuard[TransformError]:
    """Whether the program raises what was found on this side alone; where both are read apart, also of names."""
    is_unbound = isinstance(error, UnboundLocalError) and isinstance(error, TransformError)
    return is_of_program(error) or is_unbound and bool(reader.findings.forks)


def _may_raise(reader: Reader, cond: Value, error: TransformError) -> bool:
    """Whether the program is to raise what was found, as nothing that is known decides if it comes there.
    Of a name that means nothing, no more has to be known."""
    instead = error if isinstance(error, NameError) else decide_instead(reader, cond, error)
    return instead is error or bool(reader.loops) and reader.loops[-1].postpones(instead)


def emit_raise(reader: Reader, error: TransformError, denied: int) -> None:
    """Has the program raise what reading found, if it comes here. Where sizes decide that, other code is made for
    others."""
    kind = next(cls for cls in type(error).__mro__ if cls in RAISED)
    reader.builder.emit(raising_with(kind, error.raised_with, error.origin or reader.builder.origin))
    note_denied(reader, denied)


def note_denied(reader: Reader, denied: int) -> None:
    """Guards what sizes have decided since."""
    for greater, less in reader.assumptions.denied[denied:]:
        reader.assumptions.at_least(greater, less + 1)


def _compared(reader: Reader, cond: Value, sign: str) -> list[tuple[Extent, Extent]]:
    """The sizes that are equal where a condition of this sign decides so: ``n == 1`` holds, or ``n != 1`` does not."""
    made = reader.builder.numbering.definitions.get(cond.atom)  # type: ignore[arg-type]
    if made is None or made.op.name != sign:
        return []
    if not all(isinstance(arg, Size) or type_of(arg) == INT for arg in made.args):
        return []
    left, right = map(size_of_atom, made.args)
    return [(left, right)]


def decide_instead(reader: Reader, cond: Value, error: TransformError) -> Exception:
    """What to raise where a branch cannot be read: it may be one that a call never takes."""
    roots = Roots(reader)
    roots.follow(cond.atom)
    if roots.others:
        return error
    error.located(reader.builder.origin)
    if roots.loops:
        return Unroll(roots.loops[-1], error)
    return Demand(roots.paths, error) if roots.paths else error


def _go_on_with_one(reader: Reader, cond: Value, first: Side, second: Side) -> Any:
    """Where one side ends in an exception, what follows belongs to the other side alone."""
    origin = reader.builder.origin
    then = first.block if not first.alive else []
    orelse = second.block if not second.alive else []
    if then or orelse:
        reader.builder.emit(If(cond.atom, then, orelse, [], origin))
    if not (first.alive or second.alive):
        raise first.error or second.error or Unreachable
    live = first if first.alive else second
    for stmt in live.block:
        reader.builder.emit(stmt)
    if not reader.recursion.begins:
        for pair in live.equal:
            reader.assumptions.is_tested(*pair)
    reader.facts = live.facts
    reader.journal.apply(live.contents)
    return live.result


def _meetings(
    reader: Reader, cond: Value, sides: tuple[Side, Side], outer: int, merges: list[Merge]
) -> list[Meeting]:
    """Every place that a side changed, with what it holds at the end of each side."""
    places = {key: place for side in sides for key, place in side.outer.items()}
    captured: list[list[Template]] = []
    held = [_as_held(reader, place, sides) for place in places.values()]
    for side in sides:
        with _at_end_of(reader, side):
            captured.append([*(_captured(reader, *each) for each in held), capture(reader, side.result)])
    meetings = []
    for place, one, other in zip([*(place for place, _ in held), None], *captured):
        key = reader.key_of(place)
        test = partial(_fitted, reader, sides, outer, merges, key, isinstance(place, Held))
        joiner = Joiner(reader.assumptions, outer, reader.guessing, test, nones=lambda: _is_open(reader, cond))
        joined = joiner.join(one, other)
        if isinstance(joined, Clash) and is_list(one) and is_list(other):
            opened = _opened(reader, sides, place, joiner)
            if opened is not None:
                one, other = opened
                joined = replace(joined, by_size=True) if not _is_free(reader, key) else joiner.join(one, other)
        meetings.append(Meeting(place, (one, other), declared(joined, reader.declared, key, reader.assumptions)))
    return meetings


def _is_open(reader: Reader, cond: Value) -> bool:
    """Whether no arguments alone decide a condition, with which it would be known while the function is read."""
    roots = Roots(reader)
    roots.follow(cond.atom)
    return bool(roots.others or roots.loops)


def _opened(reader: Reader, sides: tuple[Side, Side], place: Place | None, joiner: Joiner) -> list[Template] | None:
    """Two lists that have nothing in common but what their items are, as arrays of these; None for others."""
    found = []
    for side in sides:
        with _at_end_of(reader, side):
            value = reader.usable(side.result if place is None else place.value())
            if bounded(reader, value):
                return None
            found += [items for items in (items_of_list(reader, joiner, value),) if items is not None]
    items = joined_items(joiner, found) if found else None
    if items is None or not can_be_items(items) or any(slot.type.sizes for slot in open_slots(items)):
        return None
    captured = []
    for side in sides:
        with _at_end_of(reader, side):
            value = reader.usable(side.result if place is None else place.value())
            captured.append(capture_copied(reader, value, items, None if place is None else place.name))
    return captured


def _is_free(reader: Reader, key: Any) -> bool:
    """Whether sizes that the sides of a branch leave in a place may be merged: nothing around has to know them."""
    return key in reader.tested and not reader.recursion.active and (not reader.loops or reader.loops[-1].is_open)


def _fitted(
    reader: Reader,
    sides: tuple[Side, Side],
    outer: int,
    merges: list[Merge],
    key: Any,
    is_list: bool,
    one: ArrayType | None,
    other: ArrayType | None,
) -> ArrayType | None:
    """The type of what is left by two sides, one of which has the sizes of the other by what is known of it;
    else its sizes are merged, too, or, as a recursion has to know them, tested. None: a side leaves nothing."""
    by_test, free = key in reader.tested, _is_free(reader, key)
    if one is None or other is None:
        pair = [each or _empty(one or other, outer) for each in (one, other)]
        return _of_either_size(reader, merges, *pair) if free else None
    ways = [(one, other, sides[1]), (other, one, sides[0])]
    ways = [(wanted, type, side) for wanted, type, side in ways if known_outside(wanted, outer)]
    for wanted, type, side in ways:
        if _are_equal_at_end(reader, side, wanted, type):
            return joined_type(wanted, type.with_sizes(wanted.sizes), reader.assumptions)
    if is_list or free:
        return _of_either_size(reader, merges, one, other)
    for wanted, type, side in ways if by_test and reader.recursion.active else []:
        with reader.builder.resumed(side.block), testing(reader):
            if all(reader.assumptions.equal(a, b) for a, b in zip(wanted.sizes, type.sizes)):
                return joined_type(wanted, type.with_sizes(wanted.sizes), reader.assumptions)
    return None


def _empty(type: ArrayType | None, outer: int) -> ArrayType:
    """The type without elements along the axes whose size is known inside alone."""
    assert type is not None
    return type.with_sizes(tuple(n if known_outside(type.with_sizes((n,)), outer) else 0 for n in type.sizes))


def _of_either_size(reader: Reader, merges: list[Merge], one: ArrayType, other: ArrayType) -> ArrayType | None:
    """The type of an array whose sizes are those that one of two sides left."""
    sizes: list[Extent] = []
    for pair in zip(one.sizes, other.sizes):
        if pair[0] != pair[1]:
            sizes.append(Size.of(Unknown(_merged_size(reader, merges, *map(atom_of_size, pair)))))
        else:
            sizes.append(pair[0])
    return joined_type(one.with_sizes(tuple(sizes)), other.with_sizes(tuple(sizes)), reader.assumptions)


def _merged_size(reader: Reader, merges: list[Merge], one: Atom, other: Atom) -> Var:
    """The integer that is one of two sizes: the same one for all arrays that have these."""
    known = (merge.target for merge in merges if same_atom(merge.then, one) and same_atom(merge.orelse, other))
    found = next(known, None)
    if found is not None:
        return found
    merges.append(Merge(Var(INT), one, other))
    reader.assumptions.within(merges[-1].target, 0, None)
    return merges[-1].target


def _are_equal_at_end(reader: Reader, side: Side, one: ArrayType, other: ArrayType) -> bool:
    """Whether two types have the same sizes by what is known at the end of a side."""
    assumptions = reader.assumptions
    with assumptions.block():
        for pair in side.equal:
            assumptions.is_tested(*pair)
        return all(assumptions.normal(a) == assumptions.normal(b) for a, b in zip(one.sizes, other.sizes))


def _as_held(reader: Reader, place: Place, sides: tuple[Side, Side]) -> tuple[Place, Template | None]:
    """The place of a list whose items lie in arrays on a side, which are merged, and what its items are."""
    ends = [side.contents[place.identity][1] if place.identity in side.contents else place.get() for side in sides]
    if place.holder is reader.contents and any(isinstance(end, OpenList) for end in ends):
        return Held(reader, reader.owned[place.key][0]), _items_of_all(reader, place, ends)
    items = _items_of_new(reader, place, sides)
    return (place, None) if items is None else (Held(reader, _list_at(reader, place)), items)


def _items_of_all(reader: Reader, place: Place, ends: list[Any]) -> Template | None:
    """What the items of a list are on all sides; None where they have no type in common."""
    joiner = Joiner(reader.assumptions, stamp(), reader.guessing)
    lists = [reader.owned[place.key][0] if end is ABSENT else end for end in ends]
    if not all(map(_is_whole_list, lists)):
        return None
    found = [items for items in (items_of_list(reader, joiner, each) for each in lists) if items is not None]
    joined = joined_items(joiner, found) if found else None
    return joined if joined is not None and can_be_items(joined) else None


def _items_of_new(reader: Reader, place: Place, sides: tuple[Side, Side]) -> Template | None:
    """What the items are of a list that an iteration of a loop which carries sizes has made, and a side made longer or
    shorter: its length is merged, too."""
    home = _list_at(reader, place)
    if home is None or not reader.loops or not reader.loops[-1].is_open or bounded(reader, home):
        return None
    ends = [side.contents[place.identity][1] if place.identity in side.contents else place.get() for side in sides]
    lists = [list(end) if isinstance(end, tuple) else end for end in ends]
    if reader.made_before(home, reader.loops[-1].made):
        return None
    if all(isinstance(each, list) for each in lists) and len(lists[0]) == len(lists[1]):
        return None
    return _items_of_all(reader, place, lists)


def _list_at(reader: Reader, place: Place) -> Any:
    """The list of which a place holds the items."""
    if isinstance(place, Contents):
        return place.holder if isinstance(place.holder, list) else None
    return reader.owned[place.key][0] if place.holder is reader.contents else None


def _is_whole_list(value: Any) -> bool:
    return isinstance(value, list) or isinstance(value, RecordedList) and value.within is None


def _captured(reader: Reader, place: Place, items: Template | None) -> Template:
    """What a place holds; keys, and what stands in place of a list, are the same on both sides, or
    a conflict."""
    if items is not None:
        return capture_opened(reader, place.value(), items)
    if isinstance(place, Held):
        return Fixed(place.value())
    whole = place.holder is reader.contents or isinstance(place, Keys)
    return Fixed(place.get()) if whole else capture(reader, place.value())


@contextmanager
def _at_end_of(reader: Reader, side: Side) -> Iterator[None]:
    """As if the side had just been read: its state, and its block as the current one."""
    mark = reader.journal.mark()
    reader.journal.apply(side.contents)
    with reader.builder.resumed(side.block), knowing(reader, side.facts):
        yield
    reader.journal.rollback(mark)
