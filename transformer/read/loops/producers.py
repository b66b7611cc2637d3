"""Generators: a function with `yield` runs where its items are used, one after the other.

    for a in halves(x):          for each `yield v` of halves, where it stands:
        total += a                   a = v
                                     total += a

Where items are used in step with others (`zip`), or the loop may end early, they are collected first, as
`list` does. What an item shares with other arrays must then not be written any more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gast

from ...core.errors import NotSupported
from ..branches.journal import Attribute
from ..frames import Frame
from ..lists.tokens import APPENDED, Token
from ..values import Producer, contained, may_be_array

if TYPE_CHECKING:
    from ..reader import Reader


def producer(reader: Reader, frame: Frame, body: Callable[[], Any]) -> Any:
    return reader.own(Producer(frame, body))


def run_producer(reader: Reader, made: Producer, consume: Callable[[Any], None]) -> None:
    """Reads the body of a generator; each item is consumed where it is yielded."""
    begin(reader, made, f"the generator {made.frame.function}")
    outer = reader.frame

    def consume_outside(item: Any) -> None:
        with reader.inside(outer):
            consume(item)

    made.frame.consume = consume_outside
    made.body()


def begin(reader: Reader, made: Any, what: str) -> None:
    """Notes that an iterator is used, which nobody may begin once more."""
    if made.begun is not False:
        raise NotSupported(
            f"{what} cannot be used twice",
            reader.builder.origin,
            why="The second loop would see only the items that the first one left.",
            instead="Create it again, or build a list of its items.",
        )
    reader.journal.write(Attribute(made, "begun"), True)


def collected_items(reader: Reader, made: Producer) -> Any:
    """The list of what a generator yields."""
    from .comprehensions import append

    _check_end(reader, made)
    items: list[Any] = reader.own([])
    token = Token()

    def add(item: Any) -> None:
        for value in contained(item):
            if may_be_array(value):
                reader.aliases.relate(value, token, APPENDED)
        append(reader, items, item)

    run_producer(reader, made, add)
    return reader.usable(items)


def _check_end(reader: Reader, made: Producer) -> None:
    for node in gast.walk(made.frame.scope.node):
        if isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and not getattr(node, "stop", None):
            raise NotSupported(
                f"the generator {made.frame.function} never ends",
                reader.builder.origin,
                why="All items are collected before they are used here.",
                instead="Write it as a `while True` loop with one `yield`, or pass the number of items to it.",
            )


def read_yield(reader: Reader, node: Any) -> None:
    item = None if node.value is None else reader.evaluate(node.value)
    reader.frame.consume(item)


def read_yield_from(reader: Reader, node: Any) -> None:
    from .comprehensions import for_each
    from .iteration import iteration_of

    source, consume = reader.evaluate(node.value), reader.frame.consume
    if isinstance(source, Producer):
        return run_producer(reader, source, consume)
    for_each(reader, iteration_of(reader, source), "yield", consume)


EXPRESSIONS = {gast.Yield: read_yield, gast.YieldFrom: read_yield_from}
