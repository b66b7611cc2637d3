"""Functions that stay functions, as a program calls them so often that it would be too long with their lines at each
call.

    def drag(v, d): …                           a function of numbers, of 200 lines
    a = drag(u, 0.1) + drag(v, 0.2) + …         the calls of it are calls in Core, which has its lines once

Compilers call it inlining within a budget, and so it is here: calls are read in place until what is read again by
further calls of the same functions comes to `BUDGET` variables. Then all is read once more, with the functions that
are large and called repeatedly as functions of Core. What a small function does, and what is called once, stays where
it is called; so does what is more than a function of numbers: there is nothing to fuse between the lines of
one and those around its call, and nothing that it could share or write to.

What is read for its source alone is fused by nobody. There functions of arrays stay functions, too, and much sooner:
where their lines would be there twice (`repeated`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.grammar import Atom, Block, Call, Effect, If, Let, type_of
from ...core.sizes import Extent
from ...core.types import ArrayType
from ...core.walk import all_statements
from ...ops.value import Value
from ..branches.structures import Fixed, Node, Slot, Template, atoms, capture, same_template, stripped_type
from ..frames import Frame, stamp
from ..requests import Request
from .own_functions import Templates, captured_arguments
from .repeated import FEWEST, ReadCall, kind_of, repeated
from .surroundings import surroundings

if TYPE_CHECKING:
    from ...core.grammar import Function
    from ..findings import Findings
    from ..reader import Reader
    from .kept import Kept

BUDGET = 2000                           # variables that further calls make
LARGE = 60                              # variables of a function that is worth a call
Label = tuple[str, Any]                 # of a size: as `Extents` has them
KNOWN = (str, type(None), bool, int, float, complex)    # arguments that are known while reading


@dataclass(frozen=True)
class Chosen:
    """A function that stays one, found in which of the `rounds` of reading; 0 says that it cannot. The numbers for
    which parameters are `varying`; calls with arguments of which `kind`, if not of all, and what their `sizes` are."""

    rounds: int
    varying: frozenset[str] = frozenset()
    kind: Any = None
    sizes: tuple[Label, ...] = ()


class Keep(Request):
    """The functions with these keys are to stay functions, as it says for each."""

    def note(self, findings: Findings) -> None:
        findings.kept.update(self.key)


class Keeping:
    """What a reading knows of functions that stay functions, `known`, and of those that could: in which `places` each
    was read, with what is known of the arguments, and how many variables all calls but the first ones made. None does
    where `depth` is more than 0, as in functions with a meaning of their own, which want to see all statements. Of what
    is read `for_source` all `calls` are noted of functions of more than a few lines."""

    def __init__(self) -> None:
        self.for_source = False
        self.calls: list[ReadCall] = []
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
        if made < (FEWEST if self.for_source else LARGE) or not may_be_kept(reader, frame):
            return
        templates = as_parameters(reader, frame, frozenset())
        key, block = key_of(frame), reader.builder.block[length:]
        if key in reader.findings.kept or templates is None or not self.may_stay(block, capture(reader, result)):
            return
        if self.for_source:
            sizes = sizes_of(reader, frame, templates)
            self.calls.append(ReadCall(key, templates, surroundings(reader, frame), sizes, block))
        if made >= LARGE:
            self._spend(reader, frame, key, templates, made)

    def _spend(self, reader: Reader, frame: Frame, key: Any, templates: Templates, made: int) -> None:
        places = self.places.setdefault(key, {})
        self.spent += made * (frame.path not in places and bool(places))
        places[frame.path] = templates
        rounds = max((chosen.rounds for chosen in reader.findings.kept.values()), default=0)
        if self.spent > BUDGET << rounds:
            raise Keep({key: Chosen(rounds + 1, varying(list(places.values())))
                        for key, places in self.places.items() if len(places) > 1})

    def may_stay(self, block: Block, result: Template | None) -> bool:
        """Whether what these statements give may be given by a call of a function of its own."""
        if self.for_source:
            return not any(map(_is_of_its_place, all_statements(block))) and _is_new(result)
        return _is_plain(block) and _is_of_numbers(result)

    def settle(self, reader: Reader, function: Function) -> None:
        """At the end of a reading; raises `Keep` where lines of functions are there repeatedly."""
        found = repeated(self.calls, function)
        if found:
            rounds = max((chosen.rounds for chosen in reader.findings.kept.values()), default=0) + 1
            raise Keep({key: _chosen(reader, calls, rounds) for key, calls in found.items()})


def _chosen(reader: Reader, calls: list[ReadCall], rounds: int) -> Chosen:
    """What all of these calls have in common, in the end."""
    normal = reader.assumptions.normal
    sizes = labels_of(tuple(map(normal, of_axis)) for of_axis in zip(*(call.sizes for call in calls)))
    return Chosen(rounds, varying([call.templates for call in calls]), kind_of(calls[0].templates), sizes)


def labels_of(sizes: Iterable[tuple[Extent, ...]]) -> tuple[Label, ...]:
    """What sizes are, of which each has been found in several calls: a number, or a dimension of the function."""
    places: dict[Any, int] = {}
    return tuple(("is", of_axis[0]) if isinstance(of_axis[0], int) and len(set(of_axis)) == 1
                 else ("dim", places.setdefault(of_axis, len(places))) for of_axis in sizes)


def varying(calls: list[Templates]) -> frozenset[str]:
    """The arguments that are not one and the same number in all of these calls."""
    return frozenset(name for name, first in calls[0].items()
                     if not all(same_template(first, other[name]) for other in calls[1:]))


def may_be_kept(reader: Reader, frame: Frame) -> bool:
    """Whether a call stands where functions of their own may be called, whatever they do."""
    is_alone = (frame.parent is None or reader.recursion.keeping.for_source) and frame.site is None
    is_inside = reader.recursion.keeping.depth or reader.recursion.derivatives or reader.recursion.active
    return is_alone and not is_inside and not reader.catching.kinds and not reader.is_early


def key_of(frame: Frame) -> Any:
    """What tells a function apart from others in every reading, however its tree was rewritten."""
    node = frame.scope.node
    return frame.file, frame.function, node.lineno, node.col_offset, tuple(map(id, frame.cells.values()))


def as_parameters(reader: Reader, frame: Frame, varying: Collection[str]) -> Templates | None:
    """What calls with arguments like these have in common, if all may be parameters or are known; of those that are
    `varying`, not even floating point numbers are known."""
    found = {name: _as_parameter(reader, template, name in varying)
             for name, template in captured_arguments(reader, frame).items()}
    return None if None in found.values() else found          # type: ignore[return-value]


def _as_parameter(reader: Reader, template: Template, varies: bool) -> Template | None:
    with_arrays = reader.recursion.keeping.for_source
    if isinstance(template, Node) and with_arrays:
        children = [_as_parameter(reader, child, varies) for child in template.children]
        return None if None in children else template.with_children(children)          # type: ignore[arg-type]
    if not isinstance(template, Fixed):
        return None
    value, atom = template.value, template.atom
    is_real = type(value) in (float, complex)
    if type(value) in KNOWN and not (varies and is_real):
        return template
    is_number = is_real or type(value) is Value and (with_arrays or not value.ndim)
    is_certain = atom is not None and atom not in reader.classes.mixed and atom not in reader.partial
    return _slot(atom) if is_number and is_certain else None                            # type: ignore[arg-type]


def sizes_of(reader: Reader, frame: Frame, templates: Templates) -> list[Extent]:
    """The sizes of the arguments of a call, axis by axis."""
    captured = captured_arguments(reader, frame)
    leaves = [leaf for name, template in templates.items() for leaf in atoms(template, captured[name])]
    return [size for leaf in leaves for size in type_of(leaf.atom).sizes]           # type: ignore[union-attr]


def _slot(atom: Atom) -> Slot:
    type = stripped_type(atom)
    return Slot(type.with_sizes((0,) * type.rank))


def _is_of_numbers(result: Template | None) -> bool:
    match result:
        case Slot():
            return not result.type.sizes and result.array is False
        case Fixed(value):
            return type(value) in KNOWN or type(value) is Value and not value.ndim
        case Node():
            return result.cls is tuple and all(map(_is_of_numbers, result.children))
    return False


def _is_new(result: Template | None) -> bool:
    """Whether a result is made of numbers and arrays that the call has made."""
    match result:
        case Slot():
            return result.array is False
        case Fixed(value):
            return type(value) in KNOWN or type(value) is Value
        case Node():
            return result.cls in (tuple, list, dict) and all(map(_is_new, result.children))
    return False


def _is_of_its_place(stmt: Any) -> bool:
    """Whether a statement has an effect, or is about all lanes of a batch, of which a function does not know."""
    if isinstance(stmt, Let):
        return stmt.op.over_lanes is not None
    return isinstance(stmt, Effect) and stmt.kind != "raise"


def is_light(block: Block) -> bool:
    """Whether statements take so little time that they may be done again in reverse mode."""
    return all(map(_is_light_statement, all_statements(block)))


def _is_light_statement(stmt: Any) -> bool:
    match stmt:
        case Let():
            types = [target.type for target in stmt.targets]
            return all(isinstance(type, ArrayType) and not (stmt.op.heavy and type.sizes) for type in types)
        case Effect():
            return stmt.kind == "raise"
        case Call():
            return stmt.function.again
    return isinstance(stmt, If)


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
