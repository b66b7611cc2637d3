"""What items of lists in arrays are (see `open_lists`): numbers and arrays, tuples of them, and lists of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, count, repeat
from typing import TYPE_CHECKING, Any

from ...containers import LEAVES
from ...core.grammar import If, Var
from ...core.naming import OwnName
from ...core.sizes import Extent
from ...core.types import ArrayType
from ..branches.structures import (
    Fixed,
    Node,
    Slot,
    Template,
    atoms,
    capture,
    is_constant,
    is_or_none,
    loosened,
    open_slots,
    slots,
    types_in,
    with_slots,
)
from ..branches.template_joins import Joiner
from ..objects.objects import ATTRIBUTES, made_of
from ..values import Conflict
from .recorded import Part, RecordedList, Recording, spread

if TYPE_CHECKING:
    from ..reader import Reader


@dataclass(frozen=True, eq=False)
class Shape:
    """What an item is, but for the sizes of its arrays."""

    template: Template

    def with_types(self, types: Iterator[ArrayType]) -> Template:
        """The template of items with arrays of these types, numbers of Python's being what they are."""
        weak = [slot.type.weak for slot in open_slots(self.template)]
        return with_slots(self.template, (replace(type, weak=each) for type, each in zip(types, weak)))

    def __transformer_same__(self, other: Shape) -> bool:
        return _are_alike(self.template, other.template)


def node_of(template: Template, arrays: list[Any]) -> Node:
    from .open_lists import OpenList

    return Node(OpenList, Shape(template), tuple(arrays))


def row_of_rows(reader: Reader, part: Part) -> Node:
    """The template of a list of lists with the items of a part."""
    return node_of(as_items(part.template), [capture(reader, array) for array in part.arrays])


def open_template(reader: Reader, value: Any, items: Template) -> Node:
    """The template of a list as arrays of its items, which are of this template."""
    length: Extent = value.length(reader) if isinstance(value, RecordedList) else len(value)
    types = (slot.type for slot in open_slots(items))
    return node_of(items, [Slot(ArrayType(type.dtype, (length, *type.sizes))) for type in types])


def names_in(template: Template, name: str | None) -> Iterator[str | None]:
    """What a person calls what is in the slots of a template that has this name: of a list, its arrays; of an object,
    its attributes."""
    if isinstance(template, Node) and isinstance(template.static, Shape) and len(template.children) > 1:
        return (f"{name}_{k}" if name else name for k in count())
    return chain(_names_of_leaves(template, name), repeat(name))


def _names_of_leaves(template: Template, name: str | None) -> Iterator[str | None]:
    if isinstance(template, Slot):
        yield name
    elif isinstance(template, Node) and is_or_none(template):
        yield name and type(name)(f"has_{name}")
        yield from _names_of_leaves(template.children[1], name)
    elif isinstance(template, Node):
        for child, called in zip(template.children, _names_of_children(template, name)):
            yield from _names_of_leaves(child, called)


def _names_of_children(template: Node, name: str | None) -> Iterable[str | None]:
    """The attributes of an object; `hit_distance` and `hit_normal` for the fields of `hit`, if it has several."""
    kind = made_of(template.cls)
    if kind is ATTRIBUTES:
        names: Iterable[str | None] = template.static
        return names
    if name is None or kind is LEAVES or isinstance(template.static, Shape) or sum(1 for _ in open_slots(template)) < 2:
        return repeat(name)
    words = (re.findall(r"\w+", way) for way in kind.accessors(template.static, len(template.children)))
    return [type(name)(f"{name}_{found[-1]}") if found else name for found in words]


def name_choices(reader: Reader, value: Any, name: str) -> None:
    """Names what is in a container that is bound to a name, where the last branch made it and gave it no name."""
    last = reader.builder.block[-1] if reader.builder.block else None
    merged = {merge.target for merge in last.merges} if isinstance(last, If) else set()
    if not any(var.name is None or var in reader.provisional for var in merged):
        return
    captured = capture(reader, value)
    if isinstance(captured, Node):
        template = loosened(captured, object, object)
        for called, leaf in zip(names_in(template, name), atoms(template, captured)):
            if isinstance(leaf.atom, Var) and leaf.atom in merged and called:
                rename(reader, leaf.atom, called)


def rename(reader: Reader, var: Var, name: str) -> None:
    """Names a variable that has no name, or one of ours, and with it what it comes from."""
    if var not in reader.provisional:
        var.name = name
    pending: list[Any] = [var]
    while pending:
        each = pending.pop()
        if each in reader.provisional:
            pending += [source for source in reader.provisional.pop(each) if isinstance(source, Var)]
            each.name = OwnName(name)


def template_of(reader: Reader, item: Any) -> Template:
    """The template of an item as it is kept in arrays."""
    return kept(capture(reader, item))


def kept(captured: Template) -> Template:
    """The template of an item as it is kept in arrays, by the item as it was captured."""
    return as_items(loosened(captured, object, object))


def sample_of(reader: Reader, value: Any) -> Template | None:
    """The template of an item of a list, if any is known."""
    return next(iter(_templates(reader, value)), None)


def _templates(reader: Reader, value: Any) -> list[Template]:
    held = reader.contents.get(id(value), value) if isinstance(value, list) else value
    found: tuple[Any, ...] = ()
    samples = [held.sampled] if isinstance(held, Conflict) and held.sampled is not None else []   # of some paths
    if isinstance(held, Recording):
        found = (*held.sample, *(held.appended if isinstance(held.appended, tuple) else ()))
        held = held.before
    parts = held.parts if isinstance(held, RecordedList) else (tuple(held),) if isinstance(held, list) else ()
    return [as_items(each.template) if isinstance(each, Part) else template_of(reader, each)
            for each in (*spread(parts), *found)] + samples


def items_of_list(reader: Reader, joiner: Joiner, value: Any, sample: Template | None = None) -> Template | None:
    """The template that all items of a list have, and a sample; None where there is none, or no item is known."""
    templates = [*_templates(reader, value), *([] if sample is None else [sample])]
    if not templates:
        return None
    joined = joined_items(joiner, templates)
    classes = {tuple(slot.type.weak for slot in open_slots(template)) for template in templates}
    reader.lists.mixed_items |= len(classes) > 1
    reader.lists.whole_items |= any(are_whole_among_floats(each, joined) for each in templates)
    is_kept = any(True for _ in open_slots(joined))              # a text or None lies in no array
    return joined if is_kept and can_be_items(joiner.checked(joined)) else None


def joined_items(joiner: Joiner, templates: list[Template]) -> Template:
    """The template that all have. The numbers in rows are joined as numbers are: an int is a float among others."""
    if len(templates) > 1 and all(map(is_row, templates)):
        inner = joined_items(joiner, [row.static.template for row in templates if isinstance(row, Node)])
        dtypes = [type.dtype for type in types_in(inner)]
        if len(dtypes) == 1:
            templates = [node_of(inner, [Slot(replace(type, dtype=dtypes[0])) for type in types_in(row)])
                         for row in templates]
    return reduce(joiner.join, templates)


def can_be_items(template: Template) -> bool:
    """Whether items are numbers and arrays of sizes that are known, in tuples and objects."""
    match template:
        case Slot():
            return True
        case Node():
            holds = issubclass(template.cls, tuple) or made_of(template.cls) is ATTRIBUTES
            return is_row(template) or holds and bool(list(slots(template))) and all(
                map(can_be_items, template.children))
        case Fixed():
            return is_constant(template)
    return False


def is_row(template: Template) -> bool:
    """Whether an item is a list of numbers, or of such lists, that lies in one array."""
    if not isinstance(template, Node) or not issubclass(template.cls, RecordedList) or len(template.children) != 1:
        return False
    inner = template.static.template if isinstance(template.static, Shape) else template.children[0]
    return isinstance(template.children[0], Slot) and (
        isinstance(inner, Slot) and len(template.children[0].type.sizes) == 1 or is_row(inner))


def as_items(template: Template) -> Template:
    """The template of items that are lists, as that of lists which can be changed."""
    if isinstance(template, Node) and template.cls is RecordedList and is_row(template):
        type = next(open_slots(template)).type
        return node_of(Slot(replace(type.with_sizes(()), weak=template.static)), [*template.children])
    return template


def is_list(template: Template) -> bool:
    """Whether a template is that of a list, however its items are held."""
    if isinstance(template, Node):
        return issubclass(template.cls, list | RecordedList)
    return isinstance(template, Fixed) and isinstance(template.value, list | RecordedList)


def are_same(reader: Reader, one: Template, other: Template) -> bool:
    """Whether items of one template can be kept among those of the other as they are."""
    if not _are_alike(one, other):
        return False
    normal = reader.assumptions.normal
    pairs = zip(open_slots(one), open_slots(other))
    return all(a.type.dtype == b.type.dtype and a.type.rank == b.type.rank
               and all(normal(m) == normal(n) for m, n in zip(a.type.sizes, b.type.sizes)) for a, b in pairs)


def are_whole_among_floats(template: Template, items: Template) -> bool:
    """Whether Python's integers become items that are floats."""
    pairs = zip(open_slots(template), open_slots(items))
    return any(one.type.dtype.kind == "i" and other.type.dtype.kind == "f" for one, other in pairs)


def is_as_weak(items: Template, template: Template) -> bool:
    """Whether items are not said to be Python's numbers where those of the template are NumPy's."""
    pairs = zip(open_slots(items), open_slots(template))
    return all(one.type.weak <= other.type.weak for one, other in pairs)


def _are_alike(one: Template, other: Template) -> bool:
    match one, other:
        case Slot(), Slot():
            return one.array == other.array
        case Node(), Node():
            return one.cls is other.cls and len(one.children) == len(other.children) and all(
                map(_are_alike, one.children, other.children))
        case Fixed(), Fixed():
            return one.value is other.value
    return False
