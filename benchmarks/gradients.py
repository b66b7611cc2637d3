"""What gradients cost: beside their function, beside autograd, and beyond the generated code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.programs import mlp_arguments, mlp_loss, pendulum, weighted, with_numpy
from benchmarks.timing import compare, interleave, show, table
from transformer import grad

STEPS = 10_000


def run(rounds: int) -> None:
    network(rounds)
    loop(rounds)
    overhead(rounds)


def network(rounds: int) -> None:
    title = "Gradient of an MLP, 128 x 784-512-10"
    beside_function(title, mlp_loss, (0, 1, 2, 3), mlp_arguments(), rounds)


def loop(rounds: int) -> None:
    title = f"Gradient of a scalar loop, {STEPS} steps"
    beside_function(title, pendulum, (0, 1, 2), (1.0, 0.0, 0.1, STEPS), rounds)


def beside_function(
    title: str,
    function: Callable[..., Any],
    argnums: tuple[int, ...],
    arguments: tuple[Any, ...],
    rounds: int,
) -> None:
    """Time the function, its generated gradient and that of autograd, once they agree."""
    gradients = {"transformer": grad(function, argnums=argnums)}
    theirs = autograd_gradient(function, argnums)
    if theirs is not None:
        gradients["autograd"] = theirs
        check_equal([gradient(*arguments) for gradient in gradients.values()])
    calls = {"the function": partial(function, *arguments)}
    calls |= {name: partial(gradient, *arguments) for name, gradient in gradients.items()}
    absent = [] if theirs else ["autograd"]
    compare(title, interleave(calls, rounds), reference="the function", absent=absent)


def autograd_gradient(
    function: Callable[..., Any], argnums: tuple[int, ...]
) -> Callable[..., Any] | None:
    """The gradient by autograd, or None where it is not installed."""
    try:
        import autograd
        import autograd.numpy
    except ImportError:
        return None
    gradient: Callable[..., Any] = autograd.grad(with_numpy(function, autograd.numpy), argnums)
    return gradient


def check_equal(results: list[Any]) -> None:
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-12)


def overhead(rounds: int) -> None:
    """What a call of `grad(f)` costs more than a call of the function generated for it."""
    rng = np.random.default_rng(0)
    five = tuple(rng.normal(size=(5, 4)))
    rows = [
        overhead_row("one scalar", square, (3.0,), rounds),
        overhead_row("five arrays", weighted, five, rounds),
    ]
    header = ["", "generated function", "grad(f)", "beyond, median", "beyond, minimum"]
    table("A call of grad(f)", header, rows)


def square(x: Any) -> Any:
    return x * x


def overhead_row(
    name: str, function: Callable[..., Any], arguments: tuple[Any, ...], rounds: int
) -> list[str]:
    gradient = grad(function)
    gradient(*arguments)
    generated = gradient.compiled_for(*arguments)
    calls = {"generated": partial(generated, *arguments), "whole": partial(gradient, *arguments)}
    samples = interleave(calls, rounds)
    inner, whole = samples["generated"], samples["whole"]
    beyond = [b - a for a, b in zip(inner, whole, strict=True)]
    median = sorted(beyond)[len(beyond) // 2]
    return [name, show(min(inner)), show(min(whole)), show(median), show(min(whole) - min(inner))]
