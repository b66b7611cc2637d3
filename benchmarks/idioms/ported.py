"""The same program over JAX: these are written in what NumPy and JAX have in common."""

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from benchmarks.contest.case import Case, gradient_of
from benchmarks.contest.lazily import jnp


def over_jax(program: Any) -> Callable[..., Any]:
    """A function whose `np` is `jax.numpy`."""
    return FunctionType(program.__code__, {**program.__globals__, "np": jnp}, program.__name__,
                        program.__defaults__)


def both(name: str, program: Any, arguments: Any, size: tuple[int, ...], tiny: tuple[int, ...], *wrt: int
         ) -> Iterator[Case]:
    """The case of a program, and of its gradient for some arguments, if there are any."""
    case = Case(name, program, arguments, size, tiny, jax=(over_jax(program),))
    yield case
    if wrt:
        yield gradient_of(case, *wrt)
