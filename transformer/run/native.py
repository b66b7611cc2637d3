"""Arguments that compiled code cannot read as they are: arrays in another byte order than the machine's, integers of
many bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import tree
from ..core.errors import NotSupported, Origin, raised_as
from ..core.on_devices import is_on_device, on_host


def is_foreign(leaf: Any) -> bool:
    return isinstance(leaf, (np.ndarray, np.generic)) and not leaf.dtype.isnative


def require_native(outside: dict[str, Any], origin: Origin | None) -> None:
    """Refuses such arrays from outside: to copy them in every call would be work that nobody sees."""
    for name, value in outside.items():
        if is_foreign(value):
            raise NotSupported(
                f"compiled code does not support `{name}`, an array of dtype {value.dtype.str!r}", origin,
                why="It does not have native byte order. Only arguments are converted automatically.",
                instead=f"Convert it once: `{name} = {name}.astype({name}.dtype.newbyteorder(\"=\"))`.")


def require_64_bits(wide: tuple[str, ...]) -> None:
    """Refuses such integers among the arguments, by their paths."""
    if wide:
        refused = raised_as(
            OverflowError, f"Python int too large to convert to C long: {wide[0]}", None,
            why="Integer arguments of compiled code have 64 bits.",
            instead="Pass a float, or list the argument in `static_argnames`.")
        refused.argument = wide[0]
        raise refused


def arguments_on_host(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call as those of a function of NumPy's arrays."""
    if not any(map(is_on_device, tree.leaves((args, kwargs)))):
        return args, kwargs
    given: tuple[tuple[Any, ...], dict[str, Any]] = tree.map(on_host, (args, kwargs))
    return given


def off_devices(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives NumPy's arrays where it gave ours: it was called with NumPy's."""
    def called(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if not any(map(is_on_device, tree.leaves(result))):
            return result
        return tree.map(lambda leaf: np.array(leaf)[()] if is_on_device(leaf) else leaf, result)
    return called


def native(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, list[tuple[np.ndarray, np.ndarray]]]:
    """The arguments with copies of such arrays in the machine's order; with pairs (array, its copy)."""
    pairs: list[tuple[np.ndarray, np.ndarray]] = []

    def converted(leaf: Any) -> Any:
        if not is_foreign(leaf):
            return leaf
        copy = leaf.astype(leaf.dtype.newbyteorder("="))
        if isinstance(leaf, np.ndarray):
            pairs.append((leaf, copy))
        return copy

    args, kwargs = tree.map(converted, (args, kwargs))
    return args, kwargs, pairs
