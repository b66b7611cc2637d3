"""From a call to a loaded generated function; from a call, or from types, to a standalone file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..core.errors import NotSupported
from ..pipeline import Generated, generate, taken_apart
from ..read.demand import Demand
from .dispatch import Dispatcher, Entry, hidden_key
from .files import load
from .heading import header_of
from .signature import Description, describe


def generate_entry(
    target: Any,
    described: Description,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    dispatcher: Dispatcher,
) -> Entry:
    """Generates for a call; what turns out to be needed static is added to `dispatcher.static`."""

    def attempt(described: Description) -> Generated:
        return generate(target, described.args, described.kwargs, hints=described.hints, smallest=2)

    names = dispatcher.names(len(args))
    generated = on_demand(attempt, args, kwargs, names, dispatcher.static, described)
    written = generated.written
    function = load(written.source, generated.interface.name, written.namespace)
    hidden = generated.interface.hidden
    return Entry(
        function,
        generated,
        generated.function.guards,
        hidden,
        generated.reading.watched,
        False,
        hidden_key(hidden),
    )


def on_demand(
    attempt: Callable[[Description], Generated],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    names: Iterable[str],
    static: set[str],
    described: Description,
) -> Generated:
    """Generates again and again, with more of the arguments static, until no more are demanded."""
    names = list(names)
    while True:
        try:
            return attempt(described)
        except Demand as demand:
            new = set(demand.paths) - static
            if not new:
                raise demand.error() from None
            static |= new
            described = describe(args, kwargs, names, static)


def standalone_source(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The text of a file that holds the transformed function and all it needs, for arguments like
    these."""
    names = target._dispatcher.names(len(args))
    return standalone_for_call(target, args, kwargs, names).source


def standalone_for_call(
    target: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    names: Iterable[str],
    notes: tuple[str, ...] = (),
) -> Generated:
    """The same, with all that is known about it: for all sizes that take the course which those of
    the call take. `names` are those of the positional arguments; `notes` go into the header."""
    names, static = list(names), set[str]()

    def attempt(described: Description) -> Generated:
        fixed = tuple(f"Made for this {path} alone." for path in sorted(static))
        return _standalone(target, described, notes + fixed)

    return on_demand(attempt, args, kwargs, names, static, describe(args, kwargs, names, static))


def standalone_for_types(
    target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], notes: tuple[str, ...] = ()
) -> Generated:
    """The same for declared arguments: pytrees of types and of objects known beforehand."""
    try:
        return _standalone(target, Description(args, kwargs), notes)
    except Demand as demand:
        error = demand.error()
        error.instead = (
            "Declare it with its value, as in `n: 3`; a size with its number, as in `f64[3]`."
        )
        raise error from None


def _standalone(target: Any, described: Description, notes: tuple[str, ...]) -> Generated:
    """No size is known to be positive, as no call is at hand."""
    function, modes = taken_apart(target)
    generated = generate(
        target,
        described.args,
        described.kwargs,
        hints=described.hints,
        smallest=0,
        header=header_of(function, modes, notes),
    )
    _require_plain(generated)
    return generated


def _require_plain(generated: Generated) -> None:
    """Raises for what has no place in a file of its own: classes and objects of the user."""
    for name, value in generated.written.namespace.items():
        kind = value.__name__ if isinstance(value, type) else name
        raise NotSupported(
            f"{generated.interface.name} needs `{kind}`, which a file of its own does not have",
            generated.function.origin,
            instead="Pass and return numbers, arrays, tuples, lists and dictionaries.",
        )


def extra_arguments(target: Any) -> int:
    """How many arguments a transformed function takes after those of the user's function."""
    return sum(mode.extras for mode in taken_apart(target)[1])
