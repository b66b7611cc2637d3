"""What stands for the memory of a list's items, to which aliases relate what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...ops.value import Value
from ..values import may_be_array

if TYPE_CHECKING:
    from ..reader import Reader


APPENDED = "It was appended to a list, whose items would change too."


class Token:
    """Stands for the memory of the items of a list (see `Aliases`), which a loop with this key filled."""

    def __init__(self, loop: Any = None) -> None:
        self.loop = loop


def token_of(reader: Reader, home: list[Any]) -> Any:
    """What stands for the memory of the items of a list."""
    if id(home) not in reader.lists.tokens:
        reader.lists.tokens[id(home)] = Token()
    return reader.lists.tokens[id(home)]


def appended_arrays(reader: Reader, home: list[Any]) -> Iterator[Value]:
    """The arrays that were appended to a list: written to, they would change in it."""
    for value in reader.aliases.group(token_of(reader, home)):
        if isinstance(value, Value) and may_be_array(value):
            yield value
