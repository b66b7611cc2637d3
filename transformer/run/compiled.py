"""From a call to a compiled entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..pipeline import Looped, generate_loops
from .dispatch import Dispatcher, Entry, hidden_key
from .generating import guarded_integers, on_demand, uncollected
from .index import Index, Loops
from .loading import loaded
from .sharing import Memory
from .signature import Description, describe

if TYPE_CHECKING:
    from .report import Report


def compile_entry(target: Any, described: Description, args: tuple[Any, ...], kwargs: dict[str, Any],
                  dispatcher: Dispatcher, index: Index) -> Entry:
    """Generates and compiles for a call; what turns out to be needed static is added to
    `dispatcher.static`. The record of it is kept in `index`."""

    def attempt(described: Description) -> Looped:
        return generate_loops(target, described.args, described.kwargs, hints=described.hints, smallest=2)

    names = dispatcher.names(len(args))
    with uncollected():
        looped = on_demand(attempt, args, kwargs, names, dispatcher.static, described)
        printed, entry = looped.module.kernel.printed, looped.module.entry
        loops = Loops(looped.source, entry.name, printed.name, looped.module.kernel.options,
                      {**entry.namespace, **printed.given}, looped.module.raising)
        hidden = looped.interface.hidden
        function = loaded(loops, args, {**kwargs, **{each.name: each.fetch() for each in hidden}},
                          looped.reading.origin)
    made = Entry(function, looped.source, looped, looped.function.guards, hidden, looped.reading.watched,
                 guarded_integers(looped), Memory.of(looped.reading), hidden_key(hidden))
    index.keep(made, loops, describe(args, kwargs, names, dispatcher.static), dispatcher.static)
    return made


def report_on_call(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dispatcher: Dispatcher) -> Report:
    """What was compiled for a call, or why nothing was."""
    from .report import Report, report_on
    entry = dispatcher.entry(args, kwargs)
    name = getattr(target, "__name__", "the function")
    if entry.refusal is not None:
        return Report(name, refusal=str(entry.refusal))
    described = describe(args, kwargs, dispatcher.names(len(args)), dispatcher.static)
    looped = entry.generated or _loops_for(target, args, kwargs, dispatcher)
    return report_on(looped, args, kwargs, described.hints, entry.function)


def stages_of_loops(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dispatcher: Dispatcher
                    ) -> dict[str, str]:
    """The text of every stage for a call, by name and in order."""
    return _loops_for(target, args, kwargs, dispatcher).stages


def _loops_for(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dispatcher: Dispatcher) -> Looped:
    """All stages to explicit loops for a call, with their text."""

    def attempt(described: Description) -> Looped:
        return generate_loops(target, described.args, described.kwargs, hints=described.hints, smallest=2, stages={})

    names = dispatcher.names(len(args))
    described = describe(args, kwargs, names, dispatcher.static)
    return on_demand(attempt, args, kwargs, names, dispatcher.static, described)
