"""From a call to a loaded generated function; from a call, or from types, to a standalone file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from ..core.errors import NotSupported
from ..core.sizes import Unknown, leaves
from ..pipeline import Generated, Looped, Prepared, Product, Request, generate, generate_loops
from ..read.places import placed
from ..read.raising.demand import Demand
from ..transform.derived import taken_apart
from .current import hidden_key
from .dispatch import Dispatcher, Entry
from .files import load
from .heading import header_of
from .naming import apart, with_named_sizes
from .raising import note_places
from .sharing import Memory
from .signature import Description, describe

Made = TypeVar("Made", bound=Prepared)
Emitted = Generated | Looped


def generate_entry(
    target: Any,
    described: Description,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    dispatcher: Dispatcher,
) -> Entry:
    """Generates for a call; what turns out to be needed static is added to `dispatcher.static`."""

    def attempt(described: Description) -> Generated:
        return generate(requested(target, described))

    names = dispatcher.names(len(args))
    generated = on_demand(attempt, args, kwargs, names, dispatcher.static, described)
    written = generated.written
    function = load(written.source, generated.interface.name, written.namespace)
    note_places(function.__code__.co_filename, written.line_origins)
    return entry_of(function, generated)


def entry_of(function: Callable[..., Any], generated: Emitted, memory: Memory | None = None) -> Entry:
    """The entry of a function that was loaded; `memory` is what the reading says, if nothing else is given."""
    hidden, reading = generated.interface.hidden, generated.reading
    return Entry(function, generated.source, generated, generated.function.guards, hidden, reading.watched,
                 guarded_integers(generated), memory or Memory.of(reading), hidden_key(hidden))


def stages_for_call(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dispatcher: Dispatcher
                    ) -> dict[str, str]:
    """The text of every stage for a call, by name and in order."""
    dispatcher.entry(args, kwargs)
    described = describe(args, kwargs, dispatcher.names(len(args)), dispatcher.static)
    return generate(requested(target, described, with_stages=True)).stages


def requested(target: Any, described: Description, **options: Any) -> Request:
    """What is to be generated for a call; options as for `Request`."""
    return Request(target, described.args, described.kwargs, described.hints, **options)


def guarded_integers(generated: Prepared) -> dict[Any, str]:
    """The integer arguments that guards mention, as atoms of sizes, with their paths. Guards are about the numbers of a
    call, so what has one of a number from outside is refused: that number has to be a constant."""
    sizes = [size for guard in generated.function.guards for size in (guard.left, guard.right)]
    found: dict[Any, Any] = {leaf: generated.reading.paths.get(leaf.var) for size in sizes for leaf in leaves(size)
                             if isinstance(leaf, Unknown)}
    outside = [leaf.var.name for leaf, path in found.items() if path is None]
    if outside:
        raise NotSupported(f"a size that depends on {outside[0]!r}",
                           why="Which sizes fit is decided by integers that are arguments, and by shapes.",
                           instead="Pass it as an argument that is an integer: int(n).")
    return found


def on_demand(
    attempt: Callable[[Description], Made],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    names: Iterable[str],
    static: set[str],
    described: Description,
) -> Made:
    """Generates again and again, with more of the arguments static, until no more are demanded."""
    names = list(names)
    while True:
        try:
            return attempt(described)
        except Demand as demand:
            new = set(demand.paths).difference(static, described.axisless)
            if not new:
                raise demand.error() from None
            static |= new
            described = describe(args, kwargs, names, static)


@dataclass(frozen=True)
class Label:
    """What a file of its own says at its top: `notes` are sentences, `name` is what the user's
    function is called in it, if not by its own name, and `called` what the whole is called."""

    name: str | None = None
    notes: tuple[str, ...] = ()
    product: Product = Product.SOURCE
    called: str | None = None


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
    label: Label | None = None,
) -> Emitted:
    """The same, with all that is known about it: for all sizes that take the course which those of
    the call take. `names` are those of the positional arguments."""
    with placed(taken_apart(target)[0]):
        return _standalone_for_call(target, args, kwargs, list(names), label or Label())


def _standalone_for_call(
    target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str], label: Label
) -> Emitted:
    static: set[str] = set()
    described = describe(args, kwargs, names)
    first = on_demand(partial(_standalone, target, label), args, kwargs, names, static, described)
    described = describe(args, kwargs, names, static)
    named = with_named_sizes(described, first.reading.assumptions, {*names, *kwargs})
    try:
        return _standalone(target, label, named)
    except Demand:  # a course that was not taken before: keep the long names
        return first


def standalone_for_types(
    target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], label: Label | None = None
) -> Emitted:
    """The same for declared arguments: pytrees of types and of objects known beforehand."""
    try:
        with placed(taken_apart(target)[0]):
            return _standalone(target, label or Label(), Description(args, kwargs))
    except Demand as demand:
        error = demand.error()
        error.instead = (
            "Declare it with its value, as in `n: 3`; a size with its number, as in `f64[3]`."
        )
        raise error from None


def _standalone(target: Any, label: Label, described: Description) -> Emitted:
    """No size is known to be positive, as no call is at hand."""
    described = apart(described)
    function, modes = taken_apart(target)

    def attempt(notes: tuple[str, ...]) -> Emitted:
        header = header_of(function, modes, notes, label.name, label.product)
        request = requested(target, described, smallest=0, header=header, name=label.name, called=label.called,
                            with_stages=True)
        return generate(request) if label.product is Product.SOURCE else generate_loops(request, label.product)

    generated = attempt(label.notes)
    _require_plain(generated)
    hidden = [hidden.name for hidden in generated.interface.hidden]
    if not hidden:
        return generated
    arguments = "is an argument" if len(hidden) == 1 else "are arguments"
    what = f"{' and '.join(hidden)}, which the original takes from outside, {arguments} here."
    return attempt((*label.notes, what))


def _require_plain(generated: Emitted) -> None:
    """Raises for what has no place in a file of its own: classes and objects of the user."""
    for name, value in generated.namespace.items():
        found = getattr(value, "cls", value)
        kind = found.__name__ if isinstance(found, type) else name
        raise NotSupported(
            f"{generated.interface.name} needs `{kind}`, which is not available in a standalone file",
            generated.function.origin,
            instead="Pass and return numbers, arrays, tuples, lists and dictionaries.",
        )


def extra_arguments(target: Any) -> int:
    """How many arguments a transformed function takes after those of the user's function."""
    return sum(mode.extras for mode in taken_apart(target)[1])
