"""Derivatives by central differences, the yardstick for derivatives by program.

Everything works on pytrees (tuples, lists, dicts, NamedTuples, dataclasses) whose real floating
leaves are moved; other leaves stay as they are.  Functions may write to their arguments, so each
call gets copies of its own.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

# A coarse and a fine step: the fine one serves strong curvature, the coarse one large values.
STEPS = {np.dtype(np.float64): (1e-4, 3e-6), np.dtype(np.float32): (3e-2, 4e-3)}
TOLERANCES = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 4e-3}


def leaves(tree: Any) -> list[Any]:
    """The leaves of a pytree, in order; None is a leaf.

    >>> leaves({"a": 1.0, "b": [2.0, (3.0,)]})
    [1.0, 2.0, 3.0]
    """
    return list(_walk(tree))


def _walk(tree: Any) -> Iterator[Any]:
    children = _children(tree)
    if children is None:
        yield tree
    else:
        for child in children:
            yield from _walk(child)


def _children(tree: Any) -> list[Any] | None:
    if isinstance(tree, dict):
        return list(tree.values())
    if isinstance(tree, list | tuple):
        return list(tree)
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        return [getattr(tree, field.name) for field in dataclasses.fields(tree)]
    return None


def map_leaves(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """The pytree of ``function(leaf, *leaves of the others)``.

    ``others`` have the structure of ``tree``, or None where ``tree`` has more.
    """
    children = _children(tree)
    if children is None:
        return function(tree, *others)
    columns = [children, *(_matching(tree, other, len(children)) for other in others)]
    return _rebuild(tree, [map_leaves(function, *row) for row in zip(*columns, strict=True)])


def _matching(tree: Any, other: Any, count: int) -> list[Any]:
    # Dicts are matched by key: a gradient may list the keys in another order.
    if isinstance(tree, dict) and isinstance(other, dict):
        return [other[key] for key in tree]
    return _children(other) or [None] * count


def _rebuild(tree: Any, children: list[Any]) -> Any:
    if isinstance(tree, dict):
        return type(tree)(zip(tree, children, strict=True))
    if hasattr(tree, "_fields"):
        return type(tree)(*children)
    if isinstance(tree, list | tuple):
        return type(tree)(children)
    names = [field.name for field in dataclasses.fields(tree)]
    return dataclasses.replace(tree, **dict(zip(names, children, strict=True)))


def is_real(leaf: Any) -> bool:
    """Whether a leaf is a real floating number or array, so that it can be moved a little."""
    if not isinstance(leaf, float | complex | np.inexact | np.ndarray):
        return False
    if np.iscomplexobj(leaf):
        raise TypeError("differences are taken along real numbers, and this leaf is complex")
    return np.issubdtype(np.asarray(leaf).dtype, np.floating)


def precision(*trees: Any) -> np.dtype[Any]:
    """float32 when any floating leaf is narrower than float64, else float64."""
    found = [np.asarray(leaf).dtype for leaf in leaves(trees) if is_real(leaf)]
    narrow = any(dtype.itemsize < 8 for dtype in found)
    return np.dtype(np.float32 if narrow else np.float64)


def random_tangents(
    rng: np.random.Generator, arguments: tuple[Any, ...], argnums: tuple[int, ...]
) -> tuple[Any, ...]:
    """Tangents for all arguments: normal for the real leaves at ``argnums``, zero for other real
    leaves, and None where nothing can be differentiated."""

    def tangent(leaf: Any, scale: float) -> Any:
        if not is_real(leaf):
            return None
        return _like(leaf, scale * rng.standard_normal(np.shape(leaf)))

    return tuple(
        map_leaves(lambda leaf, s=float(n in argnums): tangent(leaf, s), argument)
        if any(is_real(leaf) for leaf in leaves(argument))
        else None
        for n, argument in enumerate(arguments)
    )


def _like(leaf: Any, value: Any) -> Any:
    if isinstance(leaf, np.ndarray):
        return np.asarray(value, dtype=leaf.dtype)
    return type(leaf)(value)


def moved(arguments: tuple[Any, ...], tangents: tuple[Any, ...], step: float) -> tuple[Any, ...]:
    """Fresh copies of the arguments, moved by ``step * tangents``."""

    def move(leaf: Any, tangent: Any) -> Any:
        return leaf if tangent is None else _like(leaf, leaf + step * tangent)

    result: tuple[Any, ...] = map_leaves(move, copy.deepcopy(arguments), tangents)
    return result


def directional(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    tangents: tuple[Any, ...],
    dtype: np.dtype[Any] | None = None,
) -> np.ndarray:
    """The derivative of ``function`` at ``arguments`` along ``tangents``.

    All real leaves of the result come as one flat float64 vector.  ``dtype`` is the narrowest
    precision inside the function where the arguments do not show it.
    """
    dtype = dtype or precision(arguments)
    coarse, fine = (_central(function, arguments, tangents, step) for step in STEPS[dtype])
    noise = np.finfo(dtype).eps * np.abs(flat(function(*copy.deepcopy(arguments))))
    return _better(coarse, fine, STEPS[dtype], noise)


def flat(tree: Any) -> np.ndarray:
    """All real leaves of a pytree in one float64 vector."""
    pieces = [np.ravel(leaf).astype(np.float64) for leaf in leaves(tree) if is_real(leaf)]
    return np.concatenate(pieces) if pieces else np.zeros(0)


def _central(
    function: Callable[..., Any], arguments: tuple[Any, ...], tangents: tuple[Any, ...], step: float
) -> np.ndarray:
    above = flat(function(*moved(arguments, tangents, step)))
    below = flat(function(*moved(arguments, tangents, -step)))
    difference: np.ndarray = (above - below) / (2 * step)
    return difference


def _better(
    coarse: np.ndarray, fine: np.ndarray, steps: tuple[float, float], noise: np.ndarray
) -> np.ndarray:
    # The error of a central difference is curvature * step**2 + noise / step; the gap between
    # the two differences tells the curvature.
    long, short = steps
    curvature = np.abs(coarse - fine) / (long**2 - short**2)
    coarse_error = curvature * long**2 + noise / long
    fine_error = curvature * short**2 + noise / short
    return np.where(coarse_error <= fine_error, coarse, fine)


def gradient(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    argnums: tuple[int, ...] = (0,),
    dtype: np.dtype[Any] | None = None,
) -> np.ndarray:
    """The full gradient of a scalar function, one entry per real number at ``argnums``, flat."""
    entries = [
        directional(function, arguments, tangents, dtype)
        for tangents in _unit_tangents(arguments, argnums)
    ]
    return np.concatenate(entries) if entries else np.zeros(0)


def _unit_tangents(
    arguments: tuple[Any, ...], argnums: tuple[int, ...]
) -> Iterator[tuple[Any, ...]]:
    chosen = tuple(arguments[n] for n in argnums)
    count = flat(chosen).size
    for position in range(count):
        units = unflatten(np.eye(1, count, position)[0], chosen)
        tangents: list[Any] = [None] * len(arguments)
        for n, unit in zip(argnums, units, strict=True):
            tangents[n] = unit
        yield tuple(tangents)


def unflatten(vector: np.ndarray, tree: Any) -> Any:
    """The inverse of ``flat``: a pytree like ``tree`` with its real leaves taken from the vector,
    and None for the others."""
    position = 0

    def take(leaf: Any) -> Any:
        nonlocal position
        if not is_real(leaf):
            return None
        start, position = position, position + np.size(leaf)
        return _like(leaf, vector[start:position].reshape(np.shape(leaf)))

    return map_leaves(take, tree)


def assert_close(
    ours: Any, reference: Any, what: str, dtype: np.dtype[Any], scale: float = 1.0
) -> None:
    """Raise AssertionError, with both numbers, unless the two agree to what ``dtype`` allows.

    The tolerance is relative to the largest entry of the reference, or to ``scale`` where that is
    larger.
    """
    mine, other = flat(ours), flat(reference)
    if mine.shape != other.shape:
        raise AssertionError(f"{what}: {mine.size} numbers against {other.size} by differences")
    if not mine.size:
        raise AssertionError(f"{what}: there is nothing to compare")
    tolerance = TOLERANCES[np.dtype(dtype)] * max(scale, float(np.abs(other).max()))
    wrong = ~(np.abs(mine - other) <= tolerance)
    if wrong.any():
        worst = int(np.argmax(np.where(wrong, np.nan_to_num(np.abs(mine - other), nan=np.inf), 0)))
        raise AssertionError(
            f"{what}: {np.count_nonzero(wrong)} of {mine.size} numbers are off; entry {worst} is "
            f"{mine[worst]!r}, by differences {other[worst]!r} "
            f"(off by {mine[worst] - other[worst]:.3g}, tolerance {tolerance:.3g})"
        )
