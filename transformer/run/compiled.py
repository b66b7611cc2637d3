"""From a call to a compiled entry."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ..pipeline import Looped, generate_loops
from ..transform.derived import taken_apart
from .dispatch import Dispatcher, Entry
from .generating import entry_of, on_demand, requested
from .index import Index, Loops
from .loading import loaded
from .native import require_64_bits, require_native
from .sharing import Memory
from .signature import Description, describe
from .views import gives_containers, gives_views

if TYPE_CHECKING:
    from .report import Report


def compile_entry(target: Any, described: Description, args: tuple[Any, ...], kwargs: dict[str, Any],
                  dispatcher: Dispatcher, index: Index, donated: Collection[str]) -> Entry:
    """Generates and compiles for a call; what turns out to be needed static is added to
    `dispatcher.static`. The record of it is kept in `index`."""

    def attempt(described: Description) -> Looped:
        return generate_loops(requested(target, described), donated=donated, turned=described.turned)

    require_64_bits(described.wide)
    names = dispatcher.names(len(args))
    looped = on_demand(attempt, args, kwargs, names, dispatcher.static, described)
    printed, entry = looped.module.kernel.printed, looped.module.entry
    loops = Loops(looped.source, entry.name, printed.name, looped.module.kernel.options,
                  entry.namespace, printed.given, looped.module.raising)
    written = 0 if taken_apart(target)[1] else len(looped.reading.written)
    memory = Memory.of(looped.reading, looped.module.donated,
                       gives_views(looped.function, written) or gives_containers(looped.reading))
    outside = {each.name: each.fetch() for each in looped.interface.hidden}
    require_native(outside, looped.reading.origin)
    given, keywords = memory.handed(args, kwargs, names, outside.values())
    function = loaded(loops, given, {**keywords, **outside}, looped.reading.origin)
    made = entry_of(function, looped, memory)
    index.keep(made, loops, describe(args, kwargs, names, dispatcher.static), dispatcher.static)
    return made


def report_on_call(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dispatcher: Dispatcher,
                   donated: Collection[str]) -> Report:
    """What was compiled for a call, or why nothing was."""
    from .report import Report, report_on
    entry = dispatcher.entry(args, kwargs)
    name = getattr(target, "__name__", "the function")
    if entry.refusal is not None:
        parts = [] if entry.generated is None else list(entry.generated.states())
        return Report(name, refusal=str(entry.refusal), parts=parts)
    described = describe(args, kwargs, dispatcher.names(len(args)), dispatcher.static)
    looped = entry.generated or _loops_for(target, args, kwargs, dispatcher, donated)
    return report_on(looped, described.hints, entry.function, donated)


def stages_of_loops(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dispatcher: Dispatcher,
                    donated: Collection[str]) -> dict[str, str]:
    """The text of every stage for a call, by name and in order."""
    return _loops_for(target, args, kwargs, dispatcher, donated).stages


def _loops_for(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dispatcher: Dispatcher,
               donated: Collection[str]) -> Looped:
    """All stages to explicit loops for a call, with their text."""

    def attempt(described: Description) -> Looped:
        return generate_loops(requested(target, described, with_stages=True), donated=donated,
                              turned=described.turned)

    names = dispatcher.names(len(args))
    described = describe(args, kwargs, names, dispatcher.static)
    return on_demand(attempt, args, kwargs, names, dispatcher.static, described)
