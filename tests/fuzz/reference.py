"""Derivatives by differences, at points where a function is smooth.

Functions go from a vector to a vector. Points near kinks, ties and jumps are rejected: differences
at several steps and from both sides disagree there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Vector = np.ndarray
STEP, TINY = 1e-3, 1e-6


class Rejected(Exception):
    """A program or a point that tells nothing."""


@dataclass(frozen=True)
class Slope:
    """A derivative, and how far each number may be off."""

    value: Vector
    uncertainty: Vector


def slope(function: Callable[[Vector], Vector], at: Vector, along: Vector) -> Slope:
    """The derivative along a direction, of sixth order, or `Rejected`."""
    middle = function(at)
    one, two, four = (_central(function, at, along, STEP / k) for k in (1, 2, 4))
    rough, fine = (4 * two - one) / 3, (4 * four - two) / 3
    value = (16 * fine - rough) / 15
    size = 1 + np.max(np.abs(value), initial=0.0)
    _require_smooth(function, at, along, middle, value, size)
    uncertainty = np.abs(value - fine) + 1e-15 * np.abs(middle) * 40 / STEP
    if np.any(uncertainty > 1e-4 * size):
        raise Rejected("rough")
    return Slope(value, uncertainty)


def _central(function: Callable[[Vector], Vector], at: Vector, along: Vector, step: float) -> Vector:
    above, below = function(at + step * along), function(at - step * along)
    difference: Vector = (above - below) / (2 * step)
    return difference


def _require_smooth(function: Callable[[Vector], Vector], at: Vector, along: Vector, middle: Vector, value: Vector,
                    size: float) -> None:
    for step, allowed in ((TINY, 1e-6), (STEP / 8, 1e-3)):
        noise = 2e-14 * np.max(np.abs(middle), initial=0.0) / step
        for side in (_one_sided(function, at, along, middle, s) for s in (step, -step)):
            if not np.all(np.abs(side - value) <= (allowed + noise) * size):
                raise Rejected("kink")


def _one_sided(function: Callable[[Vector], Vector], at: Vector, along: Vector, middle: Vector, step: float) -> Vector:
    """The derivative from one side, of second order."""
    whole, half = (function(at + s * along) - middle for s in (step, step / 2))
    difference: Vector = (4 * half - whole) / step
    return difference


def pack(values: Any) -> Vector:
    """All floating point numbers of a tree of tuples, lists and dictionaries."""
    parts = [np.ravel(leaf).astype(np.float64) for leaf in floats(values)]
    return np.concatenate([np.zeros(0), *parts])


def floats(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in floats(item)]
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in floats(item)]
    is_float = isinstance(value, float | np.floating) or isinstance(value, np.ndarray) and value.dtype.kind == "f"
    return [value] if is_float else []


def unpack(vector: Vector, like: Any) -> Any:
    """A tree like this one with its floating point numbers from a vector; always fresh arrays."""
    place = 0

    def taken(value: Any) -> Any:
        nonlocal place
        if isinstance(value, dict):
            return {key: taken(item) for key, item in value.items()}
        if isinstance(value, tuple | list):
            return type(value)(taken(item) for item in value)
        if not floats(value):
            return value.copy() if isinstance(value, np.ndarray) else value
        start, place = place, place + np.size(value)
        part = vector[start:place].reshape(np.shape(value))
        return part.astype(value.dtype) if isinstance(value, np.ndarray) else type(value)(part)

    return taken(like)


def blank(value: Any) -> Any:
    """The tree with None where there are no floating point numbers: the place of tangents."""
    if isinstance(value, dict):
        return {key: blank(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(map(blank, value))
    return value if floats(value) else None
