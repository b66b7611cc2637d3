"""Lists to which a loop appends under a condition: each iteration records whether, and what.

    for x in xs:                         item_k[k], there_k[k] = f(x), True     or     0.0, False
        if x > 0:                        …
            ys.append(f(x))              ys = item_k[there_k]
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from ...core.sizes import Size, Unknown, leaves
from ...core.types import ArrayType
from ...ops.value import Value
from ..branches.casts import zeros_of
from ..branches.structures import Node, Template
from .recorded import Recording

if TYPE_CHECKING:
    from ..branches.branches import Side
    from ..reader import Reader


class Maybe(NamedTuple):
    """An item that is appended if `there` holds; else it stands for nothing."""

    there: Any
    item: Any


class Unknowable(Exception):
    """Nothing can stand in the place of this item."""


def balance(reader: Reader, sides: tuple[Side, Side], moment: int) -> None:
    """Where one side of an `If` appends an item to a list that a loop fills, and the other does not,
    both append one that may be there."""
    for key, (place, _) in {**sides[0].contents, **sides[1].contents}.items():
        if isinstance(place.holder, Recording) and place.key == "appended" and place.get() == ():
            held = [side.contents[key][1] if key in side.contents else () for side in sides]
            if all(isinstance(items, tuple) and len(items) < 2 for items in held):
                _spread(reader, key, place, sides, held, moment)


def _spread(reader: Reader, key: Hashable, place: Any, sides: tuple[Side, Side], held: list[Any], moment: int) -> None:
    """Gives both sides an item; where both have one for certain, these two meet as they are."""
    sample = next(items[0] for items in held if items)
    certain = all(items and not isinstance(items[0], Maybe) for items in held)
    try:
        for side, items in zip(sides, held):
            with reader.builder.resumed(side.block):
                item = items[0] if items else nothing_like(sample, moment)
            item = item if certain or isinstance(item, Maybe) else Maybe(bool(items), item)
            side.contents[key] = place, (item,)
            side.outer[key] = place
    except Unknowable:
        return


def nothing_like(item: Any, moment: int) -> Any:
    """What stands in the place of an item that is not there: zeros of its type. Its sizes must have been
    known at a moment."""
    if isinstance(item, Maybe):
        return Maybe(False, nothing_like(item.item, moment))
    if isinstance(item, Value):
        return _zeros(item.type, moment)
    if isinstance(item, Size):
        return 0
    if type(item) in (bool, int, float, complex):
        return type(item)(0)
    if type(item) in (tuple, list):
        return type(item)(nothing_like(part, moment) for part in item)
    raise Unknowable


def item_names(appended: Template) -> Iterator[str]:
    """What is merged of an item that one side appends, by name."""
    children = appended.children if isinstance(appended, Node) else ()
    if any(isinstance(child, Node) and child.cls is Maybe for child in children):
        yield "there"
    yield from repeat("item")


def _zeros(type: Any, moment: int) -> Any:
    if not isinstance(type, ArrayType):
        raise Unknowable
    inner = [leaf for size in type.sizes for leaf in leaves(size) if isinstance(leaf, Unknown)]
    if any(leaf.var.serial > moment for leaf in inner):
        raise Unknowable
    return zeros_of(type)
