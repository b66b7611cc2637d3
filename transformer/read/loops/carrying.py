"""What a loop carries: entries, initial and next values, and the loop statement that they make."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...core.grammar import UNDEFINED, Atom, Block, Carry, Loop, Var
from ...core.naming import ResultName
from ...core.sizes import Size, Unknown
from ...core.types import INT
from ...core.walk import Copier, all_uses, atom_of_size, atom_vars, substitute
from ...ops.integers import affine, is_exact
from ...ops.value import Value
from ..branches.asked_classes import note_sources
from ..branches.casts import cast
from ..branches.journal import Cell, Place
from ..branches.mixed import note_class, note_class_after_loop
from ..branches.structures import Clash, Missing, Template, atoms, build, capture, open_slots, same_template, types_in
from ..branches.template_joins import Joiner
from ..lists.held import Held
from ..lists.item_templates import names_in
from ..lists.open_lists import capture_copied, capture_opened
from ..lists.recorded import containers_among, containers_in
from ..values import may_be_array
from .independence import check_independent

if TYPE_CHECKING:
    from ..reader import Reader
    from .loop_reading import LoopReading


@dataclass(eq=False)
class Carried:
    """A place that the loop carries. There is one entry, init, next and out per slot of the template.

    `late` says that the body binds the place before it uses it: only what follows the loop needs it.
    """

    place: Place
    template: Template
    initial: Template
    final: Template | None = None
    late: bool = False
    entries: list[Var] = field(default_factory=list)
    inits: list[Atom] = field(default_factory=list)
    nexts: list[Atom] = field(default_factory=list)
    outs: list[Atom] = field(default_factory=list)
    found_mixed: dict[int, tuple[Atom, ...]] = field(default_factory=dict)
    items: Template | None = None  # of a list that is carried as arrays of its items
    falling: set[int] = field(default_factory=set)  # the slots whose numbers may fall below zero
    losing: set[int] = field(default_factory=set)  # the slots that the body may leave without a value, as `del` does

    def prepare(self, reader: Reader, loop: Any, joiner: Joiner) -> None:
        """Makes the entries, and the values that enter the first iteration, in front of the loop."""
        self.initial = self.capture(reader)
        if not self.late:  # once more, for the guards that this rests on
            self.template = joiner.join(self.template, self.initial)
        pairs = list(zip(types_in(self.template), atoms(self.template, self.initial)))
        self.inits = [cast(reader, fixed.atom or UNDEFINED, type) for type, fixed in pairs]
        self.entries = [Var(type, name) for (type, _), name in zip(pairs, names_in(self.template, self.place.name))]
        for k, (entry, (_, fixed)) in enumerate(zip(self.entries, pairs)):
            note_class(reader, entry, *self.found_mixed.get(k, ()), fixed.atom or UNDEFINED)
        self.nexts = []
        for k, (entry, init) in enumerate(zip(self.entries, self.inits)):
            if k not in self.falling and entry.type == INT and _is_not_negative(reader, init):
                reader.assumptions.within(entry, 0, None)
        reader.loop_vars.update(dict.fromkeys(self.entries, loop))
        self._note_partial(reader, self.entries)

    def atoms_of(self, end: str) -> list[Atom | None]:
        """What the slots hold at one end: ``"initial"`` or ``"final"``."""
        held = getattr(self, end)
        return [fixed.atom for fixed in atoms(self.template, Missing() if held is None else held)]

    def capture(self, reader: Reader) -> Template:
        """What the place holds now."""
        value = self.place.value()
        if self.items is None:
            return capture(reader, value)
        if not isinstance(self.place, Held):
            return capture_copied(reader, value, self.items, self.place.name)
        return capture_opened(reader, value, self.items, self.place.name)

    def widen(self, template: Template) -> bool:
        """Takes a new template; False if it is the old one."""
        if same_template(template, self.template):
            return False
        self.template = template
        return True

    def close(self, reader: Reader) -> None:
        """The values for the next iteration, at the end of the body."""
        assert self.final is not None
        pairs = list(zip(types_in(self.template), atoms(self.template, self.final)))
        self.nexts = [cast(reader, fixed.atom or UNDEFINED, type) for type, fixed in pairs]
        if not self.entries:
            self.entries = [Var(type, self.place.name) for type, _ in pairs]
            self.inits = [UNDEFINED for _ in pairs]

    def turns_mixed(self, reader: Reader) -> bool:
        """Whether an entry that was NumPy's may be one of Python's from the second iteration on."""
        assert self.final is not None
        known = len(reader.classes.mixed)
        for k, (entry, fixed) in enumerate(zip(self.entries, atoms(self.template, self.final))):
            if fixed.atom is not None:
                note_sources(reader, entry, fixed.atom)
            if fixed.atom is not None and entry not in reader.classes.mixed:
                note_class(reader, entry, fixed.atom)
                if entry in reader.classes.mixed:
                    self.found_mixed[k] = (fixed.atom,)
        return len(reader.classes.mixed) > known

    def falls(self, reader: Reader) -> bool:
        """Whether an entry that was taken to be no less than zero may be less in the next iteration."""
        found = {
            k
            for k, (entry, following) in enumerate(zip(self.entries, self.nexts))
            if Unknown(entry) in reader.assumptions.ranges and not _is_not_negative(reader, following)
        }
        self.falling |= found
        return bool(found)

    def loses(self, reader: Reader) -> bool:
        """Whether an entry that has a value may have none in the next iteration."""
        found = {
            k
            for k, (entry, following) in enumerate(zip(self.entries, self.nexts))
            if entry not in reader.partial and (following is UNDEFINED or following in reader.partial)
        }
        self.losing |= found
        return bool(found) and not self.late

    def _note_partial(self, reader: Reader, made: list[Any]) -> None:
        """Notes which variables may be unbound: those of places that may be so at the start, or after an iteration."""
        key = reader.key_of(self.place)
        for k, (var, init) in enumerate(zip(made, self.inits)):
            if isinstance(var, Var) and (init is UNDEFINED or init in reader.partial or k in self.losing):
                reader.partial[var] = key, k

    def leave(self, reader: Reader) -> None:
        self._note_partial(reader, self.outs)


def _is_not_negative(reader: Reader, atom: Atom) -> bool:
    """Whether an integer is certainly zero or more."""
    if atom is UNDEFINED or not (isinstance(atom, Size) or is_exact(atom)):
        return False
    low = reader.assumptions.lower_bound(affine(Value(atom)))
    return low is not None and low >= 0


def finish(loop: LoopReading, position: Var, test: Block, cond: Atom | None, body: Block) -> None:
    """Emits the loop, and puts what comes out of it into its places."""
    reader, plan = loop.reader, loop.plan
    unchanged = _drop_unchanged(loop, test, body)
    cond = unchanged.atom(cond)
    used = _used(loop, test, cond, body)
    carries = list(loop.sizes.carries(unchanged))
    behind = loop.sizes.behind()
    carries += [carry for carried in loop.carried.values() for carry in _carries(loop, carried, used, behind)]
    trips = None if plan.length is None else atom_of_size(plan.length)
    count = None if cond is None and trips is not None else Var(INT)
    made = Loop(position, trips, carries, body, [], loop.records.finish(), False, test, cond, count, loop.origin)
    if plan.independent:
        made.independent = True
        check_independent(made)
    reader.builder.emit(made)
    for carried in loop.carried.values():
        _leave(loop, carried)
    loop.sharing.relate(loop.carried, loop.tokens(), loop.certainly_runs())
    assert count is not None or plan.length is not None
    loop.records.leave(plan.length if count is None else Size.of(Unknown(count)))


def _drop_unchanged(loop: LoopReading, test: Block, body: Block) -> Copier:
    """Takes carries that the body hands on as they are out of the blocks that use them; gives what stands for them."""
    mapping = loop.sizes.inside() | {
        entry: init
        for carried in loop.carried.values()
        for entry, init, following in zip(carried.entries, carried.inits, carried.nexts)
        if entry is following and init is not UNDEFINED
    }
    copier = Copier(dict(mapping))
    if not mapping:
        return copier
    for stmt in (*test, *body):
        substitute(stmt, mapping)
    for carried in loop.carried.values():
        carried.nexts = [
            following if following is entry else copier.atom(following)
            for entry, following in zip(carried.entries, carried.nexts)
        ]
        for entry in carried.entries:
            entry.type = copier.type(entry.type)
    loop.records.substitute(copier)
    return copier


def _used(loop: LoopReading, test: Block, cond: Atom | None, body: Block) -> set[Var]:
    """The variables that the blocks of the loop use, and what is computed at the end of them."""
    used = {var for stmt in (*test, *body) for var in all_uses(stmt)}
    for carried in loop.carried.values():
        for entry, following in zip(carried.entries, carried.nexts):
            used.update(var for var in atom_vars(following) if var is not entry)
    used.update(loop.records.used())
    return used if cond is None else used | set(atom_vars(cond))


def _carries(loop: LoopReading, carried: Carried, used: set[Var], behind: Copier) -> Iterator[Carry]:
    """The carries of one place; `outs` gets what each slot is after the loop, with the sizes it has `behind` it."""
    carried.outs = []
    wanted = loop.matters_later(carried.place) or any(entry in used for entry in carried.entries)
    names = names_in(carried.template, carried.place.name)
    for entry, init, following, name in zip(carried.entries, carried.inits, carried.nexts, names):
        if entry is following:
            carried.outs.append(init)
        elif wanted:
            out = Var(behind.type(entry.type), name)
            carried.outs.append(out)
            note_class_after_loop(loop.reader, out, following, entry, init)
            if isinstance(name, ResultName):
                loop.reader.provisional.update({out: (entry, following), entry: (init,)})
            yield Carry(entry, init, following, out)
    if not wanted:
        carried.outs = []


def _leave(loop: LoopReading, carried: Carried) -> None:
    """Puts what a place holds after the loop there."""
    contents = [slot.holding(out) for slot, out in zip(open_slots(carried.template), carried.outs)]
    carried.leave(loop.reader)
    template = carried.template
    if len(contents) < len(carried.entries) or any(out is UNDEFINED for out in carried.outs):
        template = Clash("a value that is used in the loop alone")
    loop.sharing.note_sources(carried, contents, loop.certainly_runs())
    value = build(loop.reader, template, iter(contents), loop.conflict(carried.place.name))
    loop.reader.journal.write(carried.place, carried.place.of_value(value))


class Sharing:
    """Which arrays carried by name may share memory: with what they were before the loop, and with
    each other, if at the start or at the end of the body two names hold one array."""

    def __init__(self, reader: Reader, made: int) -> None:
        self.reader = reader
        self.made = made
        self.pairs: set[frozenset[tuple[Hashable, Hashable]]] = set()
        self.at_end: set[frozenset[tuple[Hashable, Hashable]]] = set()     # the pairs at the end of the body
        self._heads: dict[int, Value] = {}
        self._items: dict[Hashable, dict[int, Any]] = {}      # containers that this iteration appends to a list
        self._holding: set[tuple[Hashable, Hashable]] = set()  # which places may hold an item of which list

    def note_items(self, key: Hashable, token: Any, containers: Iterator[Any]) -> None:
        """Containers are made anew where an item of a list is read, which would not see what is written to them."""
        aliases = self.reader.aliases
        either = [each for container in containers for each in containers_among(aliases.group(container))]
        self._items[key] = {id(container): container for container in either}
        for container in either:
            aliases.relate(container, token, "It is an item of a list filled by a loop.")

    def note_sources(self, carried: Carried, contents: list[Value], after_the_first: bool = False) -> None:
        """The arrays carried are, in the first iteration or after it, arrays from before the loop."""
        if isinstance(carried.place, Cell):
            return
        if isinstance(carried.place, Held):
            return self._take_over(carried, contents)
        self._heads.update({id(value): value for value in contents})
        for template in (None if after_the_first else carried.initial, carried.final):
            if template is not None and not isinstance(template, Missing):
                for value, fixed in zip(contents, atoms(carried.template, template)):
                    if may_be_array(fixed.value):
                        self._relate_to_group(value, fixed.value)

    def _take_over(self, carried: Carried, contents: list[Value]) -> None:
        """The list is the one from before the loop: of its arrays everything is known that was known."""
        for value, fixed in zip(contents, atoms(carried.template, carried.initial)):
            if may_be_array(fixed.value):
                self.reader.aliases.take_over(value, fixed.value)

    def _relate_to_group(self, value: Value, source: Value) -> None:
        """Which of the loop's own arrays are one is a question of pairs, see `found_more`."""
        for other in self.reader.aliases.group(source):
            if id(other) not in self._heads:
                self.reader.aliases.relate(value, other)

    def found_more(
        self, carried: dict[Hashable, Carried], recorded: list[tuple[Hashable, int, Any]], before: dict[Hashable, Any]
    ) -> bool:
        """Notes which places hold one array at either end, and which arrays from before the loop they
        may hold at its end; True if some of that was not known. `before` are former versions."""
        known = len(self.pairs) + len(self.at_end) + len(self._holding)
        self._holding.update(self._held_items(carried))
        initial = [each for key, one in carried.items() for each in self._arrays(key, one, one.initial)]
        final = [each for key, one in carried.items() for each in self._arrays(key, one, one.final)]
        self.at_end.update(self._paired([*recorded, *final]))
        for key, k, value in (each for each in final if not isinstance(carried[each[0]].place, Held)):
            self.at_end |= {frozenset(((key, k), ("older", other))) for other in self._older(value, before)}
        self.pairs |= self.at_end.union(self._paired(initial))
        return len(self.pairs) + len(self.at_end) + len(self._holding) > known

    def _held_items(self, carried: dict[Hashable, Carried]) -> Iterator[tuple[Hashable, Hashable]]:
        for key, one in carried.items():
            held = {id(container) for container in containers_in(one.place.value())}
            yield from ((key, of_list) for of_list, items in self._items.items() if held & items.keys())

    def _paired(self, arrays: list[tuple[Hashable, int, Any]]) -> Iterator[frozenset[tuple[Hashable, int]]]:
        """Which of the places hold one array."""
        for n, (key, k, value) in enumerate(arrays):
            for other_key, other_k, other in arrays[:n]:
                if self.reader.aliases.are_related(value, other):
                    yield frozenset(((key, k), (other_key, other_k)))

    def _older(self, value: Value, before: dict[Hashable, Any]) -> Iterator[Hashable]:
        """The arrays from before the loop that a value may be; those of a list are new objects in every pass."""
        for cell in self.reader.aliases.group(value):
            if isinstance(cell, Value):
                atom = before.get(Cell(cell).identity, cell.atom)
                if not isinstance(atom, Var) or atom.serial < self.made:
                    yield atom if isinstance(atom, Var) else id(cell)

    def _arrays(self, key: Hashable, one: Carried, end: Template | None) -> Iterator[tuple[Hashable, int, Any]]:
        """What may be arrays of what a name holds at one end of the body, with their numbers."""
        if end is not None and not isinstance(one.place, Cell):
            for k, fixed in enumerate(atoms(one.template, end)):
                if may_be_array(fixed.value):
                    yield key, k, fixed.value

    def relate(self, carried: dict[Hashable, Carried], tokens: dict[Hashable, Any], after_the_first: bool = False
               ) -> None:
        """Notes it of what the places hold now; `tokens` stand for the memory of recorded lists."""
        for key, of_list in self._holding:
            for container in containers_in(carried[key].place.value()):
                self.reader.aliases.relate(container, tokens[of_list], "It is an item of a list filled by a loop.")
        pairs = self.at_end if after_the_first else self.pairs
        if not pairs:
            return
        now: dict[tuple[Hashable, Hashable], Any] = {
            (key, k): fixed.value
            for key, one in carried.items()
            if not isinstance(one.place, Cell)
            for k, fixed in enumerate(atoms(one.template, capture(self.reader, one.place.value())))
        }
        for pair in pairs:
            values = [tokens.get(key) or now.get((key, k)) for key, k in pair]
            if len(values) == 2 and all(value is not None for value in values):
                self.reader.aliases.relate(*values)
