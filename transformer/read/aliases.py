"""Which arrays may share memory although reading sees them as two.

Where an `If` or a loop merges arrays, the merged one is, when the program runs, one of those it was
merged from. Reading either is fine. Writing to one of them is fine, too, if the program cannot
reach the other any more; otherwise the write is refused.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..core.errors import NotSupported
from ..ops.value import Value
from .calls.later import read_later
from .frames import Frame
from .lists.recorded import Part, RecordedList, Recording
from .lists.tokens import APPENDED, Token
from .loops.iteration import Iteration
from .raising.demand import Unroll
from .values import ArrayMethod, Closure, ContainerMethod, View, cell_of, may_be_array

if TYPE_CHECKING:
    from .reader import Reader


class Aliases:
    """Pairs of arrays (and of containers) that may be one."""

    def __init__(self) -> None:
        self._related: dict[int, dict[int, Any]] = {}
        self._why: dict[tuple[int, int], str | None] = {}
        self._kept: list[Any] = []

    def relate(self, one: Any, other: Any, why: str | None = None) -> None:
        """Notes that two arrays may share memory."""
        for list_, of in ((one, other), (other, one)):
            if isinstance(list_, RecordedList):
                return self._relate_list(list_, of, why)
        one, other = _holder(one), _holder(other)
        if one is other or any(isinstance(value, Value) and not may_be_array(value) for value in (one, other)):
            return
        self._kept += [one, other]
        self._related.setdefault(id(one), {})[id(other)] = other
        self._related.setdefault(id(other), {})[id(one)] = one
        self._why[id(one), id(other)] = self._why[id(other), id(one)] = why

    def _relate_list(self, held: RecordedList, other: Any, why: str | None) -> None:
        """Notes it of the arrays in which the items of a list lie."""
        for part in held.parts:
            for array in part.arrays if isinstance(part, Part) else ():
                self.relate(array, other, why)

    def take_over(self, new: Value, old: Value) -> None:
        """Notes that an array takes the place of another one in a list."""
        for other in self._related.get(id(old), {}).values():
            self.relate(new, other, self._why.get((id(old), id(other))))

    def derive(self, new: Any, sources: tuple[Any, ...], why: str | None = None) -> None:
        """Notes that a new array is, when the program runs, one of the sources."""
        for source in map(_holder, sources):
            for other in [source, *self._related.get(id(source), {}).values()]:
                self.relate(new, other, why)

    def group(self, value: Any) -> list[Any]:
        """An array and all that it may share memory with."""
        cell = _holder(value)
        return [cell, *self._related.get(id(cell), {}).values()]

    def are_related(self, one: Any, other: Any) -> bool:
        one, other = _holder(one), _holder(other)
        return one is other or id(other) in self._related.get(id(one), {})

    def check_write(self, reader: Reader, cell: Any) -> None:
        """Raises if something that the program can still reach may change with this write unseen."""
        related = self._related.get(id(cell), {})
        touched = [value for value in reachable(reader) if id(value) in related] if related else []
        if not touched:
            return
        refusal = self._refusal(reader, cell, touched[0])
        filled = [value.loop for value in touched if isinstance(value, Token) and self._is_item(cell, value)]
        raise Unroll(filled[0], refusal) if filled else refusal

    def _is_item(self, cell: Any, token: Token) -> bool:
        """Whether something was taken out of a list that a loop filled; unrolled, the loop leaves items that can be
        changed. What was put into a list and is changed afterwards is more likely to be a mistake."""
        return token.loop is not None and self._why.get((id(cell), id(token))) != APPENDED

    def _refusal(self, reader: Reader, cell: Any, other: Any) -> NotSupported:
        name = getattr(getattr(other, "atom", None), "name", None)
        return NotSupported(
            "cannot write to memory that may be shared" + (f" with {name!r}" if name else ""),
            reader.builder.origin,
            why=self._why.get((id(cell), id(other)))
            or "Which array the name refers to depends on the path taken or on the iteration.",
            instead="Write to a copy, or copy where the second name is assigned: x.copy().",
        )


def _holder(value: Any) -> Any:
    return cell_of(value) if isinstance(value, Value) else value


def reachable(reader: Reader) -> Iterator[Any]:
    """Every array and container that the program being read, or its caller, can still name."""
    seen: set[int] = set()
    pending: list[Any] = [*reader.roots(), *reader.frames]
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        home = value.home if isinstance(value, RecordedList) else value
        pending += _parts(reader.contents.get(id(home), value) if isinstance(home, list) else value)


def _parts(value: Any) -> list[Any]:
    match value:
        case Frame():
            later = read_later(value)
            held = [item for name, item in value.names.items() if name != value.result and name in later]
            return [*held, *value.pinned, value.parent]
        case View():
            return [value.base]
        case Value() | str() | int() | float() | None:
            return []
        case tuple() | list() | set() | frozenset():
            return list(value)
        case dict():
            return list(value.values())
        case Closure():
            return [value.frame, *value.defaults, *value.keyword_defaults.values()]
        case ArrayMethod():
            return [value.value]
        case ContainerMethod():
            return [value.container]
        case Iteration():
            return list(value.held)
        case Recording():
            return [value.token, value.last, value.appended, value.before]
        case RecordedList():
            return list(value.parts)
        case Part():
            return [value.token, *value.arrays]
        case functools.partial():
            return [value.func, *value.args, *value.keywords.values()]
    bound = getattr(value, "__self__", None)
    return [bound] if bound is not None and not isinstance(bound, type) else _fields(value)


def _fields(value: Any) -> list[Any]:
    own = getattr(value, "__dict__", None)
    if not isinstance(own, dict) or isinstance(value, type) or callable(value) and hasattr(value, "__code__"):
        return []
    return list(own.values()) if getattr(type(value), "__module__", "") != "builtins" else []
