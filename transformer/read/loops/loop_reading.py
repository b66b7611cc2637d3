"""Reading a loop into Core: what its body changes becomes carries, found by a fixpoint.

The body is read with a guess of what it carries and of which types. What it turns out to change,
or to widen, joins the guess, and the body is read again, until nothing new is found:

    total = 0.0                     carry `total`: float at first,
    for x in xs:                    then f64, as `total + x` is,
        total = total + x           which is f64 again: done
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ...core.errors import NotSupported, Origin
from ...core.grammar import Atom, Block, Const, Var
from ...core.sizes import Extent, Size
from ...core.types import INT
from ...ops.value import Value
from ..branches.branches import Unreachable, emit_raise
from ..branches.journal import Contents, Name, Place
from ..branches.or_none import implied, knowing
from ..branches.structures import (
    Clash,
    Slot,
    Template,
    build,
    capture,
    loosened,
    open_slots,
    same_template,
    slots,
    with_slots,
)
from ..branches.template_joins import Joiner
from ..frames import Frame, stamp
from ..lists.held import Held
from ..lists.item_templates import items_of_list, open_template
from ..lists.joining import join_lists
from ..lists.list_demands import WantsCarried, WantsOpen, WantsRows, WantsSize, refusal
from ..lists.open_lists import OpenList
from ..lists.recording import Records
from ..objects.deques import bounded
from ..raising.demand import Opens, Unroll
from ..raising.errors import RAISED, is_of_program
from ..values import Conflict
from .carrying import Carried, Sharing, finish
from .changes import Changes
from .open_sizes import OpenSizes

if TYPE_CHECKING:
    from ..reader import Reader

MOST_PASSES = 12
FEW = 4                  # iterations that are written out, rather than the first one apart
OPENED = "an item at a computed index of an empty list"


@dataclass(eq=False)
class LoopPlan:
    """A loop to be read. `key` tells it from all others; `length` is None for a `while`."""

    key: Any
    frame: Frame
    length: Extent | None
    bind: Callable[[Value], None]  # binds the target to the element at a position
    body: Callable[[], None]
    test: Callable[[], Any] | None = None  # gives a bool or a `Value`
    guess: list[tuple[Place, bool]] = field(default_factory=list)  # and whether whole numbers change
    used_later: Callable[[str], bool] = lambda name: False
    assigned: frozenset[str] = frozenset()  # the names that the body binds
    position_name: str | None = None
    independent: bool = False


class Again(Exception):
    """The guess was too narrow: the body has to be read once more."""


class NeverRuns(Exception):
    """The condition of the loop is false from the start."""


class LoopReading:
    """One loop while it is read."""

    def __init__(self, reader: Reader, plan: LoopPlan) -> None:
        self.reader = reader
        self.plan = plan
        self.origin: Origin | None = reader.builder.origin
        self.made = stamp()
        self.mark = 0  # where the changes of the body begin
        self.carried: dict[Hashable, Carried] = {}
        self.records = Records(reader, plan.key, self.made)
        self.sharing = Sharing(reader, self.made)
        self.sizes = OpenSizes(reader, self.made, plan.length if plan.test is None else None)
        self.incomplete: str | None = None
        self.postponed: Unroll | None = None  # what to raise if this pass finds nothing new
        self.settled = False  # whether what is read is no guess any more
        self.needed: set[Hashable] = set()  # names, and keys of places, that the body uses before it binds them
        self.remembered = reader.guesses.setdefault(plan.key, {})
        self.changes = Changes(self)

    def read(self) -> None:
        """Emits the loop, and leaves what it leaves in names, arrays and containers."""
        join_lists(self.reader)
        for place, with_whole_numbers in self.plan.guess:
            self._guess(place, with_whole_numbers)
        for _ in range(MOST_PASSES):
            checkpoint = self.reader.checkpoint()
            try:
                return self._pass()
            except Again:
                self.reader.restore(checkpoint)
            except WantsCarried as request:
                if not self.records.fills(request.home):
                    raise
                self.reader.restore(checkpoint)
                self.records.carry(self, request)
            except WantsRows as request:
                if request.loop is not self.plan.key:
                    raise
                self.reader.restore(checkpoint)
                self.records.gather(request.home)
            except WantsOpen as request:
                if not self._is_outermost(request.home):
                    raise
                self.reader.restore(checkpoint)
                self._open(Held(self.reader, request.home), request)
            except WantsSize as request:
                self.reader.restore(checkpoint)
                place = Held(self.reader, request.home)
                if isinstance(place.value(), OpenList):
                    self._resize(place)
                else:                               # the body itself has put it into arrays
                    self._open(place, WantsOpen(request.home, None, refusal(self.reader, OPENED)))
            except NeverRuns:
                return self.reader.restore(checkpoint)
        raise NotSupported(
            "the types in this loop do not converge",
            self.origin,
            instead="Give the variables that it assigns their final types before the loop.",
        )

    @property
    def is_open(self) -> bool:
        """Whether the loop carries sizes."""
        return self.plan.key in self.reader.opened

    def _is_outermost(self, home: list[Any]) -> bool:
        """Whether no loop around this one changes a list, which was there before."""
        around = (loop for loop in self.reader.loops if self.reader.made_before(home, loop.made))
        return self.reader.made_before(home, self.made) and not any(around)

    def _open(self, place: Place, request: WantsOpen) -> None:
        """From now on the loop carries a list as arrays of its items. Raises why that is not possible."""
        self.reader.opened.setdefault(self.plan.key, None)
        self.records.forget(request.home)
        known = self.carried.get(place.identity)
        sample = request.sample or self.records.sample(request.home)
        if known is not None and known.items is not None and sample is not None:
            sample = self.joiner().join(known.items, sample)
        items = items_of_list(self.reader, self.joiner(), place.value(), sample)
        is_known = known is not None and known.items is not None and items is not None and same_template(
            items, known.items)
        if items is None or is_known or bounded(self.reader, request.home):
            raise request.refusal
        template = open_template(self.reader, self.reader.usable(place.value()), items)
        self.carried[place.identity] = Carried(place, template, template, items=items)

    def may_find_longer(self, items: OpenList) -> bool:
        """Whether a list may have more items in a later iteration than in this one, the loop carrying its size then."""
        place = Held(self.reader, items.home)
        return place.identity not in self.carried and self.reader.made_before(items.home, self.made)

    def _resize(self, place: Held) -> None:
        """From now on the loop carries the size of a list that lies in arrays."""
        if not self.is_open:
            raise Opens(self.plan.key)
        held: OpenList = place.value()
        template: Template = open_template(self.reader, held, held.items.template)
        types = (slot.type.with_sizes((self.sizes.carried(slot.type.sizes[0]), *slot.type.sizes[1:]))
                 for slot in open_slots(template))
        template = with_slots(template, types)
        self.carried[place.identity] = Carried(place, template, template, items=held.items.template)

    def _guess(self, place: Place, with_whole_numbers: bool) -> None:
        initial = capture(self.reader, place.value())
        whole = (int, Size) if with_whole_numbers else ()
        template = loosened(initial, (Value, float, complex, bool, *whole))
        remembered = self.remembered.get(place.name or "")
        if remembered is not None and isinstance(template, Slot) and isinstance(place, Name):
            template = self.joiner().join(template, remembered)
        if any(True for _ in slots(template)):
            self.carried[place.identity] = Carried(place, template, initial)

    def joiner(self) -> Joiner:
        opened = self.plan.key in self.reader.opened
        fitted = self.sizes.fitted if opened else None
        return Joiner(self.reader.assumptions, self.made, self.reader.guessing, fitted, self.sizes, lambda: True)

    def _pass(self) -> None:
        """Reads the loop with the present guess; raises `Again` after widening it."""
        reader = self.reader
        self.incomplete = self.postponed = None
        mark = reader.journal.mark()
        position = self._position()
        self.sizes.begin(position)
        for carried in self.carried.values():
            carried.prepare(reader, self.plan.key, self.joiner())
        reader.loops.append(self)
        try:
            with self._guessing(), reader.assumptions.identified(self.sizes.told()):
                self._enter(position)
                test, cond = self._read_test()
                body = self._read_body(position, cond)
        finally:
            reader.loops.pop()
        reader.journal.rollback(mark)
        finish(self, position, test, cond, body)

    @contextmanager
    def _guessing(self) -> Iterator[None]:
        """While the types are a guess, and when they settle once more, numbers of Python's may be rounded."""
        guessing, outer = self.reader.guessing, replace(self.reader.guessing)
        guessing.now, guessing.allowed = outer.now or not self.settled, False
        try:
            yield
            if guessing.allowed and not outer.now:
                self.settled = True
                raise Again
        finally:
            guessing.now, guessing.allowed = outer.now, outer.allowed or guessing.allowed

    def certainly_runs(self) -> bool:
        """Whether the body is executed at least once."""
        length = self.plan.length if self.plan.test is None else None
        return length is not None and self.reader.assumptions.certainly_at_least(length, 1)

    def _position(self) -> Var:
        position = Var(INT, self.plan.position_name)
        assumptions = self.reader.assumptions
        assumptions.within(position, 0, None if self.plan.length is None else assumptions.if_any(self.plan.length) - 1)
        self.reader.loop_vars[position] = self.plan.key
        return position

    def _enter(self, position: Var) -> None:
        """Puts the entries where the body finds what is carried."""
        for carried in self.carried.values():
            if not carried.late:
                contents = [slot.holding(entry) for slot, entry in zip(open_slots(carried.template), carried.entries)]
                self.sharing.note_sources(carried, contents)
                head = build(self.reader, carried.template, iter(contents), self.conflict(carried.place.name))
                self.reader.journal.write(carried.place, carried.place.of_value(head))
        self.sharing.relate(self.carried, self.tokens())
        self.records.enter(Value(position))

    def _read_test(self) -> tuple[Block, Atom | None]:
        if self.plan.test is None:
            return [], None
        reader = self.reader
        mark = reader.journal.mark()
        with reader.builder.nested() as block, knowing(reader, {}):
            cond = self.plan.test()
        reader.journal.rollback(mark)
        if isinstance(cond, Value):
            return block, cond.atom
        if not cond:
            raise NeverRuns
        return [], Const(True) if self.plan.length is None else None

    def _read_body(self, position: Var, cond: Atom | None) -> Block:
        reader = self.reader
        mark, denied = reader.journal.mark(), len(reader.assumptions.denied)
        self.mark = mark
        with reader.builder.nested() as block, knowing(reader, implied(reader, cond, True) if cond is not None else {}):
            self.sizes.begin_body(cond)
            try:
                self.plan.bind(Value(position))
                self.plan.body()
            except RAISED as raised:
                if not is_of_program(raised) or self.certainly_runs():
                    raise
                emit_raise(reader, raised, denied)
                self._end_early()
            except Unreachable:
                self._end_early()
            else:
                self._collect(mark)
        return block

    def find_append(self, items: list[Any]) -> None:
        """Reads the body again if it has appended to a list, as is found now that an item from before is read."""
        place, old = self.reader.journal.changes(self.mark).get(Contents(items).identity, (None, ()))
        if place is not None and self.reader.existed(place, old, self.made) and self.records.is_append(place, old):
            raise Again

    def postpones(self, request: Exception) -> bool:
        """Whether this loop would be unrolled for an item that is missing in the first iteration, and may not be if it
        turns out that the body appends to the list."""
        if not isinstance(request, Unroll) or request.loop is not self.plan.key:
            return False
        self.postponed = request
        return True

    def _end_early(self) -> None:
        """The body always ends in an exception: nothing is carried."""
        if self.postponed is not None:
            raise self.postponed
        if self.incomplete is not None:
            raise NotSupported(
                f"{self.incomplete!r} is used before it is assigned",
                self.origin,
                instead="Assign it before the loop.",
            )
        for carried in self.carried.values():
            carried.nexts = list(carried.entries)

    def may_be_bound_later(self, name: str) -> bool:
        """Whether a name without a value may get one later in the body, for the next iteration."""
        if name not in self.plan.assigned or any(
            isinstance(c.place, Name) and c.place.key == name for c in self.carried.values()
        ):
            return False
        self.incomplete = name
        self.needed.add(name)
        return True

    def _collect(self, mark: int) -> None:
        """The end of an iteration."""
        if self.changes.widen(mark) or self.incomplete is not None:
            raise Again
        if self.postponed is not None:
            raise self.postponed

    def tokens(self) -> dict[Hashable, Any]:
        """What stands for the memory of each list's items (see `Aliases`)."""
        own: dict[Hashable, Any] = {("appended", id(place.list)): place.token for place in self.open_lists()}
        return {**self.records.tokens(), **own}

    def open_lists(self) -> list[Held]:
        """The places of lists that the loop carries as arrays."""
        return [carried.place for carried in self.carried.values() if isinstance(carried.place, Held)]

    def matters_later(self, place: Place) -> bool:
        """Whether what a place holds may be used after the loop."""
        if isinstance(place, Name) and place.holder is self.plan.frame.names:
            return self.plan.used_later(place.key)
        return True

    def conflict(self, name: str | None) -> Callable[[Clash], Conflict]:
        is_short = isinstance(self.plan.length, int) and self.plan.length <= FEW

        def made(clash: Clash) -> Conflict:
            one, _, other = clash.reason.partition(" and ")
            reason = f"{one} and a different one" if one == other else clash.reason
            instead = "Use the same type (add a cast), shape and structure in all iterations."
            if one == other == "a list":
                instead = "Keep the items in an array, np.array(items), or always change the same list: append, pop."
            return Conflict(
                f"this loop {f'leaves {name!r} as' if name else 'gives'} {reason}",
                self.origin,
                loop=self.plan.key,
                first_apart=clash.by_kind and not is_short,
                instead=instead,
            )

        return made
