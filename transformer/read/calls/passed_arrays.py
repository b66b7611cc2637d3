"""Arrays that are passed to a function of its own and written by it: nothing else that it uses may share
their memory, as it would not see the writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...core.errors import NotSupported
from ...core.grammar import Function, Var
from ...core.walk import free_vars, reachable
from ...ops.value import Value
from .. import aliases
from ..values import View, is_array

if TYPE_CHECKING:
    from ..reader import Reader


def check_passed(reader: Reader, function: Function, arrays: list[Any], written: Iterable[int]) -> None:
    """Raises if an array in `written` (a place in `arrays`) may share memory with one of the others, or with
    one that the function takes from the code around."""
    places = list(written)
    captured = list(_captured(reader, function)) if places else []
    for k in places:
        others = [other for j, other in enumerate(arrays) if j != k and is_array(other)]
        if any(reader.aliases.are_related(arrays[k], other) for other in (*others, *captured)):
            raise NotSupported(
                f"{function.name} writes to an array that may share memory with another array it uses",
                reader.builder.origin,
                instead="Pass a copy: x.copy().",
            )


def _captured(reader: Reader, function: Function) -> Iterator[Value]:
    """The arrays of the code around that a function, or one that it calls, uses as they are."""
    free: set[Var] = set()
    for each in reachable(function):
        free.update(var for var in free_vars(each.body) if getattr(var.type, "sizes", ()))
    for value in aliases.reachable(reader) if free else ():
        if is_array(value) and (value.seen[1] if isinstance(value, View) else value.atom) in free:
            yield value
