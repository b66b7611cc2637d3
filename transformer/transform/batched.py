"""`vmap` as a transformation: which axes of the arguments are lanes, and which of the results.

The function is read for one lane: `lanes_of` takes the axes off the arguments of a call. What it reads as is
then batched (`batching`), and its parameters and results get their axes back, where the user wants them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from inspect import Parameter as Kinds
from typing import Any, ClassVar

import numpy as np

from .. import tree
from ..containers import LEAVES, kind_of
from ..core.builder import Builder
from ..core.dims import dims_of
from ..core.errors import BadArgument, NotSupported
from ..core.grammar import Atom, Block, Function, Var, type_of
from ..core.sizes import Extent
from ..core.types import ArrayType
from ..ops.collectives import named_axis
from ..ops.elementwise import size_text
from ..ops.value import Value, call, value
from ..read.interface import AxislessType, Interface, Result
from ..read.kinds import described
from ..read.values import Lane
from .apart import AlsoDiffer, LanesPart
from .batching import Batching
from .modes import Args, Kwargs, Mode

Axes = Any                              # int | None, or a pytree of them


@dataclass(frozen=True)
class Batched(Mode):
    """All lanes of a function: `in_axes` says which axes of the arguments are lanes, `out_axes` where those of the
    results go; `axis_name` is what collectives call them."""

    in_axes: Axes = 0
    out_axes: Axes = 0
    axis_name: Any = None
    axis_size: int | None = None
    suffix: str = field(default="vmap", init=False)
    extras: int = field(default=0, init=False)

    def lanes(self, args: Args, kwargs: Kwargs) -> Lanes:
        """What a call with these arguments, trees of types or of values, has as lanes."""
        given = self.in_axes if isinstance(self.in_axes, (tuple, list)) else (self.in_axes,) * len(args)
        if len(given) != len(args):
            entries = "1 entry" if len(given) == 1 else f"{len(given)} entries"
            raise BadArgument(f"in_axes has {entries} for {counted(len(args), 'argument')} passed by position",
                              instead="Give one axis for each of them, None for what all lanes share.")
        axes = tuple(axes_of(arg, axis, f"in_axes[{k}]", f"argument {k}")
                     for k, (axis, arg) in enumerate(zip(given, args)))
        named = {name: axes_of(arg, 0, BY_KEYWORD, name) for name, arg in kwargs.items()}
        found = [axis for axis in tree.leaves((axes, named)) if axis is not SHARED]
        if not found and self.axis_size is None:
            raise BadArgument("vmap has nothing to map over", why="No argument has an axis of lanes.",
                              instead="Give an axis in in_axes, or the number of lanes as axis_size.")
        return Lanes(self, axes, named, tuple(found))

    def entered(self, args: Args, kwargs: Kwargs, hints: Mapping[Any, int] | None = None) -> tuple[Mode, Args, Kwargs]:
        lanes = self.lanes(args, kwargs)
        return lanes, *lanes.of_arguments(args, kwargs, one_lane)

    def entered_inside(self, reader: Any, args: Args, kwargs: Kwargs) -> tuple[Mode, Args, Kwargs]:
        args, kwargs = tuple(map(reader.usable, args)), {name: reader.usable(arg) for name, arg in kwargs.items()}
        lanes = self.lanes(args, kwargs)
        return lanes, *lanes.of_arguments(args, kwargs, lambda given, axis: Lane(Var(one_lane(given.type, axis))))


class _Shared:
    """Stands for None as an axis, where None would be a tree without leaves."""

    __tree_leaf__ = True

    def __repr__(self) -> str:
        return "None"


SHARED = _Shared()
BY_KEYWORD = "in_axes, where arguments passed by position have theirs"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@dataclass(frozen=True)
class LaneAxis:
    """The axis of an argument that is its lanes, and how many there are; `name` is what messages call it."""

    axis: int
    size: Extent
    name: str
    __tree_leaf__: ClassVar[bool] = True


def axes_of(arg: Any, axes: Axes, whose: str, name: str) -> Any:
    """The axes of the leaves of an argument."""
    leaves, structure = tree.flatten(arg)
    chosen = tree.leaves(spread(axes, arg, whose, name))
    found = [axis if axis is SHARED else _lane_axis(leaf, axis, whose, name + path)
             for leaf, axis, path in zip(leaves, chosen, structure.paths())]
    return tree.unflatten(structure, found)


def _lane_axis(leaf: Any, axis: int, whose: str, name: str) -> LaneAxis:
    if isinstance(leaf, np.ndarray):
        raise BadArgument(f"{name} has to be known when the function is read, and vmap maps it",
                          why="Its value decides a shape or the course of the function.",
                          instead=f"Give None for it in {whose}, and call the function once for each value.")
    type = leaf.type if isinstance(leaf, Value) else leaf
    if not isinstance(type, ArrayType) or not type.sizes:
        what = "an array without axes" if isinstance(type, AxislessType) else \
            "a number" if isinstance(type, (ArrayType, int, float, complex)) else described(leaf)
        raise BadArgument(f"vmap maps {name} along its axis {axis}, but it is {what}",
                          instead=f"Give an array with an axis for the lanes, or None in {whose}.")
    place = checked(axis, len(type.sizes), name, whose)
    return LaneAxis(place, leaf.shape[place] if isinstance(leaf, Value) else type.sizes[place], name)


def checked(axis: int, rank: int, name: str, whose: str) -> int:
    """An axis counted from the front."""
    if not -rank <= axis < rank:
        raise BadArgument(f"{whose} is {axis}, but {name} has {rank} {'axis' if rank == 1 else 'axes'}",
                          instead=f"Give an axis from {-rank} to {rank - 1}.")
    return axis % rank


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


def spread(axes: Axes, arg: Any, whose: str, name: str) -> Any:
    """Axes for each leaf of an argument, from a tree of them that may end above the leaves."""
    if axes is None:
        return tree.map(lambda leaf: SHARED, arg)
    if isinstance(axes, (int, np.integer)) and not isinstance(axes, bool):
        return tree.map(lambda leaf: int(axes), arg)
    kind = kind_of(type(axes))
    if kind is LEAVES:
        raise BadArgument(f"{whose} is {axes!r}, which is no axis", instead="Give an int, or None.")
    static, children = kind.split(axes)
    parts = kind.matching_children(static, arg) if type(arg) is type(axes) else None
    if parts is None or len(parts) != len(children):
        raise BadArgument(f"{whose} is {axes!r}, which does not fit {name}: {tree.structure(arg)}",
                          instead="Give one axis for all of it, or a tree of its structure.")
    ways = kind.accessors(static, len(children))
    spreads = [spread(child, part, whose + way, name + way) for child, part, way in zip(children, parts, ways)]
    return kind.build(type(axes), static, spreads)


def leaves_with(interface: Interface, axes: tuple[Any, ...], named: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The leaves of the parameters, each with that of `axes`, or `named`, which are trees like the arguments."""
    rest = list(axes)
    for parameter in interface.parameters:
        if parameter.kind is Kinds.VAR_POSITIONAL:
            count = len(parameter.tree)
            for child, part in zip(parameter.tree, rest[:count]):
                yield from pairs(child, part)
            rest = rest[count:]
        elif parameter.kind is Kinds.VAR_KEYWORD:
            for key, child in parameter.tree.items():
                yield from pairs(child, named[key])
        elif parameter.name in named:
            yield from pairs(parameter.tree, named[parameter.name])
        elif rest and parameter.kind is not Kinds.KEYWORD_ONLY:
            yield from pairs(parameter.tree, rest.pop(0))


@dataclass(frozen=True, eq=False)
class Lanes(Mode):
    """The lanes of a call: for each leaf of its arguments a `LaneAxis` or `SHARED`; `found` are those there are."""

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
        return named_axis(self.mode.axis_name, size)

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
            lambda: {var: leading(new, axes[var].axis) for var, new in outer.items()}, results)
        params = [outer.get(param, param) for param in function.params]
        new = Function(function.name, params, body, atoms, dims_of(params), function.guards, function.origin)
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
        found = [self._result(leaf, axis, path, function, batching, atoms)
                 for leaf, axis, path in zip(leaves, tree.leaves(axes), structure.paths())]
        return tree.unflatten(structure, found)

    def _result(self, leaf: Any, axis: Any, path: str, function: Function, batching: Batching, atoms: list[Atom]
                ) -> Any:
        if isinstance(leaf, Result):
            atom = function.results[leaf.k]
        elif isinstance(leaf, (int, float, complex, np.generic)):
            atom = value(leaf).atom
        else:
            return leaf
        if axis is SHARED:
            if batching.differs(atom):
                raise BadArgument(f"the result{path} differs from lane to lane, but its out_axes is None",
                                  instead="Give the axis where its lanes go, such as 0.")
            atoms.append(atom)
        else:
            rank = len(type_of(atom).sizes) + 1                                # type: ignore[union-attr]
            place = checked(axis, rank, f"the result{path}", "out_axes")
            whole = Value(batching.whole(atom))
            atoms.append(moved(whole, 0, place).atom)
        return Result(len(atoms) - 1)

    def _size(self, builder: Builder) -> Extent:
        """How many lanes there are."""
        sizes = [(axis.size, axis.name) for axis in self.found]
        if self.mode.axis_size is not None:
            sizes.insert(0, (self.mode.axis_size, "axis_size"))
        first, name = sizes[0]
        for size, other in sizes[1:]:
            if not builder.assumptions.equal(first, size):
                raise BadArgument(f"vmap maps {name} over {size_text(first)} lanes and {other} over {size_text(size)}",
                                  instead="Give arrays with as many lanes, or None in in_axes for what is shared.")
        return builder.assumptions.normal(first)

    def _interface(self, interface: Interface, outer: dict[Var, Var], result: Any) -> Interface:
        def renewed(leaf: Any) -> Any:
            return outer.get(leaf, leaf) if isinstance(leaf, Var) else leaf

        parameters = [replace(p, tree=tree.map(renewed, p.tree)) for p in interface.parameters]
        apart = tuple((renewed(a), renewed(b)) for a, b in interface.apart)
        classes = tuple((var, is_array) for var, is_array in interface.classes if var not in outer)
        return replace(interface, name=f"{interface.name}_{self.suffix}", parameters=parameters, result=result,
                       returned=None, apart=apart, classes=classes)


def all_lanes(function: Function, size: Extent, builder: Builder, axis_name: Any,
              start: Callable[[], dict[Var, Var]], finish: Callable[[Batching], Any]) -> tuple[Block, Any]:
    """The body of a function for all lanes. `start` emits and gives the variables that differ, with all their lanes;
    `finish` emits the results."""
    forced: set[Var] = set()
    with builder.active():
        while True:
            batching = Batching(builder, size, axis_name)
            try:
                with builder.nested() as body, builder.at(function.origin):
                    batching.start(function.body, start(), function.results, forced)
                    batching.block(function.body, function.results)
                    return body, finish(batching)
            except AlsoDiffer as found:
                forced.update(found.variables)
            except LanesPart as reason:
                raise NotSupported(f"{function.name} has no form for all lanes: {reason}",
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
