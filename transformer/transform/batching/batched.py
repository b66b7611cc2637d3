"""`vmap` as a transformation: which axes of the arguments are lanes, and which of the results.

The function is read for one lane: `Lanes.of_arguments` takes the axes off the arguments of a call. What it reads as is
then batched (`batching`), and its parameters and results get their axes back, where the user wants them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ... import tree
from ...containers import LEAVES, kind_of
from ...core.builder import Builder
from ...core.dims import dims_of
from ...core.errors import BadArgument, NotSupported
from ...core.grammar import Atom, Block, Function, Var, type_of
from ...core.sizes import Extent
from ...core.types import ArrayType
from ...ops.collectives import named_axis
from ...ops.elementwise import size_text
from ...ops.value import Value, call, value
from ...read.interface import Interface, Result
from ...read.values import Lane
from ..modes import Args, Kwargs, Mode
from .apart import AlsoDiffer, LanesPart
from .batching import Batching
from .lane_axes import (
    ALONG_FIRST,
    BY_KEYWORD,
    SHARED,
    Axes,
    LaneAxis,
    axes_of,
    check_count,
    checked,
    differs_where_known,
    is_axis,
    spread,
)


@dataclass(frozen=True)
class Batched(Mode):
    """All lanes of a function: `in_axes` says which axes of the arguments are lanes, `out_axes` where those of the
    results go; `axis_name` is what collectives call them. Each of several `devices` has as many lanes. All lanes share
    the arguments named in `shared`, whatever `in_axes` says."""

    in_axes: Axes = 0
    out_axes: Axes = 0
    axis_name: Any = None
    axis_size: int | None = None
    devices: int = 1
    shared: frozenset[str] = frozenset()
    suffix: str = field(default="vmap", init=False)
    extras: int = field(default=0, init=False)

    def lanes(self, args: Args, kwargs: Kwargs, names: Sequence[str]) -> Lanes:
        """What a call with these arguments, trees of types or of values, has as lanes."""
        check_count(self.axis_size)
        axes = tuple(axes_of(arg, axis, whose, name)
                     for arg, (axis, whose), name in zip(args, self.entries(names), names))
        named = {name: axes_of(arg, *self.by_keyword(name), name) for name, arg in kwargs.items()}
        found = [axis for axis in tree.leaves((axes, named)) if axis is not SHARED]
        if not found and self.axis_size is None:
            raise BadArgument("vmap has nothing to map over", why="No argument has a mapped axis.",
                              instead="Pass an axis in in_axes, or the number of lanes as axis_size.")
        return Lanes(self, axes, named, tuple(found))

    def entries(self, names: Sequence[str]) -> list[tuple[Axes, str]]:
        """The entry of in_axes for each of these arguments, and how messages call it."""
        return [(None, whose) if name in self.shared else (axes, whose)
                for name, (axes, whose) in zip(names, self._entries(names))]

    def by_keyword(self, name: str) -> tuple[Axes, str]:
        """The same for an argument that is passed by keyword."""
        return None if name in self.shared else 0, BY_KEYWORD

    def _entries(self, names: Sequence[str]) -> list[tuple[Axes, str]]:
        if is_axis(self.in_axes):
            return [(self.in_axes, f"in_axes[{k}]") for k in range(len(names))]
        if not isinstance(self.in_axes, (tuple, list)):
            return [(self.in_axes, "in_axes")] * len(names)
        if len(self.in_axes) != len(names):
            entries = "1 entry" if len(self.in_axes) == 1 else f"{len(self.in_axes)} entries"
            passed = f"{counted(len(names), 'argument')} passed by position"
            raise BadArgument(f"in_axes has {entries} for {passed}" + (f": {', '.join(names)}" if names else ""),
                              instead="Pass one axis for each argument, None for arguments that all lanes share.")
        return [(axes, f"in_axes[{k}]") for k, axes in enumerate(self.in_axes)]

    def entered(self, args: Args, kwargs: Kwargs, names: Sequence[str], hints: Mapping[Any, int] | None = None
                ) -> tuple[Mode, Args, Kwargs]:
        lanes = self.lanes(args, kwargs, names)
        return lanes, *lanes.of_arguments(args, kwargs, one_lane)

    def entered_inside(self, reader: Any, args: Args, kwargs: Kwargs, names: Sequence[str]
                       ) -> tuple[Mode, Args, Kwargs]:
        args, kwargs = tuple(map(reader.usable, args)), {name: reader.usable(arg) for name, arg in kwargs.items()}
        lanes = self.lanes(args, kwargs, names)
        return lanes, *lanes.of_arguments(args, kwargs, lambda given, axis: Lane(Var(one_lane(given.type, axis))))


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def one_lane(type: ArrayType, axis: LaneAxis) -> ArrayType:
    """The type of one lane of an array."""
    return ArrayType(type.dtype, type.sizes[:axis.axis] + type.sizes[axis.axis + 1:])


def pairs(tree_of_vars: Any, axes: Any) -> Iterator[tuple[Any, Any]]:
    """The leaves of a parameter with their axes; what has no leaves in one of the two is left out."""
    if tree_of_vars is None or axes is None:
        return
    kind = kind_of(type(tree_of_vars))
    if kind is LEAVES:
        yield tree_of_vars, axes
        return
    static, children = kind.split(tree_of_vars)
    for child, part in zip(children, kind.matching_children(static, axes) or ()):
        yield from pairs(child, part)


def leaves_with(interface: Interface, axes: tuple[Any, ...], named: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The leaves of the parameters, each with that of `axes`, or `named`, which are trees like the arguments."""
    for leaves, given in interface.given(axes, named):
        yield from pairs(leaves, given)


@dataclass(frozen=True, eq=False)
class Lanes(Mode):
    """The lanes of a call: for each leaf of its arguments a `LaneAxis` or `SHARED`; `found` are those there are."""

    takes_helpers: ClassVar[bool] = True

    mode: Batched
    axes: tuple[Any, ...]
    named: dict[str, Any]
    found: tuple[LaneAxis, ...]

    suffix: str = field(default="vmap", init=False)
    extras: int = field(default=0, init=False)

    def of_arguments(self, args: Args, kwargs: Kwargs, one: Callable[[Any, LaneAxis], Any]) -> tuple[Args, Kwargs]:
        """The arguments of one lane; `one` takes the axis off a leaf."""
        def stripped(arg: Any, axes: Any) -> Any:
            leaves, structure = tree.flatten(arg)
            return tree.unflatten(structure, [leaf if axis is SHARED else one(leaf, axis)
                                              for leaf, axis in zip(leaves, tree.leaves(axes))])

        keywords = {name: stripped(arg, self.named[name]) for name, arg in kwargs.items()}
        return tuple(map(stripped, args, self.axes)), keywords

    def around(self) -> AbstractContextManager[None]:
        if self.mode.axis_name is None:
            return nullcontext()
        size = self.found[0].size if self.mode.axis_size is None else self.mode.axis_size
        return named_axis(self.mode.axis_name, size * self.mode.devices)

    def refusal(self, known: Collection[str]) -> BadArgument | None:
        return next((differs_where_known(axis.name, axis.whose) for axis in self.found if axis.name in known), None)

    def mapped(self) -> Collection[str]:
        return {axis.name for axis in self.found}

    # -- the transformation ------------------------------------------------------------------

    def transform(self, function: Function, interface: Interface, builder: Builder) -> tuple[Function, Interface]:
        outer, axes = self._parameters(function, interface)
        atoms: list[Atom] = []

        def results(batching: Batching) -> Any:
            atoms.clear()
            return self._results(interface, function, batching, atoms)

        with builder.active():
            size = self._size(builder)
        body, result = all_lanes(
            function, size, builder, self.mode.axis_name,
            lambda: {var: leading(new, axes[var].axis) for var, new in outer.items()}, results, self.mode.devices)
        params = [outer.get(param, param) for param in function.params]
        new = Function(function.name, params, body, atoms, dims_of(params), function.guards, function.origin,
                       size_names=function.size_names)
        return new, self._interface(interface, outer, result)

    def _parameters(self, function: Function, interface: Interface) -> tuple[dict[Var, Var], dict[Var, LaneAxis]]:
        """For each parameter that has lanes the one with all of them, and which axis they are."""
        outer: dict[Var, Var] = {}
        axes: dict[Var, LaneAxis] = {}
        for leaf, axis in leaves_with(interface, self.axes, self.named):
            if isinstance(leaf, Var) and axis is not SHARED and leaf in function.params:
                sizes = leaf.type.sizes                                        # type: ignore[union-attr]
                wide = ArrayType(leaf.type.dtype, (*sizes[:axis.axis], axis.size, *sizes[axis.axis:]))  # type: ignore[union-attr]
                outer[leaf], axes[leaf] = Var(wide, leaf.name, is_parameter=True), axis
        return outer, axes

    def _results(self, interface: Interface, function: Function, batching: Batching, atoms: list[Atom]) -> Any:
        """Adds the results to `atoms`; gives their tree."""
        try:
            return self._placed(interface, function, batching, atoms)
        except BadArgument as error:
            raise error.located(interface.returned or function.origin) from None

    def _placed(self, interface: Interface, function: Function, batching: Batching, atoms: list[Atom]) -> Any:
        axes = spread(self.mode.out_axes, interface.result, "out_axes", "the result")
        leaves, structure = tree.flatten(interface.result)
        found = [self._result(leaf, entry, path, function, batching, atoms)
                 for leaf, entry, path in zip(leaves, tree.leaves(axes), structure.paths())]
        return tree.unflatten(structure, found)

    def _result(self, leaf: Any, entry: Any, path: str, function: Function, batching: Batching, atoms: list[Atom]
                ) -> Any:
        if isinstance(leaf, Result):
            atom = function.results[leaf.k]
        elif isinstance(leaf, (int, float, complex, np.generic)):
            atom = value(leaf).atom
        else:
            return leaf
        if entry is SHARED:
            if batching.differs(atom):
                raise BadArgument(f"the result{path} differs from lane to lane, but its out_axes is None",
                                  instead="Pass the axis for the lanes, such as 0.")
            atoms.append(atom)
        else:
            rank = len(type_of(atom).sizes) + 1                                # type: ignore[union-attr]
            place = checked(entry.axis, rank, f"the result{path}", entry.whose)
            whole = Value(batching.whole(atom))
            atoms.append(moved(whole, 0, place).atom)
        return Result(len(atoms) - 1)

    def _size(self, builder: Builder) -> Extent:
        """How many lanes there are."""
        given = self.mode.axis_size
        first = self.found[0].size if given is None else given
        for axis in self.found:
            if not builder.assumptions.equal(first, axis.size):
                raise self._unequal(first, axis)
        return builder.assumptions.normal(first)

    def _unequal(self, first: Extent, other: LaneAxis) -> BadArgument:
        over = f"{other.name} over {size_text(other.size)}"
        if self.mode.axis_size is not None:
            return BadArgument(f"axis_size is {size_text(first)}, but vmap maps {over} lanes", argument=other.name,
                               instead="Pass an array with as many lanes, or omit axis_size.")
        by_keyword = BY_KEYWORD in (self.found[0].whose, other.whose)
        shared = "give what is shared to functools.partial before the vmap" if by_keyword else \
            "None in in_axes for what is shared"
        return BadArgument(f"vmap maps {self.found[0].name} over {size_text(first)} lanes and {over}",
                           why=ALONG_FIRST if by_keyword else None, argument=other.name,
                           instead=f"Pass arrays with the same number of lanes, or {shared}.")

    def _interface(self, interface: Interface, outer: dict[Var, Var], result: Any) -> Interface:
        def renewed(leaf: Any) -> Any:
            return outer.get(leaf, leaf) if isinstance(leaf, Var) else leaf

        parameters = [replace(p, tree=tree.map(renewed, p.tree)) for p in interface.parameters]
        apart = tuple((renewed(a), renewed(b)) for a, b in interface.apart)
        classes = tuple((var, is_array) for var, is_array in interface.classes if var not in outer)
        return replace(interface, name=f"{interface.name}_{self.suffix}", parameters=parameters, result=result,
                       returned=None, apart=apart, classes=classes)


def all_lanes(function: Function, size: Extent, builder: Builder, axis_name: Any,
              start: Callable[[], dict[Var, Var]], finish: Callable[[Batching], Any], devices: int = 1
              ) -> tuple[Block, Any]:
    """The body of a function for all lanes. `start` emits and gives the variables that differ, with all their lanes;
    `finish` emits the results."""
    forced: set[Var] = set()
    with builder.active():
        while True:
            batching = Batching(builder, size, axis_name, devices)
            try:
                with builder.nested() as body, builder.at(function.origin):
                    batching.start(function.body, start(), function.results, forced)
                    batching.block(function.body, function.results)
                    return body, finish(batching)
            except AlsoDiffer as found:
                forced.update(found.variables)
            except LanesPart as reason:
                raise NotSupported(f"{function.name} cannot be batched: {reason}",
                                   reason.origin or function.origin,
                                   instead="Return arrays of one size in all lanes.") from None


def leading(var: Var, axis: int) -> Var:
    """An array with its lanes in front."""
    found = moved(Value(var), axis, 0).atom
    assert isinstance(found, Var)
    found.name = var.name
    return found


def moved(array: Value, source: int, destination: int) -> Value:
    """An array with one axis elsewhere."""
    if source == destination:
        return array
    found: Value = call(np.moveaxis, (array, source, destination), {})
    return found
