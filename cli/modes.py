"""The transformations that commands name, for given arguments to differentiate for."""

from __future__ import annotations

from collections.abc import Callable

from transformer.checkpointing import bytes_in
from transformer.transform.modes import Gradient, Mode, Pullback, Pushforward

Names = tuple[str, ...]
ModeOf = Callable[[Names], Mode]


def gradient(wrt: Names, value: bool = False, memory: str | None = None) -> Mode:
    """One gradient for one name, a tuple for several."""
    return Gradient(wrt[0] if len(wrt) == 1 else wrt, value, memory=bytes_in(memory))


def value_and_gradient(wrt: Names) -> Mode:
    return gradient(wrt, value=True)


def pushforward(wrt: Names) -> Mode:
    return Pushforward(wrt)


def pullback(wrt: Names) -> Mode:
    """One cotangent for one name, a tuple for several."""
    return Pullback(wrt[0] if len(wrt) == 1 else wrt)


MODES: dict[str, ModeOf] = {
    "grad": gradient,
    "value_and_grad": value_and_gradient,
    "jvp": pushforward,
    "vjp": pullback,
}
