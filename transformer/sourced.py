"""What transformed and compiled functions share: a source that was generated for each kind of arguments."""

from __future__ import annotations

import types
from typing import Any

from .core.errors import BadArgument
from .run.dispatch import Dispatcher, Entry
from .run.native import arguments_on_host
from .transform.derived import Derived
from .wrapping import is_importable


class Sourced(Derived):
    """A function whose source can be read. `_dispatcher` finds or makes it for a call."""

    _dispatcher: Dispatcher

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        bound: Any = self
        return self if instance is None else types.MethodType(bound, instance)

    def __reduce__(self) -> Any:
        if is_importable(self):
            return self.__qualname__                                     # type: ignore[attr-defined]
        return type(self), self._made_of()

    def _made_of(self) -> tuple[Any, ...]:
        """The arguments with which its class makes it again."""
        raise NotImplementedError

    def _entry(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Entry:
        return self._dispatcher.entry(*arguments_on_host(args, kwargs))

    @property
    def source(self) -> str:
        """The source for the types of the newest call."""
        newest = self._dispatcher.newest
        if newest is None:
            raise BadArgument(f"{self!r} has no source yet", why="It depends on the argument types of a call.",
                              instead="Call it first, or use source_for(*args).")
        return newest.source

    def source_for(self, *args: Any, **kwargs: Any) -> str:
        """The source for arguments like these; the function itself is not run."""
        return self._entry(args, kwargs).source

    def _repr_html_(self) -> str:
        from .run.display import html
        newest = self._dispatcher.newest
        return html(repr(self), None if newest is None else newest.source)
