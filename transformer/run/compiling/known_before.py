"""Functions that are the same in the modules of several programs, such as those of vector mathematics: each is compiled
once in a process, because compiling `exp` takes half as long as compiling a small kernel around it.

Functions that raise are left out: their errors are found by the lines of their module.
"""

from __future__ import annotations

import dis
from collections.abc import Hashable, Set
from typing import Any

import numpy as np

RAISES = dis.opmap["RAISE_VARARGS"]
MOST = 500

KNOWN: dict[Hashable, Any] = {}                         # dispatchers, by the forms of their functions


def know(form: Hashable, dispatcher: Any) -> None:
    if len(KNOWN) >= MOST:
        KNOWN.clear()
    KNOWN[form] = dispatcher


def forms_of(namespace: dict[str, Any], options: dict[str, dict[str, Any]], apart: Set[str]) -> dict[str, Hashable]:
    """What is equal for functions of modules that do the same, for those of a module that rest on nothing else in it;
    `apart` are those that are no such functions."""
    found: dict[str, Hashable] = {}

    def form_of(name: str) -> Hashable:
        """The code of a function and of those that it calls, and how these are compiled; None for others."""
        if name in found or name in apart or name not in options:
            return found.get(name)
        code, chosen = namespace[name].__code__, options[name]
        called = [each for each in code.co_names if each in namespace and not _is_library(namespace[each])]
        forms = [form_of(each) for each in called]
        if not chosen["nogil"] or "form" in chosen or RAISES in code.co_code[::2] or None in forms:
            return None
        found[name] = (code.co_code, repr(code.co_consts), code.co_names, code.co_varnames, code.co_argcount,
                       repr(sorted(chosen.items(), key=str)), *forms)
        return found[name]

    for name in options:
        form_of(name)
    return found


def _is_library(value: Any) -> bool:
    return value is np or getattr(value, "__name__", "") == "math"
