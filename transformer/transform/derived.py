"""A function and what is done to it, before anything is read."""

from __future__ import annotations

from typing import Any

from ..tree import map as map_leaves


class Derived:
    """A function and what is done to it (None: nothing that changes what it computes). Called while a
    function is read, it is transformed there."""

    function: Any
    mode: Any

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call in user code gives: the inner function is read, transformed and put in place."""
        from .argument_names import passed_names
        from .arguments import fitted
        mode, inner, keywords = self.mode.entered_inside(reader, args, kwargs, passed_names(self, len(args)))
        with mode.around():
            function, interface = reader.subfunction(self.function, inner, keywords)
        interface.positional = len(inner)
        with reader.assumptions.consistent():
            function, interface = mode.transform(function, interface, reader.builder)
        last = interface.positional or len(interface.parameters)
        added = interface.parameters[last - mode.extras:last]
        count = len(args) - mode.extras
        given = [fitted(p.tree, _taken(reader, arg), p.name) for p, arg in zip(added, args[count:])]
        return reader.inlined(function, interface, (*args[:count], *given), kwargs)


def _taken(reader: Any, given: Any) -> Any:
    """A tangent or cotangent; what it holds may come from outside."""
    given = reader.usable(given)
    reader.outside.seen_whole(given)
    return map_leaves(reader.usable, given)


def taken_apart(target: Any) -> tuple[Any, list[Any]]:
    """The user's function inside a transformed one, and the transformations, innermost first."""
    modes: list[Any] = []
    while isinstance(target, Derived):
        modes[:0] = [] if target.mode is None else [target.mode]
        target = target.function
    return target, modes


def innermost(target: Any) -> Any:
    """The user's function."""
    return taken_apart(target)[0]
