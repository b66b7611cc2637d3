"""Functions that stay functions, as a program calls them so often that it would be too long with their lines at each
call.

    def drag(v, d): …                           a function of numbers, of 200 lines
    a = drag(u, 0.1) + drag(v, 0.2) + …         the calls of it are calls in Core, which has its lines once

Compilers call it inlining within a budget, and so it is here: calls are read in place until what is read again by
further calls of the same functions comes to `BUDGET` variables. Then all is read once more, with the functions that
are large and called repeatedly as functions of Core. What a small function does, and what is called once, stays where
it is called; so does what is more than a function of numbers: there is nothing to fuse between the lines of
one and those around its call, and nothing that it could share or write to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.errors import TransformError
from ...core.grammar import Block, Call, Const, Effect, If, Let, type_of
from ...core.walk import all_definitions, all_statements
from ...ops.value import Value
from ..branches.branches import Unreachable
from ..branches.structures import Fixed, Node, Slot, Template, capture, same_template, stripped_type
from ..frames import Frame, stamp
from ..raising.demand import Demand, Unroll
from .lifting import lift
from .own_functions import Own, Recursive, Templates, captured_arguments

if TYPE_CHECKING:
    from ..reader import Reader

BUDGET = 2000                           # variables that further calls make
LARGE = 60                              # variables of a function that is worth a call
KNOWN = (str, type(None), bool, int, float)    # arguments that are known while reading


@dataclass(frozen=True)
class Chosen:
    """A function that stays one, found in which of the `rounds` of reading; 0 says that it cannot. The numbers for
    which parameters are `varying`."""

    rounds: int
    varying: frozenset[str] = frozenset()


class Keep(Exception):
    """These functions are to stay functions: reading begins again."""

    def __init__(self, functions: dict[Any, Chosen]) -> None:
        super().__init__(functions)
        self.functions = functions


class NotKept(Exception):
    """A function does more than computing numbers from numbers."""


class Keeping:
    """What a reading knows of functions that stay functions, `known`, and of those that could: in which `places` each
    was read, with what is known of the arguments, and how many variables all calls but the first ones made. None does
    where `depth` is more than 0, as in functions with a meaning of their own, which want to see all statements."""

    def __init__(self) -> None:
        self.known: list[Kept] = []
        self.places: dict[Any, dict[Any, Templates]] = {}
        self.spent = 0
        self.depth = 0

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """Functions that are called inside do not stay functions."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def note(self, reader: Reader, frame: Frame, begun: int, length: int, result: Any) -> None:
        """Notes that a call was read in place, which began at that time, when the block had that length. Raises `Keep`
        where that was once too often."""
        made = stamp() - begun
        if made < LARGE or not _may_be_kept(reader, frame) or (key := _key(frame)) in reader.findings.kept:
            return
        templates = _as_parameters(reader, frame, frozenset())
        block = reader.builder.block[length:]
        if templates is None or not _is_plain(block) or not _is_of_numbers(capture(reader, result)):
            return
        places = self.places.setdefault(key, {})
        self.spent += made * (frame.path not in places and bool(places))
        places[frame.path] = templates
        rounds = max((chosen.rounds for chosen in reader.findings.kept.values()), default=0)
        if self.spent > BUDGET << rounds:
            raise Keep({key: Chosen(rounds + 1, _varying(list(places.values())))
                        for key, places in self.places.items() if len(places) > 1})


def _varying(calls: list[Templates]) -> frozenset[str]:
    """The arguments that are not one and the same number in all of these calls."""
    return frozenset(name for name, first in calls[0].items()
                     if not all(same_template(first, other[name]) for other in calls[1:]))


class Kept(Own):
    """A function of numbers that is read once for all of its calls with arguments of these kinds. `calls` are those
    that were made, by their arguments, with what they gave."""

    def __init__(self, reader: Reader, frame: Frame, templates: Templates, body: Callable[[], Any]) -> None:
        super().__init__(reader, frame, templates, body)
        self.calls: dict[Any, list[tuple[Call, Any]]] = {}

    def read(self) -> Any:
        reader = self.reader
        asked = len(reader.questions), len(reader.assumptions.guards)
        facts, reader.facts = reader.facts, {}
        try:
            settled = self._pass()
        finally:
            reader.facts = facts
        if not settled or (len(reader.questions), len(reader.assumptions.guards)) != asked or not self._is_plain():
            raise NotKept
        self.is_complete = True
        self.lifted = lift(reader, self.function)
        if not self._stands_alone() or not all(type_of(atom).is_inexact for atom in self.lifted):
            raise NotKept               # something is known of integers where this call stands
        reader.recursion.keeping.known.append(self)
        return self.call(self.outer)

    def call(self, captured: Templates) -> Any:
        """Emits a call, unless there is one with the same arguments."""
        builder = self.reader.builder
        made = self.calls.setdefault(tuple(map(_identity, self._leaves(captured))), [])
        for stmt, result in made:
            if builder.holds(stmt):
                return result
        result = super().call(captured)
        made.append((self.emitted, result))
        return result

    def _is_plain(self) -> bool:
        mixed = self.reader.mixed.isdisjoint(all_definitions(self.function.body))
        return mixed and not self.written and _is_of_numbers(self.result) and _is_plain(self.function.body)

    def accepts(self, captured: Templates) -> bool:
        return all(same_template(captured[name], self.templates[name]) for name in captured)

    def _joined(self, captured: Templates) -> Templates:
        return self.templates

    def _settled(self, before: Template | None, joined: Template) -> bool:
        return True                     # as it does not call itself, nothing was assumed of the result


def read_kept(reader: Reader, frame: Frame, body: Callable[[], Any]) -> tuple[bool, Any]:
    """Whether a call is one of a function that stays one, and what it gives."""
    key = _key(frame) if reader.findings.kept else None
    chosen = reader.findings.kept.get(key)
    if chosen is None or not chosen.rounds or not _may_be_kept(reader, frame):
        return False, None
    alike = [each for each in reader.recursion.keeping.known if each.frame.has_code_of(frame)]
    templates = _as_parameters(reader, frame, chosen.varying)
    if templates is not None and alike:
        more = _varying([templates, *(each.templates for each in alike)])
        chosen = reader.findings.kept[key] = Chosen(chosen.rounds, chosen.varying | more)
        templates = _as_parameters(reader, frame, chosen.varying)
    if templates is None:
        return False, None
    checkpoint = reader.checkpoint()
    names = [(var, var.name) for var in frame.named]
    for var, _ in names:
        var.name = None                 # the parameter has it
    known = next((each for each in alike if each.accepts(templates)), None)
    try:
        if known:
            return True, known.call(captured_arguments(reader, frame))
        return True, Kept(reader, frame, templates, body).read()
    except (NotKept, TransformError, Unroll, Demand, Unreachable, Recursive):
        reader.restore(checkpoint)
    for var, name in names:
        var.name = name
    reader.findings.kept[key] = Chosen(0)
    frame.reset()
    return False, None


def _may_be_kept(reader: Reader, frame: Frame) -> bool:
    """Whether a call stands where functions of their own may be called, whatever they do."""
    is_alone = frame.parent is None and frame.site is None
    is_inside = reader.recursion.keeping.depth or reader.recursion.derivatives or reader.recursion.active
    return is_alone and not is_inside and not reader.catching.kinds and not reader.is_early


def _key(frame: Frame) -> Any:
    """What tells a function apart from others in every reading, however its tree was rewritten."""
    node = frame.scope.node
    return frame.file, frame.function, node.lineno, node.col_offset, tuple(map(id, frame.cells.values()))


def _as_parameters(reader: Reader, frame: Frame, varying: Collection[str]) -> Templates | None:
    """What calls with arguments like these have in common, if all are numbers or known; of those that are `varying`,
    not even floating point numbers are known."""
    found = {name: _as_parameter(reader, template, name in varying)
             for name, template in captured_arguments(reader, frame).items()}
    return None if None in found.values() else found          # type: ignore[return-value]


def _as_parameter(reader: Reader, template: Template, varies: bool) -> Template | None:
    if not isinstance(template, Fixed):
        return None
    value, atom = template.value, template.atom
    if type(value) in KNOWN and not (varies and type(value) is float):
        return template
    is_number = type(value) is float or type(value) is Value and not value.ndim
    is_certain = atom is not None and atom not in reader.mixed and atom not in reader.partial
    return Slot(stripped_type(atom)) if is_number and is_certain else None   # type: ignore[arg-type]


def _identity(leaf: Fixed) -> Any:
    """What is equal for leaves that are the same number."""
    atom = leaf.atom
    return (repr(atom.value), atom.type) if isinstance(atom, Const) else atom


def _is_of_numbers(result: Template | None) -> bool:
    match result:
        case Slot():
            return not result.type.sizes and result.array is False
        case Fixed(value):
            return type(value) in KNOWN or type(value) is Value and not value.ndim
        case Node():
            return result.cls is tuple and all(map(_is_of_numbers, result.children))
    return False


def _is_plain(block: Block) -> bool:
    return all(map(_is_plain_statement, all_statements(block)))


def _is_plain_statement(stmt: Any) -> bool:
    match stmt:
        case Let():
            return stmt.op.elementwise and not any(getattr(target.type, "sizes", True) for target in stmt.targets)
        case Effect():
            return stmt.kind == "raise"
        case Call():
            return True
    return isinstance(stmt, If)
