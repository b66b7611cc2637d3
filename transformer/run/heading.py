"""The text at the top of an emitted file: what it is, and of which function."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ..transform.modes import Gradient, Mode, Pullback, Pushforward
from ..write.header import Header


def header_of(
    function: Any, modes: list[Mode], notes: tuple[str, ...] = (), name: str | None = None
) -> Header:
    """The header for a function and what is done to it, the first thing done first."""
    from .. import __version__

    code = getattr(inspect.unwrap(function), "__code__", None)
    names = parameter_names(function)
    done = " of the ".join(words(mode, names) for mode in reversed(modes)) or "compiled form"
    versions = {"transformer": __version__, "numpy": np.__version__}
    file, line = (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)
    own = getattr(function, "__qualname__", None) or type(function).__qualname__
    shown = name if name and "<" in own else own
    return Header(shown, file, line, done, versions, notes)


def words(mode: Mode, names: list[str]) -> str:
    """What a transformation gives, in words.

    >>> words(Gradient((0, "b")), ["w", "b", "x"])
    'gradient with respect to w and b'
    """
    if not isinstance(mode, (Pushforward, Pullback, Gradient)):
        return "batched form"
    kinds = {Pushforward: "forward derivative", Pullback: "pullback", Gradient: "gradient"}
    what = kinds[type(mode)]
    if isinstance(mode, Gradient) and mode.value:
        what = f"value and {what}"
    return f"{what} with respect to {listed(mode.wrt, names)}"


def listed(wrt: Any, names: list[str]) -> str:
    """Arguments by name, as far as their positions have one."""
    keys = wrt if isinstance(wrt, tuple) else (wrt,)
    if wrt is None:
        return "the arguments"
    known = [key if isinstance(key, str) else _name_at(key, names) for key in keys]
    return " and ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known)


def _name_at(position: int, names: list[str]) -> str:
    return names[position] if -len(names) <= position < len(names) else f"argument {position}"


def parameter_names(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
