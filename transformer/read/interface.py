"""The outside of a Core function: its Python parameters and the structure of its result.

Containers exist only here. Core itself has a flat list of parameters and a flat list of results; a
leaf of a parameter's tree is the Core variable (or a static object), a leaf of the result's tree is
`Result(k)`, the k-th of the function's results (or a static object).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..core.errors import Origin
from ..core.grammar import Var
from ..core.types import ArrayType
from .contents import OnHost


@dataclass(frozen=True, slots=True)
class Result:
    """The place of result `k` of the Core function in the tree of what is returned."""

    k: int
    __tree_leaf__: ClassVar[bool] = True


@dataclass(frozen=True)
class Items:
    """A list that is returned, and of which the program finds the length: its items lie in an array, or, where they are
    tuples, each of their parts does. `are_plain` says of which arrays the items are Python's numbers."""

    arrays: tuple[Any, ...]
    are_plain: tuple[bool, ...] = field(metadata={"static": True})


@dataclass(frozen=True)
class Maybe:
    """A result that is None where a truth value does not hold."""

    there: Any
    item: Any


@dataclass(frozen=True, slots=True)
class AxislessType:
    """What an argument is that is an array without axes: unlike a number of this type, it may be changed
    in place."""

    type: ArrayType
    __tree_leaf__: ClassVar[bool] = True


@dataclass(slots=True)
class Parameter:
    """A Python parameter. `tree` is a pytree of Core variables and static objects."""

    name: str
    tree: Any
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    default: Any = inspect.Parameter.empty


@dataclass(slots=True)
class Hidden:
    """An array, or a number, that the function takes from a closure or global: read at each call by `fetch`."""

    var: Var
    name: str
    fetch: Callable[[], Any]
    is_number: bool = False

    def where_it_is(self) -> Any:
        """The same, but an array on a device is left there."""
        *held, key = self.fetch.args                                        # type: ignore[attr-defined]
        holder = self.fetch.func                                            # type: ignore[attr-defined]
        return holder.holder(key) if isinstance(holder, OnHost) else holder(*held, key)

    def held(self) -> Any:
        """What it is now, which nobody changes later."""
        found = self.fetch()
        return found if self.is_number else found.copy(order="K")


@dataclass(slots=True)
class Interface:
    """Name, parameters, result tree and hidden arguments of a function; `source` is the user's,
    `positional` the number of arguments that were passed by position, `returned` the place of the
    expression that gives the result, `apart` are pairs of an
    array that the user's function writes and one that must share no memory with it; `classes` says of
    arguments without axes whether they have to be arrays (True) or numbers (False); `differing` are the
    parameters of which devices have values of their own, `together` the variables whose memory they have together;
    `halves` are the dtypes of 16 bits of parameters, and of
    results by their number, that the entry of compiled code converts; `axisless` are the results, by their number,
    that are arrays without axes, each with the parameter that it is, if it is one."""

    name: str
    parameters: list[Parameter]
    result: Any = None
    hidden: list[Hidden] = field(default_factory=list)
    source: Any = None
    positional: int | None = None
    returned: Origin | None = None
    apart: tuple[tuple[Var, Var], ...] = ()
    classes: tuple[tuple[Var, bool], ...] = ()
    differing: frozenset[Var] = frozenset()
    together: frozenset[Var] = frozenset()
    halves: dict[Any, np.dtype[Any]] = field(default_factory=dict)
    axisless: dict[int, Var | None] = field(default_factory=dict)

    def parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.name == name), None)

    def given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        """The trees of parameters, each with what a call gives for it."""
        rest = list(args)
        for parameter in self.parameters:
            tree, kind = parameter.tree, parameter.kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                yield tree, tuple(rest[:len(tree)])
                rest = rest[len(tree):]
            elif kind is inspect.Parameter.VAR_KEYWORD:
                yield tree, {key: kwargs[key] for key in tree}
            elif parameter.name in kwargs:
                yield tree, kwargs[parameter.name]
            elif rest and kind is not inspect.Parameter.KEYWORD_ONLY:
                yield tree, rest.pop(0)
