"""What objects are made of while a function is read: those that trees know, and those of plain classes.

Outside of a function an object of a plain class is a leaf, of which only its author knows the parts; one that the
function makes is its attributes. So is one of a dataclass, which may have more of them than fields.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from typing import Any

from ...containers import LEAVES, DataclassKind, Kind, kind_of
from ..values import contained, has_dynamic


class Attributes(Kind):
    """An object that is its attributes: the fields of a dataclass, then others in the order of their names."""

    def split(self, tree: Any) -> tuple[Any, Sequence[Any]]:
        held = vars(tree)
        fields = [name for name in getattr(type(tree), "__dataclass_fields__", ()) if name in held]
        names = (*fields, *sorted(held.keys() - fields))
        return names, [held[name] for name in names]

    def build(self, cls: type, static: Any, children: list[Any]) -> Any:
        made: Any = object.__new__(cls)
        vars(made).update(zip(static, children, strict=True))
        return made

    def accessors(self, static: Any, count: int) -> Sequence[str]:
        return [f".{name}" for name in static]


ATTRIBUTES = Attributes()


def made_of(cls: type) -> Kind:
    """The kind of a class; LEAVES where nothing is known of what its objects are made of."""
    kind = kind_of(cls)
    return ATTRIBUTES if (kind is LEAVES or isinstance(kind, DataclassKind)) and _is_plain(cls) else kind


def _is_plain(cls: Any) -> bool:
    """Whether the attributes are all that objects of a class are."""
    return (
        type(cls).__call__ is type.__call__
        and cls.__new__ is object.__new__
        and cls.__dictoffset__ != 0
        and not hasattr(cls, "__tree_leaf__")
        and not any(vars(base).get("__slots__") for base in cls.__mro__)
    )


def hold_dynamic(value: Any, around: tuple[Any, ...] = ()) -> bool:
    """Whether an object among the values in `value` has an attribute that is not known, or one of its objects has;
    `around` are the objects that it is in."""
    held = [item for item in contained(value) if made_of(type(item)) is ATTRIBUTES]
    inner = [item for item in held if not any(item is each for each in around)]
    return any(has_dynamic(vars(item)) or hold_dynamic(vars(item), (*around, item)) for item in inner)


def is_generated(cls: type, name: str) -> bool:
    """Whether `dataclass` wrote a method of a class."""
    code = getattr(inspect.unwrap(getattr(cls, name)), "__code__", None)
    return dataclasses.is_dataclass(cls) and code is not None and code.co_filename == "<string>"
