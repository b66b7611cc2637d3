"""Objects in order: those of dataclasses by their fields, if they are made to be compared, others by a key.

    @dataclass(order=True)
    class Way:                           sorted(ways)          sorted(ways, key=lambda way: (way.length, way.end))
        length: float
        end: int
"""

from __future__ import annotations

import operator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from ...core.errors import NotSupported, raised_as
from ..branches.journal import Item
from ..branches.structures import Node
from ..lists.recorded import Part, RecordedList, all_parts_of
from .objects import ATTRIBUTES, hold_dynamic, is_generated, made_of

if TYPE_CHECKING:
    from ..reader import Reader

PLAIN: Any = object
GIVE_A_KEY = "Pass a key: sorted(items, key=lambda item: item.cost)."


def ordering_key(reader: Reader, items: Any, key: Any) -> Any:
    """By what items are put in order: of objects without a key, what their class has for it."""
    cls = None if key is not None else class_of_objects(reader, items)
    if cls is None:
        return key
    if is_generated(cls, "__lt__"):
        return operator.attrgetter(*(field.name for field in fields(cls) if field.compare))
    name = cls.__name__
    if cls.__lt__ is PLAIN.__lt__:
        text = f"'<' not supported between instances of {name!r} and {name!r}"
        raise raised_as(TypeError, text, reader.builder.origin, instead=GIVE_A_KEY)
    raise NotSupported(f"comparing objects of {name} by a method of their class is not supported here",
                       reader.builder.origin, instead=GIVE_A_KEY)


def is_ordered_by_methods(reader: Reader, items: Any) -> bool:
    """Whether a list holds objects whose author wrote how they are compared."""
    cls = class_of_objects(reader, items)
    return cls is not None and any(getattr(cls, name) is not getattr(PLAIN, name) and not is_generated(cls, name)
                                   for name in ("__lt__", "__gt__"))


def class_of_objects(reader: Reader, items: Any) -> Any:
    """The class of objects that a list holds, of which something is not known; None of other lists."""
    if not isinstance(items, list | tuple | RecordedList):
        return None
    found = {cls for part in all_parts_of(reader, items) for cls in _classes(part)}
    return found.pop() if len(found) == 1 else None


def _classes(part: Any) -> set[Any]:
    if not isinstance(part, Part):
        return {type(item) if made_of(type(item)) is ATTRIBUTES and hold_dynamic(part) else None for item in part}
    cls = part.template.cls if isinstance(part.template, Node) else None
    return {cls if cls is not None and made_of(cls) is ATTRIBUTES else None}


def sort_objects(reader: Reader, items: Any, *, key: Any = None, reverse: Any = False) -> None:
    """`xs.sort()` of a list of objects: what it holds is the list of objects in their order from now on."""
    from .selections import ordered

    home = items.home if isinstance(items, RecordedList) else items
    reader.aliases.check_write(reader, home)
    found = reader.usable(ordered(reader, items, key=key, reverse=reverse))
    reader.journal.write(Item(reader.contents, id(home)), replace(found, home=home))
