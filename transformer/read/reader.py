"""The reader: an interpreter of Python source whose values may be dynamic.

`Reader` is the state of one reading; a function may need several (`readings`). What each kind of statement, expression
and call means stands in the modules of the tables below, one function per kind of node.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import gast
import numpy as np

from ..core.builder import Builder
from ..core.errors import NotSupported, Origin, TransformError
from ..core.grammar import Atom, Const, Var
from ..core.guards import Assumptions
from ..core.sizes import Size
from ..ops.value import Value
from . import assignment, augmented, expressions, statements, subscripts
from .aliases import Aliases
from .branches import conditions, matching
from .branches.joins import Guessing
from .branches.journal import Cell, Item, Journal, Name, Place
from .branches.or_none import Facts, settled
from .calls import definitions
from .calls.calls import call
from .calls.recursion import Recursion
from .calls.subfunctions import inlined, subfunction
from .findings import Findings
from .frames import Frame, stamp
from .known import OfArguments, OfClasses, OfLists, OfRefusals
from .lists.recorded import RecordedList, Recording
from .loops import comprehensions, loops, producers
from .objects.attributes import attribute
from .outside import Outside
from .raising import attempts, effects, managers, trying
from .raising.attempts import Catching
from .values import Conflict, Lazy, OrNone, Producer, View

Handler = Callable[["Reader", Any], Any]

STATEMENTS: dict[type, Handler] = {
    **statements.STATEMENTS,
    **assignment.STATEMENTS,
    **augmented.STATEMENTS,
    **conditions.STATEMENTS,
    **loops.STATEMENTS,
    **effects.STATEMENTS,
    **managers.STATEMENTS,
    **matching.STATEMENTS,
    **definitions.STATEMENTS,
    **trying.STATEMENTS,
    **attempts.STATEMENTS,
}
EXPRESSIONS: dict[type, Handler] = {
    **expressions.EXPRESSIONS,
    **subscripts.EXPRESSIONS,
    **conditions.EXPRESSIONS,
    **effects.EXPRESSIONS,
    **comprehensions.EXPRESSIONS,
    **definitions.EXPRESSIONS,
    **producers.EXPRESSIONS,
    **trying.EXPRESSIONS,
}


class Reader:
    """The state of one reading.

    `frames` are the calls being read, the innermost last; `journal` has every change; `owned` the
    containers and objects made during the reading, which alone may be changed; `contents` what
    stands in place of a list whose items are not all known (see `recorded`); what is known of `arguments`, `lists`,
    `classes` of numbers and of what was `refused` stands together (`known.py`). `unrolled`, `declared`, `tested` and
    `opened` are parts of the `findings`; `unrolling` are the loops that are being read iteration by iteration.
    """

    def __init__(self, assumptions: Assumptions, findings: Findings, mapped: Collection[str] = ()) -> None:
        self.builder = Builder(assumptions)
        self.builder.reader = self
        self.builder.whole_powers = findings.tested
        self.assumptions = assumptions
        self.findings = findings
        self.unrolled = findings.unrolled
        self.declared = findings.declared
        self.tested = findings.tested
        self.opened = findings.opened
        self.arguments = OfArguments(mapped)
        self.lists = OfLists()
        self.classes = OfClasses()
        self.refused = OfRefusals()
        self.journal = Journal()
        self.aliases = Aliases()
        self.outside = Outside(self)
        self.frames: list[Frame] = []
        self.owned: dict[int, tuple[Any, int]] = {}
        self.contents: dict[int, Any] = {}
        self.partial: dict[Var, Any] = {}  # may be unbound; with the key of the place
        self.local_constants: set[Const] = set()
        self.size_names: dict[Size, str] = {}
        self.guessing = Guessing()
        self.by_item = False  # what is evaluated now is a container of which one item is used
        self.loops: list[Any] = []
        self.unrolling: list[Any] = []
        self.loop_vars: dict[Var, Any] = {}
        self.provisional: dict[Var, tuple[Any, ...]] = {}   # what has a name of ours, and what it is made of
        self.unheard: list[tuple[type[Warning], ...]] = []      # what `with warnings.catch_warnings()` ignores
        self.asked_places: set[Any] = set()            # statements for items that the program reads or writes itself
        self.asked_names: set[Any] = set()             # statements where it asks for a name that may not be bound
        self.laid_out: dict[Atom, list[Atom]] = {}     # the arrays in whose memory others were written
        self.guesses: dict[Any, dict[str, Any]] = {}
        self.frames_made: dict[int, Frame] = {}
        self.recursion = Recursion()
        self.facts: Facts = {}                         # conditions that are known where the program is
        self.is_early = False  # whether an expression is evaluated before it is known whether Python would
        self.catching = Catching()
        self.returned: Origin | None = None  # the expression whose value the last function read gave

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def is_attempting(self) -> bool:
        """Whether statements in a `try` are read as attempts."""
        return bool(self.findings.caught)

    def evaluate(self, node: Any) -> Any:
        """What an expression gives."""
        outer = self.builder.origin
        self.builder.origin = self.frame.origin(node)
        try:
            handler = EXPRESSIONS.get(type(node))
            if handler is None:
                raise self.unsupported(type(node).__name__)
            return self.usable(handler(self, node))
        except TransformError as error:
            error.located(self.builder.origin)
            raise
        finally:
            self.builder.origin = outer

    def evaluate_owner(self, node: Any) -> Any:
        """What an expression gives of which an item is used: a dictionary may have other keys on other paths."""
        outer, self.by_item = self.by_item, isinstance(node, gast.Name | gast.Attribute)
        try:
            return self.evaluate(node)
        finally:
            self.by_item = outer

    def execute(self, body: list[Any]) -> None:
        """Reads the statements of a block."""
        progress = self.frame.progress
        for place, statement in enumerate(body):
            progress.append((body, place))
            try:
                self._execute_one(statement)
            finally:
                progress.pop()

    def _execute_one(self, statement: Any) -> None:
        outer = self.builder.origin
        self.builder.origin = self.frame.origin(statement)
        try:
            handler = STATEMENTS.get(type(statement))
            if handler is None:
                raise self.unsupported(type(statement).__name__)
            handler(self, statement)
        except TransformError as error:
            error.located(self.builder.origin)
            raise
        finally:
            self.builder.origin = outer

    def unsupported(self, kind: str) -> NotSupported:
        what, instead = UNSUPPORTED.get(kind, (kind, "Rewrite it with supported statements."))
        return NotSupported(f"{what} is not supported", self.builder.origin, instead=instead)

    def usable(self, value: Any) -> Any:
        """The value itself, or what stands in its place; raises where it depends on the path."""
        if self.contents:
            home = value.home if isinstance(value, (RecordedList, Recording)) else value
            value = self.contents.get(id(home), value)
        if isinstance(value, Lazy | Producer) and value.listed is not None:
            return value.listed
        if isinstance(value, OrNone) and (found := settled(self, value)) is not value:
            return self.usable(found)
        if isinstance(value, np.ndarray):
            value = self.outside.copied(value)
        if isinstance(value, Conflict):
            if value.home is not None and self.by_item:
                return value.home
            raise conditions.conflict_error(self, value)
        return value

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call of a function gives while this reading goes on."""
        return self.usable(call(self, function, args, kwargs))

    def attribute(self, value: Any, name: str) -> Any:
        """What an attribute of a value is while this reading goes on."""
        return self.usable(attribute(self, value, name))

    def write(self, cell: Value, new: Atom) -> None:
        """Makes `new` the current version of an array; through a view, of what it is a part of."""
        self.laid_out.setdefault(new, []).append(cell.atom)
        if isinstance(cell, View):
            base = cell.insert(Value(cell.base.atom), Value(new)).atom
            self.write(cell.base, base)
            if Value(new).dtype == Value(cell.seen[1]).dtype:
                cell.see(base, new)
        else:
            augmented.check_writable(self, cell)
            self.aliases.check_write(self, cell)
            if isinstance(new, Var) and new.name is None:
                new.name = getattr(cell.atom, "name", None)
            self.arguments.first_writes.setdefault(id(cell), self.builder.origin)
            self.journal.write(Cell(cell), new)

    def own(self, made: Any) -> Any:
        """Notes that a container or object was made here, and may be changed here."""
        moment = stamp()
        self.owned[id(made)] = made, moment
        fields = getattr(made, "__dict__", None)
        if isinstance(fields, dict):
            self.owned[id(fields)] = fields, moment
        return made

    def existed(self, place: Place, old: Any, moment: int) -> bool:
        """Whether a place was there at a moment. `old` is what it held before it was changed."""
        if isinstance(place, Cell):
            return not isinstance(old, Var) or old.serial < moment
        if isinstance(place, Name):
            return self.frames_made[id(place.holder)].made < moment
        holder = place.holder
        if isinstance(holder, Recording):  # the loop that it belongs to looks after its items
            return place.key != "appended" and self.made_before(holder.home, moment)
        if isinstance(place, Item) and holder is self.contents:
            holder = self.owned[place.key][0]
        return self.made_before(holder, moment)

    def key_of(self, place: Place | None) -> Any:
        """What tells a place apart from others in every reading of the same function."""
        if place is None:
            return self.frame.path
        frame = self.frames_made.get(id(place.holder), self.frame)
        return frame.path, type(place).__name__, place.key

    def is_local(self, value: Any) -> bool:
        """Whether a container was made here or holds the arguments, and so holds values as they are."""
        return id(value) in self.owned or id(value) in self.arguments.containers

    def owns(self, value: Any) -> bool:
        return id(value) in self.owned

    def made_before(self, value: Any, moment: int) -> bool:
        """Whether a container or object existed at a moment (see `stamp`)."""
        return id(value) not in self.owned or self.owned[id(value)][1] < moment

    def roots(self) -> list[Any]:
        """What can be named from outside, and the lists that loops are filling."""
        filling = (held for held in self.contents.values() if getattr(held, "within", self) is not None)
        return [*self.arguments.values, *self.outside.arrays(), *filling]

    def may_be_bound_later(self, name: str) -> bool:
        """Whether a name without a value may get one later in a loop that is being read."""
        return any(loop.plan.frame is self.frame and loop.may_be_bound_later(name) for loop in reversed(self.loops))

    def checkpoint(self) -> Any:
        """A point to which `restore` can return: state, statements and assumptions."""
        block, asked = self.builder.block, len(self.classes.questions)
        return self.journal.mark(), block, len(block), self.assumptions.checkpoint(), asked, self.facts

    def restore(self, checkpoint: Any) -> None:
        mark, block, length, assumed, asked, self.facts = checkpoint
        self.journal.rollback(mark)
        assert block is self.builder.block
        del block[length:]
        del self.classes.questions[asked:]
        self.assumptions.restore(assumed)

    def loop_of_var(self, var: Var) -> Any:
        """The loop that can be unrolled to make a variable (a position, a carry) static."""
        return self.loop_vars.get(var)

    @contextmanager
    def inside(self, frame: Frame) -> Iterator[None]:
        """Makes a frame the current one."""
        self.frames_made[id(frame.names)] = frame
        self.frames.append(frame)
        try:
            yield
        finally:
            self.frames.pop()

    # What transformations call that are used inside of user code.
    def subfunction(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.recursion.derivatives += 1
        try:
            return subfunction(self, function, args, kwargs)
        finally:
            self.recursion.derivatives -= 1

    def inlined(self, function: Any, interface: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return inlined(self, function, interface, args, kwargs)


UNSUPPORTED = {
    "Try": ("`try`", "Check the condition with `if` before the operation."),
    "TryStar": ("`try`", "Check the condition with `if` before the operation."),
    "Await": ("`await`", "Await outside, and pass the result as an argument."),
    "AsyncFor": ("`async for`", "Use a plain `for` over a list."),
    "AsyncWith": ("`async with`", "Use it around the call of the transformed function."),
    "AsyncFunctionDef": ("a coroutine", "Use a plain `def`."),
    "Global": ("`global`", "Pass the value as an argument, and return the new value."),
}
