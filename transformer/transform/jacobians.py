"""Whole Jacobians: a derivative along every direction at once.

`jacfwd` is the forward derivative for the rows of an identity matrix as tangents, `jacrev` the pullback for those of
one as cotangents: all of them are lanes (`batched`). What does not rest on the direction is computed once. Where
there is one direction there are no lanes, so that the Jacobian for a number is what `jvp` gives, and that of a
function that gives a number is what `grad` gives.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from .. import tree
from ..core.builder import Builder
from ..core.errors import BadArgument, NotDifferentiable, NotSupported
from ..core.grammar import Atom, Block, Function, Let, Var, type_of
from ..core.sizes import Extent
from ..core.types import ArrayType
from ..core.walk import atom_vars
from ..ops.creation import Eye, ones, zeros
from ..ops.elementwise import size_text
from ..ops.identity import Same
from ..ops.indexing import Put
from ..ops.regions import Slot
from ..ops.value import Value, apply
from ..read.interface import Interface, Parameter, Result
from ..read.outside import Kept
from .arguments import Wrt, chosen_parameters
from .batching.batched import all_lanes, moved
from .batching.batching import Batching
from .derivatives import differentiable_leaves
from .modes import Mode, Pullback, Pushforward
from .rules import cast
from .sparsity import Pattern


@dataclass(frozen=True)
class Jacobian(Mode):
    """All derivatives of all results for the parameters `wrt`: forwards, one lane for each number in them, or in
    `reverse`, one for each number in the results."""

    takes_helpers: ClassVar[bool] = True

    differentiates: ClassVar[bool] = True

    wrt: Wrt = 0
    reverse: bool = False
    has_aux: bool = False
    holomorphic: bool = False
    pattern: Pattern | None = None
    extras: int = field(default=0, init=False)

    @property
    def suffix(self) -> str:                            # type: ignore[override]
        return "jacrev" if self.reverse else "jacfwd"

    def transform(self, function: Function, interface: Interface, builder: Builder) -> tuple[Function, Interface]:
        chosen = chosen_parameters(interface, self.wrt, self.suffix)
        leaves = [leaf for parameter in chosen for leaf in differentiable_leaves(parameter, self.holomorphic)]
        of_real = all(leaf.type.dtype.kind != "c" for leaf in leaves)          # type: ignore[union-attr]
        self._check_results(function, interface, may_be_complex=self.holomorphic or of_real and not self.reverse)
        keys = self.wrt if isinstance(self.wrt, tuple) else (self.wrt,)
        inner: Mode = Pullback(keys, self.has_aux) if self.reverse else Pushforward(keys)
        derived, outside = inner.transform(function, interface, builder)
        last = outside.positional or len(outside.parameters)
        seeds = [leaf for added in outside.parameters[last - inner.extras:last] for leaf in tree.leaves(added.tree)]
        blocks = Blocks(self, function, interface, outside.result, chosen)
        if self.pattern is not None:
            with builder.active():
                self._check_pattern(blocks, builder)
        body, atoms, result = along_all(derived, seeds, builder, blocks)
        params = [param for param in derived.params if param not in seeds]
        new = Function(derived.name, params, body, atoms, derived.dims, derived.guards, derived.origin,
                       size_names=derived.size_names)
        return new, replace(interface, name=f"{interface.name}_{self.suffix}", result=result, returned=None)

    def _check_pattern(self, blocks: Blocks, builder: Builder) -> None:
        """Raises unless there is one argument and one result, of the sizes of the pattern."""
        results, parameters = tree.leaves(self.main(blocks.interface.result)), blocks.types()
        if len(results) != 1 or len(parameters) != 1 or not isinstance(results[0], Result):
            raise BadArgument(f"{self.suffix} with sparsity needs one array as argument and one array as result",
                              instead="Join them with np.concatenate, or omit sparsity.")
        assert self.pattern is not None
        shape = type_of(blocks.function.results[results[0].k]).elements, parameters[0].elements   # type: ignore[union-attr]
        for place, (size, wanted) in enumerate(zip(shape, self.pattern.mask.shape)):
            if not builder.assumptions.equal(size, wanted):
                what = ("the result", "rows"), ("the argument", "columns")
                raise BadArgument(f"sparsity has {wanted} {what[place][1]}, but {what[place][0]} has {size_text(size)} "
                                  "elements",
                                  instead="Pass a matrix with one row for each element of the result and one column "
                                          "for each element of the argument.")

    def main(self, result: Any) -> Any:
        """What is differentiated of a result."""
        return result[0] if self.has_aux else result

    def _check_results(self, function: Function, interface: Interface, may_be_complex: bool) -> None:
        if self.has_aux and not (isinstance(interface.result, tuple) and len(interface.result) == 2):
            raise BadArgument(f"with has_aux=True, {self.suffix} needs a function that returns a pair (value, aux)",
                              interface.returned, instead=f"Return a pair from {interface.name}, or omit has_aux.")
        for leaf in tree.leaves(self.main(interface.result)):
            type = type_of(function.results[leaf.k]) if isinstance(leaf, Result) else None
            if isinstance(type, ArrayType) and not type.is_inexact:
                raise NotDifferentiable(f"{interface.name} returns {type}, which is not differentiable",
                                        interface.returned,
                                        instead="Return floating point numbers, and other values as aux.")
            if self.reverse and not set(atom_vars(type)) <= {*function.params}:
                raise NotSupported(f"jacrev of {interface.name}, which returns an array of computed size, is not "
                                   "supported", interface.returned,
                                   why="There is one row for each element of the result, whose number is known only "
                                       "after the function has run.",
                                   instead="Use jacfwd, which has one column for each element of the argument.")
            if isinstance(type, ArrayType) and type.dtype.kind == "c" and not may_be_complex:
                raise BadArgument(f"{self.suffix} needs a function that returns real numbers, but {interface.name} "
                                  f"returns {type}", interface.returned,
                                  instead="Return real parts, or pass holomorphic=True.")


def along_all(derived: Function, seeds: list[Var], builder: Builder, blocks: Blocks) -> tuple[Block, list[Atom], Any]:
    """The body of a derivative along all directions, with its results and their tree."""
    types = [seed.type for seed in seeds]
    if len(types) == 1 and not types[0].sizes:                                 # type: ignore[union-attr]
        with builder.active(), builder.nested() as body:
            builder.emit(Let((seeds[0],), Same, (ones(types[0]).atom,)))           # type: ignore[arg-type]
            for stmt in derived.body:
                builder.emit(stmt)
            result = blocks.of(derived, None, types)
        return body, blocks.atoms, result
    if blocks.mode.pattern is not None:
        pattern = blocks.mode.pattern
        body, result = all_lanes(derived, pattern.count, builder, None,
                                 lambda: coloured_directions(seeds[0], pattern, builder),
                                 lambda batching: blocks.of(derived, batching, types))
        return body, blocks.atoms, result
    count: Extent = 0
    for type in types:
        count = count + type.elements                                            # type: ignore[union-attr]
    body, result = all_lanes(derived, count, builder, None, lambda: directions(seeds, count),
                             lambda batching: blocks.of(derived, batching, types))
    return body, blocks.atoms, result


def directions(seeds: list[Var], count: Extent) -> dict[Var, Var]:
    """For each seed all of its directions: its part of the rows of an identity matrix."""
    found: dict[Var, Var] = {}
    units: dict[Any, Value] = {}
    start: Extent = 0
    for seed in seeds:
        type = seed.type
        assert isinstance(type, ArrayType)
        if type.dtype not in units:
            units[type.dtype] = apply(Eye, (count,), {} if type.dtype == np.float64 else {"dtype": type.dtype})
        rows = units[type.dtype]
        if len(seeds) > 1:
            rows = rows[:, part_of(start, type)]
        if type.rank > 1:
            rows = rows.reshape((count, *type.sizes))
        assert isinstance(rows.atom, Var)
        found[seed] = rows.atom
        start = start + type.elements
    return found


def coloured_directions(seed: Var, pattern: Pattern, builder: Builder) -> dict[Var, Var]:
    """For a seed the directions of a pattern."""
    assert isinstance(seed.type, ArrayType)
    rows: Value = cast(outside(builder, pattern.directions(), "directions"), seed.type.with_sizes(()))
    if seed.type.rank > 1:
        rows = rows.reshape((pattern.count, *seed.type.sizes))
    assert isinstance(rows.atom, Var)
    return {seed: rows.atom}


def outside(builder: Builder, array: np.ndarray, name: str) -> Value:
    """An array that is known beforehand."""
    found: Value = builder.reader.outside.lift(array, partial(getattr, Kept(array)), "array", name)
    return found


@dataclass(eq=False)
class Blocks:
    """The blocks of a Jacobian, one for each leaf of the results and each of the parameters. `derived` is the
    tree of the results of the derivative; results are collected in `atoms`."""

    mode: Jacobian
    function: Function
    interface: Interface
    derived: Any
    chosen: list[Parameter]
    atoms: list[Atom] = field(default_factory=list)

    def of(self, derived: Function, batching: Batching | None, seeds: list[Any]) -> Any:
        """Emits the blocks; gives the tree of what is returned."""
        self.atoms.clear()
        main = self.mode.main(self.interface.result)
        leaves, structure = tree.flatten(main)
        rows = self._rows_of_results if self.mode.reverse else self._columns_of_results
        if self.mode.pattern is not None:
            rows = self._spread
        blocks = tree.unflatten(structure, rows(leaves, derived, batching, seeds))
        if not self.mode.has_aux:
            return blocks
        aux = self.derived[1] if self.mode.reverse else self.derived[0][1]
        return blocks, tree.map(lambda leaf: self._kept(leaf, derived), aux)

    def _derivatives(self) -> list[Any]:
        """What the derivative returns besides the value and what is aux: tangents of results, or cotangents."""
        return tree.leaves(self.mode.main(self.derived if self.mode.reverse else self.derived[1]))

    def _kept(self, leaf: Any, derived: Function) -> Any:
        return self._add(derived.results[leaf.k]) if isinstance(leaf, Result) else leaf

    def _add(self, atom: Atom) -> Result:
        self.atoms.append(atom)
        return Result(len(self.atoms) - 1)

    def _like_parameters(self, parts: list[Any]) -> Any:
        """Parts in the trees of the parameters."""
        rest = iter(parts)
        trees = tuple(tree.map(lambda _: next(rest), p.tree) for p in self.chosen)
        return trees if isinstance(self.mode.wrt, tuple) else trees[0]

    def _spread(self, leaves: list[Any], derived: Function, batching: Batching | None, seeds: list[Any]) -> list[Any]:
        """The derivatives along the directions of a pattern at their places in a matrix of zeros."""
        assert batching is not None and self.mode.pattern is not None
        pattern, builder = self.mode.pattern, batching.builder
        found = _whole(derived.results[self._derivatives()[0].k], batching)
        result, parameter = type_of(self.function.results[leaves[0].k]), self.types()[0]
        assert isinstance(result, ArrayType)
        rows, columns = outside(builder, pattern.rows, "rows"), outside(builder, pattern.columns, "columns")
        along = pattern.rows if self.mode.reverse else pattern.columns
        colors = outside(builder, pattern.colors[along], "colors")
        flat = found.reshape((pattern.count, parameter.elements if self.mode.reverse else result.elements))
        entries = flat[colors, columns if self.mode.reverse else rows]
        matrix = zeros(ArrayType(found.dtype, pattern.mask.shape))
        filled: Value = Put.applied(matrix, entries, rows, columns, index=(Slot(0), Slot(1)), distinct=True)
        shape = (*result.sizes, *parameter.sizes)
        return [self._like_parameters([self._add((filled if len(shape) == 2 else filled.reshape(shape)).atom)])]

    def types(self) -> list[ArrayType]:
        return [leaf.type for p in self.chosen for leaf in tree.leaves(p.tree)]

    def _columns_of_results(self, leaves: list[Any], derived: Function, batching: Batching | None, seeds: list[Any]
                            ) -> list[Any]:
        """Forwards: of each result the derivatives along the numbers of the parameters."""
        found = []
        for leaf, tangent in zip(leaves, self._derivatives()):
            if not isinstance(leaf, Result):
                parts = [self._add(zeros(type).atom) for type in self.types()]
            else:
                all_of_it = _whole(derived.results[tangent.k], batching)
                own = type_of(self.function.results[leaf.k]).sizes                # type: ignore[union-attr]
                parts = [self._add(_last(part, own, type).atom)
                         for part, type in zip(_parts(all_of_it, seeds, batching), seeds)]
            found.append(self._like_parameters(parts))
        return found

    def _rows_of_results(self, leaves: list[Any], derived: Function, batching: Batching | None, seeds: list[Any]
                         ) -> list[Any]:
        """In reverse: of each parameter the cotangents for the numbers of the results."""
        parts = [list(_parts(_whole(derived.results[leaf.k], batching), seeds, batching))
                 for leaf in self._derivatives()]
        found, k = [], 0
        for leaf in leaves:
            if not isinstance(leaf, Result):
                found.append(self._like_parameters([self._add(zeros(type).atom) for type in self.types()]))
                continue
            own = type_of(self.function.results[leaf.k]).sizes                    # type: ignore[union-attr]
            blocks = [self._add(_first(part[k], own, type).atom) for part, type in zip(parts, self.types())]
            found.append(self._like_parameters(blocks))
            k += 1
        return found


def _whole(atom: Atom, batching: Batching | None) -> Value:
    return Value(atom if batching is None else batching.whole(atom))


def _parts(whole: Value, seeds: list[ArrayType], batching: Batching | None) -> list[Value]:
    """What belongs to the directions of each seed."""
    if batching is None or len(seeds) == 1:
        return [whole]
    found: list[Value] = []
    start: Extent = 0
    for seed in seeds:
        found.append(whole[part_of(start, seed)])
        start = start + seed.elements
    return found


def part_of(start: Extent, type: ArrayType) -> Any:
    """The index of the directions of a seed among all of them."""
    if not type.sizes:
        return start
    return slice(None if start == 0 else start, start + type.elements)


def _last(part: Value, own: tuple[Extent, ...], seed: ArrayType) -> Value:
    """The axes of the directions behind those of the result."""
    if not seed.sizes:
        return part
    turned = moved(part, 0, part.ndim - 1)
    return turned if seed.rank == 1 else turned.reshape((*own, *seed.sizes))


def _first(part: Value, own: tuple[Extent, ...], parameter: ArrayType) -> Value:
    """The axes of the directions in front of those of the parameter."""
    return part if len(own) < 2 else part.reshape((*own, *parameter.sizes))
