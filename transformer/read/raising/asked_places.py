"""Tests of places in arrays and of names, for items and values that no result needs.

    def f(x, k):                     def f_grad(x, k):
        return x[0] + 0 * x[k]           if (k < -x.size) | (k >= x.size):
                                             raise IndexError(...)

What is not needed is left out, derivatives leave out most, and what they leave out cannot fail. Where the program asks
for a place that a number tells, outside of loops, it is therefore tested behind it; the test goes when all derivatives
are taken and the item, or its cotangent, is still asked for (`simplify/asked_places.py`).

A name that may not be bound is asked for where it is read, in loops as well: that it is not used further (`z = w`)
changes nothing (`lower/expand/unbound.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.grammar import Block, Effect, If, Let, Loop
from ...ops.regions import computed_places
from ...ops.value import Value
from .failures import failures
from .texts import Template

if TYPE_CHECKING:
    from ..reader import Reader


def note_place(reader: Reader, made: Any) -> None:
    """Notes that the program itself reads or writes the item, or part, that is made of an array here."""
    stmt = reader.builder.numbering.definitions.get(made.atom) if isinstance(made, Value) else None  # type: ignore[arg-type]
    if stmt is not None and not reader.is_early and not reader.loops:
        reader.asked_places.add(stmt)


def with_questions(reader: Reader, block: Block) -> Block:
    """A block of the function with a test behind each place that was noted, and with the names that it asks for."""
    asking: Block = []
    for stmt in block:
        asking.append(stmt)
        if isinstance(stmt, If):
            stmt.then, stmt.orelse = with_questions(reader, stmt.then), with_questions(reader, stmt.orelse)
        elif isinstance(stmt, Loop):
            stmt.body = with_questions(reader, stmt.body)
        elif isinstance(stmt, Let) and stmt in reader.asked_places:
            asking += _tests(reader, stmt)
        elif isinstance(stmt, Let) and stmt in reader.asked_names:
            asking.append(Effect("name", stmt.args, {}, stmt.origin))
    return asking


def _tests(reader: Reader, stmt: Let) -> Block:
    with reader.builder.nested() as block, reader.builder.at(stmt.origin):
        for failure in failures(reader, stmt):
            if failure.kind is IndexError and failure.conditions is not None:
                for (condition, error), place in zip(failure.conditions(), computed_places(stmt), strict=True):
                    _emit(reader, condition, error, place)
    return block


def _emit(reader: Reader, condition: Any, error: BaseException, place: Any) -> None:
    template, origin = Template(), reader.builder.origin
    attrs = {"exception": IndexError, "template": (template.add(error.args[0]),), "place": place}
    raising = Effect("raise", tuple(template.atoms), attrs, origin)
    reader.builder.emit(If(condition.atom, [raising], [], [], origin))
