"""`dataclasses.astuple` and `asdict`: what objects hold, taken apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, astuple, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from ...core.errors import raised_as
from .attributes import attribute
from .containers import item
from .copying import deep

if TYPE_CHECKING:
    from ..reader import Reader

Made = Callable[[list[tuple[str, Any]]], Any]


def as_tuple(reader: Reader, obj: Any, *, tuple_factory: Any = tuple) -> Any:
    _check_object(reader, "astuple", obj)
    return _parted(reader, obj, lambda pairs: reader.call(tuple_factory, ([value for _, value in pairs],), {}))


def as_dict(reader: Reader, obj: Any, *, dict_factory: Any = dict) -> Any:
    _check_object(reader, "asdict", obj)
    return _parted(reader, obj, lambda pairs: reader.call(dict_factory, (pairs,), {}))


def _check_object(reader: Reader, name: str, obj: Any) -> None:
    if not _has_fields(obj):
        text = f"{name}() should be called on dataclass instances"
        raise raised_as(TypeError, text, reader.builder.origin)


def _has_fields(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, type)


def _parted(reader: Reader, value: Any, made: Made) -> Any:
    """A part of an object: of other dataclasses what is `made` of their fields, and copies of the rest."""
    value = reader.usable(value)
    if _has_fields(value):
        return made([(field.name, _parted(reader, attribute(reader, value, field.name), made))
                     for field in fields(value)])
    if isinstance(value, (tuple, list)):
        items = [_parted(reader, item(reader, value, k), made) for k in range(len(value))]
        if isinstance(value, list):
            return reader.own(items)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, dict):
        return reader.own({key: _parted(reader, item(reader, value, key), made) for key in list(value)})
    return deep(reader, value)


CALLS: dict[Any, Any] = {astuple: as_tuple, asdict: as_dict}
