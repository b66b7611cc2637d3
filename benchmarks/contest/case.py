"""A case: a program, arguments for it, and the same by others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import transformer

from .checking import leaves
from .lazily import jax, jnp

Function = Callable[..., Any]
DERIVATIVES = "grad", "value_and_grad"


@dataclass(frozen=True)
class Case:
    """`arguments` takes a generator of random numbers and sizes; integers among what it gives are static for
    JAX. `jax` holds forms of the program, of which the fastest counts. Where `mode` names a derivative, it is
    taken for the arguments `wrt` of the program and of JAX's forms; `hand` computes it by itself. What is not
    `counted` has no part in geometric means."""

    name: str
    program: Function
    arguments: Function
    size: tuple[int, ...]
    tiny: tuple[int, ...]
    jax: tuple[Function, ...] = ()
    mode: str = "value"
    wrt: Any = 0
    hand: Function | None = None
    tolerance: float | None = None
    counted: bool = True

    def example(self, size: tuple[int, ...]) -> tuple[Any, ...]:
        return tuple(self.arguments(np.random.default_rng(0), *size))

    @property
    def is_derivative(self) -> bool:
        return self.mode in DERIVATIVES

    def ours(self) -> Function:
        """The program, or its derivative as NumPy source."""
        return self.derived(self.program, transformer)

    def forms(self) -> list[Function]:
        """JAX's, not compiled yet."""
        return [self.derived(form, jax) for form in self.jax]

    def derived(self, function: Function, package: Any) -> Function:
        if not self.is_derivative:
            return function
        derived: Function = getattr(package, self.mode)(function, argnums=self.wrt)
        return derived


def gradient_of(case: Case, *wrt: int) -> Case:
    """The gradient, for these arguments, of a sum of all that a program gives, each number with a random weight."""
    def arguments(rng: Any, *size: int) -> tuple[Any, ...]:
        given = case.arguments(rng, *size)
        return drawn_like(rng, case.program(*given)), *given

    return replace(case, name=f"gradient of {case.name}", program=weighted(case.program), arguments=arguments,
                   jax=tuple(map(weighted_jax, case.jax)), mode="grad", wrt=tuple(k + 1 for k in wrt), hand=None)


def drawn_like(rng: Any, result: Any) -> Any:
    """Random numbers of the shapes and dtypes of results."""
    drawn = [np.asarray(rng.normal(size=leaf.shape), leaf.dtype)[()] for leaf in leaves(result)]
    return tuple(drawn) if isinstance(result, tuple) else drawn[0]


def weighted(program: Function) -> Function:
    def loss(weights: Any, *arguments: Any) -> Any:
        results = program(*arguments)
        if isinstance(results, tuple):
            return sum(np.sum(part * weight) for part, weight in zip(results, weights))
        return np.sum(results * weights)
    return loss


def weighted_jax(form: Function) -> Function:
    def loss(weights: Any, *arguments: Any) -> Any:
        results = form(*arguments)
        if isinstance(results, tuple):
            return sum(jnp.sum(part * weight) for part, weight in zip(results, weights))
        return jnp.sum(results * weights)
    return loss
