"""Joining templates: the one that fits two values that meet, at the end of an `If` or at the head of a loop.

    join(capture((x, 2, "a")), capture((y, 3, "a")))  ==  (slot, slot, "a")
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace

from ...core.grammar import Const, Var
from ...core.guards import Assumptions
from ...core.sizes import Unknown, leaves
from ...core.types import BOOL, ArrayType
from ..values import Conflict, OrNone
from .joins import Guessing, differ_by_size, is_rounded, joined_type, same
from .structures import (
    Clash,
    Fixed,
    Missing,
    Node,
    Slot,
    Template,
    holds_array,
    is_constant,
    is_none,
    is_or_none,
    object_of,
    shown,
    stripped_type,
)

MOST_SOURCES = 8


class Joiner:
    """Joins templates. `outer` is the point in time before which a variable must be made for sizes
    to rest on it outside the blocks that meet. `testing` gives the type of two leaves after a test in
    the program that their sizes are equal. `guessing` says whether the types are a guess. `carried` are sizes that the
    loop carries whose ends meet. `nones` says whether a truth value is to tell where one side left None."""

    def __init__(
        self,
        assumptions: Assumptions,
        outer: int,
        guessing: Guessing,
        testing: Callable[[ArrayType | None, ArrayType | None], ArrayType | None] | None = None,
        carried: Container[Var] = (),
        nones: Callable[[], bool] = lambda: False,
    ) -> None:
        self.assumptions = assumptions
        self.outer = outer
        self.guessing = guessing
        self.testing = testing
        self.carried = carried
        self.nones = nones

    def checked(self, template: Template) -> Template:
        """The template, with a clash for every slot whose size is not known outside."""
        match template:
            case Slot(type, array):
                return self._slot_of(type, array)
            case Node():
                return template.with_children(map(self.checked, template.children))
        return template

    def join(self, one: Template, other: Template) -> Template:
        """The template that both have; a clash where they differ in more than numbers."""
        match one, other:
            case (Clash(), _) | (_, Missing()):
                return one if not isinstance(other, Missing) else self._partly(one, 0)
            case (_, Clash()):
                return other
            case (Missing(), _):
                return self._partly(other, 1)
            case (Node() | Fixed(), Node() | Fixed()) if object_of(one) is not None and (
                object_of(one) is object_of(other)
            ):
                return Fixed(object_of(one))
            case Fixed(), Fixed() if same(one.value, other.value):
                return one
            case (Fixed(value=Conflict()), _) | (_, Fixed(value=Conflict())):
                return one if isinstance(getattr(one, "value", None), Conflict) else other
            case _ if is_or_none(one) or is_or_none(other) or (is_none(one) or is_none(other)) and self.nones():
                return self._or_none(one, other)
            case Node(), Node():
                return self._nodes(one, other)
        left, right = self._type(one), self._type(other)
        if left is None or right is None:
            return Clash(f"{shown(one)} and {shown(other)}", by_kind=True)
        if self._is_rounded(one, other):
            return Clash(f"{left} and {right}", by_kind=True)
        arrays = holds_array(one), holds_array(other)
        return self._slot(left, right, arrays[0] if arrays[0] == arrays[1] else None)

    def _partly(self, template: Template, side: int) -> Template:
        """What a template is, which one side has, after a path that bound nothing."""
        match template:
            case Fixed(_, atom) if atom is not None:
                slot = self._slot_of(stripped_type(atom), holds_array(template))
                return self._of_inner_size(stripped_type(atom), side) if isinstance(slot, Clash) else slot
            case Fixed():
                return Clash(f"{shown(template)} and nothing")
            case Node():
                return template.with_children(
                    child if is_constant(child) else self._partly(child, side) for child in template.children
                )
        return template

    def _or_none(self, one: Template, other: Template) -> Template:
        """What is None on some paths, and what it is on the others."""
        items = [each.children[1] if isinstance(each, Node) and is_or_none(each) else each for each in (one, other)]
        found = [k for k, item in enumerate(items) if not is_none(item)]
        item = self.join(*items) if len(found) == 2 else self._one_sided(items[found[0]], found[0])
        if isinstance(item, Clash) or isinstance(item, Node) and _is_chain(item, item.cls):
            item = item if isinstance(item, Clash) else Clash("")
            return replace(item, reason=f"{shown(one)} and {shown(other)}")
        return Node(OrNone, None, (Slot(BOOL), item))

    def _one_sided(self, template: Template, side: int) -> Template:
        is_whole = isinstance(template, Fixed) and template.atom is None
        return template if is_whole else self._partly(template, side)

    def _of_inner_size(self, type: ArrayType, side: int) -> Template:
        """An array of one side, whose size is known there alone: it is merged with none."""
        pair = (None, type) if side else (type, None)
        fitted = None if self.testing is None else self.testing(*pair)
        return Clash(f"{type}, whose size is known only inside", by_size=True) if fitted is None else Slot(fitted)

    def _nodes(self, one: Node, other: Node) -> Template:
        if one.cls is not other.cls or len(one.children) != len(other.children) or not same(one.static, other.static):
            return Clash(f"{shown(one)} and {shown(other)}", by_kind=one.cls is not other.cls)
        joined = one.with_children(map(self.join, one.children, other.children))
        return replace(joined, sources=(*one.sources, *other.sources)[-MOST_SOURCES:])

    def _type(self, template: Template) -> ArrayType | None:
        if isinstance(template, Slot):
            return template.type
        if isinstance(template, Fixed) and template.atom is not None:
            return stripped_type(template.atom)
        return None

    def _is_rounded(self, *pair: Template) -> bool:
        """Whether a number of Python's on one side would be another one in the type of both."""
        one, other = map(self._type, pair)
        type = None if one is None or other is None else joined_type(one, other, self.assumptions)
        found = [each.atom for each in pair if isinstance(each, Fixed) and type and is_rounded(each.atom, type)]
        if self.guessing.now and found and not any(isinstance(atom, Const) for atom in found):
            self.guessing.allowed = True
            return False
        return bool(found)

    def _slot(self, one: ArrayType, other: ArrayType, array: bool | None) -> Template:
        type = joined_type(one, other, self.assumptions)
        by_size = type is None and differ_by_size(one, other, self.assumptions)
        if by_size and self.testing is not None:
            fitted = self.testing(one, other)
            return Slot(fitted, array) if fitted is not None else Clash(f"{one} and {other}", by_size)
        clash = Clash(f"{one} and {other}", by_size, by_kind=not by_size)
        return clash if type is None else self._slot_of(type, array)

    def _slot_of(self, type: ArrayType, array: bool | None) -> Template:
        inside = not known_outside(type, self.outer, self.carried)
        return Clash(f"{type}, whose size is known only inside") if inside else Slot(type, array)


def _is_chain(template: Node, cls: type) -> bool:
    """Whether values of a class lie in each other, until there is None: there may be any number."""
    inner = [child for child in template.children if isinstance(child, Node)]
    held = [child.children[1] for child in inner if child.cls is OrNone]
    found = any(isinstance(each, Node) and each.cls is cls for each in held)
    return found or any(_is_chain(child, cls) for child in inner)


def known_outside(type: ArrayType, outer: int, also: Container[Var] = ()) -> bool:
    """Whether the sizes rest on variables alone that were made before a point in time, or on those of `also`."""
    unknowns = [leaf for size in type.sizes for leaf in leaves(size) if isinstance(leaf, Unknown)]
    return all(leaf.var.serial <= outer or leaf.var in also for leaf in unknowns)
