"""Lists that lie in arrays as places, which loops carry and branches merge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..branches.journal import Item
from .open_lists import OpenList
from .tokens import token_of

if TYPE_CHECKING:
    from ..reader import Reader


class Held(Item):
    """What stands in place of a list (see `Reader.contents`), which keeps its identity when it changes."""

    __slots__ = ("list", "label", "token")

    def __init__(self, reader: Reader, home: list[Any]) -> None:
        super().__init__(reader.contents, id(home))
        self.list, self.label, self.token = home, _name_of(reader, home), token_of(reader, home)

    @property
    def identity(self) -> Any:
        return Item, id(self.holder), self.key

    @property
    def name(self) -> str | None:
        return self.label

    def value(self) -> Any:
        return self.holder.get(self.key, self.list)

    def of_value(self, value: Any) -> Any:
        if not isinstance(value, OpenList):
            return value
        return replace(value, home=self.list, parts=(replace(value.items, token=self.token),))


def _name_of(reader: Reader, home: list[Any]) -> str | None:
    return next((name for name, value in reader.frame.names.items() if value is home), None)
