"""`next`: an iterator from which the program takes items one by one.

    it = iter(x)                 x[0]
    first = next(it)             for k in range(len(x) - 1):
    for v in it:                     x[k + 1]

How many items are gone is a number that is known while the function is read; loops around `next` are unrolled for it.
Of a generator with an end the first item is taken as it stands, ``next(x for x in xs if x > 0)``. Where the program
asks for another one, all is read again, and all items are computed before the first, unless one may raise something.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...core.errors import NotSupported, raised_as
from ...core.grammar import Block, Effect, If, raising
from ...core.walk import all_statements
from ..branches.branches import choose
from ..branches.conditions import truth
from ..branches.journal import Attribute
from ..kinds import described
from ..library.calls import call_library
from ..library.first_items import first_item, first_item_or
from ..operators import binary
from ..raising.demand import static
from ..raising.errors import RAISED, is_of_program
from ..raising.failures import all_failures
from ..requests import Request
from ..values import Lazy, Producer
from .iteration import Iteration, Use, iteration_of, whole_of
from .stepping import steps_of

AHEAD = "All items would be computed before the first, and one of them may raise something, or has an effect."
INSIDE_OUT = "A generator is supported only where all of its items are used, as in a loop."

if TYPE_CHECKING:
    from ..findings import Findings
    from ..reader import Reader


def next_item(reader: Reader, iterator: Any, *default: Any) -> Any:
    """`next(iterator)`, `next(iterator, default)`."""
    if isinstance(iterator, Producer):
        iterator = steps_of(reader, iterator) or iterator
    if isinstance(iterator, Lazy | Producer) and iterator.begun is False and key_of(iterator) in reader.findings.taken:
        iterator = _computed_ahead(reader, iterator)
    if isinstance(iterator, Lazy | Producer) and iterator.begun is False:
        return call_library(reader, first_item_or if default else first_item, (iterator, *default), {})
    use = iterator.use if isinstance(iterator, Iteration) else None
    if use is None or use.begun is not False:
        raise _not_followed(reader, iterator)
    whole, taken = whole_of(reader, iterator), static(reader, use.taken, "how many items `next` has taken")
    if reader.assumptions.at_least(whole.length, taken + 1):
        reader.journal.write(Attribute(use, "taken"), taken + 1)
        return whole.element(taken)
    if not reader.assumptions.at_least(taken, whole.length):
        return _item_if_any(reader, whole, use, *default)
    if default:
        return default[0]
    missing = raised_as(StopIteration, f"the iterator is exhausted after {taken} items", reader.builder.origin)
    missing.raised_with = ()
    raise missing


class Taken(Request):
    """More than one item is taken of the generator with this key."""

    def note(self, findings: Findings) -> None:
        findings.taken.add(self.key)


def key_of(made: Lazy | Producer) -> Any:
    return made.frame.path, made.node


def _computed_ahead(reader: Reader, made: Lazy | Producer) -> Iteration:
    """What runs over all items of a generator, and stands in its place from now on."""
    block, start = reader.builder.block, len(reader.builder.block)
    try:
        found = replace(iteration_of(reader, made), use=reader.own(Use()))
    except RAISED as raised:
        raise (_second_next(reader, AHEAD) if is_of_program(raised) else raised) from None
    if has_effects(reader, block[start:]):
        raise _second_next(reader, AHEAD)
    reader.journal.write(Attribute(made, "listed"), found)
    return found


def has_effects(reader: Reader, block: Block) -> bool:
    """Whether statements do something, or may raise an error."""
    return any(isinstance(stmt, Effect) for stmt in all_statements(block)) or any(all_failures(reader, block))


def _second_next(reader: Reader, why: str) -> NotSupported:
    return NotSupported("a second `next` on a generator is not supported", reader.builder.origin, why=why,
                        instead="Build a list, items = list(steps()), and index it.")


def _item_if_any(reader: Reader, whole: Iteration, use: Any, *default: Any) -> Any:
    """The next item where the program finds how many there are; it is no next one as often as that is asked for."""
    taken, origin = use.taken, reader.builder.origin
    there = truth(reader, binary(reader, operator.gt, whole.length, taken))
    reader.journal.write(Attribute(use, "taken"), taken + 1)
    if default:
        return choose(reader, there, lambda: whole.element(taken), lambda: default[0])
    missing = raising(StopIteration, "the iterator has no next item", origin)
    reader.builder.emit(If(there.atom, [], [missing], [], origin))
    return whole.element(taken)


def _not_followed(reader: Reader, iterator: Any) -> Exception:
    if isinstance(iterator, list | tuple | dict | str):
        text = f"{described(iterator)} is not an iterator"
        return raised_as(TypeError, text, reader.builder.origin, instead="Write next(iter(xs)).")
    if isinstance(iterator, Producer | Lazy):
        key = key_of(iterator)
        return _second_next(reader, INSIDE_OUT) if key in reader.findings.taken else Taken(key)
    return NotSupported(
        "`next` on this iterator is not supported",
        reader.builder.origin,
        why="The position of the iterator is not tracked.",
        instead="Index the sequence, xs[0], or loop over it.",
    )
