"""Lists and tuples where arrays are meant, which are refused as JAX refuses them.

Which arguments of a function are arrays NumPy says itself: it asks them whether they have functions of their own. So
the function is called with arguments that do nothing but answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from ..ops.value import Value
from ..parallel.array import Array


class Refused(TypeError):
    """A sequence in place of an array; the argument says which."""


class _Asked:
    """In place of an array: that the function has come so far is enough."""

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        for kind in types:
            if kind is _Listed or kind is _Tupled:
                raise Refused(kind.__bases__[0].__name__)


class _Listed(list, _Asked):
    pass


class _Tupled(tuple, _Asked):
    pass


def refuse_sequences(function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any],
                     taken: Collection[str | int]) -> None:
    """Raises TypeError for a list or tuple in place of an array; arguments at the places or with the names in `taken`
    may be any."""
    found = _refused(function, args, kwargs, taken)
    if found is not None:
        raise TypeError(f"{name} accepts arrays and numbers, not a {found}: wrap it in tnp.array(...), which states "
                        "that a new array is created")


def _refused(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
             taken: Collection[str | int]) -> str | None:
    """What stands in place of an array: ``"list"`` or ``"tuple"``."""
    given = [arg for k, arg in enumerate(args) if k not in taken] + \
        [arg for key, arg in kwargs.items() if key not in taken]
    if not any(isinstance(arg, (list, tuple)) for arg in given):
        return None
    if isinstance(getattr(function, "__self__", function), np.ufunc):
        arrays = args if isinstance(function, np.ufunc) else args[:1]        # np.add.reduce(x, axis)
        return next((type(arg).__name__ for arg in arrays if isinstance(arg, (list, tuple))), None)
    if not hasattr(function, "_implementation"):                # it asks no argument: np.zeros((2, 3))
        return None
    probes = [arg if k in taken else _probe(arg) for k, arg in enumerate(args)]
    named = {key: arg if key in taken else _probe(arg) for key, arg in kwargs.items()}
    try:
        with np.errstate(all="ignore"):
            function(*probes, **named)
    except Refused as refused:
        return str(refused)
    except Exception:                           # it is called again with what was given
        return None
    return None


def _probe(value: Any) -> Any:
    if isinstance(value, (Array, Value, np.ndarray)):
        return _Asked()
    if type(value) is list:
        return _Listed(map(_probe, value))
    return _Tupled(map(_probe, value)) if type(value) is tuple else value
