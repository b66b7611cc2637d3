"""Which axis of each leaf of an argument is its lanes, and what is wrong with axes that do not fit.

    in_axes=({"w": None, "b": 0}, 1) for (params, x)      params: {"w": SHARED, "b": axis 0}    x: axis 1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ... import tree
from ...containers import LEAVES, kind_of
from ...core.errors import BadArgument
from ...core.sizes import Extent, Size
from ...core.types import ArrayType
from ...ops.value import Value
from ...read.interface import AxislessType
from ...read.kinds import described

Axes = Any                              # int | None, or a pytree of them


class _Shared:
    """Stands for None as an axis, where None would be a tree without leaves."""

    __tree_leaf__ = True

    def __repr__(self) -> str:
        return "None"


SHARED = _Shared()
BY_KEYWORD = ""                         # what is passed by keyword has no entry of in_axes
ALONG_FIRST = "Arguments passed by keyword are mapped along axis 0."


def check_count(size: Any) -> None:
    """Raises for what cannot be the number of lanes."""
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool):
        fits = size >= 0
    else:
        fits = size is None or isinstance(size, Size) or isinstance(size, Value) and size.dtype.kind in "iu"
    if not fits:
        shown = described(size) if isinstance(size, Value) else repr(size)
        raise BadArgument(f"axis_size is {shown}, which is not a number of lanes", instead="Pass a non-negative int.")


@dataclass(frozen=True)
class LaneAxis:
    """The axis of an argument that is its lanes, and how many there are; `name` is what messages call it, `whose`
    the entry of in_axes that says so."""

    axis: int
    size: Extent
    name: str
    whose: str = "in_axes"
    __tree_leaf__: ClassVar[bool] = True


def axes_of(arg: Any, axes: Axes, whose: str, name: str) -> Any:
    """The axes of the leaves of an argument."""
    leaves, structure = tree.flatten(arg)
    chosen = tree.leaves(spread(axes, arg, whose, name))
    found = [entry if entry is SHARED else _lane_axis(leaf, entry.axis, entry.whose, name + path)
             for leaf, entry, path in zip(leaves, chosen, structure.paths())]
    return tree.unflatten(structure, found)


def _lane_axis(leaf: Any, axis: int, whose: str, name: str) -> LaneAxis:
    if isinstance(leaf, np.ndarray):
        raise differs_where_known(name, whose)
    type = leaf.type if isinstance(leaf, Value) else leaf
    if not isinstance(type, ArrayType) or not type.sizes:
        raise BadArgument(f"vmap maps {name} along its axis {axis}, but it is {kind_of_leaf(leaf)}",
                          why=None if whose else ALONG_FIRST, argument=name,
                          instead=f"Pass an array with an axis for the lanes, or {as_shared(whose, 'give')}.")
    sizes = leaf.shape if isinstance(leaf, Value) else type.sizes
    place = checked(axis, len(sizes), name, whose, name)
    return LaneAxis(place, sizes[place], name, whose)


def differs_where_known(name: str, whose: str, mode: str = "vmap") -> BadArgument:
    return BadArgument(f"{name} must be known when the function is transformed, but {mode} maps it",
                       why="Its value determines a shape or the control flow of the function.", argument=name,
                       instead=f"{as_shared(whose, 'Give', mode)}, and call the function once for each value.")


def as_shared(whose: str, give: str, mode: str = "vmap") -> str:
    """How to say that all lanes share an argument."""
    return f"{give} None for it in {whose}" if whose else f"{give} it to functools.partial before the {mode}"


def kind_of_leaf(leaf: Any) -> str:
    """What a leaf of an argument is, a type or a value or an object that is known, in words."""
    type = leaf.type if isinstance(leaf, Value) else leaf
    if isinstance(type, AxislessType):
        return "an array without axes"
    if isinstance(type, ArrayType):
        return "an array" if type.sizes else "a number"
    return "a number" if isinstance(type, (int, float, complex)) else described(leaf)


def checked(axis: int, rank: int, name: str, whose: str, argument: str | None = None) -> int:
    """An axis counted from the front."""
    if not -rank <= axis < rank:
        raise BadArgument(f"{whose} is {axis}, but {name} has {rank} {'axis' if rank == 1 else 'axes'}",
                          instead=f"Pass an axis from {-rank} to {rank - 1}.", argument=argument)
    return axis % rank


def is_axis(axes: Axes) -> bool:
    return axes is None or isinstance(axes, (int, np.integer)) and not isinstance(axes, bool)


@dataclass(frozen=True)
class Entry:
    """An axis in in_axes or out_axes, and where it stands there."""

    axis: int
    whose: str
    __tree_leaf__: ClassVar[bool] = True


def spread(axes: Axes, arg: Any, whose: str, name: str) -> Any:
    """Entries for each leaf of an argument, from a tree of axes that may end above the leaves."""
    if is_axis(axes):
        entry = SHARED if axes is None else Entry(int(axes), whose)
        return tree.map(lambda leaf: entry, arg)
    kind = kind_of(type(axes))
    if kind is LEAVES:
        raise BadArgument(f"{whose} is {axes!r}, which is not an axis", instead="Pass an int or None.",
                          argument=name)
    static, children = kind.split(axes)
    parts = kind.matching_children(static, arg) if type(arg) is type(axes) else None
    if parts is None or len(parts) != len(children):
        raise BadArgument(f"{whose} is {axes!r}, which does not fit {name}: {shown(arg)}", argument=name,
                          instead="Pass one axis for all of it, or a tree of the same structure.")
    ways = kind.accessors(static, len(children))
    spreads = [spread(child, part, whose + way, name + way) for child, part, way in zip(children, parts, ways)]
    return kind.build(type(axes), static, spreads)


def shown(arg: Any) -> str:
    """The structure of an argument; what it is, if it has none."""
    is_leaf = arg is not None and kind_of(type(arg)) is LEAVES
    return kind_of_leaf(arg) if is_leaf else str(tree.structure(arg))
