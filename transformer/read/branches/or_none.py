"""Values that are None on some paths: a truth value beside them says whether there is one.

    best = None                     has_best, best = False, 0.0
    for x in xs:
        if best is None or x < best:    if not has_best or x < best:
            best = x                        has_best, best = True, x

Where a condition tells, as behind ``if best is not None``, the value is itself; elsewhere its use is tested, and raises
a `TypeError`, as Python does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...core.grammar import Atom, Const, If, Var, raising
from ..raising.errors import RAISED, is_of_program
from ..values import OrNone

if TYPE_CHECKING:
    from ..reader import Reader

Facts = dict[Atom, bool]


class Early(Exception):
    """An expression that is evaluated before it is known whether Python would use what may be None."""


def settled(reader: Reader, value: OrNone) -> Any:
    """The value, or None, where it is known here which of them it is."""
    there = value.there.atom
    known = there.value if isinstance(there, Const) else reader.facts.get(there)
    return value if known is None else value.item if known else None


def needed(reader: Reader, value: Any, what: str | None = None) -> Any:
    """A value that has to be there: the program raises here if it is None; `what` says of what."""
    if not isinstance(value, OrNone):
        return value
    found = settled(reader, value)
    if found is not value:
        return reader.usable(found)
    if reader.is_early:
        raise Early
    message = what or f"{_named(reader, value)} is None, but a value is required"
    origin = reader.builder.origin
    reader.builder.emit(If(value.there.atom, [], [raising(TypeError, message, origin)], [], origin))
    reader.facts = {**reader.facts, value.there.atom: True}
    return reader.usable(value.item)


def _named(reader: Reader, value: OrNone) -> str:
    """What the program calls a value."""
    name = getattr(getattr(value.item, "atom", None), "name", None)
    return repr(name) if name in reader.frame.scope.bound else "this"


def all_needed(reader: Reader, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of what takes no None, but as a `default`."""
    named = {key: arg if key == "default" else needed(reader, arg) for key, arg in kwargs.items()}
    return tuple(needed(reader, arg) for arg in args), named


@contextmanager
def knowing(reader: Reader, facts: Facts) -> Iterator[None]:
    """While these conditions are known to hold, or not to; what is found meanwhile is forgotten afterwards."""
    outer = reader.facts
    reader.facts = {**outer, **facts}
    try:
        yield
    finally:
        reader.facts = outer


def implied(reader: Reader, cond: Atom, holds: bool) -> Facts:
    """What is known where a condition holds, or does not: of `a and b`, that both hold."""
    facts = {cond: holds}
    made = reader.builder.numbering.definitions.get(cond) if isinstance(cond, Var) else None
    if made is not None and made.op.name == "logical_not":
        facts |= implied(reader, made.args[0], not holds)
    if made is not None and made.op.name == ("logical_and" if holds else "logical_or"):
        for arg in made.args:
            facts |= implied(reader, arg, holds)
    return facts


def early(reader: Reader, facts: Facts, read: Callable[[], Any]) -> Any:
    """What an expression gives that raises nothing, read as if it were known that Python comes to it. Raises `Early`
    where something in it may be None after all, or raises."""
    checkpoint, outer = reader.checkpoint(), reader.is_early
    reader.is_early = True
    try:
        with knowing(reader, facts):
            return read()
    except (Early, *RAISED) as stopped:
        if not isinstance(stopped, Early) and not is_of_program(stopped):
            raise
        reader.restore(checkpoint)
        raise Early from None
    finally:
        reader.is_early = outer
