"""Generators: a function with `yield` runs where its items are used, one after the other.

    for a in halves(x):          for each `yield v` of halves, where it stands:
        total += a                   a = v
                                     total += a

Where the loop may end early, so does the generator, behind the item (`desugar/yields.py`). Where items are used in
step with others (`zip`), they are collected first, as `list` does. What an item shares with other arrays must then not
be written any more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gast

from ...core.errors import NotSupported
from ..branches.journal import Attribute
from ..desugar import ending_early
from ..desugar.yields import Ended, ways_out_of
from ..frames import Frame
from ..lists.tokens import APPENDED, Token
from ..sources.scope import scope_of
from ..values import Lazy, Producer, contained, may_be_array

if TYPE_CHECKING:
    from ..reader import Reader


def producer(reader: Reader, frame: Frame, body: Callable[[Any], Any]) -> Any:
    return reader.own(Producer(frame, frame.scope.node, body))


def run_producer(reader: Reader, made: Producer, consume: Callable[[Any], None],
                 goes_on: Callable[[], Any] | None = None, with_result: bool = False) -> Any:
    """Reads the body of a generator; each item is consumed where it is yielded, as long as that goes on. Gives what the
    generator returns, if that is wanted."""
    begin(reader, made, f"the generator {made.frame.function}")
    outer = reader.frame
    if goes_on is not None:
        _check_leaving(reader, made.frame)
        scope = scope_of(ending_early(made.node, made.frame.file, with_result))
        reader.journal.write(Attribute(made.frame, "scope"), scope)

    def consume_outside(item: Any) -> None:
        with reader.inside(outer):
            consume(item)

    made.frame.consume, made.frame.goes_on = consume_outside, goes_on
    return made.body(made.frame.scope.node)


def _check_leaving(reader: Reader, frame: Frame) -> None:
    """Refuses a generator that does something when it is left early, where that is not when the loop ends: Python
    closes it when nobody names it any more, by a `GeneratorExit`."""
    for node in ways_out_of(getattr(frame.scope.node, "written", frame.scope.node).body):
        if isinstance(node, gast.Try) and any(map(_catches_the_end, node.handlers)):
            raise NotSupported(f"the generator {frame.function} catches what ends it early", frame.origin(node),
                               why="`GeneratorExit` is not raised where no further item is wanted.",
                               instead="Catch `Exception`, or write `finally`.")
        if any(map(_names_begun, reader.frames)) and (isinstance(node, gast.With) or node.finalbody):
            raise NotSupported(
                f"the generator {frame.function}, which has a name, may be left early", reader.builder.origin,
                why="What it does on the way out happens when that name is gone.",
                instead="Create it where it is used, as in `for x in steps():`, or take all of its items.",
            )


def _catches_the_end(handler: Any) -> bool:
    caught = {each.id for each in gast.walk(handler.type or handler) if isinstance(each, gast.Name)}
    return handler.type is None or not caught.isdisjoint(("GeneratorExit", "BaseException"))


def _names_begun(frame: Frame) -> bool:
    """Whether a name of the program's refers, in a call, to an iterator of which items have been taken."""
    if frame.site is not None:
        return False
    values = (each for value in frame.names.values() for each in contained(value))
    return any(isinstance(value, Lazy | Producer) and value.begun is not False for value in values)


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


def read_yield_from(reader: Reader, node: Any) -> Any:
    """Gives what the other generator returns."""
    from .comprehensions import for_each
    from .iteration import iteration_of

    source, consume, goes_on = reader.evaluate(node.value), reader.frame.consume, reader.frame.goes_on
    if isinstance(source, Producer):
        return run_producer(reader, source, consume, goes_on, getattr(node, "with_result", True))
    return for_each(reader, iteration_of(reader, source), "yield", consume, test=goes_on)


def read_ended(reader: Reader, node: Any) -> Any:
    """Whether the loop that uses the items has ended."""
    from ..branches.conditions import negated

    return reader.frame.goes_on is not None and negated(reader, reader.frame.goes_on())


EXPRESSIONS: dict[type, Any] = {gast.Yield: read_yield, gast.YieldFrom: read_yield_from, Ended: read_ended}
