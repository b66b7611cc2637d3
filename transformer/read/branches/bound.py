"""Values that may be missing: the name, the key or the attribute got one on some paths only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops.identity import Same
from ...ops.value import Value, emit
from ..values import OrNone
from .or_none import Early

if TYPE_CHECKING:
    from ..reader import Reader


def certainly_bound(reader: Reader, value: Any, name: str | None = None) -> Any:
    """A number that may be missing is there from here on: Python raises here if it is not. An array stays the
    array that it is; that it is read here is noted all the same. What it was in the iteration before is what it
    is on the other paths. That the name of a value is asked for is noted, too.
    """
    if isinstance(value, OrNone):
        return OrNone(certainly_bound(reader, value.there), value.item)
    if not isinstance(value, Value) or value.atom not in reader.partial:
        return value
    if reader.is_early:
        raise Early                     # Python may not come to it
    place, _ = reader.partial[value.atom]  # type: ignore[index]
    for loop in reader.loops:
        loop.needed.add(place)
    bound = emit(Same, (value.atom,), {})
    if place[1:] == ("Name", name):
        reader.asked_names.add(reader.builder.numbering.definitions[bound.atom])
    return value if value.ndim else bound
