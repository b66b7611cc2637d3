"""What a function finds in the functions that it is defined in: calls of it are alike if that is the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from types import BuiltinMethodType, MethodType
from typing import TYPE_CHECKING, Any

import gast

from ...core.grammar import Const
from ..branches.structures import Fixed, Node, Template, capture
from ..frames import Frame
from ..values import ArrayMethod, Closure, ContainerMethod, Lazy, Producer

if TYPE_CHECKING:
    from ..reader import Reader

Surroundings = tuple[Any, ...]
BOUND = (MethodType, BuiltinMethodType, partial, ArrayMethod, ContainerMethod, Lazy, Producer)    # to what may change
CONTAINERS = (tuple, list, dict)
INNER = (gast.FunctionDef, gast.Lambda, gast.ClassDef)


class Held:
    """An object, equal to nothing but itself, and kept alive so that no other one has its place."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Held) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def surroundings(reader: Reader, frame: Frame) -> Surroundings:
    """The values of all names that a function takes from around it, as something that is equal if they are the same."""
    if frame.parent is None:
        return ()
    return tuple(_Finding(reader).around(frame, [frame.scope.node]))


class _Finding:
    """Finds the values; those in the frames that have been `seen` are known by then."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.seen: set[int] = set()

    def around(self, frame: Frame, nodes: Iterable[Any]) -> Iterator[Any]:
        """What the names in these nodes are in the frames around that one."""
        mentioned = sorted({node.id for each in nodes for node in gast.walk(each) if isinstance(node, gast.Name)})
        for outer in list(frame.lineage())[1:]:
            for name in mentioned:
                if name in outer.names:
                    yield name
                    yield from self.identity(capture(self.reader, outer.names[name]), frame)

    def identity(self, template: Template, frame: Frame) -> Iterator[Any]:
        match template:
            case Fixed(value, atom) if atom is None:
                yield Held(object() if isinstance(value, BOUND) else value)
                if not isinstance(value, str):
                    yield from self.called(value.frame if isinstance(value, Closure) else frame.parent)
            case Fixed(_, atom):
                yield (repr(atom.value), atom.type) if isinstance(atom, Const) else atom
            case Node():
                yield template.cls
                if template.cls not in CONTAINERS:
                    yield from self.called(frame.parent)
                for child in template.children:
                    yield from self.identity(child, frame)

    def called(self, frame: Frame | None) -> Iterator[Any]:
        """What functions and methods find that are defined in a frame, or around it: one may call another."""
        for outer in frame.lineage() if frame is not None else ():
            if id(outer) not in self.seen:
                self.seen.add(id(outer))
                nodes = [node for node in gast.walk(outer.scope.node) if isinstance(node, INNER)]
                mentioned = {node.id for each in nodes if each is not outer.scope.node
                             for node in gast.walk(each) if isinstance(node, gast.Name)}
                for name in sorted(mentioned & outer.names.keys()):
                    yield name
                    yield from self.identity(capture(self.reader, outer.names[name]), outer)
