"""Derivatives by central differences: the yardstick for derivatives by program.

Arguments and results are pytrees; what is moved and measured are their floating point and complex
leaves. One argument is moved at a time, along a direction: a list with a tangent for each of its
leaves, None for those that carry no derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import tree
from .core.halves import finfo, kind_of
from .core.halves import is_inexact as is_inexact_number
from .core.on_devices import on_host

Vector = np.ndarray
Direction = list[Any]


@dataclass(frozen=True)
class Point:
    """A function and arguments for it. Calls get copies, since functions may write to them."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def value(self) -> Any:
        return tree.map(on_host, self.function(*copied(self.args), **copied(self.kwargs)))

    def argument(self, where: int | str) -> Any:
        return self.args[where] if isinstance(where, int) else self.kwargs[where]

    def moved(self, where: int | str, direction: Direction, step: float) -> Point:
        """The point with one argument moved by `step` times the direction."""
        leaves, structure = tree.flatten(self.argument(where))
        moved = [
            leaf if d is None else like(leaf, leaf + step * d)
            for leaf, d in zip(leaves, direction, strict=True)
        ]
        new = tree.unflatten(structure, moved)
        args = tuple(new if k == where else arg for k, arg in enumerate(self.args))
        kwargs = {name: new if name == where else arg for name, arg in self.kwargs.items()}
        return Point(self.function, args, kwargs)


@dataclass(frozen=True)
class Difference:
    """A derivative by differences, and how uncertain each of its numbers is."""

    value: Vector
    uncertainty: Vector

    def along(self, weights: Vector) -> Difference:
        """The real part of the weighted sum of the numbers, as a vector of one."""
        return Difference(
            np.array([np.real(np.sum(weights * self.value))]),
            np.array([np.sum(np.abs(weights) * self.uncertainty)]),
        )


def directional(point: Point, where: int | str, direction: Direction) -> Difference:
    """The derivative along a direction of one argument, of all inexact leaves of the result, flat.

    Several steps are tried; for each number the difference that is least uncertain is taken.

    >>> square = Point(lambda x: x * x, (3.0,), {})
    >>> round(float(directional(square, 0, [1.0]).value[0]), 6)
    6.0
    """
    at = point.value()
    epsilon = float(finfo(precision((point.args, point.kwargs, at))).eps)
    scales = scales_of(point.argument(where), direction)
    steps = [epsilon**0.2 * scale / finer for scale in scales for finer in (1, 16)]
    noise = epsilon * np.abs(flat(at))
    return best([_central(point, where, direction, step, noise) for step in steps])


def scales_of(value: Any, direction: Direction) -> list[float]:
    """Lengths to take steps in proportion to: 1, and the argument's size where that differs."""
    moved = [
        np.ravel(leaf)
        for leaf, d in zip(tree.leaves(value), direction, strict=True)
        if d is not None
    ]
    size = max([float(np.max(np.abs(part), initial=0.0)) for part in moved], default=1.0)
    return [1.0, size] if 0 < size <= 0.1 or 10 <= size < np.inf else [1.0]


def _central(
    point: Point, where: int | str, direction: Direction, step: float, noise: Vector
) -> Difference:
    """A central difference of fourth order; that of second order shows how far it may be off."""

    def slope(step: float) -> Vector:
        above, below = (flat(point.moved(where, direction, s).value()) for s in (step, -step))
        if above.shape != noise.shape or below.shape != noise.shape:
            raise ValueError("the shape of the result depends on small changes of the arguments")
        return (above - below) / (2 * step)

    with np.errstate(all="ignore"):
        near = slope(step)
        value = (4 * near - slope(2 * step)) / 3
        change = np.abs(value - near)
        share = np.minimum(1, change / (np.abs(value) + np.finfo(float).tiny))
        uncertainty = change * share + noise / step
    return Difference(value, np.where(np.isfinite(uncertainty), uncertainty, np.inf))


def best(tried: Sequence[Difference]) -> Difference:
    """For each number the difference that is least uncertain."""
    values = np.array([d.value for d in tried])
    uncertainties = np.array([d.uncertainty for d in tried])
    chosen = np.argmin(uncertainties, axis=0)[None]
    return Difference(
        np.take_along_axis(values, chosen, 0)[0], np.take_along_axis(uncertainties, chosen, 0)[0]
    )


def summed(differences: Sequence[Difference]) -> Difference:
    return Difference(
        np.sum([d.value for d in differences], axis=0),
        np.sum([d.uncertainty for d in differences], axis=0),
    )


def is_inexact(leaf: Any) -> bool:
    """Whether a leaf carries derivatives: it is floating point or complex."""
    if isinstance(leaf, np.ndarray):
        return kind_of(leaf.dtype) in "fc"
    return isinstance(leaf, (float, complex)) or is_inexact_number(leaf)


def inexact_leaves(value: Any) -> list[Any]:
    return [leaf for leaf in tree.leaves(value) if is_inexact(leaf)]


def precision(value: Any) -> np.dtype:
    """The narrowest of float16, float32 and float64 that the numbers of a pytree have."""
    found = [np.asarray(finfo(np.asarray(leaf).dtype).eps).dtype for leaf in inexact_leaves(value)]
    return min(found, key=lambda dtype: dtype.itemsize, default=np.dtype("float64"))


def flat(value: Any) -> Vector:
    """All inexact leaves of a pytree in one vector, of float64 or complex128.

    >>> flat({"w": np.ones(2), "kind": "relu", "b": 3.0})
    array([1., 1., 3.])
    """
    parts = [np.ravel(leaf) for leaf in inexact_leaves(value)]
    return np.concatenate([np.zeros(0), *parts])


def places(value: Any, name: str) -> list[str]:
    """How Python writes the way to each number that `flat` gives.

    >>> places({"w": np.ones(2), "b": 3.0}, "result")
    ["result['w'][0]", "result['w'][1]", "result['b']"]
    """
    leaves, structure = tree.flatten(value)
    return [
        name + path + (str(list(index)) if index else "")
        for leaf, path in zip(leaves, structure.paths(), strict=True)
        if is_inexact(leaf)
        for index in np.ndindex(np.shape(leaf))
    ]


def random_direction(value: Any, rng: np.random.Generator) -> Direction:
    """Normally distributed tangents for the inexact leaves of a pytree, None for the others."""

    def normal(leaf: Any) -> Any:
        drawn = rng.standard_normal(np.shape(leaf))
        turned = 1j * rng.standard_normal(np.shape(leaf)) if np.iscomplexobj(leaf) else 0.0
        return like(leaf, drawn + turned)

    return [normal(leaf) if is_inexact(leaf) else None for leaf in tree.leaves(value)]


def shaped(direction: Direction, value: Any) -> Any:
    """A direction in the structure of the value that it belongs to."""
    return tree.unflatten(tree.structure(value), direction)


def like(leaf: Any, value: Any) -> Any:
    """A number or array in the class and dtype of a leaf."""
    return np.asarray(value, leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(value)


def copied(value: Any) -> Any:
    return tree.map(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, value)
