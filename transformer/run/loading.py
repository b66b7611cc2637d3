"""From the text of a module of explicit loops to its function, compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.errors import Origin
from .compiling.kernels import compile_for, install
from .compiling.objects import objects_of
from .files import load_module
from .index import Loops
from .raising import note_places


def loaded(loops: Loops, args: tuple[Any, ...], kwargs: dict[str, Any], origin: Origin | None) -> Callable[..., Any]:
    """The function of a module, whose kernel is compiled for the layouts of these arguments."""
    namespace = load_module(loops.source, loops.name, {**loops.namespace, **loops.given})
    note_places(namespace["__file__"], loops.raising)
    # What is given may be a class of the running program, of which numba would keep a copy.
    objects = None if loops.given else objects_of(loops.source + text_of(loops.options))
    install(namespace, loops.options, loops.kernel, objects)
    function: Callable[..., Any] = namespace[loops.name]
    compile_for(function, loops.kernel, args, kwargs, origin)
    return function


def text_of(options: dict[str, dict[str, Any]]) -> str:
    """The same for the same options, in every process."""
    return repr([(name, sorted((key, _ordered(value)) for key, value in chosen.items()))
                 for name, chosen in options.items()])


def _ordered(value: Any) -> Any:
    return sorted(value) if isinstance(value, (set, frozenset)) else value
