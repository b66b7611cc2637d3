"""What wrappers of functions share: names, docstrings, pickling. Imports nothing that takes time."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import Any

from .core.errors import BadArgument


def check_callable(function: Any, name: str) -> None:
    """Raises where a transformation is called as if it were the function."""
    if not callable(function):
        from .read.kinds import described
        from .read.places import place_of_call
        way = f"{name}(f, (x,), (dx,))" if name == "jvp" else f"{name}(f, x)"
        way = way if name in ("jvp", "vjp", "linearize") else f"{name}(f)(x), not {name}(f(x))"
        raise BadArgument(f"{name} expects a function, got {described(function)}", place_of_call(),
                          instead=f"Write {way}.")


def told_here(error: BadArgument, function: Any = None, about: str | None = None) -> BadArgument:
    """The error with the place of what it is about in a function, or of the call into this package."""
    from .read.places import place_of, place_of_call
    place = None if function is None else place_of(function, about)
    return error.located(place or place_of_call())


def argument_names(function: Any, count: int) -> list[str]:
    """Names for `count` positional arguments, as far as the signature tells."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "argument")
    return names[:count] + [f"{rest}[{k}]" for k in range(count - len(names))]


def copy_names(target: Any, function: Any) -> None:
    """`functools.update_wrapper`, with a sentence before the docstring."""
    functools.update_wrapper(target, function, updated=())
    doc = getattr(function, "__doc__", None)
    name = getattr(function, "__name__", "the function")
    done = "compiled form" if target.mode is None else target.mode.suffix
    target.__doc__ = f"{done} of {name}." + (f"\n\n{doc}" if doc else "")


def is_importable(target: Any) -> bool:
    """Whether a transformed function is what its module calls by its name (it was a decorator)."""
    found: Any = sys.modules.get(getattr(target, "__module__", ""))
    for part in getattr(target, "__qualname__", "<none>").split("."):
        found = getattr(found, part, None)
    return found is target
