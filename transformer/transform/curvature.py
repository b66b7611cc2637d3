"""Products with second derivatives: the forward derivative of a gradient, without the gradient itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from .. import tree
from ..core.builder import Builder
from ..core.dims import dims_of
from ..core.grammar import Function, Let, Var
from ..core.naming import TANGENT
from ..core.types import ArrayType
from ..ops.identity import Same
from ..ops.value import Value
from ..read.interface import AxislessType, Interface, Parameter
from .arguments import Wrt, fitted
from .derivatives import without_unused
from .modes import Args, Gradient, Kwargs, Mode, Pushforward


@dataclass(frozen=True)
class HessianVector(Mode):
    """The tangent of the gradient for `wrt`, given tangents as further parameters."""

    differentiates: ClassVar[bool] = True
    takes_calls: ClassVar[bool] = True
    tangents: ClassVar[str] = TANGENT

    wrt: Wrt = 0
    suffix: str = field(default="hvp", init=False)

    @property
    def extras(self) -> int:                            # type: ignore[override]
        return len(self.wrt) if isinstance(self.wrt, tuple) else 1

    def entered(self, args: Args, kwargs: Kwargs, names: Sequence[str], hints: Mapping[Any, int] | None = None
                ) -> tuple[Mode, Args, Kwargs]:
        count = len(args) - self.extras
        return Product(self.wrt, args[count:]), args[:count], kwargs

    def entered_inside(self, reader: Any, args: Args, kwargs: Kwargs, names: Sequence[str]
                       ) -> tuple[Mode, Args, Kwargs]:
        return Mode.entered(self, args, kwargs, names)

    def transform(self, function: Function, interface: Interface, builder: Builder) -> tuple[Function, Interface]:
        slope, inside = Gradient(self.wrt).transform(function, interface, builder)
        new, outside = Pushforward(self.wrt).transform(slope, inside, builder)
        return without_unused(new, replace(outside, name=f"{interface.name}_hvp", result=outside.result[1]))


@dataclass(frozen=True, eq=False)
class Product(HessianVector):
    """The same for a call, which gives vectors of these types (`given`): they have to fit the arguments."""

    given: Args = ()

    def transform(self, function: Function, interface: Interface, builder: Builder) -> tuple[Function, Interface]:
        new, outside = super().transform(function, interface, builder)
        last = outside.positional or len(outside.parameters)
        added = outside.parameters[last - self.extras:last]
        taken: list[Parameter] = []
        params: dict[Var, Any] = {}
        with builder.active(), builder.nested() as head:
            for parameter, given in zip(added, self.given):
                vector = tree.map(lambda leaf, name=parameter.name: _passed(leaf, name), given)
                taken.append(replace(parameter, tree=tree.map(_var, vector)))
                params |= _entered(builder, parameter, fitted(parameter.tree, vector, parameter.name))
        new.body[:0] = head
        new.params = [p for p in new.params if p not in params]
        new.params += [leaf for parameter in taken for leaf in tree.leaves(parameter.tree) if isinstance(leaf, Var)]
        new.dims = dims_of(new.params)
        parameters = [*outside.parameters[:last - self.extras], *taken, *outside.parameters[last:]]
        return new, replace(outside, parameters=parameters)


def _passed(leaf: Any, name: str) -> Any:
    type = leaf.type if isinstance(leaf, AxislessType) else leaf
    return Value(Var(type, name, is_parameter=True)) if isinstance(type, ArrayType) else leaf


def _var(leaf: Any) -> Any:
    return leaf.atom if isinstance(leaf, Value) else leaf


def _entered(builder: Builder, parameter: Parameter, vector: Any) -> dict[Var, Any]:
    """Emits that the variables of a parameter are those of a vector, which go by their names."""
    found = {}
    for leaf, part in zip(tree.leaves(parameter.tree), tree.leaves(vector)):
        if isinstance(leaf, Var):
            if isinstance(part.atom, Var) and part.atom.is_parameter:
                part.atom.name = leaf.name
            builder.emit(Let((leaf,), Same, (part.atom,)))
            found[leaf] = part
    return found
