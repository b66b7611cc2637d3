"""What a function finds in the functions that it is defined in: calls of it are alike if that is the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import gast

from ...core.grammar import Const
from ..branches.structures import Fixed, Node, Template, capture
from ..frames import Frame

if TYPE_CHECKING:
    from ..reader import Reader

Surroundings = tuple[Any, ...]


def surroundings(reader: Reader, frame: Frame) -> Surroundings:
    """The values of all names that a function takes from around it, as something that is equal if they are the same."""
    if frame.parent is None:
        return ()
    mentioned = {node.id for node in gast.walk(frame.scope.node) if isinstance(node, gast.Name)} - frame.scope.bound
    return tuple((name, *_identity(capture(reader, value))) for name in sorted(mentioned)
                 for value in _found(frame, name))


def _found(frame: Frame, name: str) -> Iterator[Any]:
    for outer in list(frame.lineage())[1:]:
        if name in outer.scope.bound:
            if name in outer.names:
                yield outer.names[name]
            return


def _identity(template: Template) -> Iterator[Any]:
    match template:
        case Fixed(value, atom) if atom is None:
            yield id(value)
        case Fixed(_, atom):
            yield (repr(atom.value), atom.type) if isinstance(atom, Const) else atom
        case Node():
            yield template.cls
            for child in template.children:
                yield from _identity(child)
