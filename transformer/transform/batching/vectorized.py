"""`vectorize`: a function of core dimensions, applied over all axes in front of them.

    vectorize(f, "(n,m),(m)->(n)") of arrays (k, 3, 2) and (5, 1, 2)

is, as the leading axes broadcast to ``(5, k)``, the function for ``(3, 2)`` and ``(2,)`` under a `vmap` for each axis:
the inner one of ``in_axes=(0, None)``, the outer one of ``(None, 0)``. An argument that has no such axis, or one of
extent 1, is shared. Axes of extent 1 are taken off before, and results get those back that no argument is longer in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ... import tree
from ...core.builder import Builder
from ...core.dims import dims_of
from ...core.equations import value_of
from ...core.errors import BadArgument, ShapeError
from ...core.grammar import Function, Let, Var, type_of
from ...core.sizes import Extent
from ...core.types import ArrayType
from ...ops.elementwise import size_text
from ...ops.identity import Same
from ...ops.value import Value, value
from ...read.interface import AxislessType, Interface, Result
from ...read.kinds import described
from ...read.values import Lane
from ..modes import Args, Kwargs, Mode
from .batched import Batched, Lanes, leaves_with
from .lane_axes import SHARED, LaneAxis
from .signatures import Dims, Signature

NUMBERS = (int, float, complex, np.generic)


@dataclass(frozen=True)
class Vectorized(Mode):
    """A function with all leading axes of its arguments. `names` are those of the arguments by position; those in
    `excluded`, by position or name, are passed on as they are."""

    signature: Signature | None = None
    excluded: tuple[int | str, ...] = ()
    names: tuple[str, ...] = ()
    suffix: str = field(default="vectorize", init=False)
    extras: int = field(default=0, init=False)

    def entered(self, args: Args, kwargs: Kwargs, names: Sequence[str], hints: Mapping[Any, int] | None = None
                ) -> tuple[Mode, Args, Kwargs]:
        def equal(left: Extent, right: Extent) -> bool:
            known = value_of(left, hints or {}), value_of(right, hints or {})
            return None in known or known[0] == known[1]

        def text(size: Extent) -> str:
            return str(value_of(size, hints or {}))

        spread = self.spread(args, kwargs, lambda size: size == 1)
        spread.check(equal, text)
        return spread, *spread.of_arguments(args, kwargs, lambda type: type)

    def entered_inside(self, reader: Any, args: Args, kwargs: Kwargs, names: Sequence[str]
                       ) -> tuple[Mode, Args, Kwargs]:
        args, kwargs = tuple(map(reader.usable, args)), {name: reader.usable(arg) for name, arg in kwargs.items()}
        spread = self.spread(args, kwargs, reader.assumptions.is_one)
        spread.check(reader.assumptions.equal, size_text)
        return spread, *spread.of_arguments(args, kwargs, lambda type: Lane(Var(type)))

    def spread(self, args: Args, kwargs: Kwargs, is_one: Callable[[Extent], bool]) -> Spread:
        """What a call with these arguments, trees of types or of values, broadcasts."""
        given = by_key(args, kwargs)
        keys = [key for key in given if given[key] is not None and not self._is_excluded(key)]
        keys.sort(key=self._order)
        shapes = [self._shape(key, given[key]) for key in keys]
        operands = tuple(Operand(key, self._name(key), shape, dims, is_one)
                         for key, shape, dims in zip(keys, shapes, self._core(keys)))
        return Spread(self, args, kwargs, operands)

    def _place(self, key: int | str) -> int | None:
        if isinstance(key, int):
            return key
        return self.names.index(key) if key in self.names else None

    def _order(self, key: int | str) -> float:
        place = self._place(key)
        return float("inf") if place is None else place

    def _name(self, key: int | str) -> str:
        return self.names[key] if isinstance(key, int) and key < len(self.names) else \
            f"argument {key}" if isinstance(key, int) else key

    def _is_excluded(self, key: int | str) -> bool:
        return key in self.excluded or self._place(key) in self.excluded or self._name(key) in self.excluded

    def _core(self, keys: list[int | str]) -> tuple[Dims, ...]:
        """The core dimensions of the arguments."""
        if self.signature is None:
            return ((),) * len(keys)
        wanted = self.signature.inputs
        beyond = [key for key in keys if self._place(key) is None]
        if beyond or len(keys) != len(wanted):
            counted = "1 argument" if len(wanted) == 1 else f"{len(wanted)} arguments"
            named = ", ".join(self._name(key) for key in keys) or "none"
            raise BadArgument(f"the signature {self.signature} has {counted}, but the call has {len(keys)}: {named}",
                              instead="Pass as many arguments, or list those not to be broadcast in excluded.")
        return wanted

    def _shape(self, key: int | str, given: Any) -> tuple[Extent, ...]:
        if isinstance(given, (Value, ArrayType)) and isinstance(given_type(given), ArrayType):
            return given.shape if isinstance(given, Value) else given.sizes
        if isinstance(given, (AxislessType, *NUMBERS)):
            return ()
        if isinstance(given, np.ndarray):
            raise BadArgument(f"{self._name(key)} must be static, but vectorize maps it",
                              why="Its value determines a shape or the control flow, so it must be known at "
                                  "transformation time.", instead=f"Exclude it: excluded=({key!r},).")
        raise BadArgument(f"vectorize broadcasts {self._name(key)}, but it is {described(given)}",
                          instead=f"Pass an array or a number, or exclude it: excluded=({key!r},).")


def by_key(args: Args, kwargs: Kwargs) -> dict[int | str, Any]:
    """Arguments by position or name."""
    found: dict[int | str, Any] = dict(enumerate(args))
    found.update(kwargs)
    return found


def given_type(given: Any) -> Any:
    return given.type if isinstance(given, Value) else given


@dataclass(frozen=True)
class Operand:
    """An argument that takes part: what it is passed as, its shape, and the names of its last axes."""

    key: int | str
    name: str
    shape: tuple[Extent, ...]
    dims: Dims
    is_one: Callable[[Extent], bool]

    @property
    def leading(self) -> tuple[Extent, ...]:
        return self.shape[:len(self.shape) - len(self.dims)]

    @property
    def core(self) -> tuple[Extent, ...]:
        return self.shape[len(self.shape) - len(self.dims):]

    @property
    def ones(self) -> Axes:
        """The leading axes of extent 1."""
        return Axes(tuple(k for k, size in enumerate(self.leading) if self.is_one(size)))

    def lane(self, level: int, levels: int) -> LaneAxis | None:
        """Its axis that is lanes in one of the broadcast axes. The others in front have been taken off by then."""
        k = level - (levels - len(self.leading))
        if k < 0 or self.is_one(self.leading[k]):
            return None
        return LaneAxis(0, self.leading[k], self.name)


@dataclass(frozen=True)
class Axes:
    """Some of the axes of an argument."""

    axes: tuple[int, ...]
    __tree_leaf__: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class Spread(Mode):
    """What one call broadcasts."""

    mode: Vectorized
    args: Args
    kwargs: Kwargs
    operands: tuple[Operand, ...]
    suffix: str = field(default="vectorize", init=False)
    extras: int = field(default=0, init=False)

    @property
    def rank(self) -> int:
        """How many axes the leading ones broadcast to."""
        return max((len(operand.leading) for operand in self.operands), default=0)

    def levels(self) -> list[list[LaneAxis | None]]:
        """For each broadcast axis those of the operands."""
        return [[operand.lane(level, self.rank) for operand in self.operands] for level in range(self.rank)]

    def of_arguments(self, args: Args, kwargs: Kwargs, one: Callable[[ArrayType], Any]) -> tuple[Args, Kwargs]:
        """The arguments of the function itself; `one` makes one of its type."""
        given = by_key(args, kwargs)
        for operand in self.operands:
            if operand.leading:
                given[operand.key] = one(ArrayType(given_type(given[operand.key]).dtype, operand.core))
        return tuple(given[k] for k in range(len(args))), {name: given[name] for name in kwargs}

    def mapped(self) -> Collection[str]:
        return {operand.name for operand in self.operands if operand.leading}

    # -- checks ------------------------------------------------------------------------------

    def check(self, equal: Callable[[Extent, Extent], bool], text: Callable[[Extent], str]) -> None:
        """Raises unless the arguments fit each other."""
        for operand in self.operands:
            if len(operand.shape) < len(operand.dims):
                raise ShapeError(misfit(operand.name, operand.shape, operand.dims), why=self._why())
        known: dict[str, tuple[Extent, str]] = {}
        for operand in self.operands:
            self._check_dims(operand.dims, operand.core, operand.name, known, equal, text)
        for lanes in self.levels():
            found = [lane for lane in lanes if lane is not None]
            for lane in found[1:]:
                if not equal(found[0].size, lane.size):
                    raise ShapeError(f"leading axes of {found[0].name} and {lane.name} do not broadcast: "
                                     f"they have extents {text(found[0].size)} and {text(lane.size)}", why=self._why())

    def _check_dims(self, dims: Dims, sizes: tuple[Extent, ...], name: str, known: dict[str, tuple[Extent, str]],
                    equal: Callable[[Extent, Extent], bool], text: Callable[[Extent], str]) -> None:
        for dim, size in zip(dims, sizes):
            first, other = known.setdefault(dim, (int(dim), "") if dim.isdecimal() else (size, name))
            if not equal(first, size):
                wanted = f" and {text(first)} in {other}" if other else ""
                raise ShapeError(f"the core dimension {dim} is {text(size)} in {name}{wanted}", why=self._why())

    def _why(self) -> str | None:
        return self.mode.signature and f"The signature is {self.mode.signature}."  # type: ignore[return-value]

    def _check_results(self, function: Function, interface: Interface, builder: Builder) -> None:
        """Raises unless the results are as the signature says."""
        if self.mode.signature is None:
            return
        wanted, equal = self.mode.signature.outputs, builder.assumptions.equal
        found = interface.result if isinstance(interface.result, tuple) else (interface.result,)
        if len(found) != len(wanted) or isinstance(interface.result, tuple) != (len(wanted) > 1):
            counted = "1 result" if len(found) == 1 else f"{len(found)} results"
            raise BadArgument(f"{interface.name} has {counted}, the signature {self.mode.signature} {len(wanted)}",
                              interface.returned)
        known: dict[str, tuple[Extent, str]] = {}
        for operand in self.operands:
            self._check_dims(operand.dims, operand.core, operand.name, known, equal, size_text)
        for k, (leaf, dims) in enumerate(zip(found, wanted)):
            name = "the result" if len(found) == 1 else f"result {k}"
            sizes = self._sizes(leaf, function, name, interface)
            if len(sizes) != len(dims):
                raise ShapeError(misfit(name, sizes, dims), interface.returned, why=self._why())
            self._check_dims(dims, sizes, name, known, equal, size_text)

    def _sizes(self, leaf: Any, function: Function, name: str, interface: Interface) -> tuple[Extent, ...]:
        if isinstance(leaf, Result):
            return type_of(function.results[leaf.k]).sizes                            # type: ignore[union-attr]
        if isinstance(leaf, NUMBERS):
            return ()
        raise BadArgument(f"{name} is {described(leaf)}, not an array", interface.returned,
                          instead="Return an array for each part of the signature.")

    # -- the transformation ------------------------------------------------------------------

    def transform(self, function: Function, interface: Interface, builder: Builder) -> tuple[Function, Interface]:
        name = f"{interface.name}_{self.suffix}"
        with builder.active():
            self.check(builder.assumptions.equal, size_text)
            self._check_results(function, interface, builder)
        for lanes in reversed(list(self._all_lanes())):
            function, interface = lanes.transform(function, interface, builder)
        function, interface = self._with_ones(function, interface, builder)
        return function, replace(interface, name=name, returned=None)

    def _all_lanes(self) -> Iterator[Lanes]:
        """The `vmap` of each broadcast axis, the outer one first."""
        for level in self.levels():
            found = {operand.key: lane for operand, lane in zip(self.operands, level) if lane is not None}
            if found:
                yield Lanes(Batched(), *self._placed(found), tuple(found.values()))

    def _placed(self, found: Mapping[Any, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Things that belong to some of the arguments as trees for each of them."""
        def tree_for(key: Any, arg: Any) -> Any:
            return tree.map(lambda leaf: found.get(key, SHARED), arg)

        return (tuple(tree_for(k, arg) for k, arg in enumerate(self.args)),
                {name: tree_for(name, arg) for name, arg in self.kwargs.items()})

    def _with_ones(self, function: Function, interface: Interface, builder: Builder) -> tuple[Function, Interface]:
        """The function with axes of extent 1 where its arguments have them, and its results."""
        wide: dict[Var, Var] = {}
        with builder.active(), builder.nested() as body, builder.at(function.origin):
            places = self._placed({operand.key: operand.ones for operand in self.operands if operand.ones.axes})
            for leaf, ones in leaves_with(interface, *places):
                if isinstance(leaf, Var) and leaf in function.params and ones is not SHARED:
                    wide[leaf] = widened(leaf, ones.axes, builder)
            for stmt in function.body:
                builder.emit(stmt)
            results, result = self._results(function, interface)
        params = [wide.get(param, param) for param in function.params]
        new = Function(function.name, params, body, results, dims_of(params), function.guards, function.origin,
                       size_names=function.size_names)
        parameters = [replace(p, tree=tree.map(lambda leaf: wide.get(leaf, leaf) if isinstance(leaf, Var) else leaf,
                                               p.tree)) for p in interface.parameters]
        return new, replace(interface, parameters=parameters, result=result)

    def _results(self, function: Function, interface: Interface) -> tuple[list[Any], Any]:
        """The results with the axes that all arguments have 1 in, and their tree."""
        missing = [not any(level) for level in self.levels()]
        if not any(missing):
            return function.results, interface.result
        index = tuple(None if is_missing else slice(None) for is_missing in missing)
        found: list[Any] = []

        def with_axes(leaf: Any) -> Any:
            if not isinstance(leaf, (Result, *NUMBERS)):
                return leaf
            whole = Value(function.results[leaf.k]) if isinstance(leaf, Result) else value(leaf)
            found.append(whole[index].atom)
            return Result(len(found) - 1)

        result = tree.map(with_axes, interface.result)
        return found, result


def misfit(name: str, sizes: tuple[Extent, ...], dims: Dims) -> str:
    """What is wrong with an argument or a result that has not the axes of its core dimensions."""
    axes = "1 axis" if len(sizes) == 1 else f"{len(sizes) or 'no'} axes"
    return f"{name} has {axes}, its core dimensions are ({','.join(dims)})"


def widened(param: Var, ones: tuple[int, ...], builder: Builder) -> Var:
    """A parameter with axes of extent 1, of which `param` is made."""
    rest, sizes = list(param.type.sizes), []                                        # type: ignore[union-attr]
    for k in range(len(rest) + len(ones)):
        sizes.append(1 if k in ones else rest.pop(0))
    wide = Var(ArrayType(param.type.dtype, tuple(sizes)), param.name, is_parameter=True)  # type: ignore[union-attr]
    index = tuple(0 if k in ones else slice(None) for k in range(max(ones) + 1))
    builder.emit(Let((param,), Same, (Value(wide)[index].atom,), {}, builder.origin))
    return wide
