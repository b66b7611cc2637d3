"""What Python calls the types of abstract values: for `type(x)`, and for messages."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from ..core.sizes import Size
from ..ops.value import Value
from .branches.casts import PYTHON
from .lists.recorded import RecordedList, Recording
from .values import ArrayMethod, Closure, ContainerMethod, DynamicRange, ExceptionValue, Lazy, Producer, Text, is_array

STANDING_FOR: dict[type, type] = {
    Size: int,
    RecordedList: list,
    Recording: list,
    DynamicRange: range,
    Text: str,
    Closure: types.FunctionType,
    ArrayMethod: types.BuiltinMethodType,
    ContainerMethod: types.BuiltinMethodType,
    Lazy: types.GeneratorType,
    Producer: types.GeneratorType,
}


def python_type(value: Any) -> type:
    """`type(value)` when the program runs."""
    if isinstance(value, ExceptionValue):
        return value.kind
    if not isinstance(value, Value):
        made_by = getattr(value, "stands_for", None) if _is_of_reader(value) else None
        return made_by if isinstance(made_by, type) else standing_for(type(value))
    if is_array(value):
        return np.ndarray
    if value.type.weak:
        return PYTHON[value.dtype.kind]
    found: type = value.dtype.type
    return found


def _is_of_reader(value: Any) -> bool:
    return type(value).__module__.startswith("transformer.read.")


def stands_for_another(value: Any) -> bool:
    """Whether it is an object of ours, in place of one of a library, that has what there are rules for."""
    return type(value).__module__.startswith("transformer.read.library")


def type_name(value: Any) -> str:
    """The name of its type as in Python's own messages: ``list``, ``numpy.ndarray``."""
    kind = python_type(value)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def described(value: Any) -> str:
    """What it is, in a sentence: ``None``, ``the string 'a'``, ``an array``, ``a list``."""
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return f"the string {value!r}"
    if isinstance(value, types.ModuleType):
        return f"the module {value.__name__}"
    kind = python_type(value)
    if kind.__module__ not in ("builtins", "numpy", "types"):
        return f"an object of {kind.__name__}"
    return with_article(WORDS.get(kind.__name__, kind.__name__))


WORDS = {"str": "string", "builtin_function_or_method": "method", "dict": "dictionary", "ndarray": "array"}


def standing_for(cls: type) -> type:
    """The class of the program's that one of the reader's stands for."""
    return next((STANDING_FOR[base] for base in cls.__mro__ if base in STANDING_FOR), cls)


def with_article(noun: str) -> str:
    """The noun with `a` or `an` before it.

    >>> with_article("array"), with_article("list")
    ('an array', 'a list')
    """
    return f"{'an' if noun[0].lower() in 'aeio' else 'a'} {noun}"
