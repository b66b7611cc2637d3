"""Products with second derivatives: the forward derivative of a gradient, without the gradient itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..core.builder import Builder
from ..core.grammar import Function
from ..read.interface import Interface
from .arguments import Wrt
from .modes import Gradient, Mode, Pushforward, without_unused


@dataclass(frozen=True)
class HessianVector(Mode):
    """The tangent of the gradient for `wrt`, given tangents as further parameters."""

    wrt: Wrt = 0
    suffix: str = field(default="hvp", init=False)

    @property
    def extras(self) -> int:                            # type: ignore[override]
        return len(self.wrt) if isinstance(self.wrt, tuple) else 1

    def transform(self, function: Function, interface: Interface, builder: Builder) -> tuple[Function, Interface]:
        slope, inside = Gradient(self.wrt).transform(function, interface, builder)
        new, outside = Pushforward(self.wrt).transform(slope, inside, builder)
        return without_unused(new, replace(outside, name=f"{interface.name}_hvp", result=outside.result[1]))
