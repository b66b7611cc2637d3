"""Arguments whose values are part of the compiled function, because the caller says so."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..core.errors import BadArgument, suggestion
from .signature import hashable


class StaticPaths(set[str]):
    """Paths of what has to be known when a function is read: those that turned out, and all inside of the
    arguments in `names`. Sizes smaller than `below` are known, too; `tells_order` says whether code is made for arrays
    as they lie."""

    def __init__(self, names: frozenset[str], below: int) -> None:
        super().__init__()
        self.names, self.below, self.tells_order = names, below, False

    def __contains__(self, path: object) -> bool:
        return super().__contains__(path) or self.is_named(path)

    def is_named(self, path: object) -> bool:
        """Whether the caller says that what is there is static, so that it is part of the key of each call."""
        return bool(self.names) and _root(str(path)) in self.names

    def also(self, paths: set[str]) -> StaticPaths:
        """These and others."""
        found = StaticPaths(self.names, self.below)
        found.tells_order = self.tells_order
        found |= self
        found |= paths
        return found


def _root(path: str) -> str:
    return path.partition("[")[0].partition(".")[0]


def names_of(function: Callable[..., Any], option: str, named: str | int | Sequence[str | int]) -> frozenset[str]:
    """The parameters that an option names, or gives the positions of."""
    keys = [named] if isinstance(named, (str, int)) else list(named)
    given = [key for key in keys if isinstance(key, str)]
    places = [key for key in keys if not isinstance(key, str)]
    known = _parameters(function)
    for name in given:
        if known is not None and name not in known:
            raise BadArgument(f"{option} names {name!r}, which is not an argument", instead=suggestion(name, known))
    for place in places:
        if known is None or not -len(known) <= place < len(known):
            raise BadArgument(f"{option} contains the position {place}, but there is no such argument",
                              instead="Positions count from 0; argument names are accepted too.")
        given.append(known[place])
    return frozenset(given)


def order_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters that may be given by position as well as by name, if those are the first ones."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ()
    usual = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    return tuple(usual) if [each.name for each in parameters[:len(usual)]] == usual else ()


def _parameters(function: Callable[..., Any]) -> list[str] | None:
    """The names of the parameters; None where they may be any."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL) for parameter in parameters):
        return None
    return [parameter.name for parameter in parameters]


class Fixed:
    """A static argument as part of a key."""

    __slots__ = ("parts",)

    def __init__(self, value: Any, name: str) -> None:
        leaves, structure = tree.flatten(value)
        if any(isinstance(leaf, np.ndarray) for leaf in leaves):
            raise BadArgument(f"the static argument {name!r} contains an array", argument=name,
                              why="Its values would become constants of the compiled code.",
                              instead="Remove it from static_argnames, or pass a tuple of numbers.")
        self.parts = structure, tuple([(type(leaf), hashable(leaf)) for leaf in leaves])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fixed) and other.parts == self.parts

    def __hash__(self) -> int:
        return hash(self.parts)
