"""What is done to a cotangent where it is complete: `with grad_of(x) as dx:`.

The pullback of a marked variable is the function of the user's lines (`read/cotangents.py`). It stands where
the cotangent of everything that is computed from the variable below has come together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.builder import current
from ...core.grammar import type_of
from ...ops.identity import Same
from ...ops.value import Value
from ...read.calls.ruled import Use
from .custom import Application, Pullback, Tangents, fitted

if TYPE_CHECKING:
    from ..forward import Forward
    from ..reverse.sweep import Reverse


@dataclass(frozen=True, eq=False)
class Writing:
    """A function that may write to its first argument: what it changes is its own version of it."""

    function: Any

    def __transformer_read__(self, reader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        first, *rest = args
        own, = current().let(Same, (first.atom,), {}, (first.type,))
        own.name = getattr(first.atom, "name", None)
        return reader.call(self.function, (Value(own), *rest), kwargs)


class Marked:
    """A variable, and the function that is applied to its cotangent when that is complete."""

    kind = "grad_of"
    stays = False

    def __init__(self, variable: str, function: Any) -> None:
        self.variable = variable
        self.__name__ = f"grad_of({variable})"
        self.function = function

    def check_active(self, use: Use, active: Any) -> None:
        """Nothing in it is declared constant."""

    def pushforward(self, at: Application, tangents: Tangents, forward: Forward) -> tuple[list[Value], Tangents]:
        return at.again(), tangents[:1]

    def reversible(self, at: Application, active: list[bool]) -> tuple[list[Value], Pullback]:
        def pullback(cotangents: Tangents, sweep: Reverse) -> Tangents:
            dx, = cotangents
            rest: Tangents = [None] * (len(at.operands) - 1)
            if dx is None or not active[0]:
                return [dx, *rest]
            given = at.read(Writing(self.function), (dx, *at.arguments(at.use.arguments[1:])), [dx.atom])
            with current().at(at.stmt.origin):
                return [fitted(given, type_of(at.operands[0]), f"the cotangent of {self.variable}"), *rest]
        return [Value(at.operands[0])], pullback
