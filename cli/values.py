"""Random values of declared types, at which `transformer check` compares derivatives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from transformer import tree
from transformer.core.guards import value_of
from transformer.core.sizes import Dim, Extent
from transformer.core.types import ArrayType

from .failures import NotationError, UsageError, suggestion
from .inputs import Argument, Inputs

# Where floating point values are drawn from: the first range in which the function is finite.
RANGES = {"normally distributed": None, "in 0.1..0.9": (0.1, 0.9), "in 1.1..2.0": (1.1, 2.0)}
INTEGERS = 3  # arrays of integers hold 0, 1, 2; a Python int is 3


def sizes_for(inputs: Inputs, given: str) -> dict[Dim, int]:
    """A size for each named dimension: as --sizes says, else small and all different."""
    names = [dim.name for dim in inputs.dims]
    chosen = parse_sizes(given, names)
    free = (k for k in range(3, 1000) if k not in chosen.values())
    return {dim: chosen[dim.name] if dim.name in chosen else next(free) for dim in inputs.dims}


def parse_sizes(text: str, names: list[str]) -> dict[str, int]:
    """``n=5,d=3`` as a table. Raises `NotationError` with the place of a mistake.

    >>> parse_sizes("n=5, d=3", ["n", "d"])
    {'n': 5, 'd': 3}
    """
    found: dict[str, int] = {}
    position = 0
    for part in text.split(",") if text.strip() else []:
        name, equals, number = (piece.strip() for piece in part.partition("="))
        start = position + len(part) - len(part.lstrip())
        end = position + len(part.rstrip())
        if not equals or not number.isdecimal():
            raise NotationError("expected NAME=NUMBER", text, start, end, "--sizes")
        if name not in names:
            hint = suggestion(name, names) or f"; there are {', '.join(names) or 'none'}"
            raise NotationError(
                f"no size is called {name}{hint}", text, start, start + len(name), "--sizes"
            )
        found[name] = int(number)
        position += len(part) + 1
    return found


def with_values(
    inputs: Inputs, sizes: dict[Dim, int], limits: tuple[float, float] | None, seed: int
) -> Inputs:
    """The inputs with a random value for every leaf that is a type."""
    rng = np.random.default_rng(seed)

    def filled(argument: Argument) -> Argument:
        return replace(
            argument, value=tree.map(lambda leaf: drawn(leaf, sizes, limits, rng), argument.type)
        )

    return replace(inputs, arguments=tuple(map(filled, inputs.arguments)))


def drawn(
    leaf: Any, sizes: dict[Dim, int], limits: tuple[float, float] | None, rng: np.random.Generator
) -> Any:
    """A random value of a type; what is no type is a value already."""
    if not isinstance(leaf, ArrayType):
        return leaf
    shape = tuple(number(size, sizes) for size in leaf.sizes)
    if leaf.weak and leaf.dtype.kind == "i":
        return INTEGERS
    array = numbers(leaf.dtype, shape, limits, rng)
    return array[()].item() if leaf.weak else array[()]


def numbers(
    dtype: np.dtype,
    shape: tuple[int, ...],
    limits: tuple[float, float] | None,
    rng: np.random.Generator,
) -> np.ndarray:
    if dtype.kind == "b":
        return np.asarray(rng.integers(0, 2, shape), dtype)
    if dtype.kind in "iu":
        return np.asarray(rng.integers(0, INTEGERS, shape), dtype)
    parts = [
        rng.standard_normal(shape) if limits is None else rng.uniform(*limits, shape)
        for _ in range(2 if dtype.kind == "c" else 1)
    ]
    return np.asarray(parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1], dtype)


def number(size: Extent, sizes: Mapping[Any, int]) -> int:
    found = value_of(size, sizes)
    if found is None or found < 0:
        raise UsageError(f"the size {size} evaluates to {found}; choose other sizes with --sizes")
    return found


def is_finite(value: Any) -> bool:
    """Whether all floating point numbers of a pytree are finite."""
    return all(bool(np.all(np.isfinite(leaf))) for leaf in _floating(value))


def _floating(value: Any) -> Iterator[Any]:
    for leaf in tree.leaves(value):
        if (
            isinstance(leaf, (float, complex, np.inexact, np.ndarray))
            and np.asarray(leaf).dtype.kind in "fc"
        ):
            yield leaf
