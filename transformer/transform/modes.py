"""The transformations a user asks for, as values: each turns a function and its interface into new ones.

`Gradient` (grad, value_and_grad), `Pullback` (vjp) and `Pushforward` (jvp, linearize) say which
parameters are active and how the result is put together; `derivatives` does the work. It is imported for that alone,
as what was compiled before is not transformed again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ..core.naming import FIRST

if TYPE_CHECKING:
    from ..core.builder import Builder
    from ..core.errors import TransformError
    from ..core.grammar import Function
    from ..read.interface import Interface

# What is said of arguments of `jvp` that do not fit.
AS_TUPLES = "Write jvp(f, (x, y), (dx, dy)), or jvp(f, (x,), (dx,)) for a single argument."
ONE_FOR_EACH = "Pass one tangent for each primal, None for a constant."
GIVE_ONE = "Pass a tangent for a floating point argument."

Wrt = int | str | tuple[int | str, ...]
Args = tuple[Any, ...]
Kwargs = dict[str, Any]


class Mode:
    """A transformation: of a function, with the arguments that it adds (`extras`, the last of those passed by
    position) or changes. What `gives_driver` gives a function that runs others, compiled ones, on devices; what
    `differentiates` gives derivatives. What `takes_calls` transforms functions that stay functions
    (`read/calls/keeping.py`) in as little time as it takes to read them; what `takes_helpers` does so in source, where
    nothing is fused."""

    suffix: str
    extras: int
    gives_driver: ClassVar[bool] = False
    differentiates: ClassVar[bool] = False
    takes_calls: ClassVar[bool] = False
    takes_helpers: ClassVar[bool] = False
    tangents: ClassVar[str] = FIRST                     # how tangents that are further parameters are named

    def entered(self, args: Args, kwargs: Kwargs, names: Sequence[str], hints: Mapping[Any, int] | None = None
                ) -> tuple[Mode, Args, Kwargs]:
        """The transformation of one call, and the arguments of the function that is transformed. Those here are
        trees of types and of objects that are known; `names` are those of `args`, for messages, `hints` the sizes
        in the call."""
        return self, args[:len(args) - self.extras], kwargs

    def entered_inside(self, reader: Any, args: Args, kwargs: Kwargs, names: Sequence[str]
                       ) -> tuple[Mode, Args, Kwargs]:
        """The same where the call is read, so that they are values."""
        return self.entered(args, kwargs, names)

    def around(self) -> AbstractContextManager[None]:
        """What holds while the function is read."""
        return nullcontext()

    def refusal(self, known: Collection[str]) -> TransformError | None:
        """What is wrong where the function has to be read with these arguments known, which are paths."""
        return None

    def mapped(self) -> Collection[str]:
        """The arguments, which are paths, that differ from lane to lane."""
        return ()

    def transform(self, function: Function, interface: Interface, builder: Builder
                  ) -> tuple[Function, Interface]:
        raise NotImplementedError


@dataclass(frozen=True)
class Gradient(Mode):
    """Cotangents of the parameters `wrt` for a scalar result; with `value`, after that result."""

    differentiates: ClassVar[bool] = True
    takes_calls: ClassVar[bool] = True

    wrt: Wrt = 0
    value: bool = False
    has_aux: bool = False
    holomorphic: bool = False
    memory: int | None = None

    extras: int = field(default=0, init=False)

    @property
    def suffix(self) -> str:                            # type: ignore[override]
        return "value_and_grad" if self.value else "grad"

    def transform(self, function: Function, interface: Interface, builder: Builder
                  ) -> tuple[Function, Interface]:
        from .derivatives import gradient
        return gradient(self, function, interface, builder)


@dataclass(frozen=True)
class Pullback(Mode):
    """Cotangents of the parameters `wrt`, given a cotangent of the result as one more parameter. With `has_aux` the
    result is a pair of which only the first is differentiated; the second one follows the cotangents."""

    differentiates: ClassVar[bool] = True
    takes_calls: ClassVar[bool] = True

    wrt: Wrt | None = None
    has_aux: bool = False
    suffix: str = field(default="vjp", init=False)
    extras: int = field(default=1, init=False)

    def transform(self, function: Function, interface: Interface, builder: Builder
                  ) -> tuple[Function, Interface]:
        from .derivatives import pullback
        return pullback(self, function, interface, builder)


@dataclass(frozen=True)
class Pushforward(Mode):
    """The result and its tangent, given tangents of the parameters `wrt` as further parameters."""

    differentiates: ClassVar[bool] = True
    takes_calls: ClassVar[bool] = True

    wrt: Wrt | None = None
    suffix: str = field(default="jvp", init=False)

    @property
    def extras(self) -> int:                            # type: ignore[override]
        return len(self.wrt) if isinstance(self.wrt, tuple) else 1

    def transform(self, function: Function, interface: Interface, builder: Builder
                  ) -> tuple[Function, Interface]:
        from .derivatives import pushforward
        return pushforward(self, function, interface, builder)
