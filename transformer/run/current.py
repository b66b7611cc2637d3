"""Expressions that test whether what a function was read with is still the same, and that fetch what it takes from
outside.

    lambda: o0.__code__ is v0 and o1["RATE"] is v1 and (a := o2["table"]).shape == s2 and a.dtype == d2 and …
    lambda: {"table": o2["table"]}

They are evaluated in every call, and take a third of the time of loops over what is watched.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import numpy as np

from ..read.contents import Own

if TYPE_CHECKING:
    from ..read.outside import Watch


def hidden_key(hidden: list[Any]) -> tuple[Hashable, ...]:
    """The types of what a function takes from outside; what was an array, or a number, may be something
    else by now."""
    found = [h.fetch() for h in hidden]
    return tuple((each.dtype, each.shape, type(each)) if isinstance(each, np.ndarray) else (type(each),)
                 for each in found)


def conditions(watched: Iterable[Watch], hidden: list[Any], key: tuple[Any, ...]) -> tuple[str, dict[str, Any]]:
    """The test as an expression, and its names; `key` are the types of what is hidden. It raises AttributeError or
    LookupError where something is not there any more."""
    given: dict[str, Any] = {}
    parts = []
    for k, (holder, name, value) in enumerate(watched):
        given[f"v{k}"] = value
        parts.append(f"{_looked_up(f'o{k}', holder, name, given)} is v{k}")
    for k, (each, types) in enumerate(zip(hidden, key, strict=True)):
        found = _fetched(f"h{k}", each.fetch, given)
        if len(types) > 1:
            given[f"d{k}"], given[f"s{k}"], given[f"c{k}"] = types
            parts.append(f"(a := {found}).shape == s{k} and a.dtype == d{k} and a.__class__ is c{k}")
        else:
            given[f"t{k}"], = types
            parts.append(f"type({found}) is t{k}")
    return " and ".join(parts) or "True", given


def unchanged(watched: Iterable[Watch], hidden: list[Any], key: tuple[Any, ...]) -> Callable[[], bool]:
    """The test as a function."""
    text, given = conditions(watched, hidden, key)
    test: Callable[[], bool] = eval(f"lambda: {text}", given)
    return test


def taken(hidden: list[Any]) -> Callable[[], dict[str, Any]]:
    """What gives the arrays from outside by their names."""
    given: dict[str, Any] = {}
    parts = [f"{each.name!r}: {_fetched(f'h{k}', each.fetch, given)}" for k, each in enumerate(hidden)]
    made: Callable[[], dict[str, Any]] = eval(f"lambda: {{{', '.join(parts)}}}", given)
    return made


def _fetched(name: str, fetch: Any, given: dict[str, Any]) -> str:
    """The expression for ``fetch()``, which is a holder with its key."""
    *held, key = fetch.args
    return _looked_up(name, partial(fetch.func, *held) if held else fetch.func, key, given)


def _looked_up(name: str, holder: Any, key: Any, given: dict[str, Any]) -> str:
    """The expression for ``holder(key)``, whose names are `given`."""
    owner = getattr(holder, "__self__", None)
    if isinstance(holder, partial) and holder.func is getattr and key.isidentifier() and not iskeyword(key):
        given[name] = holder.args[0]
        return f"{name}.{key}"
    if isinstance(key, str) and (isinstance(holder, Own) or type(owner) is dict):
        given[name] = vars(holder.owner) if isinstance(holder, Own) else owner
        return f"({key!r} in {name})" if isinstance(holder, Own) else f"{name}[{key!r}]"
    given[name], given[f"{name}_key"] = holder, key
    return f"{name}({name}_key)"
