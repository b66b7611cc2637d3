"""What a container from outside held when it was read: how many items, under which keys, and which they were.

    SCALES = [1.0, 2.0]
    contents = Contents(SCALES)
    contents(True)                       # True
    SCALES.append(3.0); contents(True)   # False: what was read with two of them has to be read again

An array, of NumPy's or on a device, may have become another one, as arrays from outside are arguments, unless it is one
of the `copied`: those of which the program read a copy of the container, so that nobody knows where it was taken from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container
from functools import cached_property
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from ..core.on_devices import is_on_device, on_host

CONTAINERS = (list, dict, set, deque)


def can_change(found: Any) -> bool:
    """Whether an object is a container that may hold something else by then, or a tuple around one."""
    return isinstance(found, CONTAINERS) or isinstance(found, tuple) and any(map(can_change, found))


class Contents:
    """Called with True, it tells whether the container still holds what it held."""

    __slots__ = ("container", "copied", "inner", "items", "keys")

    def __init__(self, container: Any, copied: Container[int] = (), around: frozenset[int] = frozenset()) -> None:
        self.container, self.copied = container, copied
        self.keys = list(container) if isinstance(container, dict) else None
        self.items = _items(container)
        around |= {id(container)}
        self.inner = [Contents(item, copied, around) for item in self.items
                      if isinstance(item, (*CONTAINERS, tuple)) and id(item) not in around]

    def __call__(self, key: bool) -> bool:
        items = _items(self.container)
        if len(items) != len(self.items) or self.keys is not None and list(self.container) != self.keys:
            return False
        return all(map(self._is_same, items, self.items)) and all(inner(key) for inner in self.inner)

    def changed(self) -> list[str]:
        """How Python writes the items that are other ones by then; nothing of where there are more or fewer."""
        items, keys = _items(self.container), self.keys or range(len(self.items))
        pairs = zip(keys, items, self.items) if len(items) == len(self.items) else ()
        own = [f"[{key!r}]" for key, now, then in pairs if not self._is_same(now, then)]
        return own or [""]

    def _is_same(self, one: Any, other: Any) -> bool:
        return one is other or _is_array(one) and _is_array(other) and id(other) not in self.copied


def _is_array(item: Any) -> bool:
    return isinstance(item, np.ndarray) or is_on_device(item)


def _items(container: Any) -> list[Any]:
    return list(container.values()) if isinstance(container, dict) else list(container)


class Presence:
    """Called with a name, it tells whether an object has an attribute of that name by then."""

    __slots__ = ("owner",)

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def __call__(self, name: str) -> bool:
        return hasattr(self.owner, name)


class Own(Presence):
    """Called with a name, it tells whether an object has an attribute of that name itself, in front of its class."""

    __slots__ = ()

    def __call__(self, name: str) -> bool:
        return name in vars(self.owner)


class Behind(Presence):
    """Called with a name, it gives the function of a class method, which is bound anew whenever it is looked up."""

    __slots__ = ()

    def __call__(self, name: str) -> Any:
        return getattr(self.owner, name).__func__


class OnHost:
    """Called with a key, it gives what a holder gives for it; in place of an array on a device, which nobody writes to,
    its value, as an array of NumPy's."""

    __slots__ = ("holder",)

    def __init__(self, holder: Callable[[Any], Any]) -> None:
        self.holder = holder

    def __call__(self, key: Any) -> Any:
        return on_host(self.holder(key))


def functions_of(found: Any) -> tuple[Any, ...]:
    """The functions that an attribute of a class runs."""
    match found:
        case property():
            return found.fget, found.fset, found.fdel
        case staticmethod() | classmethod() | MethodType():
            return found.__func__,
        case cached_property():
            return found.func,
        case FunctionType():
            return found,
    return ()


def runs(found: Any, function: Any) -> bool:
    """Whether an attribute of a class runs a function."""
    return any(each is function for each in functions_of(found))
