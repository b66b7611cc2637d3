"""`vmap` beside a Python loop over lanes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from transformer import tree, vmap
from transformer.containers import kind_of


def looped(function: Callable[..., Any], lanes: list[tuple[Any, ...]]) -> Any:
    """What the function gives for each lane, stacked; strings and None have to be equal."""
    results = [tree.flatten(function(*copy.deepcopy(lane))) for lane in lanes]
    first = results[0][1]
    assert all(structure == first for _, structure in results), "the lanes give trees of different structure"
    return tree.unflatten(first, [_stacked(leaves) for leaves in zip(*[found for found, _ in results], strict=True)])


def _stacked(leaves: tuple[Any, ...]) -> Any:
    if isinstance(leaves[0], (str, type(None))):
        assert len(set(leaves)) == 1, leaves
        return leaves[0]
    return np.stack([np.asarray(leaf) for leaf in leaves])


def assert_alike(found: Any, expected: Any, rtol: float = 1e-9, atol: float = 1e-11) -> None:
    """The same tree, dtypes, shapes and values."""
    (mine, structure), (theirs, other) = tree.flatten(found), tree.flatten(expected)
    assert structure == other, f"{structure} is not {other}"
    for a, b in zip(mine, theirs, strict=True):
        if isinstance(b, (str, type(None))):
            assert a == b
            continue
        assert np.asarray(a).dtype == np.asarray(b).dtype, (np.asarray(a).dtype, np.asarray(b).dtype)
        assert np.shape(a) == np.shape(b), (np.shape(a), np.shape(b))
        single = np.asarray(b).dtype in (np.float32, np.complex64)
        np.testing.assert_allclose(a, b, rtol=max(rtol, 1e-4) if single else rtol, atol=max(atol, 1e-6 * single))


def check_vmap(function: Callable[..., Any], *args: Any, in_axes: Any = 0, **options: Any) -> Any:
    """Compares `vmap` with a loop, for axes that are ints or None for whole arguments; arguments stay as they are.
    Gives the transformed function."""
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    count = next(leaf.shape[axis] for arg, axis in zip(args, axes) if axis is not None for leaf in tree.leaves(arg))
    lanes = [tuple(arg if axis is None else tree.map(lambda leaf, axis=axis, k=k: _lane(leaf, axis, k), arg)
                   for arg, axis in zip(args, axes)) for k in range(count)]
    expected = looped(function, lanes)
    mapped = vmap(function, in_axes=in_axes, **options)
    given = copy.deepcopy(args)
    assert_alike(mapped(*given), expected)
    assert_unchanged(given, args)
    return mapped


def _lane(leaf: Any, axis: int, k: int) -> Any:
    return np.take(leaf, k, axis)


def assert_unchanged(now: Any, before: Any) -> None:
    for a, b in zip(tree.leaves(now), tree.leaves(before), strict=True):
        if isinstance(b, np.ndarray):
            np.testing.assert_array_equal(a, b)


@dataclass
class Stack:
    """Draws of a program's arguments as one call with lanes: leaves that are floating point and of one shape
    are stacked, others are those of the first draw for all."""

    draws: list[tuple[Any, ...]]

    def __post_init__(self) -> None:
        flat = [tree.flatten(draw) for draw in self.draws]
        self.structure = flat[0][1]
        columns = list(zip(*[leaves for leaves, _ in flat]))
        self.mapped = [_has_lanes(column) for column in columns]
        self.leaves = [np.stack(c) if on else c[0] for c, on in zip(columns, self.mapped)]

    @property
    def args(self) -> Any:
        return tree.unflatten(self.structure, self.leaves)

    @property
    def in_axes(self) -> tuple[Any, ...]:
        marked = tree.unflatten(self.structure, [0 if on else _Shared() for on in self.mapped])
        return tuple(map(_axes, marked))

    def lane(self, k: int) -> Any:
        return tree.unflatten(self.structure, [leaf[k] if on else leaf for leaf, on in zip(self.leaves, self.mapped)])

    @property
    def lanes(self) -> list[Any]:
        return [self.lane(k) for k in range(len(self.draws))]


class _Shared:
    """Stands for None, which is a tree without leaves."""


def _axes(marked: Any) -> Any:
    if isinstance(marked, _Shared):
        return None
    if marked is None or isinstance(marked, int):
        return marked
    kind = kind_of(type(marked))
    static, children = kind.split(marked)
    return kind.build(type(marked), static, [_axes(child) for child in children])


def _has_lanes(column: tuple[Any, ...]) -> bool:
    first = column[0]
    return isinstance(first, (float, np.ndarray, np.generic)) and np.asarray(first).dtype.kind in "fc" and all(
        np.shape(leaf) == np.shape(first) for leaf in column)
