"""A module of NumPy as one of functions for `Array`s, each made when it is first asked for."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from .functions import Function
from .names import LEFT_OUT, MAKING, SEQUENCES, functions_of


def namespace(module: types.ModuleType, names: dict[str, Any], prefix: str = ""
              ) -> tuple[list[str], Callable[[str], Any]]:
    """The names of the functions there are, and what makes one by its name and keeps it in `names`."""
    there = functions_of(module)
    known = frozenset(there)

    def made(name: str) -> Any:
        if name not in known:
            raise AttributeError(missing(name, f"transformer.{module.__name__}"))
        found = Function(getattr(module, name), prefix + name, name in MAKING, SEQUENCES.get(name, ()))
        return names.setdefault(name, found)

    return there, made


def missing(name: str, where: str) -> str:
    """Why there is no such name."""
    why = LEFT_OUT.get(name)
    return f"module {where!r} has no attribute {name!r}" + (f": {why}" if why else "")
