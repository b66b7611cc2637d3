"""Functions of Python's that ask an object of a user's class: `abs(v)` is `v.__abs__()`."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from .special_methods import users_special

METHODS: dict[Any, tuple[str, ...]] = {
    abs: ("__abs__",),
    operator.abs: ("__abs__",),
    round: ("__round__",),
    divmod: ("__divmod__",),
    pow: ("__pow__",),
    int: ("__int__", "__index__", "__trunc__"),
    float: ("__float__", "__index__"),
    complex: ("__complex__", "__float__", "__index__"),
    math.floor: ("__floor__",),
    math.ceil: ("__ceil__",),
    math.trunc: ("__trunc__",),
    reversed: ("__reversed__",),
    next: ("__next__",),
}


def answered(function: Any, args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """The method of the first argument's class that a call of the function runs, if the user wrote one."""
    try:
        names = METHODS.get(function, ()) if args else ()
    except TypeError:  # not hashable
        return None
    return next((method for name in names if (method := users_special(args[0], name)) is not None), None)
