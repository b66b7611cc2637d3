"""A function that stays a function, where it was chosen to (`keeping`): it is read once, and called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...core.errors import TransformError
from ...core.grammar import Call, Const, type_of
from ...core.sizes import Extent
from ...core.walk import all_definitions
from ...ops.value import Value
from ..branches.branches import Unreachable
from ..branches.structures import Fixed, Template, same_template
from ..frames import Frame
from ..raising.demand import Demand, Unroll
from .keeping import (
    Chosen,
    Label,
    as_parameters,
    is_light,
    key_of,
    kind_of,
    labels_of,
    may_be_kept,
    sizes_of,
    varying,
)
from .lifting import lift
from .own_functions import Own, Recursive, Templates, captured_arguments
from .surroundings import surroundings

if TYPE_CHECKING:
    from ..reader import Reader
    from .widening import Extents


class NotKept(Exception):
    """A function does what only its lines can do."""


class Kept(Own):
    """A function that is read once for all of its calls with arguments of these kinds. `calls` are those that were
    made, by their arguments."""

    def __init__(self, reader: Reader, frame: Frame, templates: Templates, body: Callable[[], Any]) -> None:
        super().__init__(reader, frame, templates, body)
        self.calls: dict[Any, list[Call]] = {}
        self.around = surroundings(reader, frame)

    def _outer_extents(self) -> Extents:
        """Sizes are the function's own, but for those that are numbers. One that is defined in a function may meet
        arrays of that, so that it has its sizes."""
        extents = super()._outer_extents()
        if self.frame.parent is None:
            extents.labels = list(labels_of((size,) for size in self._sizes(self._leaves(self.outer))))
        return extents

    def read(self) -> Any:
        reader = self.reader
        asked = len(reader.classes.questions), len(reader.assumptions.guards)
        facts, reader.facts = reader.facts, {}
        try:
            settled = self._pass()
        finally:
            reader.facts = facts
        has_asked = asked != (len(reader.classes.questions), len(reader.assumptions.guards))
        if not settled or has_asked or not self._is_plain():
            raise NotKept
        self.function.again = reader.recursion.keeping.for_source and is_light(self.function.body)
        self.function.source = self.frame.source
        self.is_complete = True
        self.lifted = lift(reader, self.function)
        if not (self._stands_alone() or self.around) or not all(type_of(atom).is_inexact for atom in self.lifted):
            raise NotKept               # something is known of integers where this call stands
        reader.recursion.keeping.known.append(self)
        return self.call(self.outer)

    def call(self, captured: Templates) -> Any:
        """Emits a call, unless there is one with the same arguments: what that gives are arrays of their own here."""
        leaves = self._leaves(captured)
        made = self.calls.setdefault(tuple(map(_identity, leaves)), [])
        for stmt in made:
            if self.reader.builder.holds(stmt):
                return self._result(leaves, captured, list(map(Value, stmt.targets)))
        result = super().call(captured)
        made.append(self.emitted)
        return result

    def _is_plain(self) -> bool:
        mixed = self.reader.classes.mixed.isdisjoint(all_definitions(self.function.body))
        is_pure = not (self.written or self.changed or self.shared or self.together or self.captured)
        return mixed and is_pure and self.reader.recursion.keeping.may_stay(self.function.body, self.result)

    def serves(self, frame: Frame, captured: Templates, templates: Templates) -> bool:
        """Whether a call with these arguments, of which this is known, is one of this function."""
        fits = all(same_template(templates[name], self.templates[name]) for name in templates)
        is_here = fits and self.around == surroundings(self.reader, frame)
        return is_here and self._has_sizes(self._sizes(self._leaves(captured)))

    def _has_sizes(self, sizes: list[Extent]) -> bool:
        """Whether sizes are those that the function has where these are numbers, and equal where they are."""
        given: dict[Label, Extent] = {}
        for label, size in zip(self.extents.labels, sizes):
            fits = size == label[1] if label[0] == "is" else size not in (0, 1)
            if not fits or given.setdefault(label, size) != size:
                return False
        return True

    def _joined(self, captured: Templates) -> Templates:
        return self.templates

    def _settled(self, before: Template | None, joined: Template) -> bool:
        return True                     # as it does not call itself, nothing was assumed of the result


def read_kept(reader: Reader, frame: Frame, body: Callable[[], Any]) -> tuple[bool, Any]:
    """Whether a call is one of a function that stays one, and what it gives."""
    found = _chosen(reader, frame)
    if found is None:
        return False, None
    chosen, templates, alike = found
    checkpoint = reader.checkpoint()
    names = [(var, var.name) for var in frame.named]
    for var, _ in names:
        var.name = None                 # the parameter has it
    try:
        if _take_sizes(reader, frame, templates, chosen.sizes):
            captured = captured_arguments(reader, frame)
            known = next((each for each in alike if each.serves(frame, captured, templates)), None)
            return True, known.call(captured) if known else Kept(reader, frame, templates, body).read()
    except (NotKept, TransformError, Unroll, Demand, Unreachable, Recursive):
        reader.findings.kept[key_of(frame)] = Chosen(0)
    reader.restore(checkpoint)
    for var, name in names:
        var.name = name
    frame.reset()
    return False, None


def _chosen(reader: Reader, frame: Frame) -> tuple[Chosen, Templates, list[Kept]] | None:
    """What is known of the function of a call, if that stays one, and of the arguments; and what there is of it."""
    key = key_of(frame) if reader.findings.kept else None
    chosen = reader.findings.kept.get(key)
    if chosen is None or not chosen.rounds or not may_be_kept(reader, frame):
        return None
    templates = as_parameters(reader, frame, chosen.varying)
    if templates is None or chosen.kind is not None and kind_of(templates) != chosen.kind:
        return None
    alike = [each for each in reader.recursion.keeping.known if each.frame.has_code_of(frame)]
    more = varying([templates, *(each.templates for each in alike)])
    if not more <= chosen.varying:
        chosen = reader.findings.kept[key] = replace(chosen, varying=chosen.varying | more)
        templates = as_parameters(reader, frame, chosen.varying)
    return None if templates is None else (chosen, templates, alike)


def _take_sizes(reader: Reader, frame: Frame, templates: Templates, labels: tuple[Label, ...]) -> bool:
    """Takes sizes of arguments as what they turned out to be; False if one cannot be."""
    first: dict[Label, Extent] = {}
    return all(reader.assumptions.equal(size, label[1] if label[0] == "is" else first.setdefault(label, size))
               for label, size in zip(labels, sizes_of(reader, frame, templates)))


def _identity(leaf: Fixed) -> Any:
    """What is equal for leaves that are the same number."""
    atom = leaf.atom
    return (repr(atom.value), atom.type) if isinstance(atom, Const) else atom
