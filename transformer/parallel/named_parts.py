"""Parts of arrays on devices that are named to be changed: `x.at[i].set(v)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .array import Array, computed


class At:
    """An array of which a part will be named."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def __getitem__(self, index: Any) -> _Named:
        return _Named(self.array, index)


class _Named:
    """A part of an array; the methods are those of `updates.Part`."""

    def __init__(self, array: Array, index: Any) -> None:
        self.array, self.index = array, index

    def __getattr__(self, name: str) -> Callable[..., Any]:
        from ..updates import Part as PartOfArray
        getattr(PartOfArray, name)               # raises where there is no such method

        def method(*args: Any, **kwargs: Any) -> Any:
            return computed(_CHANGES[name], (self.array, self.index, *args), kwargs)
        return method


class _Change:
    """What a method of `updates.Part` gives, as a function of an array, an index and the rest."""

    def __init__(self, name: str) -> None:
        self.name = self.__name__ = name

    def __call__(self, array: Any, index: Any, *args: Any, **kwargs: Any) -> Any:
        from ..updates import Part as PartOfArray
        return getattr(PartOfArray(array, index), self.name)(*args, **kwargs)


_CHANGES = {name: _Change(name) for name in ("get", "set", "add", "subtract", "multiply", "mul", "divide", "power",
                                             "min", "max", "apply")}
