"""Objects that are compared as Python does it without the author's help: field by field, or as being one."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..values import UNKNOWN
from .in_order import compared_items
from .objects import ATTRIBUTES, is_generated, made_of

if TYPE_CHECKING:
    from ..reader import Reader

FIELD_BY_FIELD: dict[Any, str] = {
    operator.eq: "__eq__",
    operator.lt: "__lt__",
    operator.le: "__le__",
    operator.gt: "__gt__",
    operator.ge: "__ge__",
}


def compared_objects(reader: Reader, function: Callable[..., Any], left: Any, right: Any) -> Any:
    """A comparison of objects by what `dataclass` and `object` wrote for them; UNKNOWN where it is not theirs."""
    from ..branches.conditions import negated, truth
    from ..operators import binary, is_one

    if function is operator.ne and _inherits(type(left), "__ne__"):
        return negated(reader, truth(reader, binary(reader, operator.eq, left, right)))
    if function in FIELD_BY_FIELD and is_generated(type(left), FIELD_BY_FIELD[function]):
        if type(left) is type(right):
            return compared_items(reader, function, _compared_fields(left), _compared_fields(right))
        return left is right if function is operator.eq else UNKNOWN
    if function is operator.eq and all(_inherits(type(side), "__eq__") for side in (left, right)):
        return is_one(reader, left, right)
    return UNKNOWN


def _compared_fields(made: Any) -> tuple[Any, ...]:
    return tuple([getattr(made, field.name) for field in dataclasses.fields(made) if field.compare])


def _inherits(cls: type, name: str) -> bool:
    """Whether a comparison of a plain class is that of `object`: an object is equal to itself alone."""
    return getattr(cls, name) is getattr(object, name) and made_of(cls) is ATTRIBUTES
