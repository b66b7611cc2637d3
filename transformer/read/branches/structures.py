"""Templates: what values that meet, at the end of an `If` or at the head of a loop, have in common.

`capture` takes a value apart where it is known; a `Joiner` (`template_joins`) finds the template that fits two of them;
`atoms` lists what a captured value puts into the slots of a template; `build` makes a value of a
template with new contents in its slots.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...containers import LEAVES, kind_of
from ...core.grammar import UNDEFINED, Atom, Const, type_of
from ...core.guards import Assumptions
from ...core.types import ArrayType
from ...ops import value as values
from ...ops.value import Value
from ..objects.objects import ATTRIBUTES, made_of
from ..values import ABSENT, Axisless, Conflict, OrNone, PerhapsAxisless, is_axisless, is_number
from .casts import NOTHING
from .joins import joined_type, same
from .or_none import settled

if TYPE_CHECKING:
    from ..reader import Reader


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """A leaf as it is. `atom` is its current version if it is a number or an array."""

    value: Any
    atom: Atom | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """A leaf that is dynamic, of this type; `array` says whether one without axes is an array, None that
    it is so on some paths."""

    type: ArrayType
    array: bool | None = False

    def holding(self, atom: Atom) -> Value:
        """What the slot is where it has this in it."""
        if self.type.sizes or self.array is False:
            return Value(atom)
        return Axisless(atom) if self.array else PerhapsAxisless(atom)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A container with these children; `sources` are the objects that it may be. It is `whole` if
    it was captured as it is."""

    cls: type
    static: Any
    children: tuple[Template, ...]
    sources: tuple[Any, ...] = ()
    whole: bool = False

    def with_children(self, children: Iterable[Template]) -> Node:
        return replace(self, children=tuple(children), whole=False)


@dataclass(frozen=True, slots=True, eq=False)
class Missing:
    """Nothing: the name was not bound."""


@dataclass(frozen=True, slots=True, eq=False)
class Clash:
    """Two leaves with nothing in common; `reason` says why. `by_size`: but for their sizes; `by_kind`: as each is of a
    kind of its own."""

    reason: str
    by_size: bool = False
    by_kind: bool = False


Template = Fixed | Slot | Node | Missing | Clash


DEEPEST = 10                                     # so many objects in each other are taken apart


def capture(reader: Reader, value: Any, around: tuple[Any, ...] = ()) -> Template:
    """A value taken apart, with the versions that its arrays have now; `around` are the objects that it is in."""
    if value is ABSENT:
        return Missing()
    if isinstance(value, OrNone):
        found = settled(reader, value)
        parts = (value.there, value.item) if found is value else ()
        return Node(OrNone, None, tuple(capture(reader, part) for part in parts)) if parts else capture(reader, found)
    if reader.contents:
        value = reader.contents.get(id(value.home if hasattr(value, "as_row") else value), value)
    if isinstance(value, Value):
        return Fixed(value, value.atom)
    if is_number(value):
        return Fixed(value, values.atom(value))
    if hasattr(value, "as_row"):
        return value.as_row(reader)
    kind = made_of(type(value))
    if kind is LEAVES or value is None or kind is ATTRIBUTES and _stays_whole(reader, value, around):
        return Fixed(value)
    static, children = kind.split(value)
    inside = (*around, value) if kind is ATTRIBUTES else around
    return Node(type(value), static, tuple(capture(reader, child, inside) for child in children), (value,), whole=True)


def _stays_whole(reader: Reader, value: Any, around: tuple[Any, ...]) -> bool:
    """Whether an object is not taken apart: one from outside, of which no parts are known, and one within itself."""
    if not reader.owns(value):
        return kind_of(type(value)) is LEAVES
    return len(around) == DEEPEST or any(value is each for each in around)


def loosened(template: Template, also: type | tuple[type, ...], within: type = tuple) -> Template:
    """The template with a slot for every number and array of the kinds named, in containers of the
    kind named. (A list or dictionary that stays the same object changes by itself.)"""
    match template:
        case Fixed(value, atom) if atom is not None and isinstance(value, also):
            return Slot(stripped_type(atom), holds_array(template))
        case Node() if issubclass(template.cls, within):
            return template.with_children(loosened(child, also, within) for child in template.children)
    return template


def stripped_type(atom: Atom) -> ArrayType:
    type = type_of(atom)
    assert isinstance(type, ArrayType)
    return type


def holds_array(template: Template) -> bool | None:
    """Whether a leaf is an array without axes (see `Slot`)."""
    if isinstance(template, Slot):
        return template.array
    value = template.value if isinstance(template, Fixed) else None
    return None if isinstance(value, PerhapsAxisless) else is_axisless(value)


def object_of(template: Template) -> Any:
    """The container that a template stands for, if it is one object."""
    if isinstance(template, Node) and template.whole:
        return template.sources[0]
    if isinstance(template, Fixed) and template.atom is None and made_of(type(template.value)) is not LEAVES:
        return template.value
    return None


def value_of(template: Template) -> Any:
    """What was captured."""
    return template.sources[0] if isinstance(template, Node) and template.sources else getattr(template, "value", None)


def declared(template: Template, types: dict[Any, ArrayType], key: Any, assumptions: Assumptions) -> Template:
    """The template with the types that were found, in an earlier reading, to be wanted in its slots."""
    count = iter(range(sum(1 for _ in slots(template))))

    def typed(part: Template) -> Template:
        if isinstance(part, Node):
            return part.with_children(map(typed, part.children))
        if not isinstance(part, Slot):
            return part
        wanted = types.get((key, next(count)))
        return part if wanted is None else Slot(joined_type(part.type, wanted, assumptions) or part.type, part.array)

    return typed(template) if types else template


def same_template(one: Template, other: Template) -> bool:
    """Whether two templates have the same slots and the same fixed leaves."""
    match one, other:
        case Slot(), Slot():
            return one.type == other.type and one.array == other.array
        case Fixed(), Fixed():
            return same(one.value, other.value)
        case Node(), Node():
            alike = one.cls is other.cls and len(one.children) == len(other.children)
            return alike and all(map(same_template, one.children, other.children))
    return type(one) is type(other)


def same_objects(one: Template, other: Template) -> bool:
    """Whether the containers in two templates, which are the same otherwise, are the same objects."""
    if not isinstance(one, Node) or not isinstance(other, Node):
        return True
    mutable = not issubclass(one.cls, tuple)
    if mutable and set(map(id, one.sources)) != set(map(id, other.sources)):
        return False
    return all(map(same_objects, one.children, other.children))


def slots(template: Template) -> Iterator[Slot | Clash]:
    """The slots of a template, and what could not become one."""
    if isinstance(template, (Slot, Clash)):
        yield template
    elif isinstance(template, Node):
        for child in template.children:
            yield from slots(child)


def open_slots(template: Template) -> Iterator[Slot]:
    """The slots of a template."""
    return (slot for slot in slots(template) if isinstance(slot, Slot))


def with_slots(template: Template, types: Iterator[ArrayType]) -> Template:
    """The template with these types in its slots."""
    match template:
        case Slot():
            return replace(template, type=next(types))
        case Node():
            return template.with_children([with_slots(child, types) for child in template.children])
    return template


def types_in(template: Template) -> Iterator[ArrayType]:
    """The types of the slots of a template."""
    return (slot.type for slot in open_slots(template))


def atoms(template: Template, captured: Template) -> Iterator[Fixed]:
    """What a captured value puts into the slots of a template; nothing is `UNDEFINED`."""
    match template, captured:
        case Slot(), Fixed():
            yield captured
        case Slot(), _:
            yield Fixed(None, UNDEFINED)
        case Node(), Missing():
            yield from (Fixed(None, UNDEFINED) for _ in open_slots(template))
        case Node(cls), _ if cls is OrNone and not is_or_none(captured):
            there, item = template.children
            is_there = not is_none(captured)
            yield Fixed(is_there, Const(is_there))
            yield from atoms(item, captured) if is_there else (Fixed(None, NOTHING) for _ in open_slots(item))
        case Node(), Node():
            for child, part in zip(template.children, captured.children):
                yield from atoms(child, part)
        case Node(), _:
            for child in template.children:
                yield from atoms(child, captured)


def build(reader: Reader, template: Template, contents: Iterator[Value], conflict: Any) -> Any:
    """A value of this template; `conflict(clash)` gives what stands where there is no common leaf."""
    match template:
        case Fixed(value):
            return value
        case Slot():
            content = next(contents)
            return template.holding(content.atom) if type(content) is Value and template.array is not False else content
        case Clash():
            return conflict(template)
        case Node(cls, static, children):
            parts = [build(reader, child, contents, conflict) for child in children]
            if cls is OrNone:
                return OrNone(*parts)
            if hasattr(cls, "from_row"):
                clash = next((part for part in parts if isinstance(part, Conflict)), None)
                return cls.from_row(reader, static, *parts) if clash is None else clash
            made = reader.own(made_of(cls).build(cls, static, parts))
            if not issubclass(cls, tuple):
                reader.aliases.derive(made, template.sources)
            return made
    return ABSENT


def is_none(template: Template) -> bool:
    """Whether a value is None."""
    return isinstance(template, Fixed) and template.value is None and template.atom is None


def is_or_none(template: Template) -> bool:
    """Whether a value is None on some paths."""
    return isinstance(template, Node) and template.cls is OrNone


def is_constant(template: Template) -> bool:
    """Whether a template is a leaf that is the same object wherever and whenever it is made."""
    return (
        isinstance(template, Fixed)
        and template.atom is None
        and (template.value is None or isinstance(template.value, CONSTANTS))
    )


CONSTANTS = (
    str,
    bytes,
    bool,
    type,
    np.dtype,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    np.ufunc,
)


def constants(template: Template) -> Iterator[Fixed]:
    """The leaves that are neither numbers nor arrays."""
    if isinstance(template, Fixed) and template.atom is None:
        yield template
    elif isinstance(template, Node):
        for child in template.children:
            yield from constants(child)


def shown(template: Template) -> str:
    """A template in words, for an error."""
    from ..kinds import described, standing_for, with_article

    match template:
        case Slot(type):
            return str(type)
        case Fixed(value, atom):
            if atom is not None:
                return str(type_of(atom))
            return repr(value) if isinstance(value, str | bool | None) else described(value)
        case Node(cls, _, children) if cls is OrNone:
            return f"None or {shown(children[1])}"
        case Node(cls):
            return with_article(standing_for(cls).__name__)
        case Clash(reason):
            return reason
    return "nothing"
