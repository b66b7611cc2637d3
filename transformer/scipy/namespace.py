"""A module of SciPy as one of functions that take `Array`s, each made when it is first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from ..taking import taking_arrays


def namespace(home: str, names: dict[str, Any]) -> tuple[list[str], Callable[[str], Any]]:
    """The public names of a module of SciPy, and what makes one by its name and keeps it in `names`."""
    module = importlib.import_module(home)
    public = [name for name in module.__all__ if not name.startswith("_")]

    def made(name: str) -> Any:
        if name not in public:
            raise AttributeError(f"module 'transformer.{home}' has no attribute {name!r}")
        return names.setdefault(name, _taking(getattr(module, name)))

    return public, made


def _taking(found: Any) -> Any:
    """A function that takes `Array`s, of a distribution an object with such functions; classes as they are."""
    if callable(getattr(found, "pdf", None) or getattr(found, "pmf", None)) and not isinstance(found, type):
        return Distribution(found)
    return taking_arrays(found) if callable(found) and not isinstance(found, type) else found


class Distribution:
    """A distribution of `scipy.stats`, whose methods take `Array`s."""

    def __init__(self, of_scipy: Any) -> None:
        self.of_scipy = of_scipy

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.of_scipy(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.of_scipy, name)
        return vars(self).setdefault(name, taking_arrays(found)) if callable(found) else found
