"""`copy.copy` and `copy.deepcopy`: arrays, containers and objects as new ones that may be changed here."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import NotSupported
from ..calls.applying import apply_op
from ..kinds import described
from ..lists.recorded import RecordedList, Recording
from ..values import is_array
from .attributes import attribute
from .containers import item

if TYPE_CHECKING:
    from ..reader import Reader

Each = Callable[[Any], Any]


def shallow(reader: Reader, value: Any) -> Any:
    """`copy.copy`."""
    own: Any = getattr(type(value), "__copy__", None)
    if hasattr(own, "__code__"):
        return reader.call(own, (value,), {})
    return _copied(reader, value, lambda part: part)


def deep(reader: Reader, value: Any, memo: Any = None) -> Any:
    """`copy.deepcopy`: what is in two places is copied once."""
    if memo is not None:
        raise NotSupported("copy.deepcopy with `memo` is not supported", reader.builder.origin, instead="Omit it.")
    done: dict[int, tuple[Any, Any]] = {}

    def each(part: Any) -> Any:
        part = reader.usable(part)
        if id(part) not in done:
            own = getattr(type(part), "__deepcopy__", None)
            made = reader.call(own, (part, {}), {}) if hasattr(own, "__code__") else _copied(reader, part, each)
            done[id(part)] = part, made                    # the part is kept, and so its id is
        return done[id(part)][1]

    return each(value)


def _copied(reader: Reader, value: Any, each: Each) -> Any:
    """A new array, container or object; `each` makes its parts of the old ones."""
    if is_array(value):
        return apply_op(reader, np.copy, (value,), {})
    if isinstance(value, (RecordedList, Recording)):
        return reader.call(attribute(reader, value, "copy"), (), {})
    if isinstance(value, (list, dict, set)):
        return reader.own(_container(reader, value, each))
    if isinstance(value, tuple):
        items = [each(item(reader, value, k)) for k in range(len(value))]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return _object(reader, value, each) if _has_fields(value) else value


def _container(reader: Reader, value: Any, each: Each) -> Any:
    made = copy.copy(value)                                # keeps the class, such as that of a defaultdict
    if isinstance(value, list):
        made[:] = [each(item(reader, value, k)) for k in range(len(value))]
    elif isinstance(value, dict):
        made.update((key, each(item(reader, value, key))) for key in list(value))
    return made


def _has_fields(value: Any) -> bool:
    """Whether it is an object of a class written in Python, and no function, class or module."""
    kind = type(value)
    return kind.__dictoffset__ != 0 and bool(kind.__flags__ & HEAP_TYPE) and not isinstance(value, type)


HEAP_TYPE = 1 << 9


def _object(reader: Reader, value: Any, each: Each) -> Any:
    kind: Any = type(value)
    if kind.__new__ is not object.__new__ or kind.__reduce_ex__ is not object.__reduce_ex__:
        raise NotSupported(
            f"copying {described(value)} is not supported",
            reader.builder.origin,
            why="Its class defines __new__ or __reduce_ex__.",
            instead="Define __copy__ or __deepcopy__, or create a new object from its parts.",
        )
    made = reader.own(object.__new__(kind))
    made.__dict__.update((name, each(attribute(reader, value, name))) for name in list(vars(value)))
    return made
