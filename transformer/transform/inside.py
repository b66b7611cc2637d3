"""`jvp`, `vjp` and `linearize` where a function that is read calls them.

`grad` of a function is a function, and reads itself (`Derived`). These take the point along: what
they give for it is put in place at once, a pullback or a linear map when it is called.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import BadArgument, NotSupported
from ..core.grammar import Function, Var
from ..core.sizes import Size
from ..core.text import text
from ..core.walk import Copier, atom_vars, free_vars
from ..ops.value import Value, call
from ..tree import map as map_leaves
from .derived import Derived
from .modes import AS_TUPLES, GIVE_ONE, ONE_FOR_EACH, Mode, Pullback, Pushforward


class Inside(Derived):
    """A function and what is done to it, made while another is read."""

    def __init__(self, function: Any, mode: Mode) -> None:
        self.function = function
        self.mode = mode
        self.__name__ = getattr(function, "__name__", "function")


def read_jvp(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``jvp(function, primals, tangents)`` gives."""
    return _jvp(reader, *args, **kwargs)


def _jvp(reader: Any, function: Any, primals: Any, tangents: Any) -> Any:
    primals, tangents = reader.usable(primals), reader.usable(tangents)
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise BadArgument("jvp expects a tuple of primals and a tuple of tangents", instead=AS_TUPLES)
    if len(primals) != len(tangents):
        raise BadArgument(f"jvp got {len(primals)} primals and {len(tangents)} tangents", instead=ONE_FOR_EACH)
    moving = tuple(k for k, tangent in enumerate(tangents) if tangent is not None)
    if not moving:
        raise BadArgument("all tangents of jvp are None", instead=GIVE_ONE)
    given = [tangents[k] for k in moving]
    return reader.call(Inside(function, Pushforward(moving)), (*primals, *given), {})


def read_vjp(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``vjp(function, *primals)`` gives: the result and a pullback."""
    return _at_point(reader, Pulled, *args, **kwargs)


def read_linearize(reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``linearize(function, *primals)`` gives: the result and a linear map."""
    return _at_point(reader, Pushed, *args, **kwargs)


def _at_point(reader: Any, made: Any, function: Any, *primals: Any) -> Any:
    reader.outside.seen_whole(primals)
    kept = tuple(map_leaves(_kept, reader.usable(primal)) for primal in primals)
    core, interface = reader.subfunction(function, kept, {})
    point = Point(function, kept, core)
    return reader.inlined(core, interface, kept, {}), made(point)


def _kept(leaf: Any) -> Any:
    """An array as it is now: it may be written to before the pullback is called."""
    return call(np.copy, (leaf,), {}) if isinstance(leaf, Value) and leaf.ndim else leaf


def _outer(core: Function) -> list[Var]:
    """The values around a function that it uses."""
    ends = [var for result in core.results for var in atom_vars(result)]
    return [var for var in free_vars(core.body, ends) if var not in core.params]


def _shown(core: Function) -> str:
    """The text of a function in the sizes that are known by now."""
    normal = current().assumptions.normal
    copier = Copier(dims=lambda dim: normal(Size.of(dim)))
    params = [copier.fresh(var) for var in (*core.params, *_outer(core))]
    body = copier.block(core.body)
    return text(Function(core.name, params, body, list(copier.args(core.results))))


@dataclass(frozen=True, eq=False)
class Point:
    """A function, where it was called, and what it was then."""

    function: Any
    primals: tuple[Any, ...]
    core: Function

    def check(self, reader: Any) -> None:
        """Raises where the function has become another one, as it is only now transformed."""
        core, _ = reader.subfunction(self.function, self.primals, {})
        if _outer(core) != _outer(self.core) or _shown(core) != _shown(self.core):
            raise NotSupported("the variables of a function changed between vjp or linearize and the use of its "
                               "derivative", reader.builder.origin,
                               why="It uses outside variables or arrays that have changed since.",
                               instead="Pass them as arguments, or use the derivative before they change.")


@dataclass(frozen=True, eq=False)
class Pulled:
    """The pullback of a function at a point."""

    point: Point

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.point.check(reader)
        cotangent, = args
        return reader.call(Inside(self.point.function, Pullback()), (*self.point.primals, cotangent), kwargs)


@dataclass(frozen=True, eq=False)
class Pushed:
    """The derivative of a function at a point, as a linear map."""

    point: Point

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.point.check(reader)
        return _jvp(reader, self.point.function, self.point.primals, args)[1]


def pulled_from(reader: Any, function: Any, held: Any, then: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """What a pullback gives that was made outside, at the point `then`, of the function that is read."""
    check_current(reader, held)
    return reader.call(Inside(function, Pullback()), (*then, *args), {})


def pushed_from(reader: Any, function: Any, held: Any, then: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """The same for a linear map."""
    check_current(reader, held)
    return _jvp(reader, function, then, args)[1]


def check_current(reader: Any, held: Any) -> None:
    if not held.is_current():
        raise NotSupported("the variables of a function changed between vjp or linearize and the use of its derivative",
                           reader.builder.origin, why="It uses outside variables or arrays that have changed since.",
                           instead="Create the pullback again, or inside the function.")
