"""`next`: an iterator from which the program takes items one by one.

    it = iter(x)                 x[0]
    first = next(it)             for k in range(len(x) - 1):
    for v in it:                     x[k + 1]

How many items are gone is a number that is known while the function is read; loops around `next` are unrolled for it.
Of a generator with an end the first item can be taken, ``next(x for x in xs if x > 0)``, and then no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import NotSupported, raised_as
from .demand import static
from .iteration import Iteration, whole_of
from .journal import Attribute
from .kinds import described
from .library.calls import call_library
from .library.first_items import first_item, first_item_or
from .stepping import steps_of
from .values import Lazy, Producer

INSIDE_OUT = "A generator is read where all of its items are used: its lines stand around those that use one."

if TYPE_CHECKING:
    from .reader import Reader


def next_item(reader: Reader, iterator: Any, *default: Any) -> Any:
    """`next(iterator)`, `next(iterator, default)`."""
    if isinstance(iterator, Producer):
        iterator = steps_of(reader, iterator) or iterator
    if isinstance(iterator, Lazy | Producer) and iterator.begun is False:
        return call_library(reader, first_item_or if default else first_item, (iterator, *default), {})
    use = iterator.use if isinstance(iterator, Iteration) else None
    if use is None or use.begun is not False:
        raise _not_followed(reader, iterator)
    whole, taken = whole_of(reader, iterator), static(reader, use.taken, "how many items `next` has taken")
    if reader.assumptions.at_least(whole.length, taken + 1):
        reader.journal.write(Attribute(use, "taken"), taken + 1)
        return whole.element(taken)
    if default:
        return default[0]
    raise raised_as(StopIteration, f"the iterator has {taken} items, and no next one", reader.builder.origin)


def _not_followed(reader: Reader, iterator: Any) -> Exception:
    if isinstance(iterator, list | tuple | dict | str):
        text = f"{described(iterator)} is not an iterator"
        return raised_as(TypeError, text, reader.builder.origin, instead="Write next(iter(xs)).")
    if isinstance(iterator, Producer | Lazy):
        return NotSupported("a second `next` of a generator", reader.builder.origin, why=INSIDE_OUT,
                            instead="Make a list of it, items = list(steps()), and index that.")
    return NotSupported(
        "`next` of an iterator",
        reader.builder.origin,
        why="How far it has come is not followed.",
        instead="Index the sequence, xs[0], or loop over it.",
    )
