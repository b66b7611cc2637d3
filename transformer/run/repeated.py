"""Dispatchers of compiled functions, which find the function of a repeated call by a quick key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..transform.derived import taken_apart
from .dispatch import Dispatcher, Entry
from .quick import Quick
from .static import StaticPaths, order_of

WRITTEN_OUT = 5                         # smaller sizes are known: loops over them are written out


class Repeated(Dispatcher):
    """A dispatcher for calls of a compiled function, `target`; `quick` has functions of calls like those before."""

    def __init__(self, generate: Callable[..., Entry], names: Callable[[int], list[str]], user: Any,
                 static_names: frozenset[str], target: Any) -> None:
        super().__init__(generate, names, user, static_names, WRITTEN_OUT)
        self.static.tells_order = True
        self.target = target
        self.order = () if any(mode.extras for mode in taken_apart(target)[1]) else order_of(user)
        self.quick = Quick()

    def by_position(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
        """All arguments of a call by position; None where they cannot be given so."""
        following = self.order[len(args):len(args) + len(kwargs)]
        try:
            return (*args, *[kwargs[name] for name in following]) if len(following) == len(kwargs) else None
        except KeyError:
            return None

    def valued(self) -> Valued:
        return Valued(self.static, {path for each in self.entries() for path in each.integers.values()})

    def find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry:
        known = len(self.static), len(self.entries())
        entry = super().find(args, kwargs)
        if known != (len(self.static), len(self.entries())):
            self.quick.clear()                   # the value of more arguments may count
        return entry

    def entries(self) -> list[Entry]:
        return [entry for entries in self.by_type.values() for entry in entries]

    def _forget(self) -> None:
        super()._forget()
        self.quick.clear()


class Valued:
    """The paths of numbers whose value counts."""

    def __init__(self, static: StaticPaths, guarded: set[str]) -> None:
        self.static, self.guarded = static, guarded

    def __contains__(self, path: object) -> bool:
        return path in self.static or path in self.guarded
