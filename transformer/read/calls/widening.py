"""What the calls of one function have in common: the structure and the types of its arguments.

    common(capture((x, 5, "a")), capture((y, 4, "a")))  ==  (slot, slot, "a")

Sizes are kept apart from types: `Extents` tells which axes have one size in every call, and which have
the same number in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...containers import LEAVES
from ...core.dims import dims_of
from ...core.equations import guardable, single_atom, value_of
from ...core.errors import NotSupported
from ...core.grammar import Var
from ...core.guards import Assumptions
from ...core.sizes import Dim, Extent, Size
from ...core.types import ArrayType
from ...ops.value import Value
from ..branches.joins import is_rounded, joined_type, same
from ..branches.structures import Clash, Fixed, Node, Slot, Template, capture, object_of, shown, stripped_type
from ..leaf_names import LeafNames, name_of
from ..objects.objects import made_of

if TYPE_CHECKING:
    from ..reader import Reader


def common(reader: Reader, one: Template, other: Template) -> Template:
    """The template of two arguments, with a slot where they differ in a number or hold what is computed;
    sizes are left out. A `Clash` where they differ in more than that."""
    if isinstance(one, Clash) or isinstance(other, Clash):
        return one if isinstance(one, Clash) else other
    whole = object_of(one)
    if whole is not None and whole is object_of(other):
        return Fixed(whole)
    one, other = _apart(reader, one), _apart(reader, other)
    if isinstance(one, Node) and isinstance(other, Node):
        alike = one.cls is other.cls and len(one.children) == len(other.children) and same(one.static, other.static)
        children = [common(reader, *pair) for pair in zip(one.children, other.children)]
        return one.with_children(children) if alike else Clash(f"{shown(one)} and {shown(other)}")
    if isinstance(one, Fixed) and isinstance(other, Fixed) and _stay(one) and same(one.value, other.value):
        return one
    if any(isinstance(each, Fixed) and isinstance(each.value, bool) for each in (one, other)):
        return Clash(f"{shown(one)} and {shown(other)}")  # a switch, which rather is known
    return _slot(reader, one, other)


def _apart(reader: Reader, template: Template) -> Template:
    """A container that was one object so far, taken apart."""
    whole = object_of(template) if isinstance(template, Fixed) else None
    return template if whole is None else capture(reader, whole)


def _stay(leaf: Fixed) -> bool:
    """Whether a leaf is known while reading if it is the same in all calls: no floating point number is
    needed so, and what is computed cannot."""
    return leaf.atom is None or isinstance(leaf.value, int)


def _slot(reader: Reader, one: Template, other: Template) -> Template:
    types = [_type_of(one), _type_of(other)]
    if types[0] is None or types[1] is None:
        return Clash(f"{shown(one)} and {shown(other)}")
    type = joined_type(types[0], types[1], reader.assumptions)
    atoms = [each.atom for each in (one, other) if isinstance(each, Fixed)]
    if type is None or any(is_rounded(atom, type) for atom in atoms):
        return Clash(f"{types[0]} and {types[1]}")
    return Slot(type)


def _type_of(template: Template) -> ArrayType | None:
    """The type of a leaf with a zero for every size."""
    if isinstance(template, Slot):
        return template.type
    if isinstance(template, Fixed) and template.atom is not None:
        type = stripped_type(template.atom)
        return type.with_sizes((0,) * type.rank)
    return None


def clashes(template: Template) -> Iterator[Clash]:
    """Where there is nothing in common."""
    if isinstance(template, Clash):
        yield template
    elif isinstance(template, Node):
        for child in template.children:
            yield from clashes(child)


class Extents:
    """The axes of the arrays in the calls of a function. A label ``("is", n)`` means that size, one of the
    code around or a number, in every call; ``("dim", k)`` the dimension `k` of the function."""

    def __init__(self, sizes: Sequence[Extent], assumptions: Assumptions) -> None:
        self.assumptions = assumptions
        self.labels: list[tuple[Any, ...]] = [("is", size) for size in sizes]

    def refine(self, sizes: Sequence[Extent]) -> bool:
        """Takes a call into account; says whether an axis differs, or two do that were one before."""
        places: dict[Any, int] = {}
        labels = [
            label if self._is(label, size) else ("dim", places.setdefault((label, size), len(places)))
            for label, size in zip(self.labels, map(self.assumptions.normal, sizes), strict=True)
        ]
        changed, self.labels = labels != self.labels, labels
        return changed

    def _is(self, label: tuple[Any, ...], size: Extent) -> bool:
        if label[0] != "is":
            return False
        own = self.assumptions.normal(label[1])
        return own == size or self._are_equal_here(own, size)

    def _are_equal_here(self, one: Extent, other: Extent) -> bool:
        """Whether two sizes are equal in the call being read, or are declared by one name; under a guard."""
        difference = one - other
        if not guardable(difference):
            return False
        known = value_of(difference, self.assumptions.hints)
        names = {getattr(single_atom(size), "name", None) for size in (one, other)}
        declared = known is None and None not in names and len(names) == 1
        return (known == 0 or declared) and self.assumptions.equal(one, other)


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A parameter of a function of its own: its variable, and the value that it is in the body."""

    var: Var
    value: Value


class Parameters:
    """Makes the parameters of a function: a variable for each slot of the `templates` of its arguments."""

    def __init__(self, reader: Reader, title: str, extents: Extents, templates: Mapping[str, Template]) -> None:
        self.reader = reader
        self.title = title
        self.leaves: list[Leaf] = []
        self.dims: dict[Dim, tuple[Var, int]] = {}
        self._labels = iter(extents.labels)
        self._arguments = frozenset(templates)
        self._names = LeafNames(path for name, template in templates.items() for path in _paths(template, name))
        self._named: dict[Any, Dim] = {}

    def build(self, template: Template, name: str, path: str) -> Any:
        """The value of an argument in the body."""
        if isinstance(template, Slot):
            return self._leaf(template.type, name, path)
        if not isinstance(template, Node):
            assert isinstance(template, Fixed)
            return template.value
        kind = made_of(template.cls)
        if kind is LEAVES:
            raise NotSupported(
                "a list of computed items as an argument of a recursive function is not supported",
                self.reader.builder.origin,
                instead="Pass an array: np.array(items).",
            )
        ways = kind.accessors(template.static, len(template.children))
        parts = [self.build(c, name_of(way, name), path + way) for c, way in zip(template.children, ways)]
        made = kind.build(template.cls, template.static, parts)
        self.reader.arguments.containers[id(made)] = made
        return made

    def _leaf(self, type: ArrayType, name: str, path: str) -> Value:
        sizes = [self._size(next(self._labels), f"{path}.shape[{axis}]") for axis in range(type.rank)]
        taken = {leaf.var.name for leaf in self.leaves} | (self._arguments if path != name else set())
        var = Var(type.with_sizes(tuple(sizes)), self._names.name(path, name, taken))
        for dim, place in dims_of([var]).items():
            self.dims.setdefault(dim, place)
        value = Value(var)
        self.leaves.append(Leaf(var, value))
        return value

    def _size(self, label: tuple[Any, ...], path: str) -> Extent:
        if label[0] == "is":
            return label[1]
        if label not in self._named:
            self._named[label] = Dim(f"{path} of {self.title}", inner=True)
        return Size.of(self._named[label])


def _paths(template: Template, path: str) -> Iterator[str]:
    """The ways to the slots of an argument."""
    if isinstance(template, Slot):
        yield path
    elif isinstance(template, Node) and (kind := made_of(template.cls)) is not LEAVES:
        ways = kind.accessors(template.static, len(template.children))
        for child, way in zip(template.children, ways):
            yield from _paths(child, path + way)


def containers_in(templates: Iterable[Template]) -> Iterator[Any]:
    """The containers among arguments that can be told apart from equal ones."""
    pending = list(templates)
    while pending:
        template = pending.pop()
        if isinstance(template, Node):
            pending += template.children
            if not issubclass(template.cls, tuple):
                yield from template.sources


def with_arguments(template: Any, leaves: list[Leaf], given: list[Any], sources: tuple[Any, ...] | None) -> Any:
    """A result with what was passed in place of parameters; its containers may be the `sources`."""
    if isinstance(template, Node):
        children = [with_arguments(child, leaves, given, sources) for child in template.children]
        return replace(template.with_children(children), sources=template.sources if sources is None else sources)
    if isinstance(template, Fixed):
        for leaf, value in zip(leaves, given):
            if template.value is leaf.value:
                return Fixed(value, value.atom)
    return template
