"""From a call to a loaded generated function; from a call or declared types to a standalone file."""

from __future__ import annotations

import itertools
from typing import Any


from ..pipeline import Generated, generate
from ..read.demand import Demand
from .dispatch import Dispatcher, Entry, hidden_key
from .files import load
from .signature import Description, describe


def generate_entry(target: Any, described: Description, args: tuple[Any, ...], kwargs: dict[str, Any],
                   dispatcher: Dispatcher) -> Entry:
    """Generates for a call; what turns out to be needed static is added to `dispatcher.static`."""
    generated = generated_for_call(target, described, args, kwargs, dispatcher)
    written = generated.written
    function = load(written.source, generated.interface.name, written.namespace)
    hidden = generated.interface.hidden
    return Entry(function, generated, generated.function.guards, hidden, generated.reading.watched,
                 False, hidden_key(hidden))


def generated_for_call(target: Any, described: Description, args: tuple[Any, ...], kwargs: dict[str, Any],
                       dispatcher: Dispatcher, smallest: int = 2) -> Generated:
    for _ in itertools.count():
        try:
            return generate(target, described.args, described.kwargs, hints=described.hints,
                            smallest=smallest)
        except Demand as demand:
            new = set(demand.paths) - dispatcher.static
            if not new:
                raise demand.error() from None
            dispatcher.static |= new
            described = describe(args, kwargs, dispatcher.names(len(args)), dispatcher.static)
    raise AssertionError("unreachable")


def standalone_source(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The text of a file that holds the transformed function and all it needs."""
    entry = target._entry(args, kwargs)
    return entry.generated.source


